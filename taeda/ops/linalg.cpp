// SPDX-License-Identifier: Apache-2.0
// Decompositions: LU, Cholesky, QR, symmetric eigenvalues, singular values; and triangular systems.
#include "taeda/ops/linalg.h"

#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/finite.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/lapack.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {

namespace detail {

void check_linalg(const Tensor& t, const char* op) {
  TAEDA_CHECK(t.dim() >= 2, "[", op, "] the input tensor must have at least 2 dimensions: got ", t.sizes(), "; pass a matrix");
  TAEDA_CHECK(t.scalar_type() == kFloat || t.scalar_type() == kDouble, "[", op, "] expected float32 or float64: got ", t.scalar_type(), "; convert it with to()");
}
void check_square(const Tensor& t, const char* op) {
  check_linalg(t, op);
  TAEDA_CHECK(t.size(-1) == t.size(-2), "[", op, "] the input must be batches of square matrices: got ", t.sizes(), "; check the shape");
}
DimVector batch_sizes(const Tensor& t, int64_t drop, IntArrayRef tail) {
  DimVector sizes(t.sizes().slice(0, static_cast<size_t>(t.dim() - drop)));
  for (const int64_t s : tail) sizes.push_back(s);
  return sizes;
}
int64_t batch_count(const Tensor& t) {
  int64_t n = 1;
  for (int64_t d = 0; d < t.dim() - 2; ++d) n *= t.size(d);
  return n;
}
Tensor column_major(const Tensor& t) { return t.transpose(-2, -1).clone(MemoryFormat::Contiguous); }
void check_info(const Tensor& info, const char* op, const char* rule) {
  const auto* codes = reinterpret_cast<const int32_t*>(info.impl().data());
  for (int64_t i = 0; i < info.numel(); ++i) {
    TAEDA_CHECK_LINALG(codes[i] == 0, "[", op, "] ", rule, ": got code ", codes[i], " for matrix ", i, "; check the input");
  }
}

}  // namespace detail

namespace ops {
namespace {

/// Iterative routines need not end on NaN and Inf.
void check_finite_input(const Tensor& t, const char* op) {
  TAEDA_CHECK_LINALG(detail::all_finite(t), "[", op, "] the algorithm converges only for finite numbers: got NaN or Inf in a tensor of sizes ",
                     t.sizes(), "; look for where they come from");
}

using detail::batch_count;
using detail::batch_sizes;
using detail::check_linalg;
using detail::check_square;
using detail::column_major;

Tensor turned(const Tensor& t) { return t.transpose(-2, -1); }
char* data_of(const Tensor& t) { return t.impl().data(); }
int32_t* ints_of(const Tensor& t) { return reinterpret_cast<int32_t*>(data_of(t)); }
Tensor fresh_like(const Tensor& t, int64_t drop, IntArrayRef tail) { return make_tensor(batch_sizes(t, drop, tail), t.scalar_type(), t.device()); }
Tensor fresh_info(const Tensor& t) { return taeda::zeros(batch_sizes(t, 2, {}), t.options().dtype(kInt)); }
LapackArgs describe(LapackRoutine routine, const Tensor& t) {
  LapackArgs x{};
  x.routine = routine;
  x.dtype = t.scalar_type();
  x.batch = batch_count(t);
  x.m = t.size(-2), x.n = t.size(-1);
  return x;
}
/// a⁻¹ b and b a⁻¹ of triangular matrices, differentiable.
Tensor solve_left(const Tensor& a, const Tensor& b, bool upper, bool unit = false) { return taeda::linalg_solve_triangular(a, b, upper, true, unit); }
Tensor solve_right(const Tensor& a, const Tensor& b, bool upper, bool unit = false) { return taeda::linalg_solve_triangular(a, b, upper, false, unit); }

/// The solution X of A X = B, or X A = B where `left` is false, for triangular A (the other triangle is not read).
struct LinalgSolveTriangular {
  static constexpr auto schema =
      "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor";
  static constexpr auto out_apart = "self B";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular) {
    check_square(self, "linalg_solve_triangular");
    check_linalg(B, "linalg_solve_triangular");
    TAEDA_CHECK(self.scalar_type() == B.scalar_type(), "[linalg_solve_triangular] A and B must have the same dtype: got ", self.scalar_type(), " and ",
                B.scalar_type(), "; convert one with to()");
    TAEDA_CHECK(B.size(left ? -2 : -1) == self.size(-1), "[linalg_solve_triangular] incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
                ": got ", self.sizes(), " and ", B.sizes(), "; check the shapes");
    const auto lead = [](const Tensor& t) { return t.sizes().slice(0, static_cast<size_t>(t.dim()) - 2); };
    const DimVector batch = broadcast_sizes(lead(self), lead(B), "linalg_solve_triangular");
    const auto spread = [&](const Tensor& t) {
      DimVector wide(batch);
      wide.push_back(t.size(-2));
      wide.push_back(t.size(-1));
      return t.expand(wide);
    };
    const Tensor a = spread(self).contiguous();
    Tensor result = spread(B).clone(MemoryFormat::Contiguous);
    LapackArgs x = describe(LapackRoutine::kTriangularSolve, result);
    x.a = data_of(a), x.b = data_of(result);
    x.lower = !upper, x.left = left, x.unit = unitriangular;
    if (result.numel() > 0) lapack_kernel(self.device(), x);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, bool upper, bool left, bool unitriangular) {
    const Tensor g = taeda::linalg_solve_triangular(turned(self), grad, !upper, left, unitriangular);
    Tensor full = left ? g.matmul(turned(result)) : turned(result).matmul(g);
    full = sum_to(full.neg(), self.sizes());
    const int64_t diagonal = unitriangular ? 1 : 0;
    return upper ? full.triu(diagonal) : full.tril(-diagonal);
  }
  static Tensor grad_B(const Tensor& grad, const Tensor& self, IntArrayRef B_sizes, bool upper, bool left, bool unitriangular) {
    return sum_to(taeda::linalg_solve_triangular(turned(self), grad, !upper, left, unitriangular), B_sizes);
  }
};

/// A = P L U with row pivoting: L (below the unit diagonal) and U in one matrix, the pivots (1-based row swaps), and for each
/// matrix 0 or the number of the first zero on U's diagonal.
struct LinalgLuFactorEx {
  static constexpr auto schema =
      "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& A, bool pivot, bool check_errors) {
    check_linalg(A, "linalg_lu_factor_ex");
    TAEDA_CHECK(pivot, "[linalg_lu_factor_ex] LU without pivoting is not implemented on the CPU: got pivot=false; use pivot=true");
    Tensor lu = column_major(A);
    Tensor pivots = make_tensor(batch_sizes(A, 2, {std::min(A.size(-2), A.size(-1))}), kInt, A.device());
    Tensor info = fresh_info(A);
    LapackArgs x = describe(LapackRoutine::kLu, A);
    x.a = data_of(lu), x.ints = ints_of(pivots), x.info = ints_of(info);
    if (A.numel() > 0) lapack_kernel(A.device(), x);
    if (check_errors) detail::check_info(info, "linalg_lu_factor_ex", "the matrix must be invertible");
    return {turned(lu), pivots, info};
  }
  static Tensor grad_A(const Tensor& grad_LU, const Tensor& LU, const Tensor& pivots) {
    auto [p, l, u] = taeda::lu_unpack(LU, pivots, true, true);
    const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
    const Tensor grad_l = grad_LU.narrow(-1, 0, k).tril(-1), grad_u = grad_LU.narrow(-2, 0, k).triu();
    return lu_gradient(grad_l, grad_u, p, l, u);
  }
  /// From the cotangents of L (m, k) and U (k, n).
  static Tensor lu_gradient(const Tensor& grad_l, const Tensor& grad_u, const Tensor& p, const Tensor& l, const Tensor& u) {
    const int64_t m = l.size(-2), n = u.size(-1), k = l.size(-1);
    if (m == n) {
      const Tensor phi = turned(l).matmul(grad_l).tril(-1).add(grad_u.matmul(turned(u)).triu());
      return p.matmul(solve_right(turned(u), solve_left(turned(l), phi, true, true), false));
    }
    if (m < n) {
      const Tensor u1 = u.narrow(-1, 0, k), u2 = u.narrow(-1, k, n - k), g1 = grad_u.narrow(-1, 0, k), g2 = grad_u.narrow(-1, k, n - k);
      const Tensor second = p.matmul(solve_left(turned(l), g2, true, true));
      Tensor phi = turned(l).matmul(grad_l).sub(g2.matmul(turned(u2))).tril(-1).add(g1.matmul(turned(u1)).triu());
      const Tensor first = p.matmul(solve_right(turned(u1), solve_left(turned(l), phi, true, true), false));
      return taeda::cat({first, second}, -1);
    }
    const Tensor l1 = l.narrow(-2, 0, k), l2 = l.narrow(-2, k, m - k), g1 = grad_l.narrow(-2, 0, k), g2 = grad_l.narrow(-2, k, m - k);
    Tensor phi = turned(l1).matmul(g1).tril(-1).add(grad_u.matmul(turned(u)).sub(turned(l2).matmul(g2)).triu());
    const Tensor first = solve_right(turned(u), solve_left(turned(l1), phi, true, true), false);
    const Tensor second = solve_right(turned(u), g2, false);
    return p.matmul(taeda::cat({first, second}, -2));
  }
};

/// The row order that a list of swaps makes, as a permutation matrix P with A = P L U.
Tensor permutation_of(const Tensor& pivots, int64_t m, const TensorOptions& options) {
  const Tensor list = pivots.contiguous();
  const int64_t k = list.size(-1);
  TAEDA_CHECK(k <= m, "[lu_unpack] there must be at most one pivot for each of ", m, " rows: got ", pivots.sizes(), "; pass the pivots of an LU factorisation");
  DimVector sizes(list.sizes());
  sizes[sizes.size() - 1] = m;
  sizes.push_back(m);
  Tensor p = taeda::zeros(sizes, options);
  const auto* swaps = reinterpret_cast<const int32_t*>(data_of(list));
  const int64_t count = k ? list.numel() / k : p.numel() / std::max<int64_t>(1, m * m);
  std::vector<int64_t> rows(static_cast<size_t>(m));
  dispatch_floating(p.scalar_type(), "lu_unpack", [&]<class T>() {
    T* to = reinterpret_cast<T*>(data_of(p));
    for (int64_t i = 0; i < count; ++i, to += m * m) {
      for (int64_t r = 0; r < m; ++r) rows[static_cast<size_t>(r)] = r;
      for (int64_t s = 0; s < k; ++s) {
        const int64_t other = swaps[i * k + s] - 1;
        TAEDA_CHECK(other >= 0 && other < m, "[lu_unpack] pivots must lie in [1, ", m, "]: got ", other + 1, "; pass the pivots of an LU factorisation");
        std::swap(rows[static_cast<size_t>(s)], rows[static_cast<size_t>(other)]);
      }
      for (int64_t r = 0; r < m; ++r) to[rows[static_cast<size_t>(r)] * m + r] = T(1);
    }
  });
  return p;
}
/// P, L and U from the compact form. What is not asked for comes as an empty tensor.
struct LuUnpack : Composite {
  static constexpr auto schema =
      "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots) {
    check_linalg(LU_data, "lu_unpack");
    TAEDA_CHECK(!unpack_pivots || LU_pivots.scalar_type() == kInt, "[lu_unpack] the pivots must be int32: got ", LU_pivots.scalar_type(),
                "; pass those of an LU factorisation");
    const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
    Tensor p = taeda::empty({0}, LU_data.options()), l = p, u = p;
    if (unpack_pivots) p = permutation_of(LU_pivots, m, LU_data.options());
    if (unpack_data) {
      l = LU_data.narrow(-1, 0, k).tril(-1).add(taeda::eye(m, k, LU_data.options()));
      u = LU_data.narrow(-2, 0, k).triu();
    }
    return {p, l, u};
  }
};

/// The lower (or upper) Cholesky factor of symmetric positive definite matrices, and for each 0 or the order of the minor
/// that is not positive.
struct LinalgCholeskyEx {
  static constexpr auto schema =
      "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, bool upper, bool check_errors) {
    check_square(self, "linalg_cholesky_ex");
    Tensor factor = column_major(upper ? turned(self) : self);  // an upper triangle is read as the lower one of the transpose
    Tensor info = fresh_info(self);
    LapackArgs x = describe(LapackRoutine::kCholesky, self);
    x.a = data_of(factor), x.info = ints_of(info);
    if (self.numel() > 0) lapack_kernel(self.device(), x);
    if (check_errors) detail::check_info(info, "linalg_cholesky", "the matrix must be symmetric positive definite");
    const Tensor lower = turned(factor).tril();
    return {upper ? turned(lower) : lower, info};
  }
  static Tensor grad_self(const Tensor& grad_L, const Tensor& L, bool upper) {
    const Tensor l = upper ? turned(L) : L, g = upper ? turned(grad_L) : grad_L;
    // phi(Lᵀ g): the lower triangle, its diagonal halved; symmetrised on both sides of L⁻¹.
    const Tensor product = turned(l).matmul(g).tril();
    const Tensor half = product.sub(product.diagonal(0, -2, -1).mul(0.5).diag_embed());
    const Tensor inner = solve_left(turned(l), solve_right(l, half, false), true);
    return inner.add(turned(inner)).mul(0.5);
  }
};

/// The compact QR decomposition: R above the diagonal, the Householder vectors below it, and their factors.
struct Geqrf {
  static constexpr auto schema = "geqrf(Tensor self) -> (Tensor a, Tensor tau)";
  static constexpr auto no_grad = "the reflectors are an intermediate form; use linalg_qr";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self) {
    check_linalg(self, "geqrf");
    Tensor a = column_major(self);
    Tensor tau = fresh_like(self, 2, {std::min(self.size(-2), self.size(-1))});
    Tensor info = fresh_info(self);
    LapackArgs x = describe(LapackRoutine::kQr, self);
    x.a = data_of(a), x.b = data_of(tau), x.info = ints_of(info);
    if (self.numel() > 0) lapack_kernel(self.device(), x);
    return {turned(a), tau};
  }
};

/// A = Q R. mode "reduced": Q (m, k), R (k, n); "complete": Q (m, m), R (m, n); "r": R alone, Q empty. k = min(m, n).
struct LinalgQr {
  static constexpr auto schema = "linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& A, std::string_view mode) {
    check_linalg(A, "linalg_qr");
    TAEDA_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "[linalg_qr] the mode must be 'reduced', 'complete' or 'r': got '", mode,
                "'; choose one");
    const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
    auto [a, tau] = taeda::geqrf(A);
    const int64_t columns = mode == "complete" ? m : k;
    Tensor r = (columns > k && m > n ? a : a.narrow(-2, 0, k)).triu();
    if (mode == "r") return {taeda::empty({0}, A.options()), r};
    Tensor reflectors = a.narrow(-1, 0, k);
    if (columns > k) reflectors = taeda::cat({reflectors, taeda::zeros(batch_sizes(A, 1, {columns - k}), A.options())}, -1);
    return {taeda::linalg_householder_product(reflectors, tau), r};
  }
  static Tensor grad_A(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q, const Tensor& R, std::string_view mode) {
    TAEDA_CHECK(mode != "r", "[linalg_qr] the derivative needs Q: got mode 'r'; use 'reduced'");
    const int64_t m = Q.size(-2), n = R.size(-1);
    TAEDA_CHECK(mode == "reduced" || m <= n, "[linalg_qr] the derivative is not defined for mode 'complete' of tall matrices: got ", Q.sizes(), " and ", R.sizes(),
                "; use 'reduced'");
    if (m >= n) return square_gradient(grad_Q, grad_R, Q, R);
    // Wide: A = [X Y], R = [U V]; X = Q U, V = Qᵀ Y.
    const Tensor u = R.narrow(-1, 0, m), v = R.narrow(-1, m, n - m), gu = grad_R.narrow(-1, 0, m), gv = grad_R.narrow(-1, m, n - m);
    const Tensor y = Q.matmul(v);
    return taeda::cat({square_gradient(grad_Q.add(y.matmul(turned(gv))), gu, Q, u), Q.matmul(gv)}, -1);
  }
  static Tensor square_gradient(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
    const Tensor m = r.matmul(turned(gr)).sub(turned(gq).matmul(q));
    const Tensor lower = m.tril(-1);
    const Tensor symmetric = m.tril().add(turned(lower));
    return solve_right(turned(r), gq.add(q.matmul(symmetric)), false);
  }
};

/// Eigenvalues, ascending, and eigenvectors of symmetric matrices; only the triangle UPLO is read.
struct LinalgEigh {
  static constexpr auto schema = "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, std::string_view UPLO) {
    check_square(self, "linalg_eigh");
    TAEDA_CHECK(UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u", "[linalg_eigh] UPLO must be 'L' or 'U': got '", UPLO, "'; choose one");
    check_finite_input(self, "linalg_eigh");
    Tensor vectors = column_major(self);
    Tensor values = fresh_like(self, 2, {self.size(-1)});
    Tensor info = fresh_info(self);
    LapackArgs x = describe(LapackRoutine::kEigh, self);
    x.a = data_of(vectors), x.b = data_of(values), x.info = ints_of(info);
    x.vectors = true;
    x.lower = UPLO == "L" || UPLO == "l";
    if (self.numel() > 0) lapack_kernel(self.device(), x);
    detail::check_info(info, "linalg_eigh", "the algorithm must converge");
    return {values, turned(vectors)};
  }
  static constexpr auto undefined_grads = true;
  static Tensor grad_self(const Tensor& grad_eigenvalues, const Tensor& grad_eigenvectors, const Tensor& eigenvalues, const Tensor& eigenvectors) {
    const Tensor& v = eigenvectors;
    Tensor inner = grad_eigenvalues.defined() ? grad_eigenvalues.diag_embed() : Tensor();
    if (grad_eigenvectors.defined()) {
      Tensor gap = eigenvalues.unsqueeze(-2).sub(eigenvalues.unsqueeze(-1));
      gap = gap.add(taeda::eye(v.size(-1), v.options()));  // keeps the diagonal, where the numerator is 0, finite
      const Tensor product = turned(v).matmul(grad_eigenvectors);
      const Tensor skew = product.sub(turned(product)).mul(0.5).div(gap);
      inner = inner.defined() ? inner.add(skew) : skew;
    }
    if (!inner.defined()) return Tensor();
    return v.matmul(inner).matmul(turned(v));
  }
};

/// Singular value decomposition A = U diag(S) Vᵀ: U (m, m) or (m, k), S (k) descending, Vh (n, n) or (k, n).
struct LinalgSvdRaw {
  static constexpr auto schema = "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)";
  static constexpr auto variants = "function";
  static constexpr auto undefined_grads = true;
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& A, bool full_matrices, bool compute_uv, std::optional<std::string_view> driver) {
    check_linalg(A, "linalg_svd");
    TAEDA_CHECK(!driver, "[linalg_svd] the keyword driver is for CUDA only: got '", driver.value_or(""), "'; leave it out");
    check_finite_input(A, "linalg_svd");
    const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
    Tensor work = column_major(A);
    Tensor s = fresh_like(A, 2, {k}), info = fresh_info(A);
    Tensor u = fresh_like(A, 2, {compute_uv ? (full_matrices ? m : k) : 0, m}), v = fresh_like(A, 2, {n, compute_uv ? (full_matrices ? n : k) : 0});
    LapackArgs x = describe(LapackRoutine::kSvd, A);
    x.a = data_of(work), x.b = data_of(s), x.c = data_of(u), x.d = data_of(v), x.info = ints_of(info);
    x.vectors = compute_uv, x.full = full_matrices;
    if (A.numel() > 0) {
      lapack_kernel(A.device(), x);
    } else if (compute_uv && full_matrices) {
      u.copy_(taeda::eye(m, A.options()));
      v.copy_(taeda::eye(n, A.options()));
    }
    detail::check_info(info, "linalg_svd", "the algorithm must converge");
    return {turned(u), s, turned(v)};
  }
  static Tensor grad_A(const Tensor& grad_U, const Tensor& grad_S, const Tensor& grad_Vh, const Tensor& A, const Tensor& U, const Tensor& S, const Tensor& Vh,
                       bool full_matrices, bool compute_uv) {
    if (!compute_uv) {  // singular values alone: their vectors are worked out again
      auto [u, s, vh] = taeda::_linalg_svd(A, false, true);
      return grad_S.defined() ? u.mul(grad_S.unsqueeze(-2)).matmul(vh) : Tensor();
    }
    const int64_t k = S.size(-1);
    const Tensor u = full_matrices ? U.narrow(-1, 0, k) : U, vh = full_matrices ? Vh.narrow(-2, 0, k) : Vh;
    if (!grad_U.defined() && !grad_Vh.defined()) return grad_S.defined() ? u.mul(grad_S.unsqueeze(-2)).matmul(vh) : Tensor();
    TAEDA_CHECK(!full_matrices || (U.size(-1) == k && Vh.size(-2) == k), "[linalg_svd] the derivative of the full vectors is not defined: got U ", U.sizes(), " and Vh ",
                Vh.sizes(), "; use full_matrices=false");
    const Tensor v = turned(vh), s2 = S.mul(S);
    const Tensor gap = s2.unsqueeze(-2).sub(s2.unsqueeze(-1)).add(taeda::eye(k, S.options()));
    const auto skew = [](const Tensor& t) { return t.sub(turned(t)); };
    Tensor inner = taeda::zeros_like(gap);
    if (grad_U.defined()) inner = inner.add(skew(turned(u).matmul(grad_U)).div(gap).mul(S.unsqueeze(-2)));
    if (grad_Vh.defined()) inner = inner.add(skew(vh.matmul(turned(grad_Vh))).div(gap).mul(S.unsqueeze(-1)));
    if (grad_S.defined()) inner = inner.add(grad_S.diag_embed());
    Tensor result = u.matmul(inner).matmul(vh);
    const Tensor inverse = S.reciprocal();
    if (grad_U.defined() && U.size(-2) > k) {
      const Tensor scaled = grad_U.mul(inverse.unsqueeze(-2));
      result = result.add(scaled.sub(u.matmul(turned(u).matmul(scaled))).matmul(vh));
    }
    if (grad_Vh.defined() && Vh.size(-1) > k) {
      const Tensor scaled = grad_Vh.mul(inverse.unsqueeze(-1));
      result = result.add(u.matmul(scaled.sub(scaled.matmul(v).matmul(vh))));
    }
    return result;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/linalg.inc"
