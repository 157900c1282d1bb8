// SPDX-License-Identifier: Apache-2.0
#include "taeda/compile/kernel/row_operators.h"

#include <string_view>
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda::kernel {

namespace {

bool fits(const Value& v) {
  if (!v.is_tensor() || !v.tensor().defined()) return false;
  const TensorImpl& t = v.tensor().impl();
  return (t.dtype == kFloat || t.dtype == kDouble) && t.contiguous && t.ndim > 0 && t.numel > 0;
}

/// The number of dimensions when they are the trailing ones, all of them for none; 0 when they are not.
int trailing(const Value& dims, int64_t ndim) {
  if (dims.is_none()) return static_cast<int>(ndim);
  uint64_t mask = 0;
  int count = 0;
  for (int64_t d : dims.is_int() ? std::vector<int64_t>{dims.to_int()} : dims.int_list()) {
    if (d < 0) d += ndim;
    if (d < 0 || d >= ndim || (mask >> d) & 1) return 0;
    mask |= uint64_t{1} << d;
    ++count;
  }
  if (count == 0) return static_cast<int>(ndim);
  return mask >> (ndim - count) == (uint64_t{1} << count) - 1 ? count : 0;
}

bool is_last(const Value& dim, int64_t ndim) { return dim.to_int() == -1 || dim.to_int() == ndim - 1; }

struct Reduction {
  const char *name, *overload;
  ReduceKind kind;
  bool mean;
  int dims, dtype;  ///< the positions of these arguments, -1: none
};
constexpr Reduction kReductions[] = {
    {"sum", "", ReduceKind::kSum, false, -1, 1},  {"sum", "dim_IntList", ReduceKind::kSum, false, 1, 3},
    {"mean", "", ReduceKind::kSum, true, -1, 1},  {"mean", "dim", ReduceKind::kSum, true, 1, 3},
    {"amax", "", ReduceKind::kMax, false, 1, -1}, {"amin", "", ReduceKind::kMin, false, 1, -1},
    {"max", "", ReduceKind::kMax, false, -1, -1}, {"min", "", ReduceKind::kMin, false, -1, -1},
};
/// Below this the eager sum of all elements of a float tensor adds them one by one.
constexpr int64_t kTinySum = 32;

std::optional<RowNodes> add_reduction(Kernel& kernel, const Reduction& r, const Value* args, Id input) {
  if (!fits(args[0]) || (r.dtype >= 0 && !args[r.dtype].is_none())) return std::nullopt;
  const TensorImpl& t = args[0].tensor().impl();
  const int rows = r.dims < 0 ? static_cast<int>(t.ndim) : trailing(args[r.dims], static_cast<int64_t>(t.ndim));
  if (rows == 0 || (r.dims < 0 && !r.mean && r.kind == ReduceKind::kSum && t.numel <= kTinySum)) return std::nullopt;
  return RowNodes{{kernel.reduce(r.kind, input, r.mean)}, rows};
}

std::optional<RowNodes> add_softmax(Kernel& kernel, RowOp op, const Value* args, std::span<const Id> inputs) {
  const bool backward = op == RowOp::kSoftmaxBackward || op == RowOp::kLogSoftmaxBackward;
  const Value& last = args[backward ? 3 : 2];
  if (!fits(args[0]) || (backward && !fits(args[1]))) return std::nullopt;
  const TensorImpl& t = args[0].tensor().impl();
  if (!is_last(args[backward ? 2 : 1], static_cast<int64_t>(t.ndim))) return std::nullopt;
  if (backward ? last.to_int() != static_cast<int64_t>(t.dtype) || args[1].tensor().scalar_type() != t.dtype : last.to_bool()) return std::nullopt;
  return RowNodes{{kernel.row_op(op, inputs)}, 1};
}

/// An argument that is left out, or one of the right dtype that the kernel reads as it is.
bool optional_row(const Kernel& kernel, const Value& v, Id id, ScalarType dtype) {
  if (v.is_none() || !v.tensor().defined()) return id < 0;
  return fits(v) && v.tensor().scalar_type() == dtype && id >= 0 && kernel.nodes()[static_cast<size_t>(id)].kind == NodeKind::kInput;
}

std::optional<RowNodes> add_layer_norm(Kernel& kernel, const Value* args, std::span<const Id> inputs) {
  if (!fits(args[0])) return std::nullopt;
  const ScalarType dtype = args[0].tensor().scalar_type();
  if (!optional_row(kernel, args[2], inputs[1], dtype) || !optional_row(kernel, args[3], inputs[2], dtype)) return std::nullopt;
  const Id norm = kernel.row_op(RowOp::kLayerNorm, inputs, args[4].to_double());
  return RowNodes{{norm, kernel.extra(norm, 1), kernel.extra(norm, 2)}, static_cast<int>(args[1].int_list().size())};
}

}  // namespace

std::optional<RowNodes> add_row_operator(Kernel& kernel, const OpInfo& op, const Value* args, std::span<const Id> inputs) {
  const std::string_view name = op.name;
  for (const Reduction& r : kReductions) {
    if (name == r.name && std::string_view(op.overload) == r.overload) return add_reduction(kernel, r, args, inputs[0]);
  }
  if (name == "_softmax") return add_softmax(kernel, RowOp::kSoftmax, args, inputs);
  if (name == "_log_softmax") return add_softmax(kernel, RowOp::kLogSoftmax, args, inputs);
  if (name == "_softmax_backward_data") return add_softmax(kernel, RowOp::kSoftmaxBackward, args, inputs);
  if (name == "_log_softmax_backward_data") return add_softmax(kernel, RowOp::kLogSoftmaxBackward, args, inputs);
  if (name == "native_layer_norm") return add_layer_norm(kernel, args, inputs);
  return std::nullopt;
}

}  // namespace taeda::kernel
