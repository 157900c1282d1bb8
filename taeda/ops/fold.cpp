// SPDX-License-Identifier: Apache-2.0
// Patches as columns and back, and rearrangements between channels and space.
#include "taeda/ops/conv.h"
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

using detail::expand_list;

struct FoldWindow {
  int64_t kernel[2], dilation[2], padding[2], stride[2], in[2], out[2];
};
void check_pairs(std::initializer_list<IntArrayRef> lists, const char* op) {
  for (const IntArrayRef list : lists) TAEDA_CHECK(list.size() == 2, "[", op, "] each list must have 2 numbers: got ", list, "; give two");
}
FoldWindow fold_window(IntArrayRef size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride, const char* op) {
  const DimVector k = expand_list(kernel_size, 2, "kernel_size", op), r = expand_list(dilation, 2, "dilation", op), p = expand_list(padding, 2, "padding", op),
                  s = expand_list(stride, 2, "stride", op);
  FoldWindow w;
  for (size_t d = 0; d < 2; ++d) {
    TAEDA_CHECK(k[d] > 0 && r[d] > 0 && s[d] > 0 && p[d] >= 0, "[", op, "] kernel size, dilation and stride must be positive, padding non-negative: got ", kernel_size,
                ", ", dilation, ", ", stride, " and ", padding, "; correct them");
    w.kernel[d] = k[d], w.dilation[d] = r[d], w.padding[d] = p[d], w.stride[d] = s[d], w.in[d] = size[d];
    const int64_t room = size[d] + 2 * p[d] - r[d] * (k[d] - 1) - 1;
    w.out[d] = room < 0 ? 0 : room / s[d] + 1;
    TAEDA_CHECK(w.out[d] > 0, "[", op, "] the window does not fit the image: got size ", size, ", kernel ", kernel_size, " and padding ", padding,
                "; use a smaller kernel or pad");
  }
  return w;
}

/// The patches of an image (batch, channels, height, width) as columns: (batch, channels · kernel, positions).
struct Im2col {
  static constexpr auto schema = "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    check_pairs({kernel_size, dilation, padding, stride}, "im2col");
    TAEDA_CHECK(self.dim() == 3 || self.dim() == 4, "[im2col] expected 3D or 4D (batched) input with possibly 0 batch size: got ", self.sizes(), "; reshape it");
    const Tensor image = self.dim() == 3 ? self.unsqueeze(0) : self;
    TAEDA_CHECK(image.size(1) > 0 && image.size(2) > 0 && image.size(3) > 0, "[im2col] channels and extents must not be zero: got ", self.sizes(),
                "; check the input");
    const int64_t extent[2] = {image.size(2), image.size(3)};
    const FoldWindow w = fold_window(IntArrayRef(extent, 2), kernel_size, dilation, padding, stride, "im2col");
    const int64_t pad[4] = {w.padding[1], w.padding[1], w.padding[0], w.padding[0]};
    const Tensor x = taeda::constant_pad_nd(image, IntArrayRef(pad, 4), 0).contiguous();
    const int64_t n = x.size(0), c = x.size(1), width = x.size(3);
    const int64_t plane = x.size(2) * width;
    const DimVector sizes(IntArrayRef({n, c, w.kernel[0], w.kernel[1], w.out[0], w.out[1]}));
    const DimVector strides(IntArrayRef({c * plane, plane, w.dilation[0] * width, w.dilation[1], w.stride[0] * width, w.stride[1]}));
    Tensor columns = x.as_strided(sizes, strides, x.storage_offset()).clone(MemoryFormat::Contiguous).view({n, c * w.kernel[0] * w.kernel[1], w.out[0] * w.out[1]});
    return self.dim() == 3 ? columns.squeeze(0) : columns;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    return taeda::col2im(grad, self_sizes.slice(self_sizes.size() - 2, 2), kernel_size, dilation, padding, stride);
  }
};
/// The adjoint of `im2col`: columns added into an image of the given size.
struct Col2im {
  static constexpr auto schema = "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    check_pairs({output_size, kernel_size, dilation, padding, stride}, "col2im");
    TAEDA_CHECK(self.dim() == 2 || self.dim() == 3, "[col2im] expected 2D or 3D (batched) columns: got ", self.sizes(), "; reshape them");
    const DimVector size = expand_list(output_size, 2, "output_size", "col2im");
    const FoldWindow w = fold_window(size, kernel_size, dilation, padding, stride, "col2im");
    const Tensor columns = self.dim() == 2 ? self.unsqueeze(0) : self;
    const int64_t taps = w.kernel[0] * w.kernel[1], positions = w.out[0] * w.out[1];
    TAEDA_CHECK(columns.size(1) % taps == 0 && columns.size(1) > 0, "[col2im] the columns' rows must be a multiple of the kernel's elements: got ", self.sizes(),
                " for kernel ", kernel_size, "; check the kernel");
    TAEDA_CHECK(columns.size(2) == positions, "[col2im] expected ", positions, " columns: got ", self.sizes(), "; check output_size, stride and padding");
    const int64_t n = columns.size(0), c = columns.size(1) / taps;
    const Tensor parts = columns.reshape({n, c, w.kernel[0], w.kernel[1], w.out[0], w.out[1]});
    Tensor image = taeda::zeros({n, c, size[0] + 2 * w.padding[0], size[1] + 2 * w.padding[1]}, self.options());
    for (int64_t y = 0; y < w.kernel[0]; ++y) {
      for (int64_t x = 0; x < w.kernel[1]; ++x) {
        const int64_t top = y * w.dilation[0], left = x * w.dilation[1];
        image.slice(2, top, top + (w.out[0] - 1) * w.stride[0] + 1, w.stride[0])
            .slice(3, left, left + (w.out[1] - 1) * w.stride[1] + 1, w.stride[1])
            .add_(parts.select(2, y).select(2, x));
      }
    }
    Tensor result = image.narrow(2, w.padding[0], size[0]).narrow(3, w.padding[1], size[1]).contiguous();
    return self.dim() == 2 ? result.squeeze(0) : result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    return taeda::im2col(grad, kernel_size, dilation, padding, stride);
  }
};
/// As `im2col`.
struct NnUnfold : Composite {
  static constexpr auto schema =
      "nn_functional_unfold(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    const char* const op = "unfold";
    return taeda::im2col(input, expand_list(kernel_size, 2, "kernel_size", op), expand_list(dilation, 2, "dilation", op),
                         expand_list(padding, 2, "padding", op), expand_list(stride, 2, "stride", op));
  }
};
/// As `col2im`.
struct NnFold : Composite {
  static constexpr auto schema =
      "nn_functional_fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
    const char* const op = "fold";
    return taeda::col2im(input, expand_list(output_size, 2, "output_size", op), expand_list(kernel_size, 2, "kernel_size", op),
                         expand_list(dilation, 2, "dilation", op), expand_list(padding, 2, "padding", op), expand_list(stride, 2, "stride", op));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/fold.inc"
