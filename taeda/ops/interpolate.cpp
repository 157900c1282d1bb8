// SPDX-License-Identifier: Apache-2.0
// Resampling to another size: nearest, linear, cubic, area. Every dimension is resampled on its own.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

enum class Resample { kNearest, kNearestExact, kLinear, kCubic };

/// Source positions and weights of each output of one dimension: `taps` of each.
struct Taps {
  int64_t taps;
  std::vector<std::vector<int64_t>> index;
  std::vector<std::vector<double>> weight;
};
/// Keys 1981 with a = -0.75.
double cubic(double x) {
  constexpr double a = -0.75;
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}
/// Input elements for each output element.
double step_of(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  if (align_corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  return scale && *scale > 0 ? 1.0 / *scale : static_cast<double>(in) / static_cast<double>(out);
}
Taps taps_of(Resample mode, int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  const double step = step_of(in, out, align_corners, scale);
  Taps t{mode == Resample::kCubic ? 4 : mode == Resample::kLinear ? 2 : 1, {}, {}};
  t.index.resize(static_cast<size_t>(t.taps));
  t.weight.resize(static_cast<size_t>(t.taps));
  const auto put = [&](size_t tap, int64_t index, double weight) {
    t.index[tap].push_back(std::clamp<int64_t>(index, 0, in - 1));
    t.weight[tap].push_back(weight);
  };
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<double>(i);
    if (mode == Resample::kNearest) {
      put(0, static_cast<int64_t>(std::floor(static_cast<float>(i) * static_cast<float>(step))), 1);
    } else if (mode == Resample::kNearestExact) {
      put(0, static_cast<int64_t>(std::floor((static_cast<float>(i) + 0.5f) * static_cast<float>(step))), 1);
    } else {
      double source = align_corners ? at * step : (at + 0.5) * step - 0.5;
      if (mode == Resample::kLinear) source = std::max(source, 0.0);
      const double whole = std::floor(source), part = source - whole;
      const auto first = static_cast<int64_t>(whole);
      if (mode == Resample::kLinear) {
        put(0, first, 1 - part);
        put(1, first + 1, part);
      } else {
        for (int64_t k = 0; k < 4; ++k) put(static_cast<size_t>(k), first - 1 + k, cubic(part + 1 - static_cast<double>(k)));
      }
    }
  }
  return t;
}
Tensor index_tensor(const std::vector<int64_t>& list) {
  Tensor t = make_tensor({static_cast<int64_t>(list.size())}, kLong);
  std::copy(list.begin(), list.end(), reinterpret_cast<int64_t*>(t.impl().data()));
  return t;
}
Tensor weight_tensor(const std::vector<double>& list, ScalarType type, int64_t dim, int64_t rank) {
  DimVector sizes(static_cast<size_t>(rank), 1);
  sizes[static_cast<size_t>(dim)] = static_cast<int64_t>(list.size());
  Tensor t = make_tensor(sizes, kDouble);
  std::copy(list.begin(), list.end(), reinterpret_cast<double*>(t.impl().data()));
  return t.to(type);
}
Tensor resample_dim(const Tensor& x, int64_t dim, const Taps& t) {
  if (t.taps == 1) return x.index_select(dim, index_tensor(t.index[0]));
  Tensor sum;
  for (size_t k = 0; k < static_cast<size_t>(t.taps); ++k) {
    const Tensor term = x.index_select(dim, index_tensor(t.index[k])).mul(weight_tensor(t.weight[k], x.scalar_type(), dim, x.dim()));
    sum = sum.defined() ? sum.add(term) : term;
  }
  return sum;
}
/// All trailing dimensions; scales are given where they should not follow from the sizes.
Tensor resample(const Tensor& input, Resample mode, IntArrayRef output_size, bool align_corners, const std::vector<std::optional<double>>& scales, const char* op) {
  const auto dims = static_cast<int64_t>(output_size.size());
  TAEDA_CHECK(input.dim() == dims + 2, "[", op, "] expected an input with batch, channels and ", dims, " spatial dimensions: got ", input.sizes(), "; reshape it");
  const std::string_view name(op);
  const bool numbered = name.ends_with("1d") || name.ends_with("2d") || name.ends_with("3d");
  TAEDA_CHECK(!numbered || name[name.size() - 2] - '0' == dims, "[", op, "] output_size must have a number for each spatial dimension of the operator: got ",
              output_size, "; give as many");
  TAEDA_CHECK_NOT_IMPLEMENTED(input.scalar_type() != kBool, "[", op, "] is not defined for bool: got ", input.sizes(), "; convert with .to(kByte) first");
  double bytes = static_cast<double>(input.size(0) * input.size(1)) * static_cast<double>(input.itemsize());
  for (const int64_t size : output_size) bytes *= static_cast<double>(size);
  TAEDA_CHECK(bytes < 0x1p46, "[", op, "] the result must fit into memory: got output sizes ", output_size, "; use less");
  Tensor x = input;
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t in = input.size(d + 2), out = output_size[i];
    TAEDA_CHECK(in > 0 && out > 0 && input.size(1) > 0, "[", op, "] input and output sizes should be greater than 0: got ", input.sizes(), " and ", output_size,
                "; check the sizes");
    x = resample_dim(x, d + 2, taps_of(mode, in, out, align_corners, i < scales.size() ? scales[i] : std::nullopt));
  }
  return x.contiguous();
}

/// Resamples by the name of a mode, as the functional interface does.
Tensor interpolate_by(const Tensor& input, OptionalIntArrayRef size, const std::optional<std::vector<double>>& factors, std::string_view mode,
                      std::optional<bool> align_corners, std::optional<bool> recompute, bool antialias) {
  const int64_t dims = input.dim() - 2;
  TAEDA_CHECK(dims >= 1 && dims <= 3, "[interpolate] the input must have batch, channels and one to three spatial dimensions: got ", input.sizes(), "; reshape it");
  TAEDA_CHECK_VALUE(size.has_value() != factors.has_value(), "[interpolate] exactly one of size and scale_factor should be defined: got ",
                    size.has_value() ? "both" : "none", "; give one");
  TAEDA_CHECK_NOT_IMPLEMENTED(!antialias, "[interpolate] anti-aliased resampling is not implemented; filter before resampling");
  const bool cornered = mode == "linear" || mode == "bilinear" || mode == "bicubic" || mode == "trilinear";
  TAEDA_CHECK_VALUE(cornered || !align_corners, "[interpolate] align_corners can only be set with the linear and cubic modes: got mode '", mode, "'; leave it out");
  DimVector sizes;
  std::vector<std::optional<double>> scales;
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    if (size) {
      TAEDA_CHECK_VALUE(size->size() == 1 || static_cast<int64_t>(size->size()) == dims, "[interpolate] size must have one value or one for each spatial dimension: got ",
                        *size, " for ", input.sizes(), "; correct it");
      sizes.push_back(size->size() == 1 ? (*size)[0] : (*size)[i]);
    } else {
      TAEDA_CHECK_VALUE(factors->size() == 1 || static_cast<int64_t>(factors->size()) == dims,
                        "[interpolate] scale_factor must have one value or one for each spatial dimension: got ", factors->size(), "; correct it");
      const double factor = factors->size() == 1 ? (*factors)[0] : (*factors)[i];
      sizes.push_back(static_cast<int64_t>(std::floor(static_cast<double>(input.size(d + 2)) * factor)));
      if (!recompute.value_or(false)) scales.emplace_back(factor);
    }
  }
  const bool corners = align_corners.value_or(false);
  if (mode == "nearest") return resample(input, Resample::kNearest, sizes, false, scales, "interpolate");
  if (mode == "nearest-exact") return resample(input, Resample::kNearestExact, sizes, false, scales, "interpolate");
  if (mode == "area") return taeda::_adaptive_avg_pool_nd(input, sizes);
  const bool linear = (mode == "linear" && dims == 1) || (mode == "bilinear" && dims == 2) || (mode == "trilinear" && dims == 3);
  if (linear) return resample(input, Resample::kLinear, sizes, corners, scales, "interpolate");
  if (mode == "bicubic" && dims == 2) return resample(input, Resample::kCubic, sizes, corners, scales, "interpolate");
  TAEDA_CHECK_NOT_IMPLEMENTED(false, "[interpolate] modes are nearest, nearest-exact and area for 3D to 5D inputs, linear for 3D, bilinear and bicubic for 4D, trilinear for 5D: got '",
                              mode, "' for ", input.sizes(), "; choose another");
}

std::optional<std::vector<double>> one_factor(std::optional<double> factor) {
  if (!factor) return std::nullopt;
  return std::vector<double>(1, *factor);
}

/// Resamples to `size`, or by `scale_factor`, with modes nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area.
struct NnInterpolate : Composite {
  static constexpr auto schema =
      "nn_functional_interpolate(Tensor input, int[]? size=None, float? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, "
      "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef size, std::optional<double> scale_factor, std::string_view mode, std::optional<bool> align_corners,
                        std::optional<bool> recompute_scale_factor, bool antialias) {
    const auto factors = one_factor(scale_factor);
    return interpolate_by(input, size, factors, mode, align_corners, recompute_scale_factor, antialias);
  }
};
/// With a factor for each dimension.
struct NnInterpolateScales : Composite {
  static constexpr auto schema =
      "nn_functional_interpolate.scales(Tensor input, int[]? size, float[]? scale_factor, str mode=\"nearest\", bool? align_corners=None, "
      "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& input, OptionalIntArrayRef size, OptionalArrayRef<double> scale_factor, std::string_view mode,
                        std::optional<bool> align_corners, std::optional<bool> recompute_scale_factor, bool antialias) {
    const auto factors = scale_factor ? std::optional<std::vector<double>>(scale_factor->vec()) : std::nullopt;
    return interpolate_by(input, size, factors, mode, align_corners, recompute_scale_factor, antialias);
  }
};
/// Bilinear resampling with aligned corners.
struct NnUpsampleBilinear : Composite {
  static constexpr auto schema = "nn_functional_upsample_bilinear(Tensor input, int[]? size=None, float? scale_factor=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef size, std::optional<double> scale_factor) {
    const auto factors = one_factor(scale_factor);
    return interpolate_by(input, size, factors, "bilinear", true, std::nullopt, false);
  }
};
/// Nearest resampling.
struct NnUpsampleNearest : Composite {
  static constexpr auto schema = "nn_functional_upsample_nearest(Tensor input, int[]? size=None, float? scale_factor=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef size, std::optional<double> scale_factor) {
    const auto factors = one_factor(scale_factor);
    return interpolate_by(input, size, factors, "nearest", std::nullopt, std::nullopt, false);
  }
};
/// Nearest resampling of 1 spatial dimension to output_size.
struct UpsampleNearest1d : Composite {
  static constexpr auto schema = "upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, std::optional<double> scales) {
    return resample(self, Resample::kNearest, output_size, false, {scales}, "upsample_nearest1d");
  }
};
/// Nearest resampling of 2 spatial dimensions to output_size.
struct UpsampleNearest2d : Composite {
  static constexpr auto schema = "upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kNearest, output_size, false, {scales_h, scales_w}, "upsample_nearest2d");
  }
};
/// Nearest resampling of 3 spatial dimensions to output_size.
struct UpsampleNearest3d : Composite {
  static constexpr auto schema = "upsample_nearest3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kNearest, output_size, false, {scales_d, scales_h, scales_w}, "upsample_nearest3d");
  }
};
/// Nearest (from the centre) resampling of 1 spatial dimension to output_size.
struct UpsampleNearestExact1d : Composite {
  static constexpr auto schema = "_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, std::optional<double> scales) {
    return resample(self, Resample::kNearestExact, output_size, false, {scales}, "_upsample_nearest_exact1d");
  }
};
/// Nearest (from the centre) resampling of 2 spatial dimensions to output_size.
struct UpsampleNearestExact2d : Composite {
  static constexpr auto schema = "_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kNearestExact, output_size, false, {scales_h, scales_w}, "_upsample_nearest_exact2d");
  }
};
/// Nearest (from the centre) resampling of 3 spatial dimensions to output_size.
struct UpsampleNearestExact3d : Composite {
  static constexpr auto schema = "_upsample_nearest_exact3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kNearestExact, output_size, false, {scales_d, scales_h, scales_w}, "_upsample_nearest_exact3d");
  }
};
/// Linear resampling of 1 spatial dimension to output_size.
struct UpsampleLinear1d : Composite {
  static constexpr auto schema = "upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, float? scales=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales) {
    return resample(self, Resample::kLinear, output_size, align_corners, {scales}, "upsample_linear1d");
  }
};
/// Bilinear resampling of 2 spatial dimensions to output_size.
struct UpsampleBilinear2d : Composite {
  static constexpr auto schema = "upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kLinear, output_size, align_corners, {scales_h, scales_w}, "upsample_bilinear2d");
  }
};
/// Trilinear resampling of 3 spatial dimensions to output_size.
struct UpsampleTrilinear3d : Composite {
  static constexpr auto schema = "upsample_trilinear3d(Tensor self, int[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kLinear, output_size, align_corners, {scales_d, scales_h, scales_w}, "upsample_trilinear3d");
  }
};
/// Bicubic resampling of 2 spatial dimensions to output_size.
struct UpsampleBicubic2d : Composite {
  static constexpr auto schema = "upsample_bicubic2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) {
    return resample(self, Resample::kCubic, output_size, align_corners, {scales_h, scales_w}, "upsample_bicubic2d");
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/interpolate.inc"
