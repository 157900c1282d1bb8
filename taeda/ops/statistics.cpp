// SPDX-License-Identifier: Apache-2.0
// Covariances, histograms, counts and searches in sorted sequences.
#include <algorithm>
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/sort.h"

namespace taeda {
namespace ops {
namespace {

using OptTensor = std::optional<Tensor>;
bool given(const OptTensor& t) { return t && t->defined(); }
constexpr int64_t kAll = -1;

void check_weights(const Tensor& w, int64_t count, const char* name, bool integral) {
  TAEDA_CHECK(w.dim() <= 1, "[cov] expected ", name, " to have one or fewer dimensions but got ", name, " with ", w.dim(), " dimensions; flatten it");
  TAEDA_CHECK(is_integral_type(w.scalar_type(), false) == integral && w.scalar_type() != kBool, "[cov] expected ", name, " to have ",
              integral ? "integral" : "floating point", " dtype but got ", w.scalar_type(), "; convert it");
  TAEDA_CHECK(w.numel() == count, "[cov] expected ", name, " to have the same numel as there are observations: got ", w.numel(), " != ", count,
              "; give one for each");
  TAEDA_CHECK(w.numel() == 0 || w.detach().min().item<double>() >= 0, "[cov] ", name, " cannot be negative; pass weights of 0 or more");
}
/// Covariance matrix of the rows (variables) of self over its columns (observations).
struct Cov : Composite {
  static constexpr auto schema = "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t correction, const OptTensor& fweights, const OptTensor& aweights) {
    TAEDA_CHECK(self.dim() <= 2, "[cov] expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions; reshape it");
    TAEDA_CHECK(self.scalar_type() != kBool, "[cov] bool dtype is not supported for input; convert it");
    Tensor x = self.dim() < 2 ? self.reshape({1, kAll}) : self;
    const int64_t count = x.size(1);
    Tensor w;
    if (given(fweights)) {
      check_weights(*fweights, count, "fweights", true);
      w = *fweights;
    }
    if (given(aweights)) {
      check_weights(*aweights, count, "aweights", false);
      w = w.defined() ? w.mul(*aweights) : *aweights;
    }
    const Tensor weight_sum = w.defined() ? w.sum() : taeda::full({}, count, kLong);
    TAEDA_CHECK(!w.defined() || weight_sum.detach().item<double>() != 0, "[cov] weights sum to zero, can't be normalized; pass a positive one");
    const Tensor average = (w.defined() ? x.mul(w) : x).sum(1).div(weight_sum);
    Tensor norm;
    if (w.defined() && given(aweights) && correction != 0) {
      norm = weight_sum.sub(w.mul(*aweights).sum().mul(correction).div(weight_sum));
    } else {
      norm = weight_sum.sub(correction);
    }
    if (norm.detach().item<double>() <= 0) norm = taeda::zeros_like(norm);
    x = x.sub(average.unsqueeze(1));
    const Tensor weighted = w.defined() ? x.mul(w) : x;
    return x.mm(weighted.t().to(x.scalar_type())).div(norm).squeeze();
  }
};
/// Correlation coefficients of the rows of self.
struct Corrcoef : Composite {
  static constexpr auto schema = "corrcoef(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.dim() <= 2, "[corrcoef] expected input to have two or fewer dimensions but got an input with ", self.dim(), " dimensions; reshape it");
    const Tensor c = self.cov();
    if (c.dim() == 0) return c.div(c);
    const Tensor d = c.diagonal(0, 0, 1).sqrt();
    return c.div(d.unsqueeze(1)).div(d.unsqueeze(0)).clamp(-1, 1);
  }
};

/// Sums of `weights` (or counts) by bin number.
Tensor sum_into(const Tensor& bins, int64_t count, const OptTensor& weights, ScalarType dtype) {
  const Tensor w = given(weights) ? weights->reshape(IntArrayRef(kAll)).to(dtype) : taeda::ones_like(bins, dtype);
  return taeda::zeros(count, dtype).scatter_add(0, bins, w);
}
/// How often each number occurs, or the sum of its weights; at least `minlength` results.
struct Bincount {
  static constexpr auto schema = "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor";
  static constexpr auto shape_from = "values";
  static constexpr auto no_grad = "the result is a count";
  static Tensor forward(const Tensor& self, const OptTensor& weights, int64_t minlength) {
    TAEDA_CHECK(self.dim() == 1 && is_integral_type(self.scalar_type(), true), "[bincount] bincount only supports 1-d non-negative integral inputs: got ",
                self.sizes(), " ", self.scalar_type(), "; flatten and convert it");
    TAEDA_CHECK(minlength >= 0, "[bincount] minlength should be >= 0: got ", minlength, "; pass 0 or more");
    TAEDA_CHECK(!given(weights) || weights->sizes() == self.sizes(), "[bincount] weights should be 1-d and have the same length as input; give one for each");
    const ScalarType dtype = !given(weights) ? kLong : weights->scalar_type() == kFloat ? kFloat : kDouble;
    if (self.numel() == 0) return taeda::zeros(minlength, kLong);
    const Tensor numbers = self.to(kLong);
    TAEDA_CHECK(numbers.min().item<int64_t>() >= 0, "[bincount] bincount only supports 1-d non-negative integral inputs; shift them");
    return sum_into(numbers, std::max(minlength, numbers.max().item<int64_t>() + 1), weights, dtype);
  }
};

std::pair<double, double> range_of(const Tensor& x, double low, double high, const char* op) {
  if (low == high && x.numel() > 0) {
    low = x.min().item<double>();
    high = x.max().item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  TAEDA_CHECK(std::isfinite(low) && std::isfinite(high), "[", op, "] range of [", low, ", ", high, "] is not finite; give finite bounds");
  TAEDA_CHECK(low < high, "[", op, "] max must be larger than min: got ", low, " and ", high, "; swap them");
  return {low, high};
}
/// Counts of the elements in `bins` bins of equal width from min to max (of the elements themselves when both are 0).
struct Histc {
  static constexpr auto schema = "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor";
  static constexpr auto no_grad = "the result is a count";
  static Tensor forward(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
    TAEDA_CHECK(bins > 0, "[histc] bins must be > 0: got ", bins, "; ask for at least one");
    TAEDA_CHECK(self.is_floating_point(), "[histc] the input must be floating: got ", self.scalar_type(), "; convert it");
    const auto [low, high] = range_of(self, min.toDouble(), max.toDouble(), "histc");
    const Tensor x = self.reshape(IntArrayRef(kAll)).to(kDouble);
    const Tensor inside = x.masked_select(x.ge(low).logical_and(x.le(high)));
    const Tensor places = inside.sub(low).div(high - low).mul(static_cast<double>(bins)).floor().to(kLong).clamp_max(bins - 1);
    return sum_into(places, bins, std::nullopt, self.scalar_type());
  }
};

/// The bin of each element among ascending edges; -1 outside. The last bin holds its right edge.
Tensor bins_of(const Tensor& x, const Tensor& edges) {
  const int64_t bins = edges.numel() - 1;
  const Tensor place = taeda::searchsorted(edges, x.contiguous(), false, true).sub(1);
  const Tensor closed = taeda::where(x.eq(edges.select(0, bins)), taeda::full({}, bins - 1, kLong), place);
  return taeda::where(closed.lt(0).logical_or(closed.ge(bins)), taeda::full({}, -1, kLong), closed);
}
Tensor edges_for(const Tensor& x, int64_t bins, OptionalArrayRef<double> range, size_t at, const char* op) {
  TAEDA_CHECK(bins > 0, "[", op, "] bins must be > 0: got ", bins, "; ask for at least one");
  double low = 0, high = 0;
  if (range.has_value()) {
    low = (*range)[2 * at];
    high = (*range)[2 * at + 1];
    TAEDA_CHECK(low <= high, "[", op, "] min should not exceed max, but got min ", low, " max ", high, "; swap them");
  } else if (x.numel() > 0) {
    low = x.min().item<double>();
    high = x.max().item<double>();
  } else {
    high = 1;
  }
  TAEDA_CHECK(std::isfinite(low) && std::isfinite(high), "[", op, "] dimension ", at, "'s range [", low, ", ", high, "] is not finite; give finite bounds");
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  return taeda::linspace(low, high, bins + 1, x.options());
}
using Histograms = std::tuple<Tensor, std::vector<Tensor>>;
/// Of points (count, dimensions).
Tensor histogram_of(const Tensor& points, TensorList edges, const OptTensor& weight, bool density, const char* op) {
  const int64_t dims = points.size(1);
  DimVector shape;
  int64_t total = 1;
  Tensor place, inside;
  for (int64_t d = 0; d < dims; ++d) {
    const Tensor& e = edges[static_cast<size_t>(d)];
    TAEDA_CHECK(e.dim() == 1 && e.numel() > 1, "[", op, "] bin edges must be 1D with at least two entries: got ", e.sizes(), "; pass ascending edges");
    TAEDA_CHECK(e.scalar_type() == points.scalar_type(), "[", op, "] bin edges must have the input's dtype: got ", e.scalar_type(), " and ",
                points.scalar_type(), "; convert them");
    const int64_t bins = e.numel() - 1;
    const Tensor b = bins_of(points.select(1, d), e);
    place = place.defined() ? place.mul(bins).add(b) : b;
    inside = inside.defined() ? inside.logical_and(b.ge(0)) : b.ge(0);
    shape.push_back(bins);
    total *= bins;
  }
  OptTensor chosen;
  if (given(weight)) {
    TAEDA_CHECK(weight->scalar_type() == points.scalar_type(), "[", op, "] weight must have the input's dtype: got ", weight->scalar_type(), "; convert it");
    TAEDA_CHECK(weight->numel() == points.size(0), "[", op, "] weight must hold one number for each element: got ", weight->sizes(), "; reshape it");
    chosen = weight->reshape(IntArrayRef(kAll)).masked_select(inside);
  }
  Tensor hist = sum_into(place.masked_select(inside), total, chosen, points.scalar_type()).reshape(shape);
  if (!density) return hist;
  hist = hist.div(hist.sum());
  for (int64_t d = 0; d < dims; ++d) {
    DimVector wide(static_cast<size_t>(dims), 1);
    wide[static_cast<size_t>(d)] = shape[static_cast<size_t>(d)];
    hist = hist.div(edges[static_cast<size_t>(d)].diff().reshape(wide));
  }
  return hist;
}
void check_floating(const Tensor& self, const char* op) {
  TAEDA_CHECK(self.is_floating_point(), "[", op, "] the input must be floating: got ", self.scalar_type(), "; convert it");
}
Tensor as_points(const Tensor& self) { return self.reshape({kAll, 1}); }

/// Counts (or sums of weights) in bins of equal width over the elements' range or the given one; and the bins' edges.
struct HistogramCount {
  static constexpr auto schema =
      "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)";
  static constexpr auto no_grad = "the result is a count";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, int64_t bins, OptionalArrayRef<double> range, const OptTensor& weight, bool density) {
    check_floating(self, "histogram");
    TAEDA_CHECK(!range.has_value() || range->size() == 2, "[histogram] range should have 2 elements; give min and max");
    const Tensor edges = edges_for(self, bins, range, 0, "histogram");
    return {histogram_of(as_points(self), edges, weight, density, "histogram"), edges};
  }
};
/// Counts (or sums of weights) between the given ascending edges.
struct HistogramEdges {
  static constexpr auto schema =
      "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)";
  static constexpr auto no_grad = "the result is a count";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, const Tensor& bins, const OptTensor& weight, bool density) {
    check_floating(self, "histogram");
    return {histogram_of(as_points(self), bins, weight, density, "histogram"), bins.clone()};
  }
};
Tensor points_of(const Tensor& self) {
  check_floating(self, "histogramdd");
  TAEDA_CHECK(self.dim() >= 2, "[histogramdd] input tensor should have at least 2 dimensions: got ", self.sizes(), "; the last holds the coordinates");
  return self.reshape({kAll, self.size(-1)});
}
/// Histogram in several dimensions, `bins` of equal width in each; self (…, dimensions).
struct HistogramddCounts {
  static constexpr auto schema =
      "histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is a count";
  static Histograms forward(const Tensor& self, IntArrayRef bins, OptionalArrayRef<double> range, const OptTensor& weight, bool density) {
    const Tensor points = points_of(self);
    TAEDA_CHECK(static_cast<int64_t>(bins.size()) == points.size(1), "[histogramdd] expected ", points.size(1), " bin counts but got ", bins.size(),
                "; give one for each dimension");
    TAEDA_CHECK(!range.has_value() || range->size() == 2 * bins.size(), "[histogramdd] range should have ", 2 * bins.size(), " elements; give min and max of each dimension");
    std::vector<Tensor> edges;
    for (size_t d = 0; d < bins.size(); ++d) edges.push_back(edges_for(points.select(1, static_cast<int64_t>(d)), bins[d], range, d, "histogramdd"));
    return {histogram_of(points, edges, weight, density, "histogramdd"), edges};
  }
};
/// Histogram in several dimensions with the same number of bins in each.
struct HistogramddOne {
  static constexpr auto schema =
      "histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is a count";
  static Histograms forward(const Tensor& self, int64_t bins, OptionalArrayRef<double> range, const OptTensor& weight, bool density) {
    const DimVector all(static_cast<size_t>(points_of(self).size(1)), bins);
    return HistogramddCounts::forward(self, all, range, weight, density);
  }
};
/// Histogram in several dimensions between given edges.
struct HistogramddEdges {
  static constexpr auto schema =
      "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is a count";
  static Histograms forward(const Tensor& self, TensorList bins, OptionalArrayRef<double> /*range*/, const OptTensor& weight, bool density) {
    const Tensor points = points_of(self);
    TAEDA_CHECK(static_cast<int64_t>(bins.size()) == points.size(1), "[histogramdd] expected ", points.size(1), " sequences of bin edges but got ",
                bins.size(), "; give one for each dimension");
    return {histogram_of(points, bins, weight, density, "histogramdd"), bins.vec()};
  }
};

Tensor places_in(const Tensor& edges, const Tensor& values, bool out_int32, bool right, const OptTensor& sorter) {
  // Values are compared in the dtype that arithmetic between them would have: a number beside float32 boundaries is a float32.
  const ScalarType common = taeda::result_type(edges, values);
  const ScalarType type = is_floating_type(common) ? kDouble : kLong;
  const Tensor e = edges.to(common).to(type).contiguous(), v = values.to(common).to(type).contiguous();
  const Tensor s = given(sorter) ? sorter->contiguous() : Tensor();
  Tensor out = make_tensor(values.sizes(), kLong, values.device());
  SearchArgs a{};
  a.dtype = type;
  a.n = edges.dim() == 0 ? 1 : edges.size(-1);
  a.shared_edges = edges.dim() <= 1;
  a.rows = a.shared_edges ? 1 : edges.numel() / std::max<int64_t>(a.n, 1);
  if (!a.shared_edges && a.n == 0) a.rows = values.numel() / std::max<int64_t>(values.size(-1), 1);
  a.count = a.shared_edges ? values.numel() : values.size(-1);
  a.edges = e.impl().data();
  a.values = v.impl().data();
  a.sorter = s.defined() ? reinterpret_cast<const int64_t*>(s.impl().data()) : nullptr;
  a.out = reinterpret_cast<int64_t*>(out.impl().data());
  a.right = right;
  if (out.numel() > 0) search_kernel(values.device(), a);
  return out_int32 ? out.to(kInt) : out;
}
/// Places where the values would be inserted into sorted sequences, in front of equal elements or (`right`) behind.
struct SearchsortedTensor {
  static constexpr auto schema =
      "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right, std::optional<std::string_view> side,
                        const OptTensor& sorter) {
    if (side) {
      TAEDA_CHECK(*side == "left" || *side == "right", "[searchsorted] side can only be 'left' or 'right' but got ", *side, "; choose one of them");
      TAEDA_CHECK(!right || *side == "right", "[searchsorted] side and right can't be set to opposites: got side of ", *side, " while right was True; leave one out");
      right = *side == "right";
    }
    TAEDA_CHECK(sorted_sequence.dim() != 0, "[searchsorted] the sequence should have at least one dimension: got a 0-dim tensor; reshape it");
    if (sorted_sequence.dim() > 1) {
      const auto lead = [](const Tensor& t) { return t.sizes().slice(0, static_cast<size_t>(t.dim() - 1)); };
      TAEDA_CHECK(self.dim() == sorted_sequence.dim() && lead(self) == lead(sorted_sequence),
                  "[searchsorted] boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match: got ",
                  sorted_sequence.sizes(), " and ", self.sizes(), "; reshape one");
    }
    if (given(sorter)) {
      TAEDA_CHECK(sorter->sizes() == sorted_sequence.sizes(), "[searchsorted] boundary and sorter must have the same size: got ", sorted_sequence.sizes(),
                  " and ", sorter->sizes(), "; pass the result of argsort");
      TAEDA_CHECK(sorter->scalar_type() == kLong, "[searchsorted] sorter must be a tensor of long dtype: got ", sorter->scalar_type(), "; convert it");
      if (sorter->numel() > 0) {
        TAEDA_CHECK(sorter->min().item<int64_t>() >= 0 && sorter->max().item<int64_t>() < sorter->size(-1), "[searchsorted] sorter index out of range; pass the result of argsort");
      }
    }
    return places_in(sorted_sequence, self, out_int32, right, sorter);
  }
};
/// The place where one number would be inserted into a sorted sequence.
struct SearchsortedScalar {
  static constexpr auto schema =
      "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right, std::optional<std::string_view> side,
                        const OptTensor& sorter) {
    TAEDA_CHECK(sorted_sequence.dim() == 1, "[searchsorted] a number can be searched in one sequence only: got ", sorted_sequence.sizes(), "; pass a tensor of values");
    return SearchsortedTensor::forward(sorted_sequence, taeda::full({}, self, self.isFloatingPoint() ? kDouble : kLong), out_int32, right, side, sorter);
  }
};
/// The bucket of each value between sorted boundaries; `right` puts a value that equals a boundary behind it.
struct BucketizeTensor {
  static constexpr auto schema = "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
    TAEDA_CHECK(boundaries.dim() == 1, "[bucketize] boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), "); flatten it");
    return places_in(boundaries, self, out_int32, right, std::nullopt);
  }
};
/// The bucket of one number between sorted boundaries.
struct BucketizeScalar {
  static constexpr auto schema = "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result is an index";
  static Tensor forward(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
    return BucketizeTensor::forward(taeda::full({}, self, self.isFloatingPoint() ? kDouble : kLong), boundaries, out_int32, right);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/statistics.inc"
