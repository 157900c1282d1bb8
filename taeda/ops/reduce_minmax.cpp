// SPDX-License-Identifier: Apache-2.0
// Extremes and their places.
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce;
using detail::reduce_mask;
using detail::restore_dims;

/// The gradient shared evenly among the elements that equal the result.
Tensor share_among_equal(const Tensor& grad, const Tensor& self, const Tensor& result, uint64_t mask, bool keepdim) {
  const Tensor g = restore_dims(grad, mask, self.dim(), keepdim);
  const Tensor r = restore_dims(result, mask, self.dim(), keepdim);
  const Tensor chosen = self.eq(r).logical_or(self.isnan().logical_and(r.isnan())).to(grad.scalar_type());
  DimVector dims;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if ((mask >> d) & 1) dims.push_back(d);
  }
  if (self.dim() == 0) return g.mul(chosen);
  return g.div(chosen.sum(IntArrayRef(dims), true)).mul(chosen);
}
/// The gradient placed at the chosen indices.
Tensor place_at(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& indices, bool keepdim) {
  if (sizes.empty()) return grad;
  const uint64_t mask = reduce_mask(dim, static_cast<int64_t>(sizes.size()), "max");
  const auto ndim = static_cast<int64_t>(sizes.size());
  return taeda::zeros(sizes, grad.options())
      .scatter(dim, restore_dims(indices, mask, ndim, keepdim), restore_dims(grad, mask, ndim, keepdim));
}

Tensor extreme_values(ReduceKind kind, const Tensor& self, uint64_t mask, bool keepdim, const char* op) {
  detail::check_not_empty(self, mask, op);
  return reduce(kind, self, mask, keepdim);
}
std::tuple<Tensor, Tensor> extreme_with_indices(bool largest, const Tensor& self, int64_t dim, bool keepdim, const char* op) {
  const uint64_t mask = reduce_mask(dim, self.dim(), op);
  detail::check_not_empty(self, mask, op);
  const DimVector sizes = detail::reduced_sizes(self.sizes(), mask, keepdim);
  Tensor values = make_tensor(sizes, self.scalar_type(), self.device());
  Tensor indices = make_tensor(sizes, kLong, self.device());
  if (values.numel() == 0) return {values, indices};
  const detail::Reducible r = detail::make_reducible(self, mask);
  extreme_kernel(self.device(), ExtremeArgs{largest, self.scalar_type(), r.tensor.impl().data(), values.impl().data(),
                                            reinterpret_cast<int64_t*>(indices.impl().data()), r.outer, r.n, r.inner});
  return {values, indices};
}
Tensor extreme_index(bool largest, const Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* op) {
  TAEDA_CHECK_INDEX(dim || self.numel() > 0, "[", op, "] expected reduction dim to be specified for input.numel() == 0: got sizes ",
                    self.sizes(), "; specify 'dim'");
  const uint64_t mask = dim ? reduce_mask(*dim, self.dim(), op) : reduce_mask(std::nullopt, self.dim(), op);
  detail::check_not_empty(self, mask, op);
  Tensor indices = make_tensor(detail::reduced_sizes(self.sizes(), mask, keepdim), kLong, self.device());
  if (indices.numel() == 0) return indices;
  const detail::Reducible r = detail::make_reducible(self, mask);
  extreme_kernel(self.device(), ExtremeArgs{largest, self.scalar_type(), r.tensor.impl().data(), nullptr,
                                            reinterpret_cast<int64_t*>(indices.impl().data()), r.outer, r.n, r.inner});
  return indices;
}

/// Largest values over dimensions (all when none are named); equal ones share the gradient.
struct Amax {
  static constexpr auto schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor";
  static Tensor forward(const Tensor& self, IntArrayRef dim, bool keepdim) {
    TAEDA_CHECK(self.numel() > 0 || !dim.empty(), "[amax] expected reduction dim to be specified for input.numel() == 0; specify 'dim'");
    return extreme_values(ReduceKind::kMax, self, reduce_mask(OptionalIntArrayRef(dim), self.dim(), "amax"), keepdim, "amax");
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim, bool keepdim) {
    return share_among_equal(grad, self, result, reduce_mask(OptionalIntArrayRef(dim), self.dim(), "amax"), keepdim);
  }
  static constexpr Onnx onnx{"ReduceMax", 18};
};
/// Smallest values over dimensions (all when none are named); equal ones share the gradient.
struct Amin {
  static constexpr auto schema = "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor";
  static Tensor forward(const Tensor& self, IntArrayRef dim, bool keepdim) {
    TAEDA_CHECK(self.numel() > 0 || !dim.empty(), "[amin] expected reduction dim to be specified for input.numel() == 0; specify 'dim'");
    return extreme_values(ReduceKind::kMin, self, reduce_mask(OptionalIntArrayRef(dim), self.dim(), "amin"), keepdim, "amin");
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim, bool keepdim) {
    return share_among_equal(grad, self, result, reduce_mask(OptionalIntArrayRef(dim), self.dim(), "amin"), keepdim);
  }
  static constexpr Onnx onnx{"ReduceMin", 18};
};

/// The largest element.
struct Max {
  static constexpr auto schema = "max(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.numel() > 0, "[max] expected reduction dim to be specified for input.numel() == 0; specify 'dim'");
    return reduce(ReduceKind::kMax, self, reduce_mask(std::nullopt, self.dim(), "max"), false);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result) {
    return share_among_equal(grad, self, result, reduce_mask(std::nullopt, self.dim(), "max"), false);
  }
};
/// The smallest element.
struct Min {
  static constexpr auto schema = "min(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.numel() > 0, "[min] expected reduction dim to be specified for input.numel() == 0; specify 'dim'");
    return reduce(ReduceKind::kMin, self, reduce_mask(std::nullopt, self.dim(), "min"), false);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result) {
    return share_among_equal(grad, self, result, reduce_mask(std::nullopt, self.dim(), "min"), false);
  }
};
/// Largest values along `dim` and the first index of each.
struct MaxDim {
  static constexpr auto schema = "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, int64_t dim, bool keepdim) {
    return extreme_with_indices(true, self, dim, keepdim, "max");
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim, bool keepdim) {
    return place_at(grad, self_sizes, dim, indices, keepdim);
  }
};
/// Smallest values along `dim` and the first index of each.
struct MinDim {
  static constexpr auto schema = "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, int64_t dim, bool keepdim) {
    return extreme_with_indices(false, self, dim, keepdim, "min");
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim, bool keepdim) {
    return place_at(grad, self_sizes, dim, indices, keepdim);
  }
};
/// The larger of two, elementwise; see `maximum`.
struct MaxOther : Composite {
  static constexpr auto schema = "max.other(Tensor self, Tensor other) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other) { return taeda::maximum(self, other); }
};
/// The smaller of two, elementwise; see `minimum`.
struct MinOther : Composite {
  static constexpr auto schema = "min.other(Tensor self, Tensor other) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other) { return taeda::minimum(self, other); }
};

/// Index of the first largest element, in the flattened input or along `dim`.
struct Argmax {
  static constexpr auto schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    return extreme_index(true, self, dim, keepdim, "argmax");
  }
};
/// Index of the first smallest element, in the flattened input or along `dim`.
struct Argmin {
  static constexpr auto schema = "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    return extreme_index(false, self, dim, keepdim, "argmin");
  }
};

/// Smallest and largest values along `dim`, or of the whole input.
struct Aminmax {
  static constexpr auto schema = "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)";
  static uint64_t mask_of(std::optional<int64_t> dim, int64_t ndim) {
    return dim ? reduce_mask(*dim, ndim, "aminmax") : reduce_mask(std::nullopt, ndim, "aminmax");
  }
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
    TAEDA_CHECK(dim || self.numel() > 0, "[aminmax] cannot compute aminmax over an empty dimension as the operation has no identity; pass elements");
    const uint64_t mask = mask_of(dim, self.dim());
    return {extreme_values(ReduceKind::kMin, self, mask, keepdim, "aminmax"), extreme_values(ReduceKind::kMax, self, mask, keepdim, "aminmax")};
  }
  static Tensor grad_self(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min, const Tensor& max,
                          std::optional<int64_t> dim, bool keepdim) {
    const uint64_t mask = mask_of(dim, self.dim());
    return share_among_equal(grad_min, self, min, mask, keepdim).add(share_among_equal(grad_max, self, max, mask, keepdim));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/reduce_minmax.inc"
