// SPDX-License-Identifier: Apache-2.0
// `gradient`: derivatives of sampled functions by finite differences.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

/// The dimensions to derive along, non-negative; all of them when `dim` is empty.
DimVector derived_dims(const Tensor& self, std::optional<int64_t> dim) {
  TAEDA_CHECK(self.scalar_type() != kBool, "[gradient] differences of Bool are not defined; convert it with to()");
  if (dim) return DimVector(1, maybe_wrap_dim(*dim, self.dim(), "gradient"));
  DimVector dims;
  for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  return dims;
}
DimVector derived_dims(const Tensor& self, IntArrayRef dim) {
  TAEDA_CHECK(self.scalar_type() != kBool, "[gradient] differences of Bool are not defined; convert it with to()");
  DimVector dims;
  for (const int64_t d : dim) {
    const int64_t wrapped = maybe_wrap_dim(d, self.dim(), "gradient");
    TAEDA_CHECK(std::find(dims.begin(), dims.end(), wrapped) == dims.end(), "[gradient] each dimension may be named once: got ", dim, "; name others");
    dims.push_back(wrapped);
  }
  return dims;
}

Tensor sampled(const Tensor& self, const DimVector& dims, int64_t edge_order, size_t spacings) {
  TAEDA_CHECK(edge_order == 1 || edge_order == 2, "[gradient] edge_order must be 1 or 2: got ", edge_order, "; pass one of them");
  TAEDA_CHECK(spacings == dims.size(), "[gradient] there must be one spacing for each dimension: got ", spacings, " spacings for ", dims.size(),
              " dimensions; pass as many, or one number for all");
  for (const int64_t d : dims) {
    TAEDA_CHECK(self.size(d) > edge_order, "[gradient] each dimension must have at least edge_order + 1 samples: got ", self.size(d), " along dimension ", d,
                " with edge_order ", edge_order, "; take more samples");
  }
  return is_integral_type(self.scalar_type(), true) ? self.to(default_scalar_type()) : self;
}

/// The samples from `start` on, `n` of them, along `d`.
Tensor part(const Tensor& f, int64_t d, int64_t start, int64_t n) { return f.narrow(d, start < 0 ? f.size(d) + start : start, n); }

/// Samples `h` apart: central differences, one-sided ones of the same order (edge_order 2) or of first order at both ends.
Tensor derive_uniform(const Tensor& f, int64_t d, double h, int64_t edge_order) {
  const int64_t n = f.size(d);
  const auto at = [&](int64_t i) { return part(f, d, i, 1); };
  Tensor first, last;
  if (edge_order == 1) {
    first = at(1).sub(at(0)).div(h);
    last = at(-1).sub(at(-2)).div(h);
  } else {
    first = at(0).mul(-1.5).add(at(1).mul(2)).sub(at(2).mul(0.5)).div(h);
    last = at(-3).mul(0.5).sub(at(-2).mul(2)).add(at(-1).mul(1.5)).div(h);
  }
  if (n == 2) return taeda::cat({first, last}, d);
  return taeda::cat({first, part(f, d, 2, n - 2).sub(part(f, d, 0, n - 2)).div(2 * h), last}, d);
}

/// Samples at the coordinates `x`: the derivative of the parabola through each point and its neighbours (Fornberg 1988).
Tensor derive_at(const Tensor& f, int64_t d, const Tensor& x, int64_t edge_order) {
  const int64_t n = f.size(d);
  TAEDA_CHECK(x.dim() == 1 && x.size(0) == n, "[gradient] coordinates must be a vector of one number for each sample: got ", x.sizes(), " for ", n,
              " samples along dimension ", d, "; pass that many");
  DimVector shape(static_cast<size_t>(f.dim()), 1);
  shape[static_cast<size_t>(d)] = n - 1;
  const Tensor steps = x.to(f.scalar_type()).diff().reshape(shape);
  const auto at = [&](int64_t i) { return part(f, d, i, 1); };
  const auto step = [&](int64_t i) { return part(steps, d, i, 1); };
  Tensor first, last;
  if (edge_order == 1) {
    first = at(1).sub(at(0)).div(step(0));
    last = at(-1).sub(at(-2)).div(step(-1));
  } else {
    const Tensor h0 = step(0), h1 = step(1), g0 = step(-2), g1 = step(-1);
    first = at(1).mul(h0.add(h1).div(h0.mul(h1))).sub(at(0).mul(h0.mul(2).add(h1).div(h0.mul(h0.add(h1))))).sub(at(2).mul(h0.div(h1.mul(h0.add(h1)))));
    last = at(-1).mul(g1.mul(2).add(g0).div(g1.mul(g0.add(g1)))).sub(at(-2).mul(g0.add(g1).div(g0.mul(g1)))).add(at(-3).mul(g1.div(g0.mul(g0.add(g1)))));
  }
  if (n == 2) return taeda::cat({first, last}, d);
  const Tensor left = part(steps, d, 0, n - 2), right = part(steps, d, 1, n - 2), both = left.add(right);
  const Tensor inner = part(f, d, 2, n - 2).mul(left.div(right.mul(both))).add(part(f, d, 1, n - 2).mul(right.sub(left).div(left.mul(right))))
                           .sub(part(f, d, 0, n - 2).mul(right.div(left.mul(both))));
  return taeda::cat({first, inner, last}, d);
}

std::vector<Tensor> along_each(const Tensor& self, const DimVector& dims, ArrayRef<Scalar> spacing, int64_t edge_order) {
  const Tensor f = sampled(self, dims, edge_order, spacing.size());
  std::vector<Tensor> results;
  for (size_t i = 0; i < dims.size(); ++i) results.push_back(derive_uniform(f, dims[i], spacing[i].toDouble(), edge_order));
  return results;
}
std::vector<Tensor> along_each(const Tensor& self, const DimVector& dims, TensorList spacing, int64_t edge_order) {
  const Tensor f = sampled(self, dims, edge_order, spacing.size());
  std::vector<Tensor> results;
  for (size_t i = 0; i < dims.size(); ++i) results.push_back(derive_at(f, dims[i], spacing[i], edge_order));
  return results;
}
std::vector<Tensor> along_each(const Tensor& self, const DimVector& dims, const Scalar& spacing, int64_t edge_order) {
  return along_each(self, dims, std::vector<Scalar>(dims.size(), spacing), edge_order);
}

/// Derivatives along `dim` (all when none is named) of a function sampled `spacing` (1) apart; at both ends one-sided
/// differences of order `edge_order`.
struct GradientScalarInt : Composite {
  static constexpr auto schema = "gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, const std::optional<Scalar>& spacing, std::optional<int64_t> dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), spacing.value_or(Scalar(1)), edge_order);
  }
};
/// See `gradient.scalarint`; along each of `dim`.
struct GradientScalarArray : Composite {
  static constexpr auto schema = "gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, const Scalar& spacing, IntArrayRef dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), spacing, edge_order);
  }
};
/// See `gradient.scalarint`; along each of `dim`, one apart.
struct GradientArray : Composite {
  static constexpr auto schema = "gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), Scalar(1), edge_order);
  }
};
/// See `gradient.scalarint`; one spacing for each dimension.
struct GradientScalarsInt : Composite {
  static constexpr auto schema = "gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, ArrayRef<Scalar> spacing, std::optional<int64_t> dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), spacing, edge_order);
  }
};
/// See `gradient.scalarint`; one spacing for each of `dim`.
struct GradientScalarsArray : Composite {
  static constexpr auto schema = "gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), spacing, edge_order);
  }
};
/// See `gradient.scalarint`; `spacing` holds the coordinates of the samples, a vector for each dimension.
struct GradientTensorsInt : Composite {
  static constexpr auto schema = "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, TensorList spacing, std::optional<int64_t> dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), spacing, edge_order);
  }
};
/// See `gradient.scalarint`; `spacing` holds the coordinates of the samples, a vector for each of `dim`.
struct GradientTensorsArray : Composite {
  static constexpr auto schema = "gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order) {
    return along_each(self, derived_dims(self, dim), spacing, edge_order);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/gradient.inc"
