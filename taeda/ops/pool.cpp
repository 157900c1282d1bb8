// SPDX-License-Identifier: Apache-2.0
// Pooling over windows: largest element, mean, and the adaptive forms with a given result size.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/conv.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/pool.h"

namespace taeda {
namespace ops {
namespace {

using detail::expand_list;

/// The arguments of a window over `dims` trailing dimensions, checked; `out` is worked out.
PoolArgs pool_window(IntArrayRef sizes, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, int64_t dims,
                     const char* op) {
  const auto n = static_cast<int64_t>(sizes.size());
  TAEDA_CHECK(n == dims + 1 || n == dims + 2, "[", op, "] expected a ", dims + 1, "D or ", dims + 2, "D input: got ", sizes, "; reshape it");
  for (int64_t d = n == dims + 2 ? 1 : 0; d < n; ++d) {
    TAEDA_CHECK(sizes[static_cast<size_t>(d)] > 0, "[", op, "] only the batch dimension may be empty: got ", sizes, "; check the input");
  }
  const DimVector k = expand_list(kernel, dims, "kernel_size", op);
  const DimVector s = stride.empty() ? k : expand_list(stride, dims, "stride", op);
  const DimVector p = expand_list(padding, dims, "padding", op), r = expand_list(dilation, dims, "dilation", op);
  PoolArgs x{};
  x.planes = 1;
  for (int64_t d = 0; d < n - dims; ++d) x.planes *= sizes[static_cast<size_t>(d)];
  for (int64_t d = 0; d < 3; ++d) {
    x.in[d] = x.out[d] = x.kernel[d] = x.stride[d] = x.dilation[d] = 1;
    const int64_t i = d - (3 - dims);
    if (i < 0) continue;
    const auto at = static_cast<size_t>(i);
    TAEDA_CHECK(k[at] > 0 && s[at] > 0 && r[at] > 0, "[", op, "] kernel size, stride and dilation should be greater than zero: got ", kernel, ", ", stride,
                " and ", dilation, "; use 1 or more");
    const int64_t reach = r[at] * (k[at] - 1) + 1;
    TAEDA_CHECK(p[at] >= 0 && p[at] <= reach / 2, "[", op, "] pad must be non-negative and at most half of the effective kernel size: got ", padding,
                " for kernel ", kernel, " and dilation ", dilation, "; pad less");
    x.in[d] = sizes[static_cast<size_t>(n - dims + i)];
    x.kernel[d] = k[at], x.stride[d] = s[at], x.pad[d] = p[at], x.dilation[d] = r[at];
    const int64_t room = x.in[d] + 2 * p[at] - reach + (ceil_mode ? s[at] - 1 : 0);
    x.out[d] = (room < 0 ? -((-room + s[at] - 1) / s[at]) : room / s[at]) + 1;
    if (ceil_mode && (x.out[d] - 1) * s[at] >= x.in[d] + p[at]) --x.out[d];
    TAEDA_CHECK(x.out[d] > 0, "[", op, "] the output size is too small: got input ", sizes, " with kernel ", kernel, " and padding ", padding,
                "; use a smaller kernel or pad");
  }
  return x;
}
PoolArgs adaptive_window(IntArrayRef sizes, IntArrayRef output_size, const char* op) {
  const auto n = static_cast<int64_t>(sizes.size()), dims = static_cast<int64_t>(output_size.size());
  TAEDA_CHECK(n == dims + 1 || n == dims + 2, "[", op, "] expected a ", dims + 1, "D or ", dims + 2, "D input: got ", sizes, "; reshape it");
  PoolArgs x{};
  x.adaptive = true;
  x.planes = 1;
  for (int64_t d = 0; d < n - dims; ++d) x.planes *= sizes[static_cast<size_t>(d)];
  for (int64_t d = 0; d < 3; ++d) {
    x.in[d] = x.out[d] = x.kernel[d] = x.stride[d] = x.dilation[d] = 1;
    const int64_t i = d - (3 - dims);
    if (i < 0) continue;
    x.in[d] = sizes[static_cast<size_t>(n - dims + i)];
    x.out[d] = output_size[static_cast<size_t>(i)];
    TAEDA_CHECK(x.out[d] >= 0, "[", op, "] elements of output_size must be greater than or equal to 0: got ", output_size, "; correct it");
    TAEDA_CHECK(x.in[d] > 0, "[", op, "] only the batch dimension may be empty: got ", sizes, "; check the input");
  }
  return x;
}
DimVector pooled_sizes(IntArrayRef sizes, const PoolArgs& x, int64_t dims) {
  DimVector out(sizes);
  for (int64_t i = 0; i < dims; ++i) out[out.size() - static_cast<size_t>(dims - i)] = x.out[3 - dims + i];
  return out;
}
int64_t* index_data(const Tensor& t) { return reinterpret_cast<int64_t*>(t.impl().data()); }

std::tuple<Tensor, Tensor> run_max_pool(const Tensor& self, PoolArgs x, int64_t dims) {
  TAEDA_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool, "[max_pool] pooling is not defined for bool; convert to another dtype");
  const Tensor from = self.contiguous();
  const DimVector sizes = pooled_sizes(self.sizes(), x, dims);
  Tensor values = make_tensor(sizes, self.scalar_type(), self.device());
  Tensor indices = make_tensor(sizes, kLong, self.device());
  x.dtype = self.scalar_type();
  x.self = from.impl().data(), x.result = values.impl().data(), x.indices = index_data(indices);
  if (values.numel() > 0) max_pool_kernel(self.device(), x);
  return {values, indices};
}

/// The largest element of each window and its position in the plane of the trailing dimensions. Windows that reach over
/// the border see no padding.
struct MaxPoolNd {
  static constexpr auto schema =
      "_max_pool_nd(Tensor self, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> (Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                            bool ceil_mode) {
    const auto dims = static_cast<int64_t>(kernel_size.size());
    return run_max_pool(self, pool_window(self.sizes(), kernel_size, stride, padding, dilation, ceil_mode, dims, "max_pool"), dims);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& indices, IntArrayRef self_sizes, IntArrayRef kernel_size) {
    return taeda::_max_pool_backward(grad, indices, self_sizes, static_cast<int64_t>(kernel_size.size()));
  }
  static constexpr Onnx onnx{"MaxPool", 12};
};
/// Zeros of the given sizes with the cotangents at the places of the largest elements.
struct MaxPoolBackward {
  static constexpr auto schema = "_max_pool_backward(Tensor grad_output, Tensor indices, int[] sizes, int dims) -> Tensor";
  static Tensor forward(const Tensor& grad_output, const Tensor& indices, IntArrayRef sizes, int64_t dims) {
    const auto rank = static_cast<int64_t>(sizes.size());
    TAEDA_CHECK(dims >= 1 && dims <= 3 && rank >= dims && grad_output.dim() == rank && grad_output.sizes() == indices.sizes() &&
                    indices.scalar_type() == kLong && grad_output.sizes().slice(0, static_cast<size_t>(rank - dims)) == sizes.slice(0, static_cast<size_t>(rank - dims)),
                "[_max_pool_backward] gradient and int64 indices must have the shape of the forward's result: got ", grad_output.sizes(), ", ",
                indices.scalar_type(), indices.sizes(), " for an input of sizes ", sizes, " with ", dims, " pooled dimensions; pass those of the forward");
    const Tensor grad = grad_output.contiguous(), at = indices.contiguous();
    if (at.numel() > 0) {
      int64_t plane = 1;
      for (int64_t i = rank - dims; i < rank; ++i) plane *= sizes[static_cast<size_t>(i)];
      const int64_t* place = at.const_data_ptr<int64_t>();
      const auto [least, most] = std::minmax_element(place, place + at.numel());
      TAEDA_CHECK_INDEX(*least >= 0 && *most < plane, "[_max_pool_backward] indices must lie in [0, ", plane, "): got ", *least, " to ", *most,
                        "; pass those of the forward");
    }
    Tensor result = make_tensor(sizes, grad.scalar_type(), grad.device());
    PoolArgs x{};
    x.dtype = grad.scalar_type();
    x.planes = 1;
    for (size_t d = 0; d < sizes.size() - static_cast<size_t>(dims); ++d) x.planes *= sizes[d];
    x.in[0] = x.in[1] = x.in[2] = x.out[0] = x.out[1] = x.out[2] = 1;
    for (int64_t i = 0; i < dims; ++i) {
      x.in[i] = sizes[sizes.size() - static_cast<size_t>(dims - i)];
      x.out[i] = grad.size(i - dims);
    }
    x.self = grad.impl().data(), x.result = result.impl().data(), x.indices = index_data(at);
    if (result.numel() > 0) max_pool_grad_kernel(grad.device(), x);
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, const Tensor& indices, int64_t dims) {
    return grad.flatten(-dims, -1).gather(-1, indices.flatten(-dims, -1)).view(indices.sizes());
  }
};

/// The mean of each window. Padding counts where count_include_pad is set; divisor_override replaces the count.
struct AvgPoolNd {
  static constexpr auto schema =
      "_avg_pool_nd(Tensor self, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor";
  static constexpr auto variants = "function";
  static PoolArgs window(IntArrayRef sizes, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor) {
    TAEDA_CHECK(!divisor || *divisor != 0, "[avg_pool] divisor must be not zero: got 0; leave it out for the number of elements");
    const int64_t one = 1;
    PoolArgs x = pool_window(sizes, kernel, stride, padding, IntArrayRef(one), ceil_mode, static_cast<int64_t>(kernel.size()), "avg_pool");
    x.count_padding = count_include_pad;
    x.divisor = divisor.value_or(0);
    return x;
  }
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                        std::optional<int64_t> divisor_override) {
    PoolArgs x = window(self.sizes(), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
    TAEDA_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kBool, "[avg_pool] pooling is not defined for bool; convert to another dtype");
    const Tensor from = self.contiguous();
    Tensor result = make_tensor(pooled_sizes(self.sizes(), x, static_cast<int64_t>(kernel_size.size())), self.scalar_type(), self.device());
    x.dtype = self.scalar_type();
    x.self = from.impl().data(), x.result = result.impl().data();
    if (result.numel() > 0) avg_pool_kernel(self.device(), x);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                          bool count_include_pad, std::optional<int64_t> divisor_override) {
    return taeda::_avg_pool_backward(grad, self_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  }
  static constexpr Onnx onnx{"AveragePool", 11};
};
/// The adjoint of `_avg_pool_nd`: every cotangent is shared among its window.
struct AvgPoolBackward {
  static constexpr auto schema =
      "_avg_pool_backward(Tensor grad_output, int[] sizes, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad, "
      "int? divisor_override) -> Tensor";
  static Tensor forward(const Tensor& grad_output, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                        bool count_include_pad, std::optional<int64_t> divisor_override) {
    PoolArgs x = AvgPoolNd::window(sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
    const Tensor grad = grad_output.contiguous();
    Tensor result = make_tensor(sizes, grad.scalar_type(), grad.device());
    x.dtype = grad.scalar_type();
    x.self = grad.impl().data(), x.result = result.impl().data();
    if (result.numel() > 0) avg_pool_grad_kernel(grad.device(), x);
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                                 bool count_include_pad, std::optional<int64_t> divisor_override) {
    return taeda::_avg_pool_nd(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  }
};

/// The mean of each of output_size windows that divide the trailing dimensions evenly.
struct AdaptiveAvgPoolNd {
  static constexpr auto schema = "_adaptive_avg_pool_nd(Tensor self, int[] output_size) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size) {
    PoolArgs x = adaptive_window(self.sizes(), output_size, "adaptive_avg_pool");
    const Tensor from = self.contiguous();
    Tensor result = make_tensor(pooled_sizes(self.sizes(), x, static_cast<int64_t>(output_size.size())), self.scalar_type(), self.device());
    x.dtype = self.scalar_type();
    x.self = from.impl().data(), x.result = result.impl().data();
    if (result.numel() > 0) avg_pool_kernel(self.device(), x);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef output_size) {
    return taeda::_adaptive_avg_pool_backward(grad, self_sizes, output_size);
  }
};
/// The adjoint of `_adaptive_avg_pool_nd`.
struct AdaptiveAvgPoolBackward {
  static constexpr auto schema = "_adaptive_avg_pool_backward(Tensor grad_output, int[] sizes, int[] output_size) -> Tensor";
  static Tensor forward(const Tensor& grad_output, IntArrayRef sizes, IntArrayRef output_size) {
    PoolArgs x = adaptive_window(sizes, output_size, "adaptive_avg_pool_backward");
    const Tensor grad = grad_output.contiguous();
    Tensor result = make_tensor(sizes, grad.scalar_type(), grad.device());
    x.dtype = grad.scalar_type();
    x.self = grad.impl().data(), x.result = result.impl().data();
    if (result.numel() > 0) avg_pool_grad_kernel(grad.device(), x);
    return result;
  }
  static Tensor grad_grad_output(const Tensor& grad, IntArrayRef output_size) { return taeda::_adaptive_avg_pool_nd(grad, output_size); }
};
/// The largest element of each of output_size windows that divide the trailing dimensions evenly, and its position.
struct AdaptiveMaxPoolNd {
  static constexpr auto schema = "_adaptive_max_pool_nd(Tensor self, int[] output_size) -> (Tensor values, Tensor indices)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef output_size) {
    return run_max_pool(self, adaptive_window(self.sizes(), output_size, "adaptive_max_pool"), static_cast<int64_t>(output_size.size()));
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& indices, IntArrayRef self_sizes, IntArrayRef output_size) {
    return taeda::_max_pool_backward(grad, indices, self_sizes, static_cast<int64_t>(output_size.size()));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/pool.inc"
