// SPDX-License-Identifier: Apache-2.0
// Descriptions of kernels: checks, sharing of equal nodes, text.
#include "taeda/compile/kernel/kernel.h"

#include <cstdio>
#include <cstring>

#include "taeda/core/error.h"
#include "taeda/cpu/pointwise_abi.h"

namespace taeda::kernel {

namespace {

ScalarType compute_type(ScalarType dtype) { return dtype == kDouble ? kDouble : is_floating_type(dtype) ? kFloat : kLong; }

bool same_number(const Scalar& a, const Scalar& b) {
  if (a.type() != b.type()) return false;
  if (!a.isFloatingPoint()) return a.unchecked<int64_t>() == b.unchecked<int64_t>();
  const double x = a.unchecked<double>(), y = b.unchecked<double>();
  return std::memcmp(&x, &y, sizeof x) == 0;
}
bool same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.compute == b.compute && a.number == b.number && a.uniform == b.uniform &&
         a.mean == b.mean && a.inputs == b.inputs && a.attributes == b.attributes && same_number(a.constant, b.constant);
}

const cpu::PointwiseKernelInfo& info_of(int id) {
  return cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(id));
}

struct RowOpRule {
  const char* name;
  int inputs, required;
  bool has_eps;
};
constexpr RowOpRule kRowOps[] = {{"softmax", 1, 1, false},           {"log_softmax", 1, 1, false},
                                 {"softmax_backward", 2, 2, false},  {"log_softmax_backward", 2, 2, false},
                                 {"layer_norm", 3, 1, true},         {"layer_norm_backward", 5, 4, false}};
constexpr const char* kReduceNames[] = {"sum", "nansum", "sum_abs", "sum_squares", "prod", "any", "all", "count_nonzero", "max", "min"};

/// The row operation's inputs that are one value for each row.
bool row_input_is_uniform(RowOp op, size_t k) { return op == RowOp::kLayerNormBackward && (k == 2 || k == 3); }
/// The inputs that are one row for all rows.
bool row_input_is_shared(RowOp op, size_t k) {
  return (op == RowOp::kLayerNorm && k > 0) || (op == RowOp::kLayerNormBackward && k == 4);
}

}  // namespace

Id Kernel::add(Node node) {
  for (size_t k = nodes_.size(); k-- > 0;) {
    if (same(nodes_[k], node)) return static_cast<Id>(k);
  }
  nodes_.push_back(std::move(node));
  return static_cast<Id>(nodes_.size() - 1);
}

Id Kernel::input(ScalarType dtype, bool uniform) {
  inputs_.push_back(dtype);
  has_rows_ = has_rows_ || uniform;
  return add({.kind = NodeKind::kInput, .dtype = dtype, .number = static_cast<int32_t>(inputs_.size() - 1), .uniform = uniform});
}

Id Kernel::param(ScalarType dtype) {
  params_.push_back(dtype);
  return add({.kind = NodeKind::kParam, .dtype = dtype, .number = static_cast<int32_t>(params_.size() - 1), .uniform = true});
}

Id Kernel::constant(const Scalar& value, ScalarType dtype) {
  return add({.kind = NodeKind::kConstant, .dtype = dtype, .uniform = true, .constant = value});
}

Id Kernel::convert(Id value, ScalarType dtype) {
  const Node& from = nodes_[static_cast<size_t>(value)];
  if (from.dtype == dtype) return value;
  return add({.kind = NodeKind::kConvert, .dtype = dtype, .uniform = from.uniform, .inputs = {value}});
}

Id Kernel::call(int id, ScalarType dtype, std::span<const Id> inputs, std::span<const Id> attributes) {
  const cpu::PointwiseKernelInfo& info = info_of(id);
  const ScalarType compute = compute_type(dtype);
  const cpu::PointwiseKernel& loops = cpu::pointwise_kernel(static_cast<cpu::PointwiseKernelId>(id));
  TAEDA_CHECK_NOT_IMPLEMENTED((compute == kFloat ? loops.f32 : compute == kDouble ? loops.f64 : loops.i64) != nullptr,
                              "[kernel] ", info.name, " must be defined for the dtype: got ", dtype, "; convert first");
  TAEDA_CHECK(inputs.size() == info.inputs && attributes.size() == info.attrs, "[kernel] ", info.name, " takes ", int{info.inputs},
              " inputs and ", int{info.attrs}, " attributes: got ", inputs.size(), " and ", attributes.size(), "; give each");
  // A number is taken in the dtype that is wanted, as the eager operator takes it.
  const auto as = [this](Id value, ScalarType wanted) {
    Node node = nodes_[static_cast<size_t>(value)];
    if (node.kind != NodeKind::kParam && node.kind != NodeKind::kConstant) return convert(value, wanted);
    node.dtype = wanted;
    return add(std::move(node));
  };
  Node node{.kind = NodeKind::kCall, .dtype = info.bool_result ? kBool : compute, .compute = compute, .number = id, .uniform = true};
  for (size_t k = 0; k < inputs.size(); ++k) {
    node.inputs.push_back(as(inputs[k], (info.mask_inputs >> k) & 1 ? kBool : compute));
    node.uniform = node.uniform && nodes_[static_cast<size_t>(inputs[k])].uniform;
  }
  for (const Id attribute : attributes) node.attributes.push_back(as(attribute, compute));
  return add(std::move(node));
}

Id Kernel::call(std::string_view name, ScalarType dtype, std::initializer_list<Id> inputs, std::initializer_list<Scalar> attributes) {
  const int id = cpu::find_pointwise_kernel(std::string(name).c_str());
  TAEDA_CHECK(id >= 0, "[kernel] a call needs the name of a pointwise kernel: got ", name, "; see taeda/ops/pointwise");
  std::vector<Id> numbers;
  for (const Scalar& a : attributes) numbers.push_back(constant(a, compute_type(dtype)));
  return call(id, dtype, std::span<const Id>(inputs.begin(), inputs.size()), numbers);
}

Id Kernel::reduce(ReduceKind kind, Id value, bool mean) {
  const ScalarType dtype = nodes_[static_cast<size_t>(value)].dtype;
  TAEDA_CHECK(!nodes_[static_cast<size_t>(value)].uniform,
              "[kernel] a reduction takes a value of every element: got one that is the same along the row; multiply by its length");
  if (dtype == kHalf || dtype == kBFloat16) value = convert(value, kFloat);
  has_rows_ = true;
  return add({.kind = NodeKind::kReduce, .dtype = reduce_dtype(kind, nodes_[static_cast<size_t>(value)].dtype),
              .number = static_cast<int32_t>(kind), .uniform = true, .mean = mean, .inputs = {value}});
}

Id Kernel::row_op(RowOp op, std::span<const Id> inputs, double eps) {
  const RowOpRule& rule = kRowOps[static_cast<int>(op)];
  TAEDA_CHECK(inputs.size() == static_cast<size_t>(rule.inputs), "[kernel] ", rule.name, " takes ", rule.inputs, " inputs: got ",
              inputs.size(), "; give -1 for one that is left out");
  const ScalarType dtype = nodes_[static_cast<size_t>(inputs[0])].dtype;
  TAEDA_CHECK(dtype == kFloat || dtype == kDouble, "[kernel] ", rule.name, " runs in float32 or float64: got ", dtype, "; convert first");
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k] < 0 && static_cast<int>(k) >= rule.required) continue;
    const Node& in = nodes_[static_cast<size_t>(inputs[k])];
    TAEDA_CHECK(in.dtype == dtype && in.uniform == row_input_is_uniform(op, k) && in.kind != NodeKind::kParam &&
                    in.kind != NodeKind::kConstant, "[kernel] ", rule.name, ": input ", k,
                " has the wrong dtype or extent: got ", in.dtype, "; convert first");
    TAEDA_CHECK(!row_input_is_shared(op, k) || in.kind == NodeKind::kInput, "[kernel] ", rule.name,
                ": weight and bias are operands; got a computed value; compute it before");
  }
  has_rows_ = true;
  Node node{.kind = NodeKind::kRowOp, .dtype = dtype, .number = static_cast<int32_t>(op), .inputs = {inputs.begin(), inputs.end()}};
  if (rule.has_eps) node.constant = Scalar(eps);
  return add(std::move(node));
}

Id Kernel::extra(Id row_op, int number) {
  const Node& of = nodes_[static_cast<size_t>(row_op)];
  TAEDA_CHECK(of.kind == NodeKind::kRowOp && of.number == static_cast<int>(RowOp::kLayerNorm) && (number == 1 || number == 2),
              "[kernel] layer_norm has the further results 1 and 2: got ", number, "; ask for one of them");
  return add({.kind = NodeKind::kExtra, .dtype = of.dtype, .number = number, .uniform = true, .inputs = {row_op}});
}

void Kernel::output(Id value, ScalarType dtype) { outputs_.push_back({convert(value, dtype), dtype}); }

std::string Kernel::text() const {
  std::string text;
  const auto list = [&](const std::vector<Id>& ids) {
    for (const Id id : ids) text += " %" + std::to_string(id);
  };
  for (size_t k = 0; k < nodes_.size(); ++k) {
    const Node& n = nodes_[k];
    text += "%" + std::to_string(k) + ": " + to_string(n.dtype) + (n.uniform ? " row = " : " = ");
    switch (n.kind) {
      case NodeKind::kInput: text += "input " + std::to_string(n.number); break;
      case NodeKind::kParam: text += "param " + std::to_string(n.number); break;
      case NodeKind::kConstant: {
        char number[40];
        if (n.constant.isFloatingPoint()) std::snprintf(number, sizeof number, "constant %a", n.constant.unchecked<double>());
        else std::snprintf(number, sizeof number, "constant %lld", static_cast<long long>(n.constant.unchecked<int64_t>()));
        text += number;
        break;
      }
      case NodeKind::kCall: text += std::string(info_of(n.number).name) + " " + to_string(n.compute); break;
      case NodeKind::kConvert: text += "convert"; break;
      case NodeKind::kReduce: text += std::string(kReduceNames[n.number]) + (n.mean ? " mean" : ""); break;
      case NodeKind::kRowOp: {
        char eps[40] = "";
        if (kRowOps[n.number].has_eps) std::snprintf(eps, sizeof eps, " eps %a", n.constant.unchecked<double>());
        text += std::string(kRowOps[n.number].name) + eps;
        break;
      }
      case NodeKind::kExtra: text += "extra " + std::to_string(n.number); break;
    }
    list(n.inputs);
    if (!n.attributes.empty()) {
      text += " [";
      list(n.attributes);
      text += " ]";
    }
    text += "\n";
  }
  for (const Output& out : outputs_) text += "output %" + std::to_string(out.value) + ": " + to_string(out.dtype) + "\n";
  return text;
}

void collapse(Launch& launch, Place* places, int operands, bool rows) {
  const auto last = [&] { return rows ? launch.dims - 1 : launch.dims; };
  const auto erase = [&](int d) {
    for (int e = d; e + 1 < launch.dims; ++e) launch.sizes[e] = launch.sizes[e + 1];
    for (int k = 0; k < operands; ++k) {
      for (int e = d; e + 1 < launch.dims; ++e) places[k].strides[e] = places[k].strides[e + 1];
    }
    --launch.dims;
  };
  for (int d = last(); d-- > 0;) {
    if (launch.sizes[d] == 1 && launch.dims > 1) erase(d);
  }
  for (int d = last() - 1; d-- > 0;) {
    bool fits = true;
    for (int k = 0; k < operands; ++k) fits &= places[k].strides[d] == places[k].strides[d + 1] * launch.sizes[d + 1];
    if (!fits) continue;
    launch.sizes[d + 1] *= launch.sizes[d];
    erase(d);
  }
}

}  // namespace taeda::kernel
