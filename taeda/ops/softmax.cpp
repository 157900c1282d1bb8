// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm.
#include "taeda/ops/kernels/softmax.h"

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

struct Split {
  int64_t outer = 1, n = 1, inner = 1;
};
Split split_at(IntArrayRef sizes, int64_t dim) {
  Split s;
  for (size_t d = 0; d < sizes.size(); ++d) {
    (static_cast<int64_t>(d) < dim ? s.outer : static_cast<int64_t>(d) == dim ? s.n : s.inner) *= sizes[d];
  }
  return s;
}
bool is_half(ScalarType t) { return t == kHalf || t == kBFloat16; }

void check_half_to_float(bool half_to_float, const char* op) {
  TAEDA_CHECK(!half_to_float, "[", op, "] conversion from half to float is not supported on CPU: got half_to_float = true; convert first");
}
Tensor softmax_forward(const Tensor& self, int64_t dim, bool log, const char* op) {
  TAEDA_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[", op, "] only floating dtypes are supported: got ", self.scalar_type(),
              "; pass dtype or convert the input");
  dim = maybe_wrap_dim(dim, self.dim(), op);
  if (is_half(self.scalar_type())) return softmax_forward(self.to(kFloat), dim, log, op).to(self.scalar_type());
  const Tensor in = self.contiguous();
  Tensor out = make_tensor(in.sizes(), in.scalar_type(), in.device());
  if (out.numel() == 0) return out;
  const Split s = split_at(in.sizes(), dim);
  softmax_kernel(in.device(), SoftmaxArgs{log, in.scalar_type(), in.impl().data(), out.impl().data(), s.outer, s.n, s.inner});
  return out;
}
Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim, bool log, const char* op) {
  dim = maybe_wrap_dim(dim, output.dim(), op);
  TAEDA_CHECK_NOT_IMPLEMENTED(is_floating_type(output.scalar_type()) && is_floating_type(grad.scalar_type()), "[", op,
                              "] is defined for floating dtypes: got ", output.scalar_type(), " and ", grad.scalar_type(), "; convert with .to(dtype) first");
  TAEDA_CHECK(grad.sizes() == output.sizes(), "[", op, "] gradient and result must have the same shape: got ", grad.sizes(), " and ", output.sizes(),
              "; pass the forward's result");
  if (is_half(output.scalar_type())) {
    return softmax_backward(grad.to(kFloat), output.to(kFloat), dim, log, op).to(output.scalar_type());
  }
  const Tensor g = grad.to(output.scalar_type()).contiguous();
  const Tensor y = output.contiguous();
  Tensor out = make_tensor(y.sizes(), y.scalar_type(), y.device());
  if (out.numel() == 0) return out;
  const Split s = split_at(y.sizes(), dim);
  softmax_backward_kernel(y.device(), SoftmaxBackwardArgs{log, y.scalar_type(), g.impl().data(), y.impl().data(), out.impl().data(),
                                                          s.outer, s.n, s.inner});
  return out;
}

/// exp(self) / sum(exp(self)) along `dim`, computed with the maximum taken off.
struct SoftmaxImpl {
  static constexpr auto schema = "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto autocast = "fp32";
  static Tensor forward(const Tensor& self, int64_t dim, bool half_to_float) {
    check_half_to_float(half_to_float, "softmax");
    return softmax_forward(self, dim, false, "softmax");
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& result, int64_t dim, ScalarType self_dtype) {
    return taeda::_softmax_backward_data(grad, result, dim, self_dtype);
  }
  static constexpr Onnx onnx{"Softmax", 13};
};
/// (grad - sum(grad * output)) * output.
struct SoftmaxBackwardData {
  static constexpr auto schema =
      "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
    return softmax_backward(grad_output, output, dim, false, "softmax").to(input_dtype);
  }
  static Tensor grad_grad_output(const Tensor& grad, const Tensor& output, int64_t dim) {
    return taeda::_softmax_backward_data(grad.to(output.scalar_type()), output, dim, output.scalar_type());
  }
  static Tensor grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
    const Tensor product = grad_output.mul(output).sum(dim, true);
    return grad.mul(grad_output.sub(product)).sub(grad_output.mul(grad.mul(output).sum(dim, true)));
  }
};
/// self - log(sum(exp(self))) along `dim`.
struct LogSoftmaxImpl {
  static constexpr auto schema = "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto autocast = "fp32";
  static Tensor forward(const Tensor& self, int64_t dim, bool half_to_float) {
    check_half_to_float(half_to_float, "log_softmax");
    return softmax_forward(self, dim, true, "log_softmax");
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& result, int64_t dim, ScalarType self_dtype) {
    return taeda::_log_softmax_backward_data(grad, result, dim, self_dtype);
  }
  static constexpr Onnx onnx{"LogSoftmax", 13};
};
/// grad - exp(output) * sum(grad).
struct LogSoftmaxBackwardData {
  static constexpr auto schema =
      "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
    return softmax_backward(grad_output, output, dim, true, "log_softmax").to(input_dtype);
  }
  static Tensor grad_grad_output(const Tensor& grad, const Tensor& output, int64_t dim) {
    return grad.sub(grad.mul(output.exp()).sum(dim, true));
  }
  static Tensor grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
    return grad.mul(output.exp()).mul(grad_output.sum(dim, true)).neg();
  }
};

Tensor with_dtype(const Tensor& self, std::optional<ScalarType> dtype) { return dtype ? self.to(*dtype) : self; }

/// Softmax along `dim`; the input is converted to `dtype` first when given.
struct Softmax : Composite {
  static constexpr auto schema = "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
    return taeda::_softmax(with_dtype(self, dtype), dim, false);
  }
};
/// Logarithm of softmax along `dim`; the input is converted to `dtype` first when given.
struct LogSoftmax : Composite {
  static constexpr auto schema = "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
    return taeda::_log_softmax(with_dtype(self, dtype), dim, false);
  }
};
/// See `softmax`.
struct SpecialSoftmax : Composite {
  static constexpr auto schema = "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) { return self.softmax(dim, dtype); }
};
/// See `log_softmax`.
struct SpecialLogSoftmax : Composite {
  static constexpr auto schema = "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) { return self.log_softmax(dim, dtype); }
};
/// Softmax of the negated input.
struct Softmin : Composite {
  static constexpr auto schema = "nn_functional_softmin(Tensor input, int dim, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, std::optional<ScalarType> dtype) { return input.neg().softmax(dim, dtype); }
};

/// log(sum(exp(self))) over dimensions, with the maximum taken off.
struct Logsumexp {
  static constexpr auto schema = "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor";
  static Tensor forward(const Tensor& self, IntArrayRef dim, bool keepdim) {
    const Tensor in = self.is_floating_point() ? self : self.to(default_scalar_type());
    if (in.numel() == 0) return in.exp().sum(OptionalIntArrayRef(dim), keepdim).log();
    const uint64_t mask = detail::reduce_mask(OptionalIntArrayRef(dim), in.dim(), "logsumexp");
    const Tensor top = detail::reduce(ReduceKind::kMax, in, mask, true);
    const Tensor shift = top.masked_fill(top.abs().eq(std::numeric_limits<double>::infinity()), 0);
    const Tensor sum = in.sub(shift).exp().sum(OptionalIntArrayRef(dim), keepdim);
    return sum.log().add(keepdim ? shift : shift.reshape(sum.sizes()));
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim, bool keepdim) {
    const uint64_t mask = detail::reduce_mask(OptionalIntArrayRef(dim), self.dim(), "logsumexp");
    const Tensor r = detail::restore_dims(result, mask, self.dim(), keepdim);
    const Tensor shift = r.masked_fill(r.eq(-std::numeric_limits<double>::infinity()), 0);
    return detail::restore_dims(grad, mask, self.dim(), keepdim).mul(self.sub(shift).exp());
  }
  static constexpr Onnx onnx{"ReduceLogSumExp", 18};
};
/// See `logsumexp`.
struct SpecialLogsumexp : Composite {
  static constexpr auto schema = "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef dim, bool keepdim) { return self.logsumexp(dim, keepdim); }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/softmax.inc"
