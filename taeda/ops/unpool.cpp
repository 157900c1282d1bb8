// SPDX-License-Identifier: Apache-2.0
// The reverse of max pooling, and pooling over windows of random size.
#include "taeda/ops/conv.h"
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

using detail::expand_list;

/// Zeros with the values at the given positions of each plane of `sizes` (the trailing dimensions).
Tensor unpool(const Tensor& self, const Tensor& indices, IntArrayRef sizes, const char* op) {
  const auto dims = static_cast<int64_t>(sizes.size());
  TAEDA_CHECK(indices.scalar_type() == kLong, "[", op, "] elements in indices should be of type int64: got ", indices.scalar_type(),
              "; pass the indices of max pooling");
  TAEDA_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", op, "] expected a ", dims + 1, "D or ", dims + 2, "D input: got ", self.sizes(),
              "; reshape it");
  TAEDA_CHECK(self.sizes() == indices.sizes(), "[", op, "] input and indices must have the same shape: got ", self.sizes(), " and ", indices.sizes(),
              "; pass the indices of the same pooling");
  DimVector out(self.sizes().slice(0, static_cast<size_t>(self.dim() - dims)));
  int64_t plane = 1;
  for (const int64_t s : sizes) {
    out.push_back(s);
    plane *= s;
  }
  DimVector flat(out);
  flat.resize(out.size() - static_cast<size_t>(dims));
  flat.push_back(plane);
  return taeda::zeros(flat, self.options()).scatter(-1, indices.flatten(-dims, -1), self.flatten(-dims, -1)).view(out);
}
/// The trailing sizes of the result: what the pooling would have consumed, or output_size within a stride of it.
DimVector unpool_sizes(const Tensor& self, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding, OptionalIntArrayRef output_size,
                       int64_t dims, const char* op) {
  const DimVector k = expand_list(kernel_size, dims, "kernel_size", op);
  const DimVector s = stride && !stride->empty() ? expand_list(*stride, dims, "stride", op) : k;
  const DimVector p = expand_list(padding, dims, "padding", op);
  DimVector sizes;
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    sizes.push_back((self.size(d - dims) - 1) * s[i] + k[i] - 2 * p[i]);
  }
  if (!output_size || output_size->empty()) return sizes;
  const auto given = static_cast<int64_t>(output_size->size());
  TAEDA_CHECK_VALUE(given == dims || given == dims + 2 || given == dims + 1, "[", op, "] output_size should be a sequence containing ", dims, " or ", dims + 2,
                    " elements: got ", given, "; correct it");
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t wanted = (*output_size)[static_cast<size_t>(given - dims + d)];
    TAEDA_CHECK_VALUE(wanted > sizes[i] - s[i] && wanted < sizes[i] + s[i], "[", op, "] invalid output_size ", *output_size, ": dimension ", d,
                      " must be between ", sizes[i] - s[i], " and ", sizes[i] + s[i], "; correct it");
    sizes[i] = wanted;
  }
  return sizes;
}

/// Zeros of the given plane size with the values at their positions.
struct MaxUnpool2d : Composite {
  static constexpr auto schema = "max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
    TAEDA_CHECK(output_size.size() == 2, "[max_unpool2d] output_size needs two values: got ", output_size, "; give height and width");
    return unpool(self, indices, output_size, "max_unpool2d");
  }
};
/// Zeros of the given volume with the values at their positions.
struct MaxUnpool3d : Composite {
  static constexpr auto schema = "max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, int[3] padding) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef /*stride*/, IntArrayRef /*padding*/) {
    TAEDA_CHECK(output_size.size() == 3, "[max_unpool3d] output_size needs three values: got ", output_size, "; give depth, height and width");
    return unpool(self, indices, output_size, "max_unpool3d");
  }
};
/// The partial inverse of max pooling over one dimension.
struct NnMaxUnpool1d : Composite {
  static constexpr auto schema =
      "nn_functional_max_unpool1d(Tensor input, Tensor indices, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[]? output_size=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& indices, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding,
                        OptionalIntArrayRef output_size) {
    return unpool(input, indices, unpool_sizes(input, kernel_size, stride, padding, output_size, 1, "max_unpool1d"), "max_unpool1d");
  }
};
/// The partial inverse of max pooling over two dimensions.
struct NnMaxUnpool2d : Composite {
  static constexpr auto schema =
      "nn_functional_max_unpool2d(Tensor input, Tensor indices, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[]? output_size=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& indices, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding,
                        OptionalIntArrayRef output_size) {
    return unpool(input, indices, unpool_sizes(input, kernel_size, stride, padding, output_size, 2, "max_unpool2d"), "max_unpool2d");
  }
};
/// The partial inverse of max pooling over three dimensions.
struct NnMaxUnpool3d : Composite {
  static constexpr auto schema =
      "nn_functional_max_unpool3d(Tensor input, Tensor indices, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[]? output_size=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& indices, IntArrayRef kernel_size, OptionalIntArrayRef stride, IntArrayRef padding,
                        OptionalIntArrayRef output_size) {
    return unpool(input, indices, unpool_sizes(input, kernel_size, stride, padding, output_size, 3, "max_unpool3d"), "max_unpool3d");
  }
};

/// Starts of the windows of fractional max pooling (Graham 2014) in one dimension.
std::vector<int64_t> fractional_starts(double sample, int64_t in, int64_t out, int64_t kernel) {
  std::vector<int64_t> starts(static_cast<size_t>(out));
  if (out > 1) {
    const double alpha = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
    for (int64_t i = 0; i + 1 < out; ++i) {
      starts[static_cast<size_t>(i)] = static_cast<int64_t>((static_cast<double>(i) + sample) * alpha) - static_cast<int64_t>(sample * alpha);
    }
  }
  if (out > 0) starts.back() = in - kernel;
  return starts;
}
/// Positions of the largest elements, (batch, channels, out…), of windows that random_samples (batch, channels, dims) place.
Tensor fractional_indices(const Tensor& self, IntArrayRef kernel, IntArrayRef output_size, const Tensor& random_samples, int64_t dims, const char* op) {
  TAEDA_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", op, "] expected a ", dims + 1, "D or ", dims + 2, "D input: got ", self.sizes(),
              "; reshape it");
  const int64_t batch = self.dim() == dims + 2 ? self.size(0) : 1, channels = self.size(-dims - 1);
  TAEDA_CHECK(random_samples.dim() == 3 && random_samples.size(0) >= batch && random_samples.size(1) == channels && random_samples.size(2) == dims, "[", op,
              "] random_samples must be (batch, channels, ", dims, "): got ", random_samples.sizes(), "; leave them out");
  DimVector sizes(self.sizes());
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, k[3] = {1, 1, 1};
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t at = 3 - dims + d;
    in[at] = self.size(d - dims), out[at] = output_size[static_cast<size_t>(d)], k[at] = kernel[static_cast<size_t>(d)];
    TAEDA_CHECK(out[at] > 0 && k[at] > 0 && out[at] + k[at] - 1 <= in[at], "[", op, "] windows of ", kernel, " for outputs ", output_size,
                " do not fit the input: got ", self.sizes(), "; ask for less");
    sizes[sizes.size() - static_cast<size_t>(dims - d)] = out[at];
  }
  const Tensor x = self.detach().to(kDouble).contiguous(), samples = random_samples.detach().to(kDouble).contiguous();
  const auto* from = reinterpret_cast<const double*>(x.impl().data());
  const auto* random = reinterpret_cast<const double*>(samples.impl().data());
  Tensor indices = make_tensor(sizes, kLong);
  auto* to = reinterpret_cast<int64_t*>(indices.impl().data());
  for (int64_t plane = 0; plane < batch * channels; ++plane, from += in[0] * in[1] * in[2]) {
    std::vector<int64_t> starts[3] = {{0}, {0}, {0}};
    // The samples go from the last dimension (width) to the first.
    for (int64_t d = 0; d < dims; ++d) starts[2 - d] = fractional_starts(random[plane * dims + d], in[2 - d], out[2 - d], k[2 - d]);
    if (dims == 3) {  // in three dimensions: first depth, then height, then width
      for (int64_t d = 0; d < 3; ++d) starts[d] = fractional_starts(random[plane * 3 + d], in[d], out[d], k[d]);
    }
    for (const int64_t z0 : starts[0]) {
      for (const int64_t y0 : starts[1]) {
        for (const int64_t x0 : starts[2]) {
          int64_t best = (z0 * in[1] + y0) * in[2] + x0;
          for (int64_t z = z0; z < z0 + k[0]; ++z) {
            for (int64_t y = y0; y < y0 + k[1]; ++y) {
              for (int64_t w = x0; w < x0 + k[2]; ++w) {
                const int64_t at = (z * in[1] + y) * in[2] + w;
                if (from[at] > from[best] || from[at] != from[at]) best = at;
              }
            }
          }
          *to++ = best;
        }
      }
    }
  }
  return indices;
}
std::tuple<Tensor, Tensor> fractional_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples, int64_t dims,
                                           const char* op) {
  const DimVector k = expand_list(kernel_size, dims, "kernel_size", op), o = expand_list(output_size, dims, "output_size", op);
  const Tensor indices = fractional_indices(self, k, o, random_samples, dims, op);
  return {self.flatten(-dims, -1).gather(-1, indices.flatten(-dims, -1)).view(indices.sizes()), indices};
}
/// Max pooling over windows that random_samples place, so that the result has output_size (Graham 2014).
struct FractionalMaxPool2d : Composite {
  static constexpr auto schema =
      "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples) {
    return fractional_pool(self, kernel_size, output_size, random_samples, 2, "fractional_max_pool2d");
  }
};
/// Max pooling over windows that random_samples place, so that the result has output_size (Graham 2014).
struct FractionalMaxPool3d : Composite {
  static constexpr auto schema =
      "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples) {
    return fractional_pool(self, kernel_size, output_size, random_samples, 3, "fractional_max_pool3d");
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/unpool.inc"
