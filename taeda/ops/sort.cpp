// SPDX-License-Identifier: Apache-2.0
// Sorting, selection, medians, modes and quantiles.
#include "taeda/ops/kernels/sort.h"

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce_mask;
using Pair = std::tuple<Tensor, Tensor>;

struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
};
Lines lines_of(IntArrayRef sizes, int64_t dim) {
  Lines l;
  for (size_t d = 0; d < sizes.size(); ++d) {
    (static_cast<int64_t>(d) < dim ? l.outer : static_cast<int64_t>(d) == dim ? l.n : l.inner) *= sizes[d];
  }
  return l;
}
int64_t* index_data(const Tensor& t) { return reinterpret_cast<int64_t*>(t.impl().data()); }

Pair sorted(const Tensor& self, int64_t dim, bool descending) {
  dim = maybe_wrap_dim(dim, self.dim(), "sort");
  const Tensor in = self.contiguous();
  Tensor values = make_tensor(in.sizes(), in.scalar_type(), in.device());
  Tensor indices = make_tensor(in.sizes(), kLong, in.device());
  const Lines l = lines_of(in.sizes(), dim);
  if (in.numel() > 0) {
    sort_kernel(in.device(), SortArgs{in.scalar_type(), in.impl().data(), values.impl().data(), index_data(indices), l.outer, l.n, l.inner, descending});
  }
  return {values, indices};
}
/// The gradient scattered back to the places that the values came from.
Tensor scatter_back(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& indices) {
  if (sizes.empty()) return grad.reshape(sizes);
  return taeda::zeros(sizes, grad.options()).scatter(dim, indices, grad);
}

/// Values in ascending or descending order along `dim`, and the indices they came from. Equal elements keep their order.
struct Sort {
  static constexpr auto schema = "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, int64_t dim, bool descending) { return sorted(self, dim, descending); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim) {
    return scatter_back(grad, self_sizes, dim, indices);
  }
};
/// As `sort`, which is always stable.
struct SortStable {
  static constexpr auto schema = "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool descending) { return sorted(self, dim, descending); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim) {
    return scatter_back(grad, self_sizes, dim, indices);
  }
};
/// The indices that sort along `dim`.
struct Argsort {
  static constexpr auto schema = "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& self, int64_t dim, bool descending) { return std::get<1>(sorted(self, dim, descending)); }
};
/// As `argsort`, which is always stable.
struct ArgsortStable {
  static constexpr auto schema = "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& self, bool /*stable*/, int64_t dim, bool descending) { return std::get<1>(sorted(self, dim, descending)); }
};
/// Sorted along the first dimension.
struct Msort : Composite {
  static constexpr auto schema = "msort(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return std::get<0>(self.sort(0, false)); }
};

/// The k largest (or smallest) elements along `dim` in order, and their indices.
struct Topk {
  static constexpr auto schema =
      "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/) {
    dim = maybe_wrap_dim(dim, self.dim(), "topk");
    const Tensor in = self.contiguous();
    const Lines l = lines_of(in.sizes(), dim);
    if (in.dim() == 0 && k == 0) k = 1;  // there is no dimension to cut: the element itself
    TAEDA_CHECK(k >= 0 && k <= l.n, "[topk] selected index k out of range: got ", k, " for a dimension of size ", l.n, "; choose k up to the size");
    DimVector sizes(in.sizes());
    if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = k;
    Tensor values = make_tensor(sizes, in.scalar_type(), in.device());
    Tensor indices = make_tensor(sizes, kLong, in.device());
    if (values.numel() > 0) {
      topk_kernel(in.device(), TopkArgs{in.scalar_type(), in.impl().data(), values.impl().data(), index_data(indices), l.outer, l.n, l.inner, k, largest});
    }
    return {values, indices};
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim) {
    return scatter_back(grad, self_sizes, dim, indices);
  }
  static constexpr Onnx onnx{"TopK", 11};
};

Pair pick(PickKind kind, const Tensor& self, int64_t k, int64_t dim, bool keepdim, const char* op) {
  dim = maybe_wrap_dim(dim, self.dim(), op);
  const uint64_t mask = reduce_mask(dim, self.dim(), op);
  detail::check_not_empty(self, mask, op);
  const Tensor in = self.contiguous();
  const Lines l = lines_of(in.sizes(), dim);
  TAEDA_CHECK(kind != PickKind::kKth || (k >= 1 && k <= l.n), "[", op, "] selected number k out of range for dimension ", dim, ": got ", k,
              " of ", l.n, "; choose k from 1 to the size");
  const DimVector sizes = detail::reduced_sizes(in.sizes(), mask, keepdim);
  Tensor values = make_tensor(sizes, in.scalar_type(), in.device());
  Tensor indices = make_tensor(sizes, kLong, in.device());
  if (values.numel() > 0) {
    pick_kernel(in.device(), PickArgs{kind, in.scalar_type(), in.impl().data(), values.impl().data(), index_data(indices), l.outer, l.n, l.inner, k});
  }
  return {values, indices};
}
Tensor pick_grad(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& indices, bool keepdim) {
  if (sizes.empty()) return grad;
  const auto ndim = static_cast<int64_t>(sizes.size());
  const uint64_t mask = reduce_mask(dim, ndim, "median");
  return scatter_back(detail::restore_dims(grad, mask, ndim, keepdim), sizes, dim, detail::restore_dims(indices, mask, ndim, keepdim));
}
Tensor pick_one(PickKind kind, const Tensor& self, const char* op) {
  if (self.numel() == 0) {
    Tensor nan = make_tensor({}, self.scalar_type(), self.device());
    TAEDA_CHECK(self.is_floating_point(), "[", op, "] the input must not be empty: got sizes ", self.sizes(), "; pass at least one element");
    return nan.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  return std::get<0>(pick(kind, self.reshape(IntArrayRef(int64_t{-1})), 0, 0, false, op));
}
Tensor share_equal(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor chosen = self.eq(result).logical_or(self.isnan().logical_and(result.isnan())).to(grad.scalar_type());
  return grad.div(chosen.sum()).mul(chosen);
}

/// The k-th smallest value along `dim` and its index.
struct Kthvalue {
  static constexpr auto schema = "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, int64_t k, int64_t dim, bool keepdim) { return pick(PickKind::kKth, self, k, dim, keepdim, "kthvalue"); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim, bool keepdim) {
    return pick_grad(grad, self_sizes, dim, indices, keepdim);
  }
};
/// The median of all elements, the lower of two; NaN if there is one.
struct Median {
  static constexpr auto schema = "median(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return pick_one(PickKind::kMedian, self, "median"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result) { return share_equal(grad, self, result); }
};
/// The medians along `dim`, the lower of two, and their indices.
struct MedianDim {
  static constexpr auto schema = "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, int64_t dim, bool keepdim) { return pick(PickKind::kMedian, self, 0, dim, keepdim, "median"); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim, bool keepdim) {
    return pick_grad(grad, self_sizes, dim, indices, keepdim);
  }
};
/// The median of the elements that are not NaN, the lower of two.
struct Nanmedian {
  static constexpr auto schema = "nanmedian(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return pick_one(PickKind::kNanMedian, self, "nanmedian"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result) { return share_equal(grad, self, result); }
};
/// The medians along `dim` of what is not NaN, the lower of two, and their indices.
struct NanmedianDim {
  static constexpr auto schema = "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, int64_t dim, bool keepdim) { return pick(PickKind::kNanMedian, self, 0, dim, keepdim, "nanmedian"); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim, bool keepdim) {
    return pick_grad(grad, self_sizes, dim, indices, keepdim);
  }
};
/// The most frequent value along `dim`, the smallest of several, and the index of its last element.
struct Mode {
  static constexpr auto schema = "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static Pair forward(const Tensor& self, int64_t dim, bool keepdim) { return pick(PickKind::kMode, self, 0, dim, keepdim, "mode"); }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const Tensor& indices, int64_t dim, bool keepdim) {
    return pick_grad(grad, self_sizes, dim, indices, keepdim);
  }
};

/// Quantiles from sorted lines: at rank q (n - 1), between neighbours by `interpolation`.
Tensor quantile_of(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation, bool skip_nan,
                   const char* op) {
  TAEDA_CHECK(self.numel() > 0, "[", op, "] input tensor must be non-empty: got sizes ", self.sizes(), "; pass at least one element");
  TAEDA_CHECK(q.dim() <= 1, "[", op, "] q must be a scalar or 1D tensor: got ", q.sizes(), "; flatten it");
  TAEDA_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble, "[", op, "] input tensor must be either float or double dtype: got ",
              self.scalar_type(), "; convert it");
  TAEDA_CHECK(q.scalar_type() == self.scalar_type(), "[", op, "] q tensor must be same dtype as the input tensor: got ", q.scalar_type(), " and ",
              self.scalar_type(), "; convert one");
  TAEDA_CHECK(interpolation == "linear" || interpolation == "lower" || interpolation == "higher" || interpolation == "midpoint" || interpolation == "nearest",
              "[", op, "] interpolation must be one of linear, lower, higher, midpoint or nearest: got ", interpolation, "; choose one of them");
  TAEDA_CHECK(q.detach().ge(0).logical_and(q.detach().le(1)).all().item<bool>(), "[", op, "] q values must be in the range [0, 1]; clamp them");
  const bool one = q.dim() == 0;
  const int64_t ndim = self.dim();
  const bool flat = !dim || ndim == 0;
  if (dim) maybe_wrap_dim(*dim, ndim, op);
  const Tensor last = flat ? self.reshape(IntArrayRef(int64_t{-1})) : self.transpose(*dim, -1);
  const Tensor lines = std::get<0>(last.sort(-1, false));
  const int64_t n = lines.size(-1);
  Tensor ranks;
  const Tensor nans = lines.detach().isnan();
  const Tensor qs = q.reshape(IntArrayRef(int64_t{-1}));
  if (skip_nan) {
    const Tensor count = nans.logical_not().sum(-1, true).sub(1).clamp_min(0).to(self.scalar_type());
    ranks = count.mul(qs);
  } else {
    DimVector shape(lines.sizes());
    shape.back() = qs.numel();
    ranks = qs.mul(static_cast<double>(n - 1)).expand(shape).masked_fill(nans.any(-1, true), static_cast<double>(n - 1));
  }
  if (interpolation == "lower") ranks = ranks.floor();
  if (interpolation == "higher") ranks = ranks.ceil();
  if (interpolation == "nearest") ranks = ranks.round();
  const Tensor below = ranks.detach().to(kLong);
  Tensor values = lines.gather(-1, below);
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor above = ranks.detach().ceil().to(kLong);
    const Tensor upper = lines.gather(-1, above);
    values = interpolation == "midpoint" ? taeda::lerp(values, upper, 0.5) : taeda::lerp(values, upper, ranks.sub(below));
  }
  // (…, q) → (q, …), or without q.
  if (flat) {
    if (one) {
      values = values.reshape(IntArrayRef());
      return keepdim ? values.reshape(DimVector(static_cast<size_t>(ndim), 1)) : values;
    }
    if (!keepdim) return values;
    DimVector shape(static_cast<size_t>(ndim + 1), 1);
    shape[0] = qs.numel();
    return values.reshape(shape);
  }
  const int64_t at = maybe_wrap_dim(*dim, ndim);
  values = values.transpose(at, -1);  // q where the dimension was
  if (one) return keepdim ? values : values.squeeze(at);
  values = values.movedim(at, 0);
  return keepdim ? values.unsqueeze(at + 1) : values;
}
/// Quantiles of all elements or along `dim`; several values of q come as a first dimension.
struct Quantile : Composite {
  static constexpr auto schema =
      "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
    return quantile_of(self, q, dim, keepdim, interpolation, false, "quantile");
  }
};
Tensor one_q(const Tensor& self, double q, const char* op) {
  TAEDA_CHECK(q >= 0 && q <= 1, "[", op, "] q must be in the range [0, 1] but got ", q, "; pass a share");
  return taeda::full({}, q, self.options());
}
/// A quantile of all elements or along `dim`.
struct QuantileScalar : Composite {
  static constexpr auto schema =
      "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor";
  static Tensor forward(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
    return quantile_of(self, one_q(self, q, "quantile"), dim, keepdim, interpolation, false, "quantile");
  }
};
/// `quantile` of the elements that are not NaN.
struct Nanquantile : Composite {
  static constexpr auto schema =
      "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
    return quantile_of(self, q, dim, keepdim, interpolation, true, "nanquantile");
  }
};
/// A quantile of the elements that are not NaN.
struct NanquantileScalar : Composite {
  static constexpr auto schema =
      "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor";
  static Tensor forward(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
    return quantile_of(self, one_q(self, q, "nanquantile"), dim, keepdim, interpolation, true, "nanquantile");
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/sort.inc"
