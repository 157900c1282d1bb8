// SPDX-License-Identifier: Apache-2.0
// Sampling images at given points (Jaderberg et al. 2015).
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

enum class Sampling : int64_t { kBilinear, kNearest, kBicubic };
enum class Outside : int64_t { kZeros, kBorder, kReflection };

/// From [-1, 1] to element positions.
Tensor unnormalize(const Tensor& x, int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  return align_corners ? x.add(1).mul((n - 1) / 2) : x.add(1).mul(n).sub(1).div(2);
}
/// Mirrored at low / 2 and high / 2 until it lies between them.
Tensor reflected(const Tensor& x, int64_t low2, int64_t high2) {
  if (low2 == high2) return taeda::zeros_like(x);
  const double low = static_cast<double>(low2) / 2, span = static_cast<double>(high2 - low2) / 2;
  const Tensor away = x.sub(low).abs();
  const Tensor flips = away.div(span).floor();
  const Tensor rest = away.sub(flips.mul(span));
  return taeda::where(flips.remainder(2).eq(0), rest.add(low), rest.neg().add(span + low));
}
Tensor placed(const Tensor& x, int64_t size, Outside outside, bool align_corners) {
  Tensor p = x;
  if (outside == Outside::kZeros) return p;
  if (outside == Outside::kReflection) p = align_corners ? reflected(p, 0, 2 * (size - 1)) : reflected(p, -1, 2 * size - 1);
  return p.clamp(0, static_cast<double>(size - 1));
}

/// Reads flat (batch, channels, elements) at integer positions (batch, points), one tensor for each spatial dimension; zero
/// outside.
Tensor read_at(const Tensor& flat, const std::vector<Tensor>& at, IntArrayRef sizes) {
  Tensor index, inside;
  for (size_t d = 0; d < at.size(); ++d) {
    const Tensor& p = at[d];
    const Tensor fits = p.ge(0).logical_and(p.le(static_cast<double>(sizes[d] - 1)));
    const Tensor i = p.clamp(0, static_cast<double>(sizes[d] - 1)).to(kLong);
    index = index.defined() ? index.mul(sizes[d]).add(i) : i;
    inside = inside.defined() ? inside.logical_and(fits) : fits;
  }
  const int64_t n = flat.size(0), c = flat.size(1), points = index.size(1);
  return flat.gather(2, index.unsqueeze(1).expand({n, c, points})).mul(inside.unsqueeze(1).to(flat.scalar_type()));
}

Tensor sample_linear(const Tensor& flat, const std::vector<Tensor>& at, IntArrayRef sizes) {
  const size_t dims = at.size();
  std::vector<Tensor> whole, part;
  for (const Tensor& p : at) {
    whole.push_back(p.detach().floor());
    part.push_back(p.sub(whole.back()));
  }
  Tensor sum;
  for (size_t corner = 0; corner < (size_t{1} << dims); ++corner) {
    std::vector<Tensor> place;
    Tensor weight;
    for (size_t d = 0; d < dims; ++d) {
      const bool upper = (corner >> d) & 1;
      place.push_back(upper ? whole[d].add(1) : whole[d]);
      const Tensor share = upper ? part[d] : part[d].neg().add(1);
      weight = weight.defined() ? weight.mul(share) : share;
    }
    const Tensor term = read_at(flat, place, sizes).mul(weight.unsqueeze(1));
    sum = sum.defined() ? sum.add(term) : term;
  }
  return sum;
}

/// The four cubic weights for a fraction t (Keys 1981, a = -0.75).
std::vector<Tensor> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  const auto inner = [](const Tensor& x) { return x.mul(a + 2).sub(a + 3).mul(x).mul(x).add(1); };
  const auto outer = [](const Tensor& x) { return x.mul(a).sub(5 * a).mul(x).add(8 * a).mul(x).sub(4 * a); };
  const Tensor rest = t.neg().add(1);
  return {outer(t.add(1)), inner(t), inner(rest), outer(rest.add(1))};
}
Tensor sample_cubic(const Tensor& flat, const Tensor& y, const Tensor& x, IntArrayRef sizes, Outside outside, bool align_corners) {
  const Tensor y0 = y.detach().floor(), x0 = x.detach().floor();
  const std::vector<Tensor> wy = cubic_weights(y.sub(y0)), wx = cubic_weights(x.sub(x0));
  Tensor sum;
  for (int64_t i = 0; i < 4; ++i) {
    const Tensor py = placed(y0.add(i - 1), sizes[0], outside, align_corners);
    for (int64_t j = 0; j < 4; ++j) {
      const Tensor px = placed(x0.add(j - 1), sizes[1], outside, align_corners);
      const Tensor weight = wy[static_cast<size_t>(i)].mul(wx[static_cast<size_t>(j)]);
      const Tensor term = read_at(flat, {py, px}, sizes).mul(weight.unsqueeze(1));
      sum = sum.defined() ? sum.add(term) : term;
    }
  }
  return sum;
}

Tensor sample_grid(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners) {
  const int64_t dims = input.dim() - 2;
  TAEDA_CHECK((dims == 2 || dims == 3) && grid.dim() == input.dim(), "[grid_sample] expected 4D or 5D input and a grid with the same number of dimensions: got ",
              input.sizes(), " and ", grid.sizes(), "; reshape them");
  TAEDA_CHECK(grid.size(0) == input.size(0) && grid.size(-1) == dims, "[grid_sample] the grid must have the input's batch size and ", dims,
              " coordinates: got ", input.sizes(), " and ", grid.sizes(), "; check the grid");
  TAEDA_CHECK(input.scalar_type() == grid.scalar_type(), "[grid_sample] input and grid must have the same dtype: got ", input.scalar_type(), " and ",
              grid.scalar_type(), "; convert one");
  const auto kind = static_cast<Sampling>(mode);
  const auto outside = static_cast<Outside>(padding);
  TAEDA_CHECK(mode >= 0 && mode <= 2 && padding >= 0 && padding <= 2 && !(kind == Sampling::kBicubic && dims == 3),
              "[grid_sample] modes are 0 bilinear, 1 nearest, 2 bicubic (4D only), paddings 0 zeros, 1 border, 2 reflection: got ", mode, " and ", padding,
              "; choose others");
  const int64_t n = input.size(0), c = input.size(1);
  DimVector sizes(input.sizes().slice(2, static_cast<size_t>(dims))), result(input.sizes());
  for (int64_t d = 0; d < dims; ++d) {
    TAEDA_CHECK(input.size(d + 2) > 0, "[grid_sample] the spatial dimensions must not be empty: got ", input.sizes(), "; check the input");
    result[static_cast<size_t>(d + 2)] = grid.size(d + 1);
  }
  std::vector<Tensor> at;  // the grid's coordinates start with the last dimension
  for (int64_t d = 0; d < dims; ++d) {
    Tensor p = unnormalize(grid.select(-1, dims - 1 - d).reshape({n, -1}), sizes[static_cast<size_t>(d)], align_corners);
    at.push_back(kind == Sampling::kBicubic ? p : placed(p, sizes[static_cast<size_t>(d)], outside, align_corners));
  }
  const Tensor flat = input.reshape({n, c, -1});
  Tensor out;
  if (kind == Sampling::kNearest) {
    for (Tensor& p : at) p = p.round();
    out = read_at(flat, at, sizes);
  } else if (kind == Sampling::kBicubic) {
    out = sample_cubic(flat, at[0], at[1], sizes, outside, align_corners);
  } else {
    out = sample_linear(flat, at, sizes);
  }
  return out.reshape(result);
}

/// Samples input (batch, channels, …) at grid (batch, …, 2 or 3), coordinates in [-1, 1]. interpolation_mode 0 bilinear, 1 nearest,
/// 2 bicubic; padding_mode 0 zeros, 1 border, 2 reflection.
struct GridSampler : Composite {
  static constexpr auto schema = "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
    return sample_grid(input, grid, interpolation_mode, padding_mode, align_corners);
  }
};
/// As `grid_sampler`, for images.
struct GridSampler2d : Composite {
  static constexpr auto schema = "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
    return sample_grid(input, grid, interpolation_mode, padding_mode, align_corners);
  }
};
/// As `grid_sampler`, for volumes.
struct GridSampler3d : Composite {
  static constexpr auto schema = "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
    return sample_grid(input, grid, interpolation_mode, padding_mode, align_corners);
  }
};
/// As `grid_sampler`, with modes by name.
struct NnGridSample : Composite {
  static constexpr auto schema =
      "nn_functional_grid_sample(Tensor input, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool? align_corners=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& grid, std::string_view mode, std::string_view padding_mode, std::optional<bool> align_corners) {
    const int64_t m = mode == "bilinear" ? 0 : mode == "nearest" ? 1 : mode == "bicubic" ? 2 : -1;
    const int64_t p = padding_mode == "zeros" ? 0 : padding_mode == "border" ? 1 : padding_mode == "reflection" ? 2 : -1;
    TAEDA_CHECK_VALUE(m >= 0 && p >= 0, "[grid_sample] modes are bilinear, nearest and bicubic, paddings zeros, border and reflection: got '", mode, "' and '",
                      padding_mode, "'; choose others");
    return sample_grid(input, grid, m, p, align_corners.value_or(false));
  }
};

/// Sampling points for a batch of affine maps theta (batch, 2, 3) or (batch, 3, 4); `size` is the shape of the result to be sampled.
struct AffineGrid : Composite {
  static constexpr auto schema = "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor";
  static Tensor forward(const Tensor& theta, IntArrayRef size, bool align_corners) {
    TAEDA_CHECK(size.size() == 4 || size.size() == 5, "[affine_grid] needs 4D or 5D sizes: got ", size, "; give (batch, channels, …)");
    const auto dims = static_cast<int64_t>(size.size()) - 2;
    TAEDA_CHECK(theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == dims && theta.size(2) == dims + 1, "[affine_grid] theta must be (batch, ", dims, ", ",
                dims + 1, "): got ", theta.sizes(), "; check it");
    DimVector space(size.slice(2, static_cast<size_t>(dims)));
    std::vector<Tensor> columns;
    for (int64_t d = dims - 1; d >= 0; --d) {
      const int64_t n = space[static_cast<size_t>(d)];
      Tensor line = n > 1 ? taeda::linspace(-1, 1, n, theta.options()) : taeda::zeros({n}, theta.options());
      if (!align_corners) line = line.mul(static_cast<double>(n - 1) / static_cast<double>(n));
      DimVector shape(static_cast<size_t>(dims), 1);
      shape[static_cast<size_t>(d)] = n;
      columns.push_back(line.view(shape).expand(space));
    }
    columns.push_back(taeda::ones(space, theta.options()));
    const Tensor base = taeda::stack(columns, -1).view({1, -1, dims + 1}).expand({size[0], -1, dims + 1});
    space.insert(0, size[0]);
    space.push_back(dims);
    return base.bmm(theta.transpose(1, 2)).view(space);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/grid_sample.inc"
