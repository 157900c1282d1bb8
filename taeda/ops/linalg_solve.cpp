// SPDX-License-Identifier: Apache-2.0
// Determinants, inverses, linear systems, and what is built on the decompositions.
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

using detail::check_linalg;
using detail::check_square;

Tensor turned(const Tensor& t) { return t.transpose(-2, -1); }
Tensor diagonal_of(const Tensor& t) { return t.diagonal(0, -2, -1); }

/// +1 or -1 for an even or odd number of row swaps.
Tensor sign_of_pivots(const Tensor& pivots, const TensorOptions& options) {
  const int64_t n = pivots.size(-1);
  const Tensor swapped = pivots.ne(taeda::arange(1, n + 1, pivots.options())).sum(IntArrayRef({int64_t{-1}}));
  return swapped.remainder(2).mul(-2).add(1).to(options);
}

/// Determinant of square matrices.
struct LinalgDet {
  static constexpr auto schema = "linalg_det(Tensor A) -> Tensor";
  static Tensor forward(const Tensor& A) {
    check_square(A, "linalg_det");
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A);
    return diagonal_of(lu).prod(-1).mul(sign_of_pivots(pivots, A.options()));
  }
  static Tensor grad_A(const Tensor& grad, const Tensor& A, const Tensor& result) {
    if (A.numel() == 0) return taeda::zeros_like(A);
    auto [inverse, info] = taeda::linalg_inv_ex(A.detach());
    if (!info.any().item<bool>()) return turned(taeda::linalg_inv(A)).mul(grad.mul(result).unsqueeze(-1).unsqueeze(-1));
    // A singular matrix: cofactors from the singular values, each left out in turn.
    auto [u, s, vh] = taeda::_linalg_svd(A, true, true);
    const int64_t n = A.size(-1);
    const Tensor others = without_each(s, n);
    const Tensor sign = taeda::linalg_det(u).mul(taeda::linalg_det(vh)).mul(grad);
    return u.mul(others.mul(sign.unsqueeze(-1)).unsqueeze(-2)).matmul(vh);
  }
  /// Products of all numbers but one.
  static Tensor without_each(const Tensor& s, int64_t n) {
    const Tensor eye = taeda::eye(n, s.options().dtype(kBool));
    return s.unsqueeze(-2).masked_fill(eye, 1).prod(-1);
  }
};
/// As `linalg_det`.
struct Det : Composite {
  static constexpr auto schema = "det(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return taeda::linalg_det(self); }
};
/// Sign and logarithm of the absolute value of the determinant (0 and -inf for singular matrices).
struct LinalgSlogdet {
  static constexpr auto schema = "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& A) {
    check_square(A, "linalg_slogdet");
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A);
    const Tensor d = diagonal_of(lu);
    return {d.sign().prod(-1).mul(sign_of_pivots(pivots, A.options())), d.abs().log().sum(IntArrayRef({int64_t{-1}}))};
  }
  static Tensor grad_A(const Tensor& grad_logabsdet, const Tensor& A) {
    return turned(taeda::linalg_inv(A)).mul(grad_logabsdet.unsqueeze(-1).unsqueeze(-1));
  }
};
/// As `linalg_slogdet`.
struct Slogdet : Composite {
  static constexpr auto schema = "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self) { return taeda::linalg_slogdet(self); }
};
/// Logarithm of the determinant; nan where it is negative.
struct Logdet : Composite {
  static constexpr auto schema = "logdet(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    auto [sign, logabsdet] = taeda::linalg_slogdet(self);
    return logabsdet.masked_fill(sign.eq(-1), std::nan(""));
  }
};

/// Inverse of square matrices, and for each 0 or the place of the zero pivot.
struct LinalgInvEx {
  static constexpr auto schema = "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& A, bool check_errors) {
    check_square(A, "linalg_inv");
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A);
    if (check_errors) detail::check_info(info, "linalg_inv", "the matrix must be invertible (no zero pivot)");
    auto [p, l, u] = taeda::lu_unpack(lu, pivots);
    const Tensor inverse = taeda::linalg_solve_triangular(u, taeda::linalg_solve_triangular(l, turned(p), false, true, true), true);
    return {inverse, info};
  }
  static Tensor grad_A(const Tensor& grad_inverse, const Tensor& inverse) {
    return turned(inverse).matmul(grad_inverse).matmul(turned(inverse)).neg();
  }
};
/// Inverse of square matrices. Throws LinAlgError for singular ones.
struct LinalgInv : Composite {
  static constexpr auto schema = "linalg_inv(Tensor A) -> Tensor";
  static Tensor forward(const Tensor& A) { return std::get<0>(taeda::linalg_inv_ex(A, true)); }
};
/// As `linalg_inv`.
struct Inverse : Composite {
  static constexpr auto schema = "inverse(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return taeda::linalg_inv(self); }
};

/// True when B holds vectors: it has one dimension, or the batch of A and its columns.
bool is_vector(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes() == a.sizes().slice(0, static_cast<size_t>(a.dim()) - 1));
}
/// The solution of A X = B, or X A = B where `left` is false, and LAPACK's codes.
struct LinalgSolveEx : Composite {
  static constexpr auto schema = "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
    check_square(A, "linalg_solve");
    TAEDA_CHECK(A.scalar_type() == B.scalar_type(), "[linalg_solve] A and B must have the same dtype: got ", A.scalar_type(), " and ", B.scalar_type(),
                "; convert one with to()");
    const bool vector = is_vector(A, B);
    TAEDA_CHECK(B.dim() >= 1 && (left || !vector), "[linalg_solve] B must be a matrix for X A = B, else a vector or matrix: got ", B.sizes(), "; check the shapes");
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A);
    if (check_errors) detail::check_info(info, "linalg_solve", "the matrix must be invertible (no zero pivot)");
    const Tensor b = vector ? B.unsqueeze(-1) : B;
    Tensor x = taeda::linalg_lu_solve(lu, pivots, b, left);
    return {vector ? x.squeeze(-1) : x, info};
  }
};
/// The solution of A X = B, or X A = B. Throws LinAlgError for singular A.
struct LinalgSolve : Composite {
  static constexpr auto schema = "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor";
  static Tensor forward(const Tensor& A, const Tensor& B, bool left) { return std::get<0>(taeda::linalg_solve_ex(A, B, left, true)); }
};
/// The solution of a system whose matrix is given by its LU factors; `adjoint` solves with the transpose.
struct LinalgLuSolve : Composite {
  static constexpr auto schema = "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor";
  static Tensor forward(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
    check_square(LU, "linalg_lu_solve");
    check_linalg(B, "linalg_lu_solve");
    TAEDA_CHECK(B.size(left ? -2 : -1) == LU.size(-1), "[linalg_lu_solve] incompatible shapes: got ", LU.sizes(), " and ", B.sizes(), "; check the shapes");
    if (!left) return turned(taeda::linalg_lu_solve(LU, pivots, turned(B), true, !adjoint));
    auto [p, l, u] = taeda::lu_unpack(LU, pivots);
    if (!adjoint) return taeda::linalg_solve_triangular(u, taeda::linalg_solve_triangular(l, turned(p).matmul(B), false, true, true), true);
    return p.matmul(taeda::linalg_solve_triangular(turned(l), taeda::linalg_solve_triangular(turned(u), B, false), true, true, true));
  }
};
/// As `linalg_lu_solve`, with the right-hand side first.
struct LuSolve : Composite {
  static constexpr auto schema = "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) { return taeda::linalg_lu_solve(LU_data, LU_pivots, self); }
};
/// The compact LU factorisation. Throws nothing for singular matrices.
struct LinalgLuFactor : Composite {
  static constexpr auto schema = "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& A, bool pivot) {
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A, pivot);
    return {lu, pivots};
  }
};
/// A = P L U.
struct LinalgLu : Composite {
  static constexpr auto schema = "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& A, bool pivot) {
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A, pivot);
    return taeda::lu_unpack(lu, pivots);
  }
};
/// The compact LU factorisation, its pivots and, with get_infos, the codes (as torch.lu).
struct Lu : Composite {
  static constexpr auto schema = "lu(Tensor A, bool pivot=True, bool get_infos=False) -> Tensor[]";
  static constexpr auto variants = "function";
  static std::vector<Tensor> forward(const Tensor& A, bool pivot, bool get_infos) {
    auto [lu, pivots, info] = taeda::linalg_lu_factor_ex(A, pivot);
    return get_infos ? std::vector<Tensor>{lu, pivots, info} : std::vector<Tensor>{lu, pivots};
  }
};

/// The Cholesky factor. Throws LinAlgError unless the matrix is positive definite.
struct LinalgCholesky : Composite {
  static constexpr auto schema = "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, bool upper) { return std::get<0>(taeda::linalg_cholesky_ex(self, upper, true)); }
};
/// As `linalg_cholesky`.
struct Cholesky : Composite {
  static constexpr auto schema = "cholesky(Tensor self, bool upper=False) -> Tensor";
  static Tensor forward(const Tensor& self, bool upper) { return taeda::linalg_cholesky(self, upper); }
};
/// The solution of A X = self, A being given by its Cholesky factor.
struct CholeskySolve {
  static constexpr auto schema = "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& input2, bool upper) {
    check_square(input2, "cholesky_solve");
    check_linalg(self, "cholesky_solve");
    const Tensor l = upper ? turned(input2) : input2;
    return taeda::linalg_solve_triangular(turned(l), taeda::linalg_solve_triangular(l, self, false), true);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& input2, bool upper, IntArrayRef self_sizes) {
    return sum_to(taeda::cholesky_solve(grad, input2, upper), self_sizes);
  }
  /// As of A = L Lᵀ with a full L: the other triangle gets a gradient too, as it does in PyTorch.
  static Tensor grad_input2(const Tensor& grad, const Tensor& input2, const Tensor& result, bool upper) {
    const Tensor product = taeda::cholesky_solve(grad, input2, upper).matmul(turned(result));
    const Tensor both = product.add(turned(product)).neg();
    return sum_to(upper ? input2.matmul(both) : both.matmul(input2), input2.sizes());
  }
};
/// The inverse of the matrix with the given Cholesky factor.
struct CholeskyInverse : Composite {
  static constexpr auto schema = "cholesky_inverse(Tensor self, bool upper=False) -> Tensor";
  static Tensor forward(const Tensor& self, bool upper) {
    check_square(self, "cholesky_inverse");
    return taeda::cholesky_solve(taeda::eye(self.size(-1), self.options()), self, upper);
  }
};
/// The solution of a triangular system, and the matrix.
struct TriangularSolve : Composite {
  static constexpr auto schema =
      "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular) {
    return {taeda::linalg_solve_triangular(transpose ? turned(A) : A, self, transpose ? !upper : upper, true, unitriangular), A.clone()};
  }
};

/// Column i of the reflectors: 0 above the diagonal, 1 on it.
Tensor reflector(const Tensor& a, int64_t i) {
  const int64_t m = a.size(-2);
  const Tensor below = a.select(-1, i).narrow(-1, i + 1, m - i - 1);
  DimVector lead(below.sizes().slice(0, static_cast<size_t>(below.dim()) - 1));
  DimVector zeros(lead), one(lead);
  zeros.push_back(i);
  one.push_back(1);
  return taeda::cat({taeda::zeros(zeros, a.options()), taeda::ones(one, a.options()), below}, -1);
}
/// (I - tau v vᵀ) x.
Tensor reflect(const Tensor& x, const Tensor& v, const Tensor& tau) {
  const Tensor row = v.unsqueeze(-2).matmul(x);
  return x.sub(v.unsqueeze(-1).mul(tau.unsqueeze(-1).unsqueeze(-1)).matmul(row));
}
void check_reflectors(const Tensor& a, const Tensor& tau, const char* op) {
  check_linalg(a, op);
  TAEDA_CHECK(a.size(-2) >= a.size(-1), "[", op, "] the reflectors must have at least as many rows as columns: got ", a.sizes(), "; transpose them");
  TAEDA_CHECK(tau.dim() >= 1 && tau.dim() == a.dim() - 1 && tau.size(-1) <= a.size(-1), "[", op,
              "] tau must have one dimension less than the reflectors and no more entries than they have columns: got ", tau.sizes(), " and ", a.sizes(),
              "; pass the results of geqrf");
  TAEDA_CHECK(tau.scalar_type() == a.scalar_type(), "[", op, "] tau must have the dtype of the reflectors: got ", tau.scalar_type(), " and ", a.scalar_type(),
              "; convert one");
}
/// The first columns of the product of Householder reflections.
struct LinalgHouseholderProduct : Composite {
  static constexpr auto schema = "linalg_householder_product(Tensor input, Tensor tau) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& tau) {
    check_reflectors(input, tau, "linalg_householder_product");
    DimVector sizes(input.sizes());
    Tensor q = taeda::eye(input.size(-2), input.size(-1), input.options()).expand(sizes);
    for (int64_t i = tau.size(-1) - 1; i >= 0; --i) q = reflect(q, reflector(input, i), tau.select(-1, i));
    return q.contiguous();
  }
};
/// As `linalg_householder_product`.
struct Orgqr : Composite {
  static constexpr auto schema = "orgqr(Tensor self, Tensor input2) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& input2) { return taeda::linalg_householder_product(self, input2); }
};
/// Q input3, Qᵀ input3, input3 Q or input3 Qᵀ, with Q given by its reflectors.
struct Ormqr : Composite {
  static constexpr auto schema = "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose) {
    check_linalg(self, "ormqr");
    check_linalg(input3, "ormqr");
    TAEDA_CHECK(input2.dim() == self.dim() - 1 && input2.size(-1) <= self.size(-1), "[ormqr] tau must have one dimension less than the reflectors and no more entries: got ",
                input2.sizes(), " and ", self.sizes(), "; pass the results of geqrf");
    TAEDA_CHECK(input3.size(left ? -2 : -1) == self.size(-2) && input3.dim() == self.dim(), "[ormqr] the shapes do not fit: got ", self.sizes(), " and ",
                input3.sizes(), "; check the sides");
    if (!left) return turned(taeda::ormqr(self, input2, turned(input3), true, !transpose));
    const int64_t k = input2.size(-1);
    Tensor x = input3;
    for (int64_t s = 0; s < k; ++s) {
      const int64_t i = transpose ? s : k - 1 - s;
      x = reflect(x, reflector(self, i), input2.select(-1, i));
    }
    return x;
  }
};
/// As `linalg_qr`: reduced where `some`, else complete.
struct Qr : Composite {
  static constexpr auto schema = "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, bool some) { return taeda::linalg_qr(self, some ? "reduced" : "complete"); }
};
/// Singular value decomposition A = U diag(S) Vh.
struct LinalgSvd : Composite {
  static constexpr auto schema = "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& A, bool full_matrices, std::optional<std::string_view> driver) {
    return taeda::_linalg_svd(A, full_matrices, true, driver);
  }
};
/// As `linalg_svd`, giving V and not its transpose; without compute_uv the vectors are zeros.
struct Svd : Composite {
  static constexpr auto schema = "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& self, bool some, bool compute_uv) {
    auto [u, s, vh] = taeda::_linalg_svd(self, !some, compute_uv);
    if (!compute_uv) {
      const int64_t m = self.size(-2), n = self.size(-1);
      return {taeda::zeros(detail::batch_sizes(self, 2, {m, m}), self.options()), s, taeda::zeros(detail::batch_sizes(self, 2, {n, n}), self.options())};
    }
    return {u, s, turned(vh)};
  }
};
/// Singular values, descending.
struct LinalgSvdvals : Composite {
  static constexpr auto schema = "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& A, std::optional<std::string_view> driver) { return std::get<1>(taeda::_linalg_svd(A, false, false, driver)); }
};
/// Eigenvalues of symmetric matrices, ascending.
struct LinalgEigvalsh : Composite {
  static constexpr auto schema = "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, std::string_view UPLO) { return std::get<0>(taeda::linalg_eigh(self, UPLO)); }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/linalg_solve.inc"
