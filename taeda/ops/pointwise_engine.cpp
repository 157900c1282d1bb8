// SPDX-License-Identifier: Apache-2.0
// Promotion, output allocation, recording and backward of pointwise operators.
#include "taeda/ops/pointwise_engine.h"

#include <cmath>

#include "cpu/pointwise_ids.h"
#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_recorded.h"
#include "taeda/ops/pointwise_run.h"
#include "taeda/ops/pointwise_value.h"
#include "taeda/ops/promotion.h"

namespace taeda::pointwise {

namespace {

bool is_mask(const Op& op, int input) {
  return (cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(op.kernel)).mask_inputs >> input) & 1;
}

/// Result and compute dtypes of a call.
struct Types {
  ScalarType compute;
  ScalarType result;
};

void check_kind(const Op& op, ScalarType t) {
  const bool half = t == kHalf || t == kBFloat16;
  const bool fine = t == kBool ? op.bools : is_floating_type(t) ? op.floats && (op.halves || !half) : op.ints;
  TAEDA_CHECK_NOT_IMPLEMENTED(fine, "[", op.name, "] is not defined for this kind of dtype: got ", t,
                              t == kBool ? "; convert with .to(kInt) or use a logical operator" : "; convert with .to(dtype) first");
}

/// Differences of bool are refused, whatever they promote to.
void check_bool(const Op& op, const Operand* in) {
  for (int i = 0; i < op.inputs; ++i) {
    TAEDA_CHECK((in[i].is_tensor() ? in[i].impl().dtype : in[i].scalar().type()) != kBool, "[", op.name,
                "] subtraction, the `-` operator, with a bool tensor is not supported: got bool; use bitwise_xor or logical_xor");
  }
}

void check_fits(const Op& op, const Scalar& s, ScalarType t) {
  dispatch_all(t, op.name, [&]<class T>() {
    TAEDA_CHECK(s.fits<T>(), "[", op.name, "] the number must fit the dtype: got ", s, " for ", t, "; use a smaller number or a wider dtype");
  });
}
/// Whether the numbers of a call can be taken in the dtype it computes in.
TAEDA_NOINLINE void check_numbers(const Op& op, ScalarType t, const Operand* in, const Scalar* attrs) {
  const bool whole = is_integral_type(t, true);
  const ScalarType held = whole || t == kDouble || op.narrow_numbers ? t : kFloat;
  for (int i = 0; i < op.attributes; ++i) {
    if (!((op.scalar_attributes >> i) & 1)) continue;
    TAEDA_CHECK(!op.adds_scaled || !attrs[i].isBoolean() || t == kBool, "[", op.name, "] boolean alpha only supported for boolean results: got ",
                attrs[i], " for ", t, "; pass 0 or 1");
    TAEDA_CHECK(!op.adds_scaled || !attrs[i].isFloatingPoint() || !whole, "[", op.name,
                "] for integral input tensors, argument alpha must not be a floating point number: got ", attrs[i], "; pass a whole number");
    check_fits(op, attrs[i], held);
  }
  if (op.numbers == NumberRule::kWrap || (op.numbers == NumberRule::kExponent && (t == kFloat || t == kDouble))) return;
  for (int i = 1; i < op.inputs; ++i) {
    if (in[i].is_tensor()) continue;
    TAEDA_CHECK(op.numbers != NumberRule::kExponent || !whole || in[i].scalar().unchecked<int64_t>() >= 0, "[", op.name,
                "] integers to negative integer powers are not allowed: got ", in[i].scalar(), "; convert to a floating dtype");
    check_fits(op, in[i].scalar(), held);
  }
}

/// A whole number as an element of the integer dtype `t`, to which it wraps.
Scalar wrapped(const Scalar& s, ScalarType t) {
  return dispatch_all(t, "wrap", [&]<class T>() {
    if constexpr (std::is_integral_v<T>) return Scalar(static_cast<int64_t>(s.unchecked<T>()));
    else return s;
  });
}
bool is_narrow_integral(ScalarType t) { return is_integral_type(t, true) && t != kLong; }
/// The inputs as kernels take them: where the dtype is narrower than the int64 they compute in, numbers and 0-dim tensors wrap first.
void wrap_numbers(const Op& op, ScalarType t, const Operand* in, Operand* to) {
  for (int i = 0; i < op.inputs; ++i) {
    to[i] = in[i];
    if (!is_narrow_integral(t) || is_mask(op, i)) continue;
    if (!in[i].is_tensor()) {
      to[i] = Operand(wrapped(in[i].scalar(), t));
    } else if (in[i].impl().ndim == 0 && in[i].impl().dtype != t) {
      BelowDoorGuard below;
      to[i] = Operand(wrapped(in[i].tensor().item(), t));
    }
  }
}

Types types_of(const Op& op, const Operand* in) {
  detail::Promotion promotion;
  for (int i = 0; i < op.inputs; ++i) {
    if (is_mask(op, i)) {
      TAEDA_CHECK(!in[i].is_tensor() || in[i].impl().dtype == kBool || in[i].impl().dtype == kByte, "[", op.name,
                  "] the condition must be bool: got ", in[i].impl().dtype, "; compare or convert with .to(kBool)");
    } else if (in[i].is_tensor()) {
      promotion.add(in[i].impl());
    } else {
      promotion.add(in[i].scalar());
    }
  }
  const ScalarType promoted = promotion.result();
  if (op.adds_scaled && !op.bools) check_bool(op, in);
  check_kind(op, promoted);
  if (op.rule == ResultRule::kBool) return {promoted, kBool};
  if (op.rule == ResultRule::kFloat && !is_floating_type(promoted)) return {default_scalar_type(), default_scalar_type()};
  return {promoted, promoted};
}

DimVector shape_of(const Op& op, const Operand* in) {
  DimVector shape;
  for (int i = 0; i < op.inputs; ++i) {
    if (in[i].is_tensor()) shape = broadcast_sizes(shape, in[i].impl().sizes(), op.name);
  }
  return shape;
}

/// The output's layout follows the first full-shaped dense input, as eager users of channels-last expect.
Tensor make_output(const Op& op, const Operand* in, IntArrayRef shape, ScalarType dtype) {
  for (int i = 0; i < op.inputs; ++i) {
    if (!in[i].is_tensor()) continue;
    const TensorImpl& t = in[i].impl();
    if (t.contiguous || t.sizes() != shape) continue;
    if (!t.is_non_overlapping_and_dense()) continue;
    return make_tensor_strided(shape, t.strides(), dtype);
  }
  return make_tensor(shape, dtype);
}

void launch(const Op& op, ScalarType compute, const TensorImpl& out, const Operand* in, const Scalar* attrs) {
  Input inputs[kMaxInputs];
  for (int i = 0; i < op.inputs; ++i) {
    if (in[i].is_tensor()) {
      inputs[i].tensor = &in[i].impl();
    } else {
      inputs[i].scalar = in[i].scalar();
    }
  }
  Scalar plain[kMaxAttributes];
  if (TAEDA_UNLIKELY(op.attributes > 0 && is_narrow_integral(compute))) {
    for (int i = 0; i < op.attributes; ++i) plain[i] = wrapped(attrs[i], compute);
    attrs = plain;
  }
  execute(op.kernel, compute, out, inputs, op.inputs, attrs, op.attributes, op.name);
}

/// Integer division has no result for a divisor of zero.
void check_divisor(const Op& op, ScalarType compute, const Operand& divisor) {
  if (!op.int_divisor || is_floating_type(compute)) return;
  bool zero = false;
  if (divisor.is_tensor()) {
    BelowDoorGuard below;
    zero = taeda::any(taeda::logical_not(divisor.tensor())).item<bool>();
  } else {
    zero = !divisor.scalar().unchecked<bool>();
  }
  TAEDA_CHECK(!zero, "[", op.name, "] ZeroDivisionError: integers cannot be divided by zero: got a divisor of 0; ",
              "mask it or convert to a floating dtype");
}

/// Whether a number of the call is floating or bool: whole ones fit every floating dtype of the quick way.
bool has_odd_numbers(const Op& op, const Operand* in, const Scalar* attrs) {
  bool odd = op.inputs == 2 && !in[1].is_tensor() && !in[1].scalar().isIntegral(false);
  for (int i = 0; i < op.attributes; ++i) odd |= !attrs[i].isIntegral(false);
  return odd;
}

Tensor compute(const Op& op, const Operand* in, const Scalar* attrs) {
  // One or two tensors of equal shape and dtype are the common case.
  const bool first = in[0].is_tensor();
  if (TAEDA_LIKELY(first && op.inputs <= 2 && op.rule != ResultRule::kBool)) {
    const TensorImpl& a = in[0].impl();
    const bool rank_fits = op.inputs == 1 || (in[1].is_tensor() ? in[1].impl().dtype == a.dtype &&
                                                  in[1].impl().sizes() == a.sizes() &&
                                                  !((a.flags | in[1].impl().flags) & kFlagWrappedNumber)
                                                                : true);
    if (rank_fits && a.contiguous && (a.dtype == kFloat || a.dtype == kDouble) && op.floats) {
      if (TAEDA_UNLIKELY(has_odd_numbers(op, in, attrs))) {
        if (op.adds_scaled && !op.bools) check_bool(op, in);
        check_numbers(op, a.dtype, in, attrs);
      }
      Tensor out = make_tensor(a.sizes(), a.dtype);
      launch(op, a.dtype, out.impl(), in, attrs);
      return out;
    }
  }
  const Types types = types_of(op, in);
  check_numbers(op, types.compute, in, attrs);
  Operand plain[kMaxInputs];
  wrap_numbers(op, types.compute, in, plain);
  check_divisor(op, types.compute, plain[op.inputs - 1]);
  const DimVector shape = shape_of(op, in);
  Tensor out = make_output(op, in, shape, types.result);
  launch(op, types.compute, out.impl(), plain, attrs);
  return out;
}

/// One local derivative times the cotangent in[0], by the fused kernel.
Tensor run_gradient(const Op& op, int input, ScalarType dtype, const Operand* in, int n, const Scalar* attrs) {
  return run_gradient(op.gradients[input].kernel, dtype, in, n, attrs, op.attributes, op.name);
}

void compute_into(const Op& op, const Tensor& self, const Operand* in, const Scalar* attrs, const char* suffix);

// What a capture sees. Words: which inputs are tensors, then the numbers' kinds; numbers: inputs, then attributes.
void describe(capture::Call& call, const Operand* in, int n, const Scalar* attrs, int attributes) {
  uint64_t tensors = 0;
  for (int i = 0; i < n; ++i) tensors |= static_cast<uint64_t>(in[i].is_tensor()) << i;
  call.add(tensors << 8 | static_cast<uint64_t>(n));
  for (int i = 0; i < n; ++i) {
    if (in[i].is_tensor()) {
      call.add(in[i].tensor());
    } else {
      call.add_number(in[i].scalar());
    }
  }
  for (int i = 0; i < attributes; ++i) call.add_number(attrs[i]);
}
/// The inputs of a recorded call; returns its attributes.
const Scalar* operands_of(const capture::Replay& call, uint64_t word, Operand* in) {
  const Tensor* tensor = call.tensors;
  const Scalar* number = call.numbers;
  for (uint64_t i = 0; i < (word & 0xff); ++i) in[i] = (word >> (8 + i)) & 1 ? Operand(*tensor++) : Operand(*number++);
  return number;
}
void replay(const capture::Replay& call) {
  Operand in[kMaxInputs];
  const Scalar* attrs = operands_of(call, call.words[0], in);
  call.results.push_back(compute(*static_cast<const Op*>(call.detail), in, attrs));
}
void replay_inplace(const capture::Replay& call) {
  Operand in[kMaxInputs];
  const Scalar* attrs = operands_of(call, call.words[0], in);
  compute_into(*static_cast<const Op*>(call.detail), call.tensors[0], in, attrs, "_");
}
void replay_gradient(const capture::Replay& call) {
  Operand in[kMaxGradientInputs];
  const Scalar* attrs = operands_of(call, call.words[1], in);
  call.results.push_back(run_gradient(*static_cast<const Op*>(call.detail), call.variant, static_cast<ScalarType>(call.words[0]), in,
                                      static_cast<int>(call.words[1] & 0xff), attrs));
}

/// The graph node of every pointwise operator.
struct PointwiseNode final : autograd::Node {
  const Op* op;
  ScalarType result_dtype = kFloat;
  uint8_t tensor_mask = 0;
  autograd::SavedTensor inputs[kMaxInputs];
  autograd::SavedTensor result;
  Scalar numbers[kMaxInputs];
  Scalar attrs[kMaxAttributes];
  struct Shape {
    bool differs = false;  ///< from the output's shape
    ScalarType dtype = kFloat;
  } shapes[kMaxInputs];
  std::vector<DimVector> broadcast_shapes;  ///< by input, only when one differs

  std::string name() const override { return op->node_name; }
  void release_variables() override {
    for (auto& s : inputs) s.release();
    result.release();
  }
  void backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) override {
    if (!grads_in[0].defined()) return;
    for (int i = 0; i < op->inputs; ++i) {
      if (!needs(static_cast<size_t>(i))) continue;
      Tensor g = autograd::recording() ? derive(i, grads_in[0]) : derive_fused(i, grads_in[0]);
      if (shapes[i].differs) g = sum_to(g, broadcast_shapes[static_cast<size_t>(i)]);
      if (g.scalar_type() != shapes[i].dtype) g = g.to(shapes[i].dtype);
      grads_out[static_cast<size_t>(i)] = std::move(g);
    }
  }

 private:
  bool is_identity(const Gradient& g) const {
    return g.kernel == -2;
  }
  Tensor derive(int i, const Tensor& grad) const {
    const Gradient& g = op->gradients[i];
    if (is_identity(g)) return grad;
    TensorValue params[8];
    for (int k = 0; k < g.count; ++k) {
      const int code = g.codes[k];
      if (code == kResultCode) {
        params[k] = TensorValue(result.unpack(*this));
      } else if (code >= kAttributeCode) {
        params[k] = TensorValue(attrs[code - kAttributeCode].unchecked<double>());
      } else if ((tensor_mask >> code) & 1) {
        params[k] = TensorValue(inputs[code].unpack(*this));
      } else {
        params[k] = TensorValue(numbers[code].unchecked<double>());
      }
    }
    TAEDA_CHECK_NOT_IMPLEMENTED(g.formula != nullptr, "[", op->name,
                                "] the derivative is not itself differentiable; got create_graph=true; use it without");
    const TensorValue d = g.formula(params);
    if (d.is_constant()) {
      if (d.constant() == 0 && op->selects) return taeda::zeros_like(grad);
      return std::isfinite(d.constant()) ? taeda::mul(grad, Scalar(d.constant())) : masked_product(grad, taeda::full_like(grad, Scalar(d.constant())));
    }
    return op->selects ? masked_product(d.tensor(), grad) : masked_product(grad, d.tensor());
  }
  Tensor derive_fused(int i, const Tensor& grad) const {
    const Gradient& g = op->gradients[i];
    if (is_identity(g)) return grad;
    Operand in[kMaxGradientInputs];
    Tensor held[kMaxGradientInputs];
    int n = 1;
    in[0] = Operand(grad);
    for (int k = 0; k < g.count; ++k) {
      const int code = g.codes[k];
      if (code >= kAttributeCode && code != kResultCode) continue;
      if (code == kResultCode || (tensor_mask >> code) & 1) {
        held[n] = code == kResultCode ? result.unpack(*this) : inputs[code].unpack(*this);
        in[n] = Operand(held[n]);
      } else {
        in[n] = Operand(numbers[code]);
      }
      ++n;
    }
    if (TAEDA_LIKELY(!capture::active())) return run_gradient(*op, i, result_dtype, in, n, attrs);
    capture::Call call({.name = op->name, .run = replay_gradient, .detail = op, .variant = i});
    call.add(result_dtype);
    describe(call, in, n, attrs, op->attributes);
    return capture::through<Tensor>(call, [&] { return run_gradient(*op, i, result_dtype, in, n, attrs); });
  }
};

/// Makes the node of a call, or null when no input needs a gradient. `inplace`: the first input will be overwritten.
IntrusivePtr<autograd::Node> record(const Op& op, const Operand* in, const Scalar* attrs, bool inplace) {
  bool wanted = false;
  for (int i = 0; i < op.inputs; ++i) {
    wanted |= in[i].is_tensor() && op.gradients[i].kernel != -1 && autograd::needs_grad(in[i].tensor());
  }
  if (!wanted) return nullptr;
  auto node = IntrusivePtr<PointwiseNode>::adopt(new PointwiseNode);
  node->op = &op;
  uint32_t used = 0;  // inputs that some needed gradient reads
  for (int i = 0; i < op.inputs; ++i) {
    const bool want = in[i].is_tensor() && op.gradients[i].kernel != -1 && autograd::needs_grad(in[i].tensor());
    node->add_next_edge(want ? autograd::gradient_edge(in[i].tensor()) : autograd::Edge{});
    if (in[i].is_tensor()) {
      node->tensor_mask |= static_cast<uint8_t>(1u << i);
    } else {
      node->numbers[i] = in[i].scalar();
    }
    if (!want) continue;
    node->shapes[i].dtype = in[i].impl().dtype;
    for (int k = 0; k < op.gradients[i].count; ++k) {
      if (op.gradients[i].codes[k] < kAttributeCode) used |= 1u << op.gradients[i].codes[k];
    }
  }
  for (int i = 0; i < op.inputs; ++i) {
    if (!((used >> i) & 1) || !in[i].is_tensor()) continue;
    const bool overwritten = inplace && (i == 0 || in[i].tensor().is_same(in[0].tensor()));
    node->inputs[i] = autograd::SavedTensor(overwritten ? in[i].tensor().clone() : in[i].tensor(), false);
  }
  for (int i = 0; i < op.attributes; ++i) node->attrs[i] = attrs[i];
  return node;
}

/// After the result exists: shapes of broadcast inputs, and the saved result.
void complete(PointwiseNode& node, const Operand* in, const Tensor& result) {
  const Op& op = *node.op;
  node.result_dtype = result.scalar_type();
  bool uses_result = false;
  for (int i = 0; i < op.inputs; ++i) {
    if (!node.next_edge(static_cast<size_t>(i)).is_valid()) continue;
    for (int k = 0; k < op.gradients[i].count; ++k) uses_result |= op.gradients[i].codes[k] == kResultCode;
    if (in[i].impl().sizes() == result.sizes()) continue;
    node.shapes[i].differs = true;
    node.broadcast_shapes.resize(kMaxInputs);
    node.broadcast_shapes[static_cast<size_t>(i)] = DimVector(in[i].impl().sizes());
  }
  if (uses_result) node.result = autograd::SavedTensor(result, true);
}

std::vector<Value> values_of(const Op& op, const Operand* in, const Scalar* attrs) {
  std::vector<Value> values;
  for (int i = 0; i < op.inputs; ++i) values.push_back(in[i].value());
  for (int i = 0; i < op.attributes; ++i) values.emplace_back(attrs[i]);
  return values;
}

uint32_t all_flags(const Op& op, const Operand* in) {
  uint32_t flags = 0;
  for (int i = 0; i < op.inputs; ++i) {
    if (in[i].is_tensor()) flags |= in[i].impl().flags;
  }
  return flags;
}

TAEDA_NOINLINE Tensor run_slow(const Op& op, const OpInfo& info, const Operand* in, const Scalar* attrs) {
  if (tls_modes.active & kModeIntercept) return detail::intercept(info, values_of(op, in, attrs)).tensor();
  IntrusivePtr<autograd::Node> node = autograd::recording() ? record(op, in, attrs, false) : nullptr;
  if (tls_modes.active & kModeAnomaly) detail::tls_finite_blocks.clear();
  Tensor result;
  if (TAEDA_UNLIKELY(capture::active())) {
    capture::Call call({.name = op.name, .info = &info, .run = replay, .detail = &op});
    describe(call, in, op.inputs, attrs, op.attributes);
    result = capture::through<Tensor>(call, [&] { return compute(op, in, attrs); });
  } else {
    result = compute(op, in, attrs);
  }
  if (node) {
    auto& recorded = static_cast<PointwiseNode&>(*node);
    autograd::set_history(result, std::move(node));
    complete(recorded, in, result);
  }
  return detail::checked(info, std::move(result), [&] { return values_of(op, in, attrs); });
}

/// Bytes of the storage from the first to behind the last element.
std::pair<int64_t, int64_t> span(const TensorImpl& t) {
  int64_t last = 0;
  for (size_t d = 0; d < t.ndim; ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  const auto size = static_cast<int64_t>(t.itemsize());
  return {t.offset * size, (t.offset + last + 1) * size};
}
/// Whether reading `source` while writing `self` might see written elements.
bool may_overlap(const TensorImpl& self, const TensorImpl& source) {
  if (self.storage != source.storage || &self == &source || self.numel == 0 || source.numel == 0) return false;
  if (self.dtype == source.dtype && self.offset == source.offset && self.sizes() == source.sizes() && self.strides() == source.strides()) return false;
  const auto [a0, a1] = span(self);
  const auto [b0, b1] = span(source);
  return a0 < b1 && b0 < a1;
}

/// Writes the result of the operator into `self`, everything checked first. `in` begins with `self`, or has it nowhere.
void compute_into(const Op& op, const Tensor& self, const Operand* in, const Scalar* attrs, const char* suffix) {
  const Types types = types_of(op, in);
  TAEDA_CHECK(can_cast(types.result, self.scalar_type()), "[", op.name, suffix, "] result type ", types.result,
              " can't be cast to the desired output type ", self.scalar_type(), "; use the form that returns a new tensor");
  const DimVector shape = shape_of(op, in);
  TAEDA_CHECK(IntArrayRef(shape) == self.sizes(), "[", op.name, suffix, "] output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", IntArrayRef(shape), "; use the form that returns a new tensor");
  detail::check_writable(self, op.name);
  // Bool, integers and 16-bit floats take their values (1 + 1 is true, 100 + 100 wraps) before a wider dtype does.
  if (self.scalar_type() != types.result && types.result == types.compute && types.result != kFloat && types.result != kDouble) {
    copy_elements(self.impl(), compute(op, in, attrs).impl());
    self.mutable_impl().count_write();
    return;
  }
  check_numbers(op, types.compute, in, attrs);
  Operand copies[kMaxInputs];
  wrap_numbers(op, types.compute, in, copies);
  check_divisor(op, types.compute, copies[op.inputs - 1]);
  Tensor held[kMaxInputs];
  for (int i = 0; i < op.inputs; ++i) {
    if (in[i].is_tensor() && may_overlap(self.impl(), in[i].impl())) {
      detail::check_no_partial_overlap(self, in[i].tensor(), op.name);
      BelowDoorGuard below;
      held[i] = in[i].tensor().clone();
      copies[i] = Operand(held[i]);
    }
  }
  launch(op, types.compute, self.impl(), copies, attrs);
  self.mutable_impl().count_write();
}

}  // namespace

Tensor run_gradient(int kernel, ScalarType dtype, const Operand* in, int n, const Scalar* attrs, int attributes, const char* name) {
  Input inputs[kMaxGradientInputs];
  for (int k = 0; k < n; ++k) {
    if (in[k].is_tensor()) {
      inputs[k].tensor = &in[k].impl();
    } else {
      inputs[k].scalar = in[k].scalar();
    }
  }
  const TensorImpl& grad = in[0].impl();
  const Tensor out = grad.is_non_overlapping_and_dense() && !grad.contiguous ? make_tensor_strided(grad.sizes(), grad.strides(), dtype)
                                                                             : make_tensor(grad.sizes(), dtype);
  execute(kernel, dtype, out.impl(), inputs, n, attrs, attributes, name);
  return out;
}

std::optional<Recorded> recorded(const capture::Target& target, const uint64_t* words) {
  Recorded r;
  r.op = static_cast<const Op*>(target.detail);
  uint64_t shape = 0;
  if (target.run == replay || target.run == replay_inplace) {
    r.form = target.run == replay ? Recorded::Form::kFresh : Recorded::Form::kInPlace;
    r.kernel = r.op->kernel;
    shape = words[0];
  } else if (target.run == replay_gradient) {
    r.form = Recorded::Form::kGradient;
    r.kernel = r.op->gradients[target.variant].kernel;
    r.compute = static_cast<ScalarType>(words[0]);
    shape = words[1];
  } else {
    return std::nullopt;
  }
  r.inputs = static_cast<int>(shape & 0xff);
  r.tensor_mask = shape >> 8;
  r.attributes = r.op->attributes;
  return r;
}

Tensor run(const Op& op, const OpInfo& info, const Operand* in, const Scalar* attrs) {
  const Modes& modes = tls_modes;
  if (TAEDA_LIKELY(((all_flags(op, in) & modes.mask) | modes.active) == 0)) return compute(op, in, attrs);
  return run_slow(op, info, in, attrs);
}

Tensor& run_inplace(const Op& op, const OpInfo& info, const Tensor& self, const Operand* in, const Scalar* attrs) {
  auto& result = const_cast<Tensor&>(self);
  if (tls_modes.active & kModeIntercept) {
    detail::intercept(info, values_of(op, in, attrs));
    return result;
  }
  IntrusivePtr<autograd::Node> node;
  if (autograd::recording() && (all_flags(op, in) & tls_modes.mask)) {
    node = record(op, in, attrs, true);
    autograd::check_inplace(self, node != nullptr, info.name);
  }
  if (tls_modes.active & kModeAnomaly) detail::tls_finite_blocks.clear();
  if (TAEDA_UNLIKELY(capture::active())) {
    capture::Call call({.name = op.name, .info = &info, .run = replay_inplace, .detail = &op, .variant = -1});
    call.written.push_back(0);
    describe(call, in, op.inputs, attrs, op.attributes);
    capture::through<void>(call, [&] { compute_into(op, self, in, attrs, "_"); });
  } else {
    compute_into(op, self, in, attrs, "_");
  }
  self.impl().storage->last_writer.store(info.name, std::memory_order_relaxed);
  if (node) {
    complete(static_cast<PointwiseNode&>(*node), in, self);
    autograd::rebase_history(self, std::move(node));
  }
  if (tls_modes.active & kModeAnomaly) detail::check_finite(info, self, [&] { return values_of(op, in, attrs); });
  return result;
}

Tensor& run_out(const Op& op, const OpInfo& info, Tensor& out, const Operand* in, const Scalar* attrs) {
  (void)info;
  if (TAEDA_UNLIKELY(capture::active())) detail::finish_recorded();
  bool grads = detail::wants(out);
  for (int i = 0; i < op.inputs; ++i) grads |= in[i].is_tensor() && detail::wants(in[i].tensor());
  if (autograd::recording() && grads) detail::throw_out_grad(op.name);
  const Types types = types_of(op, in);
  TAEDA_CHECK(can_cast(types.result, out.scalar_type()), "[", op.name, "] result type ", types.result,
              " can't be cast to the desired output type ", out.scalar_type(), "; pass an output of another dtype");
  const DimVector shape = shape_of(op, in);
  if (out.sizes() != IntArrayRef(shape)) out.resize_(shape);
  compute_into(op, out, in, attrs, "");
  return out;
}

}  // namespace taeda::pointwise

namespace taeda::detail {

void check_no_partial_overlap(const Tensor& written, const Tensor& read, const char* op) {
  const TensorImpl& w = written.impl();
  const TensorImpl& r = read.impl();
  if (!pointwise::may_overlap(w, r) || !w.is_non_overlapping_and_dense() || !r.is_non_overlapping_and_dense()) return;
  TAEDA_CHECK(false, "[", op, "] unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location"
              ": got sizes ", r.sizes(), " with strides ", r.strides(), " at ", r.offset, " and ", w.sizes(), " with strides ", w.strides(), " at ",
              w.offset, "; call clone() on the input first");
}

}  // namespace taeda::detail
