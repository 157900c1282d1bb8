// SPDX-License-Identifier: Apache-2.0
// Pseudo-inverse, rank, least squares, powers and exponentials of matrices, chains of products.
#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/linalg.h"

namespace taeda {
namespace ops {
namespace {

using detail::check_linalg;
using detail::check_square;

Tensor turned(const Tensor& t) { return t.transpose(-2, -1); }
double epsilon_of(ScalarType type) {
  return type == kDouble ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
}
/// Bounds as tensors: rtol defaults to epsilon times the larger side unless atol is positive.
std::pair<Tensor, Tensor> tolerances(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol) {
  const TensorOptions options = self.options();
  const bool has_atol = atol && atol->defined(), has_rtol = rtol && rtol->defined();
  const Tensor a = has_atol ? atol->to(self.scalar_type()) : taeda::zeros({}, options);
  if (has_rtol) return {a, rtol->to(self.scalar_type())};
  const double standard = epsilon_of(self.scalar_type()) * static_cast<double>(std::max(self.size(-1), self.size(-2)));
  return {a, has_atol ? taeda::full_like(a, standard).masked_fill(a.gt(0), 0) : taeda::full({}, standard, options)};
}
std::optional<Tensor> as_tensor(const Tensor& self, std::optional<double> value) {
  return value ? std::optional<Tensor>(taeda::full({}, *value, TensorOptions(kDouble)).to(self.scalar_type())) : std::nullopt;
}
/// max(atol, rtol · largest), with a last dimension of 1.
Tensor bound_of(const Tensor& values, const Tensor& atol, const Tensor& rtol) {
  const Tensor largest = values.amax(IntArrayRef({int64_t{-1}}), true);
  const auto wide = [](const Tensor& t) { return t.unsqueeze(-1); };
  return taeda::maximum(wide(atol), wide(rtol).mul(largest));
}

/// Moore-Penrose inverse; singular values up to max(atol, rtol · largest) count as zero.
struct LinalgPinvRaw {
  static constexpr auto schema = "_linalg_pinv(Tensor self, Tensor atol, Tensor rtol, bool hermitian) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) {
    check_linalg(self, "linalg_pinv");
    if (self.numel() == 0) return taeda::zeros(detail::batch_sizes(self, 2, {self.size(-1), self.size(-2)}), self.options());
    if (hermitian) {
      auto [w, v] = taeda::linalg_eigh(self);
      const Tensor size = w.abs();
      const Tensor inverse = w.reciprocal().masked_fill(size.le(bound_of(size, atol, rtol)), 0);
      return v.mul(inverse.unsqueeze(-2)).matmul(turned(v));
    }
    auto [u, s, vh] = taeda::_linalg_svd(self, false, true);
    const Tensor inverse = s.reciprocal().masked_fill(s.le(bound_of(s, atol, rtol)), 0);
    return turned(vh).mul(inverse.unsqueeze(-2)).matmul(turned(u));
  }
  /// Golub, Pereyra 1973.
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result) {
    const Tensor& p = result;
    const Tensor pt = turned(p), gt = turned(grad);
    if (self.size(-2) <= self.size(-1)) {
      const Tensor k = gt.matmul(p), kp = k.matmul(pt);
      return turned(p.matmul(k)).neg().add(kp).sub(self.matmul(p).matmul(kp)).add(pt.matmul(p).matmul(gt.sub(k.matmul(self))));
    }
    const Tensor k = p.matmul(gt), pk = pt.matmul(k);
    return turned(k.matmul(p)).neg().add(gt.sub(self.matmul(k)).matmul(p).matmul(pt)).add(pk).sub(pk.matmul(p).matmul(self));
  }
};
Tensor pinv_of(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  check_linalg(self, "linalg_pinv");
  const auto [a, r] = tolerances(self, atol, rtol);
  return taeda::_linalg_pinv(self, a, r, hermitian);
}
/// Moore-Penrose inverse with bounds as numbers.
struct LinalgPinvFloat : Composite {
  static constexpr auto schema = "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor";
  static constexpr auto no_cpp_default = "atol rtol";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
    return pinv_of(self, as_tensor(self, atol), as_tensor(self, rtol), hermitian);
  }
};
/// Moore-Penrose inverse with bounds as tensors.
struct LinalgPinvTensor : Composite {
  static constexpr auto schema = "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
    return pinv_of(self, atol, rtol, hermitian);
  }
};
/// Moore-Penrose inverse with a relative bound.
struct LinalgPinv : Composite {
  static constexpr auto schema = "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, double rcond, bool hermitian) { return pinv_of(self, as_tensor(self, 0.0), as_tensor(self, rcond), hermitian); }
};
/// As `linalg_pinv`.
struct Pinverse : Composite {
  static constexpr auto schema = "pinverse(Tensor self, float rcond=1e-15) -> Tensor";
  static Tensor forward(const Tensor& self, double rcond) { return taeda::linalg_pinv(self, rcond, false); }
};

Tensor rank_of(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  check_linalg(self, "linalg_matrix_rank");
  const auto [a, r] = tolerances(self, atol, rtol);
  const Tensor x = self.detach();
  if (x.numel() == 0) return taeda::zeros(detail::batch_sizes(x, 2, {}), x.options().dtype(kLong));
  const Tensor values = hermitian ? taeda::linalg_eigvalsh(x).abs() : taeda::linalg_svdvals(x);
  return values.gt(bound_of(values, a, r)).sum(IntArrayRef({int64_t{-1}}));
}
/// Number of singular values above max(atol, rtol · largest).
struct LinalgMatrixRankFloat : Composite {
  static constexpr auto schema = "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor";
  static constexpr auto no_cpp_default = "atol rtol";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
    return rank_of(self, as_tensor(self, atol), as_tensor(self, rtol), hermitian);
  }
};
/// Number of singular values above bounds given as tensors.
struct LinalgMatrixRankTensor : Composite {
  static constexpr auto schema = "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& input, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
    return rank_of(input, atol, rtol, hermitian);
  }
};
/// Number of singular values above `tol`.
struct LinalgMatrixRank : Composite {
  static constexpr auto schema = "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, double tol, bool hermitian) { return rank_of(self, as_tensor(self, tol), as_tensor(self, 0.0), hermitian); }
};

/// Least squares: the X of least norm that makes |A X - B| least; the squared residuals where A is tall and of full rank; the rank
/// and the singular values where the driver works them out.
struct LinalgLstsq : Composite {
  static constexpr auto schema =
      "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor, Tensor, Tensor> forward(const Tensor& self, const Tensor& b, std::optional<double> rcond,
                                                            std::optional<std::string_view> driver) {
    check_linalg(self, "linalg_lstsq");
    TAEDA_CHECK(b.dim() >= 1 && b.scalar_type() == self.scalar_type(), "[linalg_lstsq] b must be a tensor of A's dtype with a dimension: got ", b.scalar_type(), " and ",
                self.scalar_type(), "; convert it");
    const std::string_view name = driver.value_or("gelsy");
    TAEDA_CHECK(name == "gels" || name == "gelsy" || name == "gelsd" || name == "gelss", "[linalg_lstsq] driver must be one of gels, gelsy, gelsd, gelss: got '", name,
                "'; choose one");
    const bool vector = b.dim() == self.dim() - 1 && b.sizes() == self.sizes().slice(0, static_cast<size_t>(self.dim()) - 1);
    const Tensor right = vector ? b.unsqueeze(-1) : b;
    TAEDA_CHECK(right.dim() >= 2 && right.size(-2) == self.size(-2), "[linalg_lstsq] A and b must have the same number of rows: got ", self.sizes(), " and ", b.sizes(),
                "; check the shapes");
    const int64_t m = self.size(-2), n = self.size(-1);
    const double standard = epsilon_of(self.scalar_type()) * static_cast<double>(std::max(m, n));
    const Tensor bound = taeda::full({}, rcond.value_or(standard), self.options());
    Tensor solution = taeda::_linalg_pinv(self, taeda::zeros({}, self.options()), bound, false).matmul(right);
    const Tensor nothing = self.reshape({-1}).narrow(0, 0, 0);  // keeps its place in the graph
    Tensor rank = taeda::empty({0}, self.options().dtype(kLong)), values = nothing.detach(), residuals = nothing;
    if (name != "gels") rank = rank_of(self, taeda::zeros({}, self.options()), bound, false);
    if (name == "gelsd" || name == "gelss") values = taeda::linalg_svdvals(self.detach());
    const bool full = name == "gels" || (rank.numel() > 0 && rank.eq(n).all().item<bool>());
    if (m > n && full) residuals = self.matmul(solution).sub(right).square().sum(IntArrayRef({int64_t{-2}}));
    if (vector) solution = solution.squeeze(-1);
    return {solution, residuals, rank, values};
  }
};

/// The n-th power of square matrices; negative n invert.
struct LinalgMatrixPower : Composite {
  static constexpr auto schema = "linalg_matrix_power(Tensor self, int n) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t n) {
    TAEDA_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2), "[linalg_matrix_power] the input must be batches of square matrices: got ", self.sizes(),
                "; check the shape");
    if (n == 0) return self.masked_fill(taeda::ones({}, self.options().dtype(kBool)), 0).add(taeda::eye(self.size(-1), self.options()));
    Tensor base = n < 0 ? taeda::linalg_inv(self) : self;
    Tensor result;
    for (uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); rest > 0; rest >>= 1) {
      if (rest & 1) result = result.defined() ? result.matmul(base) : base;
      if (rest > 1) base = base.matmul(base);
    }
    return result.is_same(self) ? self.clone() : result;
  }
};
/// As `linalg_matrix_power`.
struct MatrixPower : Composite {
  static constexpr auto schema = "matrix_power(Tensor self, int n) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t n) { return taeda::linalg_matrix_power(self, n); }
};

/// The exponential of square matrices: Taylor's series of the halved matrix, squared again; summed in double.
struct LinalgMatrixExp {
  static constexpr auto schema = "linalg_matrix_exp(Tensor self) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self) {
    check_square(self, "linalg_matrix_exp");
    if (self.numel() == 0) return self.clone();
    Tensor a = self.to(kDouble);
    const double norm = a.abs().sum(IntArrayRef({int64_t{-2}})).max().item<double>();
    int halvings = 0;
    if (std::isfinite(norm) && norm > 0.5) halvings = static_cast<int>(std::ceil(std::log2(norm / 0.5)));
    a = a.mul(std::ldexp(1.0, -halvings));
    const Tensor one = taeda::eye(self.size(-1), a.options());
    Tensor sum = one.add(a.div(18.0));
    for (int i = 17; i >= 1; --i) sum = one.add(a.matmul(sum).div(static_cast<double>(i)));
    for (int i = 0; i < halvings; ++i) sum = sum.matmul(sum);
    return sum.to(self.scalar_type());
  }
  /// The upper right block of exp [[Aᵀ, G], [0, Aᵀ]] (Mathias 1996).
  static Tensor grad_self(const Tensor& grad, const Tensor& self) {
    const int64_t n = self.size(-1);
    const Tensor a = turned(self);
    const Tensor block = taeda::cat({taeda::cat({a, grad}, -1), taeda::cat({taeda::zeros_like(a), a}, -1)}, -2);
    return taeda::linalg_matrix_exp(block).narrow(-2, 0, n).narrow(-1, n, n);
  }
};
/// As `linalg_matrix_exp`.
struct MatrixExp : Composite {
  static constexpr auto schema = "matrix_exp(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return taeda::linalg_matrix_exp(self); }
};

/// The condition number in a p-norm; 2 where p is left out.
struct LinalgCond : Composite {
  static constexpr auto schema = "linalg_cond(Tensor self, Scalar? p=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& p) {
    check_linalg(self, "linalg_cond");
    if (!p || std::abs(p->toDouble()) == 2) {
      const Tensor s = taeda::linalg_svdvals(self);
      const Tensor first = s.select(-1, 0), last = s.select(-1, s.size(-1) - 1);
      return p && p->toDouble() < 0 ? last.div(first) : first.div(last);
    }
    check_square(self, "linalg_cond");
    return taeda::linalg_matrix_norm(self, *p).mul(taeda::linalg_matrix_norm(std::get<0>(taeda::linalg_inv_ex(self)), *p));
  }
};
/// The condition number in a norm by name.
struct LinalgCondStr : Composite {
  static constexpr auto schema = "linalg_cond.p_str(Tensor self, str p) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, std::string_view p) {
    check_square(self, "linalg_cond");
    return taeda::linalg_matrix_norm(self, p).mul(taeda::linalg_matrix_norm(std::get<0>(taeda::linalg_inv_ex(self)), p));
  }
};

/// The product of a chain of matrices in the cheapest order; the first and last may be vectors.
struct LinalgMultiDot : Composite {
  static constexpr auto schema = "linalg_multi_dot(Tensor[] tensors) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(TensorList tensors) {
    const size_t n = tensors.size();
    TAEDA_CHECK(n >= 2, "[linalg_multi_dot] expected at least 2 tensors: got ", n, "; pass more");
    std::vector<Tensor> chain(tensors.begin(), tensors.end());
    const bool row = chain.front().dim() == 1, column = chain.back().dim() == 1;
    if (row) chain.front() = chain.front().unsqueeze(0);
    if (column) chain.back() = chain.back().unsqueeze(1);
    std::vector<int64_t> size{chain.front().size(0)};
    for (size_t i = 0; i < n; ++i) {
      TAEDA_CHECK(chain[i].dim() == 2, "[linalg_multi_dot] tensor ", i, " must be 2-dimensional (the first and last may be vectors): got ", chain[i].sizes(),
                  "; check the shapes");
      TAEDA_CHECK(chain[i].size(0) == size.back(), "[linalg_multi_dot] tensors ", i - 1, " and ", i, " cannot be multiplied: got ", size.back(), " columns and ",
                  chain[i].sizes(), "; check the shapes");
      size.push_back(chain[i].size(1));
    }
    // cost[i][j]: multiplications for the product of i…j; cut[i][j]: where the last product is.
    std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
    std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
    for (size_t length = 2; length <= n; ++length) {
      for (size_t i = 0; i + length <= n; ++i) {
        const size_t j = i + length - 1;
        cost[i][j] = std::numeric_limits<double>::infinity();
        for (size_t k = i; k < j; ++k) {
          const double c = cost[i][k] + cost[k + 1][j] + static_cast<double>(size[i]) * static_cast<double>(size[k + 1]) * static_cast<double>(size[j + 1]);
          if (c < cost[i][j]) {
            cost[i][j] = c;
            cut[i][j] = k;
          }
        }
      }
    }
    Tensor result = product(chain, cut, 0, n - 1);
    if (row) result = result.squeeze(0);
    return column ? result.squeeze(-1) : result;
  }
  static Tensor product(const std::vector<Tensor>& chain, const std::vector<std::vector<size_t>>& cut, size_t i, size_t j) {
    if (i == j) return chain[i];
    return product(chain, cut, i, cut[i][j]).mm(product(chain, cut, cut[i][j] + 1, j));
  }
};
/// The product of a chain of matrices.
struct ChainMatmul : Composite {
  static constexpr auto schema = "chain_matmul(Tensor[] matrices) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(TensorList matrices) {
    TAEDA_CHECK(!matrices.empty(), "[chain_matmul] expected one or more matrices: got none; pass some");
    for (const Tensor& t : matrices) TAEDA_CHECK(t.dim() == 2, "[chain_matmul] all tensors must be matrices: got ", t.sizes(), "; reshape it");
    return matrices.size() == 1 ? matrices[0] : taeda::linalg_multi_dot(matrices);
  }
};

/// The inverse of a tensor seen as a matrix: the first `ind` dimensions are its rows.
struct LinalgTensorinv : Composite {
  static constexpr auto schema = "linalg_tensorinv(Tensor self, int ind=2) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t ind) {
    TAEDA_CHECK(ind > 0, "[linalg_tensorinv] ind must be a strictly positive integer: got ", ind, "; correct it");
    DimVector sizes;
    int64_t rows = 1, columns = 1;
    for (int64_t d = ind; d < self.dim(); ++d) {
      sizes.push_back(self.size(d));
      columns *= self.size(d);
    }
    for (int64_t d = 0; d < std::min(ind, self.dim()); ++d) {
      sizes.push_back(self.size(d));
      rows *= self.size(d);
    }
    TAEDA_CHECK(rows == columns, "[linalg_tensorinv] prod(sizes[:ind]) must equal prod(sizes[ind:]): got ", self.sizes(), " and ind ", ind, "; correct ind");
    return taeda::linalg_inv(self.reshape({rows, columns})).reshape(sizes);
  }
};
/// The X with tensordot(self, X, all of X's dimensions) = other; `dims` are moved to the end of self first.
struct LinalgTensorsolve : Composite {
  static constexpr auto schema = "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
    Tensor a = self;
    if (dims) {
      DimVector order, last;
      for (const int64_t d : *dims) last.push_back(maybe_wrap_dim(d, self.dim(), "linalg_tensorsolve"));
      for (int64_t d = 0; d < self.dim(); ++d) {
        if (std::find(last.begin(), last.end(), d) == last.end()) order.push_back(d);
      }
      for (const int64_t d : last) order.push_back(d);
      a = self.permute(order);
    }
    DimVector sizes;
    int64_t columns = 1;
    for (int64_t d = other.dim(); d < a.dim(); ++d) {
      sizes.push_back(a.size(d));
      columns *= a.size(d);
    }
    TAEDA_CHECK(columns == other.numel() && columns * columns == a.numel(), "[linalg_tensorsolve] self must be square when its last dimensions are joined: got ",
                a.sizes(), " and ", other.sizes(), "; check the shapes");
    return taeda::linalg_solve(a.reshape({columns, columns}), other.flatten()).reshape(sizes);
  }
};

/// Σ x · y along a dimension, broadcasting.
struct LinalgVecdot : Composite {
  static constexpr auto schema = "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& x, const Tensor& y, int64_t dim) {
    TAEDA_CHECK(x.scalar_type() == y.scalar_type(), "[linalg_vecdot] expected x and y to have the same dtype: got ", x.scalar_type(), " and ",
                y.scalar_type(), "; convert one of them");
    if (x.dim() == 1 && y.dim() == 1) return taeda::dot(x, y);
    return x.mul(y).sum(IntArrayRef(dim));
  }
};
/// Vector product along a dimension of size 3, broadcasting.
struct LinalgCross : Composite {
  static constexpr auto schema = "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor";
  static constexpr auto out_apart = "self other";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& other, int64_t dim) {
    TAEDA_CHECK(self.dim() == other.dim(), "[linalg_cross] inputs must have the same number of dimensions: got ", self.sizes(), " and ", other.sizes(),
                "; add dimensions");
    TAEDA_CHECK(self.scalar_type() == other.scalar_type(), "[linalg_cross] expected scalar type ", self.scalar_type(), " but found ",
                other.scalar_type(), "; convert one of them");
    TAEDA_CHECK(self.size(dim) == 3 && other.size(dim) == 3, "[linalg_cross] inputs dimension ", dim, " must have length 3: got ", self.sizes(), " and ", other.sizes(),
                "; choose another dimension");
    const int64_t d = maybe_wrap_dim(dim, self.dim(), "linalg_cross");
    const auto a = [&](int64_t i) { return self.select(d, i); };
    const auto b = [&](int64_t i) { return other.select(d, i); };
    return taeda::stack({a(1).mul(b(2)).sub(a(2).mul(b(1))), a(2).mul(b(0)).sub(a(0).mul(b(2))), a(0).mul(b(1)).sub(a(1).mul(b(0)))}, d);
  }
};
/// Vector product along the given dimension, or the first of size 3.
struct Cross : Composite {
  static constexpr auto schema = "cross(Tensor self, Tensor other, int? dim=None) -> Tensor";
  static constexpr auto out_apart = "self other";
  static Tensor forward(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
    if (dim) return taeda::linalg_cross(self, other, *dim);
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (self.size(d) == 3) return taeda::linalg_cross(self, other, d);
    }
    TAEDA_CHECK(false, "[cross] no dimension of size 3 in input: got ", self.sizes(), "; reshape it");
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/linalg_more.inc"
