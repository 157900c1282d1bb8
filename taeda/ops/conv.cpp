// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed convolutions in one to three spatial dimensions.
#include "taeda/ops/conv.h"

#include <algorithm>
#include <cstdint>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/conv.h"
#include "taeda/ops/matmul.h"

namespace taeda {

namespace detail {

DimVector expand_list(IntArrayRef list, int64_t count, const char* name, const char* op) {
  if (static_cast<int64_t>(list.size()) == count) return DimVector(list);
  TAEDA_CHECK(list.size() == 1, "[", op, "] ", name, " must have one value or one for each of the ", count, " spatial dimensions: got ", list,
              "; give ", count);
  return DimVector(static_cast<size_t>(count), list[0]);
}

}  // namespace detail

namespace ops {
namespace {

using detail::expand_list;

int64_t conv_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

struct Window {
  DimVector stride, padding, dilation, output_padding;
};

void check_channels(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, bool transposed, int64_t groups) {
  TAEDA_CHECK(groups > 0, "[convolution] groups must be positive: got ", groups, "; use 1 for a plain convolution");
  TAEDA_CHECK(weight.dim() >= 3 && weight.dim() <= 5 && input.dim() == weight.dim(),
              "[convolution] input and weight must have batch or output channels, channels, and the same one to three spatial dimensions: got ",
              input.sizes(), " and ", weight.sizes(), "; reshape the input");
  TAEDA_CHECK(input.scalar_type() == weight.scalar_type(), "[convolution] input and weight must have the same dtype: got ", input.scalar_type(),
              " and ", weight.scalar_type(), "; convert one with to()");
  TAEDA_CHECK(weight.size(0) >= groups && weight.size(0) % groups == 0, "[convolution] the weight's first dimension must be a multiple of groups: got ",
              weight.sizes(), " and groups ", groups, "; check the channels");
  const int64_t in = transposed ? weight.size(0) : weight.size(1) * groups;
  const int64_t out = transposed ? weight.size(1) * groups : weight.size(0);
  TAEDA_CHECK(input.size(1) == in, "[convolution] given groups=", groups, " and weight of size ", weight.sizes(), ", the input must have ", in,
              " channels: got ", input.sizes(), "; check the channels");
  if (!bias || !bias->defined()) return;
  TAEDA_CHECK(bias->dim() == 1 && bias->size(0) == out, "[convolution] given weight of size ", weight.sizes(), ", the bias must be 1-dimensional with ",
              out, " elements: got ", bias->sizes(), "; check the bias");
  TAEDA_CHECK(bias->scalar_type() == input.scalar_type(), "[convolution] input and bias must have the same dtype: got ", input.scalar_type(), " and ",
              bias->scalar_type(), "; convert one with to()");
}

Window check_window(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                    IntArrayRef output_padding) {
  const int64_t dims = weight.dim() - 2;
  Window w{expand_list(stride, dims, "stride", "convolution"), expand_list(padding, dims, "padding", "convolution"),
           expand_list(dilation, dims, "dilation", "convolution"), expand_list(output_padding, dims, "output_padding", "convolution")};
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    TAEDA_CHECK(w.stride[i] > 0 && w.dilation[i] > 0, "[convolution] stride and dilation must be positive: got ", stride, " and ", dilation,
                "; use 1 or more");
    TAEDA_CHECK(std::max({w.stride[i], w.dilation[i], w.padding[i], w.output_padding[i]}) <= INT32_MAX && weight.size(d + 2) <= INT32_MAX,
                "[convolution] stride, dilation and padding must be below 2^31: got ", stride, ", ", dilation, ", ", padding, " and ", output_padding,
                "; use less");
    TAEDA_CHECK(w.padding[i] >= 0 && w.output_padding[i] >= 0, "[convolution] negative padding is not supported: got ", padding, " and output padding ",
                output_padding, "; crop the input");
    const int64_t kernel = w.dilation[i] * (weight.size(d + 2) - 1) + 1;
    TAEDA_CHECK(weight.size(d + 2) > 0, "[convolution] the kernel must have elements: got ", weight.sizes(), "; check the weight");
    TAEDA_CHECK(transposed || input.size(d + 2) + 2 * w.padding[i] >= kernel, "[convolution] kernel size can't be greater than actual input size: got ",
                kernel, " (dilated) for ", input.size(d + 2) + 2 * w.padding[i], " (padded); pad the input");
    TAEDA_CHECK(!transposed || w.output_padding[i] < std::max(w.stride[i], w.dilation[i]),
                "[convolution] output padding must be smaller than either stride or dilation: got ", output_padding, " for ", stride, " and ", dilation,
                "; use less");
  }
  return w;
}

ConvGeometry geometry_of(ScalarType dtype, int64_t batch, int64_t groups, IntArrayRef in_sizes, IntArrayRef out_sizes, IntArrayRef weight_sizes,
                         const Window& w) {
  ConvGeometry g;
  g.dtype = dtype;
  g.batch = batch, g.groups = groups;
  g.in_channels = weight_sizes[1], g.out_channels = weight_sizes[0] / groups;
  const size_t lead = 3 - (weight_sizes.size() - 2);
  for (size_t d = 0; d < 3; ++d) {
    g.in[d] = g.out[d] = g.kernel[d] = g.stride[d] = g.dilation[d] = 1;
    g.pad[d] = 0;
    if (d < lead) continue;
    const size_t i = d - lead;
    g.in[d] = in_sizes[i + 2], g.out[d] = out_sizes[i + 2], g.kernel[d] = weight_sizes[i + 2];
    g.stride[d] = w.stride[i], g.dilation[d] = w.dilation[i], g.pad[d] = w.padding[i];
  }
  return g;
}

/// The dtype a convolution is computed in.
ScalarType conv_compute(ScalarType type) {
  if (type == kHalf || type == kBFloat16) return kFloat;
  return type == kFloat ? kFloat : kDouble;
}
char* data_of(const Tensor& t) { return t.impl().data(); }

Tensor convolve(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                bool transposed, IntArrayRef output_padding, int64_t groups, const detail::ConvEpilogue& after = {}) {
  check_channels(input, weight, bias, transposed, groups);
  const Window w = check_window(input, weight, stride, padding, dilation, transposed, output_padding);
  DimVector sizes(input.sizes());
  sizes[1] = transposed ? weight.size(1) * groups : weight.size(0);
  for (size_t d = 0; d + 2 < sizes.size(); ++d) {
    const int64_t in = input.sizes()[d + 2], kernel = weight.sizes()[d + 2];
    sizes[d + 2] = transposed ? (in - 1) * w.stride[d] - 2 * w.padding[d] + w.dilation[d] * (kernel - 1) + w.output_padding[d] + 1
                              : conv_size(in, kernel, w.stride[d], w.padding[d], w.dilation[d]);
    TAEDA_CHECK(sizes[d + 2] > 0 || (sizes[d + 2] == 0 && in == 0), "[convolution] the result would be empty or negative: got input ", input.sizes(), ", weight ", weight.sizes(),
                ", padding ", padding, "; pad less");
  }
  TAEDA_CHECK(!after.add.defined() || (after.add.sizes() == IntArrayRef(sizes) && after.add.is_contiguous() && after.add.scalar_type() == input.scalar_type()),
              "[convolution] what is added has the result's sizes and dtype and is contiguous: got ", Value(after.add).describe(), " for ",
              input.scalar_type(), IntArrayRef(sizes), "; add it afterwards");
  const ScalarType type = input.scalar_type(), compute = conv_compute(type);
  const Tensor x = input.to(compute).contiguous(), k = after.packed.defined() ? weight : weight.to(compute).contiguous();
  const Tensor b = bias && bias->defined() ? bias->to(compute).contiguous() : Tensor();
  Tensor result = make_tensor(sizes, compute, input.device());
  if (result.numel() == 0) return result.to(type);
  const char* add = b.defined() ? data_of(b) : nullptr;
  if (transposed) {
    const ConvArgs args{geometry_of(compute, input.size(0), groups, sizes, input.sizes(), weight.sizes(), w), data_of(result), data_of(k), data_of(x), add};
    conv_transposed_kernel(input.device(), args);
  } else {
    const ConvArgs args{geometry_of(compute, input.size(0), groups, input.sizes(), sizes, weight.sizes(), w), data_of(x), data_of(k), data_of(result), add,
                        after.packed.defined() ? data_of(after.packed) : nullptr, after.add.defined() ? data_of(after.add) : nullptr, after.relu};
    conv_kernel(input.device(), args);
  }
  return result.to(type);
}

/// Convolution of input (batch, in, …) with weight (out, in / groups, kernel…), or with `transposed` its adjoint with weight
/// (in, out / groups, kernel…). `bias` (out) is added while the result is written.
struct Convolution {
  static constexpr auto schema =
      "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, "
      "int[] output_padding, int groups) -> Tensor";
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups) {
    return convolve(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
  }
  static Tensor grad_input(const Tensor& grad, const Tensor& weight, IntArrayRef input_sizes, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, bool transposed, int64_t groups) {
    return adjoint(grad, weight, input_sizes, stride, padding, dilation, transposed, groups);
  }
  static Tensor grad_weight(const Tensor& grad, const Tensor& input, IntArrayRef weight_sizes, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, bool transposed, int64_t groups) {
    return transposed ? taeda::_convolution_weight_grad(grad, input, weight_sizes, stride, padding, dilation, groups)
                      : taeda::_convolution_weight_grad(input, grad, weight_sizes, stride, padding, dilation, groups);
  }
  static Tensor grad_bias(const Tensor& grad) {
    DimVector dims;
    for (int64_t d = 0; d < grad.dim(); ++d) {
      if (d != 1) dims.push_back(d);
    }
    return grad.sum(dims);
  }
  /// The adjoint map, with a result of the given sizes.
  static Tensor adjoint(const Tensor& grad, const Tensor& weight, IntArrayRef sizes, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        bool transposed, int64_t groups) {
    const auto dims = static_cast<int64_t>(sizes.size()) - 2;
    const DimVector s = expand_list(stride, dims, "stride", "convolution"), p = expand_list(padding, dims, "padding", "convolution"),
                    r = expand_list(dilation, dims, "dilation", "convolution");
    DimVector rest(static_cast<size_t>(dims), 0);
    if (transposed) {
      Tensor result = taeda::convolution(grad, weight, std::nullopt, s, p, r, false, rest, groups);
      for (int64_t d = 0; d < dims; ++d) {
        if (result.size(d + 2) > sizes[static_cast<size_t>(d) + 2]) result = result.narrow(d + 2, 0, sizes[static_cast<size_t>(d) + 2]);
      }
      return result;
    }
    for (size_t d = 0; d < rest.size(); ++d) {
      rest[d] = sizes[d + 2] - ((grad.sizes()[d + 2] - 1) * s[d] - 2 * p[d] + r[d] * (weight.sizes()[d + 2] - 1) + 1);
    }
    return taeda::convolution(grad, weight, std::nullopt, s, p, r, true, rest, groups);
  }
  static constexpr Onnx onnx{"Conv", 11};
};

/// The gradient of a convolution for its weight: input (batch, in, …), grad_output (batch, out, …), gives weight_sizes.
struct ConvolutionWeightGrad {
  static constexpr auto schema =
      "_convolution_weight_grad(Tensor input, Tensor grad_output, int[] weight_sizes, int[] stride, int[] padding, int[] dilation, int groups) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& grad_output, IntArrayRef weight_sizes, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, int64_t groups) {
    const auto dims = static_cast<int64_t>(weight_sizes.size()) - 2;
    TAEDA_CHECK(dims >= 1 && dims <= 3 && input.dim() == dims + 2 && grad_output.dim() == dims + 2 && input.scalar_type() == grad_output.scalar_type(),
                "[_convolution_weight_grad] input and gradient must be of one dtype and have as many dimensions as the weight, 3 to 5: got ",
                input.scalar_type(), input.sizes(), ", ", grad_output.scalar_type(), grad_output.sizes(), " and ", weight_sizes, "; check the shapes");
    TAEDA_CHECK(groups > 0 && weight_sizes[0] % groups == 0 && grad_output.size(1) == weight_sizes[0] && input.size(0) == grad_output.size(0) &&
                    weight_sizes[1] >= 0 && weight_sizes[1] <= INT32_MAX && input.size(1) == weight_sizes[1] * groups,
                "[_convolution_weight_grad] batches and channels must match the weight: got input ", input.sizes(), ", gradient ", grad_output.sizes(),
                ", weight ", weight_sizes, " and groups ", groups, "; check the shapes");
    const DimVector none(static_cast<size_t>(dims), 0);
    const Window w{expand_list(stride, dims, "stride", "convolution"), expand_list(padding, dims, "padding", "convolution"),
                   expand_list(dilation, dims, "dilation", "convolution"), none};
    for (size_t i = 0; i < none.size(); ++i) {
      const int64_t k = weight_sizes[i + 2], out = grad_output.sizes()[i + 2];
      const bool fits = k > 0 && k <= INT32_MAX && w.stride[i] > 0 && w.dilation[i] > 0 && w.padding[i] >= 0 &&
                        std::max({w.stride[i], w.dilation[i], w.padding[i]}) <= INT32_MAX;
      TAEDA_CHECK(fits && (out == 0 || (out - 1) * w.stride[i] + w.dilation[i] * (k - 1) < input.sizes()[i + 2] + 2 * w.padding[i]),
                  "[_convolution_weight_grad] the gradient must not reach beyond the padded input: got input ", input.sizes(), ", gradient ",
                  grad_output.sizes(), ", weight ", weight_sizes, ", stride ", stride, ", padding ", padding, " and dilation ", dilation, "; check the shapes");
    }
    const ScalarType type = input.scalar_type(), compute = conv_compute(type);
    const Tensor x = input.to(compute).contiguous(), g = grad_output.to(compute).contiguous();
    Tensor result = make_tensor(weight_sizes, compute, input.device());
    if (input.numel() == 0 || grad_output.numel() == 0) return result.zero_().to(type);
    const ConvArgs args{geometry_of(compute, input.size(0), groups, input.sizes(), grad_output.sizes(), weight_sizes, w), data_of(x), data_of(result),
                        data_of(g), nullptr};
    conv_weight_kernel(input.device(), args);
    return result.to(type);
  }
  static Tensor grad_input(const Tensor& grad, const Tensor& grad_output, IntArrayRef input_sizes, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, int64_t groups) {
    return Convolution::adjoint(grad_output, grad, input_sizes, stride, padding, dilation, false, groups);
  }
  static Tensor grad_grad_output(const Tensor& grad, const Tensor& input, IntArrayRef grad_output_sizes, IntArrayRef stride, IntArrayRef padding,
                                 IntArrayRef dilation, int64_t groups) {
    return Convolution::adjoint(input, grad, grad_output_sizes, stride, padding, dilation, true, groups);
  }
};

/// The forms for one to three dimensions: an input without batch is one image.
Tensor conv_nd(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
               IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups, int64_t dims, const char* op) {
  TAEDA_CHECK(input.dim() == dims + 1 || input.dim() == dims + 2, "[", op, "] expected a ", dims + 1, "D (unbatched) or ", dims + 2,
              "D (batched) input: got ", input.sizes(), "; reshape it");
  TAEDA_CHECK(weight.dim() == dims + 2, "[", op, "] the weight must have ", dims + 2, " dimensions: got ", weight.sizes(), "; reshape it");
  const DimVector s = expand_list(stride, dims, "stride", op), p = expand_list(padding, dims, "padding", op),
                  r = expand_list(dilation, dims, "dilation", op), o = expand_list(output_padding, dims, "output_padding", op);
  if (input.dim() == dims + 2) return taeda::convolution(input, weight, bias, s, p, r, transposed, o, groups);
  return taeda::convolution(input.unsqueeze(0), weight, bias, s, p, r, transposed, o, groups).squeeze(0);
}
Tensor conv_named(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, std::string_view padding,
                  IntArrayRef dilation, int64_t groups, int64_t dims, const char* op) {
  TAEDA_CHECK(padding == "valid" || padding == "same", "[", op, "] padding must be 'valid' or 'same': got '", padding, "'; choose one or give numbers");
  const int64_t zero = 0;
  if (padding == "valid") return conv_nd(input, weight, bias, stride, IntArrayRef(zero), dilation, false, IntArrayRef(zero), groups, dims, op);
  TAEDA_CHECK(weight.dim() == dims + 2, "[", op, "] the weight must have ", dims + 2, " dimensions: got ", weight.sizes(), "; reshape it");
  const DimVector s = expand_list(stride, dims, "stride", op), r = expand_list(dilation, dims, "dilation", op);
  DimVector pad(static_cast<size_t>(dims), 0), extra(static_cast<size_t>(2 * dims), 0);
  bool uneven = false;
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    TAEDA_CHECK(s[i] == 1, "[", op, "] padding='same' is not supported for strided convolutions: got stride ", stride, "; pad by numbers");
    const int64_t total = r[i] * (weight.size(d + 2) - 1);
    pad[i] = total / 2;
    if (total % 2) {
      uneven = true;
      extra[static_cast<size_t>(2 * (dims - 1 - d) + 1)] = 1;
    }
  }
  return conv_nd(uneven ? taeda::constant_pad_nd(input, extra, 0) : input, weight, bias, s, pad, r, false, IntArrayRef(zero), groups, dims, op);
}

/// Convolution over one spatial dimension (cross-correlation, as usual in this field).
struct Conv1d : Composite {
  static constexpr auto schema =
      "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, int64_t groups) {
    const int64_t zero = 0;
    return conv_nd(input, weight, bias, stride, padding, dilation, false, IntArrayRef(zero), groups, 1, "conv1d");
  }
};
/// Convolution over two spatial dimensions.
struct Conv2d : Composite {
  static constexpr auto schema =
      "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, int64_t groups) {
    const int64_t zero = 0;
    return conv_nd(input, weight, bias, stride, padding, dilation, false, IntArrayRef(zero), groups, 2, "conv2d");
  }
};
/// Convolution over three spatial dimensions.
struct Conv3d : Composite {
  static constexpr auto schema =
      "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, int64_t groups) {
    const int64_t zero = 0;
    return conv_nd(input, weight, bias, stride, padding, dilation, false, IntArrayRef(zero), groups, 3, "conv3d");
  }
};
/// With padding by name: "valid" (none) or "same" (the input's size, stride 1).
struct Conv1dPadding : Composite {
  static constexpr auto schema =
      "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding=\"valid\", int[1] dilation=1, int groups=1) -> Tensor";
  static constexpr auto no_cpp_default = "bias stride padding";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, std::string_view padding,
                        IntArrayRef dilation, int64_t groups) {
    return conv_named(input, weight, bias, stride, padding, dilation, groups, 1, "conv1d");
  }
};
/// With padding by name.
struct Conv2dPadding : Composite {
  static constexpr auto schema =
      "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding=\"valid\", int[2] dilation=1, int groups=1) -> Tensor";
  static constexpr auto no_cpp_default = "bias stride padding";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, std::string_view padding,
                        IntArrayRef dilation, int64_t groups) {
    return conv_named(input, weight, bias, stride, padding, dilation, groups, 2, "conv2d");
  }
};
/// With padding by name.
struct Conv3dPadding : Composite {
  static constexpr auto schema =
      "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding=\"valid\", int[3] dilation=1, int groups=1) -> Tensor";
  static constexpr auto no_cpp_default = "bias stride padding";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, std::string_view padding,
                        IntArrayRef dilation, int64_t groups) {
    return conv_named(input, weight, bias, stride, padding, dilation, groups, 3, "conv3d");
  }
};

/// Transposed convolution: the adjoint of a convolution with the same arguments.
struct ConvTranspose1d : Composite {
  static constexpr auto schema =
      "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, "
      "int[1] dilation=1) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
    return conv_nd(input, weight, bias, stride, padding, dilation, true, output_padding, groups, 1, "conv_transpose1d");
  }
};
/// Transposed convolution over two spatial dimensions.
struct ConvTranspose2d : Composite {
  static constexpr auto schema =
      "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, "
      "int[2] dilation=1) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
    return conv_nd(input, weight, bias, stride, padding, dilation, true, output_padding, groups, 2, "conv_transpose2d");
  }
};
/// Transposed convolution over three spatial dimensions.
struct ConvTranspose3d : Composite {
  static constexpr auto schema =
      "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, "
      "int[3] dilation=1) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
    return conv_nd(input, weight, bias, stride, padding, dilation, true, output_padding, groups, 3, "conv_transpose3d");
  }
};

/// Convolution over time of (time, batch, in) with weight (kernel, in, out).
struct ConvTbc : Composite {
  static constexpr auto schema = "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
    TAEDA_CHECK(self.dim() == 3 && weight.dim() == 3 && bias.dim() == 1, "[conv_tbc] input and weight must have 3 dimensions, bias one: got ",
                self.sizes(), ", ", weight.sizes(), " and ", bias.sizes(), "; reshape them");
    return taeda::conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, 1, pad).permute({2, 0, 1}).contiguous();
  }
};

}  // namespace
}  // namespace ops

namespace detail {

Tensor convolution_with(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, const ConvWindow& w, const ConvEpilogue& after) {
  const DimVector none(w.stride.size(), 0);
  TAEDA_CHECK(weight.scalar_type() == kFloat || weight.scalar_type() == kDouble, "[convolution] an epilogue needs a weight of float32 or float64: got ",
              weight.scalar_type(), "; convert it");
  return ops::convolve(input, weight, bias, w.stride, w.padding, w.dilation, false, none, w.groups, after);
}

Tensor pack_convolution(const Tensor& weight, int64_t groups) {
  const ScalarType dtype = weight.scalar_type();
  if ((dtype != kFloat && dtype != kDouble) || weight.dim() < 3 || weight.dim() > 5 || groups < 1 || weight.size(0) % groups != 0 || weight.numel() == 0) return {};
  const DimVector ones(static_cast<size_t>(weight.dim() - 2), 1), zeros(ones.size(), 0);
  const Tensor k = weight.contiguous();
  const ConvGeometry g = ops::geometry_of(dtype, 1, groups, k.sizes(), DimVector(k.sizes()), k.sizes(), ops::Window{ones, zeros, ones, zeros});
  const int64_t elements = conv_pack_kernel(k.device(), g, ops::data_of(k), nullptr);
  if (elements == 0) return {};
  Tensor packed = make_tensor(IntArrayRef(elements), dtype, k.device());
  conv_pack_kernel(k.device(), g, ops::data_of(k), ops::data_of(packed));
  return packed;
}

}  // namespace detail
}  // namespace taeda

#include "taeda/ops/generated/conv.inc"
