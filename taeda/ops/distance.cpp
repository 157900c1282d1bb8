// SPDX-License-Identifier: Apache-2.0
// Distances and similarities between vectors.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

/// p-norm of self - other.
struct Dist : Composite {
  static constexpr auto schema = "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other, const Scalar& p) { return taeda::norm(self.sub(other), p); }
};
/// p-norm of x1 - x2 + eps along the last dimension.
struct PairwiseDistance : Composite {
  static constexpr auto schema = "pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
    const int64_t dim = std::max(x1.dim(), x2.dim()) - 1;
    return taeda::linalg_vector_norm(x1.sub(x2).add(eps), p, IntArrayRef(dim), keepdim);
  }
};
/// Dot product along `dim` of the vectors, each divided by the larger of its length and eps.
struct CosineSimilarity : Composite {
  static constexpr auto schema = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor unit(const Tensor& x, int64_t dim, double eps) {
    const Tensor length = taeda::linalg_vector_norm(x, 2, IntArrayRef(dim), true);
    const Tensor floor = length.detach();
    return x.div(taeda::where(floor.lt(eps), taeda::full({}, eps, x.options()), length));
  }
  static Tensor forward(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
    const ScalarType type = taeda::result_type(x1, x2);
    TAEDA_CHECK(is_floating_type(type), "[cosine_similarity] expected common dtype to be floating point, yet common dtype is ", type, "; convert the inputs");
    const DimVector shape = broadcast_sizes(x1.sizes(), x2.sizes(), "cosine_similarity");
    const Tensor a = x1.to(type).expand(shape), b = x2.to(type).expand(shape);
    return unit(a, dim, eps).mul(unit(b, dim, eps)).sum(dim);
  }
};
/// v / max(|v|_p, eps) along `dim`.
struct Normalize : Composite {
  static constexpr auto schema = "nn_functional_normalize(Tensor input, float p=2., int[1] dim=1, float eps=1e-12) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, double p, IntArrayRef dim, double eps) {
    return input.div(taeda::linalg_vector_norm(input, p, dim, true).clamp_min(eps).expand(input.sizes()));
  }
};

/// p-norms of the last dimension, with p rounded to the dtype.
Tensor row_norms(const Tensor& differences, double p) {
  if (differences.scalar_type() != kDouble) p = static_cast<double>(static_cast<float>(p));
  return taeda::linalg_vector_norm(differences, p, IntArrayRef(int64_t{-1}), false);
}
/// p-norm distances between all rows of x1 (…, P, M) and x2 (…, R, M); returns (…, P, R).
struct Cdist : Composite {
  static constexpr auto schema = "cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
    TAEDA_CHECK(compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2, "[cdist] possible modes are 0, 1 and 2: got ", compute_mode.value_or(0),
                "; leave it out");
    TAEDA_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "[cdist] cdist only supports at least 2D tensors: got ", x1.sizes(), " and ", x2.sizes(), "; add dimensions");
    TAEDA_CHECK(x1.size(-1) == x2.size(-1), "[cdist] X1 and X2 must have the same number of columns: got ", x1.size(-1), " and ", x2.size(-1), "; reshape them");
    TAEDA_CHECK(x1.is_floating_point() && x2.is_floating_point(), "[cdist] the inputs must be floating: got ", x1.scalar_type(), " and ",
                x2.scalar_type(), "; convert them");
    TAEDA_CHECK(p >= 0, "[cdist] only non-negative p values are supported: got ", p, "; pass 0 or more");
    return row_norms(x1.unsqueeze(-2).sub(x2.unsqueeze(-3)), p);
  }
};
/// `cdist` with the way of computing by name; every way gives the same values.
struct CdistNamed : Composite {
  static constexpr auto schema = "cdist.named_mode(Tensor x1, Tensor x2, float p, str compute_mode) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode) {
    TAEDA_CHECK_VALUE(compute_mode == "use_mm_for_euclid_dist" || compute_mode == "use_mm_for_euclid_dist_if_necessary" ||
                          compute_mode == "donot_use_mm_for_euclid_dist",
                      "[cdist] unknown compute_mode: got ", compute_mode, "; leave it out");
    return taeda::cdist(x1, x2, p, std::nullopt);
  }
};
/// p-norm distances between all pairs of rows i < j of self (N, M).
struct Pdist : Composite {
  static constexpr auto schema = "pdist(Tensor self, float p=2.) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, double p) {
    TAEDA_CHECK(self.dim() == 2, "[pdist] pdist only supports 2D tensors, got: ", self.dim(), "D; reshape it");
    TAEDA_CHECK(self.is_floating_point(), "[pdist] the input must be floating: got ", self.scalar_type(), "; convert it");
    TAEDA_CHECK(p >= 0, "[pdist] pdist only supports non-negative p values: got ", p, "; pass 0 or more");
    const int64_t n = self.size(0);
    const Tensor pairs = taeda::triu_indices(n, n, 1);
    const Tensor a = self.index_select(0, pairs.select(0, 0)), b = self.index_select(0, pairs.select(0, 1));
    return row_norms(a.sub(b), p);
  }
};

/// Slices along `dim` whose p-norm exceeds maxnorm, scaled down to it.
struct Renorm : Composite {
  static constexpr auto schema = "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
    TAEDA_CHECK(p.toDouble() > 0, "[renorm] non-positive-norm not supported: got ", p, "; pass a positive p");
    TAEDA_CHECK(maxnorm.toDouble() >= 0, "[renorm] expected maxnorm to be >= 0 but got ", maxnorm, "; pass 0 or more");
    TAEDA_CHECK(self.dim() > 1, "[renorm] input needs at least 2 dimensions, got ", self.dim(), " dimensions; reshape it");
    dim = maybe_wrap_dim(dim, self.dim(), "renorm");
    DimVector dims;
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (d != dim) dims.push_back(d);
    }
    const Tensor length = taeda::linalg_vector_norm(self, p, IntArrayRef(dims), true);
    const Tensor factor = taeda::where(length.gt(maxnorm), length.add(1e-7).reciprocal().mul(maxnorm), taeda::ones({}, self.options()));
    return self.mul(factor);
  }
};
/// `renorm` in place.
struct Renorm_ : Composite {
  static constexpr auto schema = "renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
    return self.copy_(taeda::renorm(self, p, dim, maxnorm));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/distance.inc"
