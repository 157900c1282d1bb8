// SPDX-License-Identifier: Apache-2.0
// Products of matrices and vectors.
#include "taeda/ops/matmul.h"

#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/matmul.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {

namespace detail {

void check_product_types(const Tensor& a, const Tensor& b, const char* op) {
  TAEDA_CHECK(a.scalar_type() == b.scalar_type(), "[", op, "] expected the factors to have the same dtype: got ", a.scalar_type(), " and ",
              b.scalar_type(), "; convert one with to()");
  TAEDA_CHECK_NOT_IMPLEMENTED(a.scalar_type() != kBool, "[", op, "] matrix products are not defined for bool; convert to an integer dtype");
}

void matrix_product(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta, const Tensor& bias,
                    bool b_transposed) {
  const ScalarType dtype = out.scalar_type();
  if (TAEDA_UNLIKELY(dtype == kHalf || dtype == kBFloat16)) {
    Tensor wide = make_tensor(out.sizes(), kFloat, out.device());
    if (!beta.equal(0)) pointwise::copy_elements(wide.impl(), out.impl());
    matrix_product(wide, a.to(kFloat), b.to(kFloat), alpha, beta, bias.defined() ? bias.to(kFloat) : Tensor(), b_transposed);
    pointwise::copy_elements(out.impl(), wide.impl());
    return;
  }
  const TensorImpl& x = a.impl();
  const TensorImpl& y = b.impl();
  const size_t d = static_cast<size_t>(x.ndim) - 2;
  const auto xs = x.strides(), ys = y.strides();
  const size_t row = d + b_transposed, col = d + !b_transposed;
  MatmulArgs args;
  args.dtype = dtype;
  args.batch = d ? x.sizes()[0] : 1;
  args.m = x.sizes()[d], args.k = x.sizes()[d + 1], args.n = y.sizes()[col];
  args.a = x.data(), args.a_batch = d ? xs[0] : 0, args.a_row = xs[d], args.a_col = xs[d + 1];
  args.b = y.data(), args.b_batch = d ? ys[0] : 0, args.b_row = ys[row], args.b_col = ys[col];
  args.c = out.impl().data(), args.c_batch = args.m * args.n, args.c_row = args.n;
  // Strides of dimensions of size 1 are free; the kernels read them.
  if (args.n == 1) args.b_col = 1;
  if (args.k == 1) args.a_col = 1, args.b_row = args.n;
  args.alpha = alpha, args.beta = beta;
  args.bias = bias.defined() ? bias.impl().data() : nullptr;
  matmul_kernel(out.device(), args);
}

}  // namespace detail

namespace ops {
namespace {

using detail::check_product_types;
using detail::matrix_product;

Tensor scaled(const Tensor& t, const Scalar& factor) { return factor.equal(1) ? t : t.mul(factor); }

void check_matrices(const Tensor& a, const Tensor& b, const char* op) {
  TAEDA_CHECK(a.dim() == 2 && b.dim() == 2, "[", op, "] both factors must be matrices: got ", a.sizes(), " and ", b.sizes(),
              "; use matmul for other shapes");
  TAEDA_CHECK(a.sizes()[1] == b.sizes()[0], "[", op, "] mat1 and mat2 shapes cannot be multiplied: the columns of the first must equal the rows of the second: got ",
              a.sizes(), " and ", b.sizes(), "; transpose one");
  check_product_types(a, b, op);
}
void check_batches(const Tensor& a, const Tensor& b, const char* op) {
  TAEDA_CHECK(a.dim() == 3 && b.dim() == 3, "[", op, "] both factors must be batches of matrices (3-dim): got ", a.sizes(), " and ", b.sizes(),
              "; use matmul for other shapes");
  TAEDA_CHECK(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], "[", op,
              "] the batch sizes must be equal and the columns of the first equal the rows of the second: got ", a.sizes(), " and ", b.sizes(),
              "; expand or transpose one");
  check_product_types(a, b, op);
}

/// beta · self broadcast to `sizes`, or uninitialised memory where beta is 0.
Tensor start_of_sum(const Tensor& self, IntArrayRef sizes, ScalarType dtype, const Scalar& beta, const char* op) {
  TAEDA_CHECK(self.scalar_type() == dtype, "[", op, "] expected self to have the dtype of the factors: got ", self.scalar_type(), " and ", dtype,
              "; convert it with to()");
  const DimVector shape = broadcast_sizes(sizes, self.sizes(), op);
  TAEDA_CHECK(IntArrayRef(shape) == sizes, "[", op, "] self must broadcast to the product's shape: got ", self.sizes(), " for ", sizes,
              "; reshape it");
  Tensor result = make_tensor(sizes, dtype, self.device());
  if (!beta.equal(0)) pointwise::copy_elements(result.impl(), self.impl());
  return result;
}
/// The factor in the products' dtype: fractions are cut off for integers, and a number that does not fit is refused.
void check_factor(const Scalar& factor, ScalarType dtype, const char* name, const char* op) {
  dispatch_all(dtype, op, [&]<class T>() {
    TAEDA_CHECK(factor.fits<T>(), "[", op, "] argument ", name, " must fit the dtype: got ", factor, " for ", dtype, "; use a smaller number");
  });
}
void check_whole_factor(const Scalar& factor, ScalarType dtype, const char* name, const char* op) {
  TAEDA_CHECK(!factor.isFloatingPoint() || is_floating_type(dtype), "[", op, "] for integral input tensors, argument ", name,
              " must not be a floating point number: got ", factor, "; pass an integer");
  check_factor(factor, dtype, name, op);
}
Tensor add_product(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, IntArrayRef sizes,
                   const char* op) {
  const ScalarType dtype = a.scalar_type();
  check_factor(beta, dtype, "beta", op);
  check_factor(alpha, dtype, "alpha", op);
  const bool is_bias = a.dim() == 2 && self.dim() == 1 && beta.equal(1) && self.scalar_type() == dtype && self.sizes()[0] == sizes[1] &&
                       self.is_contiguous();
  if (is_bias) {
    Tensor result = make_tensor(sizes, dtype, a.device());
    matrix_product(result, a, b, alpha, 0, self);
    return result;
  }
  Tensor result = start_of_sum(self, sizes, dtype, beta, op);
  matrix_product(result, a, b, alpha, beta);
  return result;
}

/// Matrix product of two matrices. self (n, k), mat2 (k, m) of one floating or integer dtype; returns (n, m).
struct Mm {
  static constexpr auto schema = "mm(Tensor self, Tensor mat2) -> Tensor";
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& self, const Tensor& mat2) {
    check_matrices(self, mat2, "mm");
    Tensor result = make_tensor({self.sizes()[0], mat2.sizes()[1]}, self.scalar_type(), self.device());
    matrix_product(result, self, mat2);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& mat2) { return grad.mm(mat2.t()); }
  static Tensor grad_mat2(const Tensor& grad, const Tensor& self) { return self.t().mm(grad); }
  static constexpr Onnx onnx{"MatMul", 13};
};

/// Products of two batches of matrices: (b, n, k) by (b, k, m) gives (b, n, m).
struct Bmm {
  static constexpr auto schema = "bmm(Tensor self, Tensor mat2) -> Tensor";
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& self, const Tensor& mat2) {
    check_batches(self, mat2, "bmm");
    Tensor result = make_tensor({self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.scalar_type(), self.device());
    matrix_product(result, self, mat2);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& mat2) { return grad.bmm(mat2.transpose(1, 2)); }
  static Tensor grad_mat2(const Tensor& grad, const Tensor& self) { return self.transpose(1, 2).bmm(grad); }
  static constexpr Onnx onnx{"MatMul", 13};
};

/// beta · self + alpha · mat1 mat2. self broadcasts to (n, m); beta 0 ignores its values, NaN included.
struct Addmm {
  static constexpr auto schema = "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
    check_matrices(mat1, mat2, "addmm");
    return add_product(self, mat1, mat2, beta, alpha, {mat1.sizes()[0], mat2.sizes()[1]}, "addmm");
  }
  static Tensor grad_self(const Tensor& grad, const Scalar& beta, IntArrayRef self_sizes) { return scaled(sum_to(grad, self_sizes), beta); }
  static Tensor grad_mat1(const Tensor& grad, const Tensor& mat2, const Scalar& alpha) { return scaled(grad.mm(mat2.t()), alpha); }
  static Tensor grad_mat2(const Tensor& grad, const Tensor& mat1, const Scalar& alpha) { return scaled(mat1.t().mm(grad), alpha); }
  static constexpr Onnx onnx{"Gemm", 13};
};

/// beta · self + alpha · batch1 batch2, batch by batch.
struct Baddbmm {
  static constexpr auto schema = "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
    check_batches(batch1, batch2, "baddbmm");
    return add_product(self, batch1, batch2, beta, alpha, {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]}, "baddbmm");
  }
  static Tensor grad_self(const Tensor& grad, const Scalar& beta, IntArrayRef self_sizes) { return scaled(sum_to(grad, self_sizes), beta); }
  static Tensor grad_batch1(const Tensor& grad, const Tensor& batch2, const Scalar& alpha) {
    return scaled(grad.bmm(batch2.transpose(1, 2)), alpha);
  }
  static Tensor grad_batch2(const Tensor& grad, const Tensor& batch1, const Scalar& alpha) {
    return scaled(batch1.transpose(1, 2).bmm(grad), alpha);
  }
};

/// beta · self + alpha · Σ_b batch1[b] batch2[b].
struct Addbmm : Composite {
  static constexpr auto schema = "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
    check_batches(batch1, batch2, "addbmm");
    const int64_t b = batch1.size(0), n = batch1.size(1), k = batch1.size(2), m = batch2.size(2);
    return taeda::addmm(self, batch1.transpose(0, 1).reshape({n, b * k}), batch2.reshape({b * k, m}), beta, alpha);
  }
};
/// `addbmm` into self.
struct Addbmm_ : Composite {
  static constexpr auto schema = "addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
    return self.copy_(taeda::addbmm(self, batch1, batch2, beta, alpha));
  }
};

/// Matrix times vector: (n, k) by (k) gives (n).
struct Mv {
  static constexpr auto schema = "mv(Tensor self, Tensor vec) -> Tensor";
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& self, const Tensor& vec) {
    check(self, vec, "mv");
    Tensor result = make_tensor({self.sizes()[0]}, self.scalar_type(), self.device());
    product(result, self, vec, 1, 0);
    return result;
  }
  static void check(const Tensor& mat, const Tensor& vec, const char* op) {
    TAEDA_CHECK(mat.dim() == 2 && vec.dim() == 1, "[", op, "] the factors must be a matrix and a vector: got ", mat.sizes(), " and ", vec.sizes(),
                "; use matmul for other shapes");
    TAEDA_CHECK(mat.sizes()[1] == vec.sizes()[0], "[", op, "] the matrix's columns must equal the vector's length: got ", mat.sizes(), " and ",
                vec.sizes(), "; transpose the matrix");
    check_product_types(mat, vec, op);
  }
  /// As a row: result (1, n) = vec (1, k) times the transposed matrix.
  static void product(const Tensor& result, const Tensor& mat, const Tensor& vec, const Scalar& alpha, const Scalar& beta) {
    matrix_product(result.unsqueeze(0), vec.unsqueeze(0), mat.t(), alpha, beta);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& vec) { return grad.unsqueeze(1).mul(vec); }
  static Tensor grad_vec(const Tensor& grad, const Tensor& self) { return self.t().mv(grad); }
  static constexpr Onnx onnx{"MatMul", 13};
};

/// beta · self + alpha · mat vec.
struct Addmv {
  static constexpr auto schema = "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto inplace = true;
  static Tensor forward(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
    Mv::check(mat, vec, "addmv");
    check_factor(beta, mat.scalar_type(), "beta", "addmv");
    check_factor(alpha, mat.scalar_type(), "alpha", "addmv");
    Tensor result = start_of_sum(self, {mat.sizes()[0]}, mat.scalar_type(), beta, "addmv");
    Mv::product(result, mat, vec, alpha, beta);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const Scalar& beta, IntArrayRef self_sizes) { return scaled(sum_to(grad, self_sizes), beta); }
  static Tensor grad_mat(const Tensor& grad, const Tensor& vec, const Scalar& alpha) { return scaled(grad.unsqueeze(1).mul(vec), alpha); }
  static Tensor grad_vec(const Tensor& grad, const Tensor& mat, const Scalar& alpha) { return scaled(mat.t().mv(grad), alpha); }
};

Tensor dot_of(const Tensor& self, const Tensor& other, const char* op) {
  TAEDA_CHECK(self.dim() == 1 && other.dim() == 1, "[", op, "] both inputs must be vectors: got ", self.sizes(), " and ", other.sizes(),
              "; use matmul for other shapes");
  TAEDA_CHECK(self.sizes()[0] == other.sizes()[0], "[", op, "] both vectors must have the same number of elements: got ", self.sizes()[0], " and ",
              other.sizes()[0], "; slice one");
  check_product_types(self, other, op);
  Tensor result = make_tensor({}, self.scalar_type(), self.device());
  matrix_product(make_view(result, {1, 1}, {1, 1}, result.storage_offset()), self.unsqueeze(0), other.unsqueeze(1));
  return result;
}
/// Σ self · tensor of two vectors.
struct Dot {
  static constexpr auto schema = "dot(Tensor self, Tensor tensor) -> Tensor";
  static constexpr auto autocast = "lower";
  static Tensor forward(const Tensor& self, const Tensor& tensor) { return dot_of(self, tensor, "dot"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& tensor) { return grad.mul(tensor); }
  static Tensor grad_tensor(const Tensor& grad, const Tensor& self) { return grad.mul(self); }
};
/// As `dot` (of complex vectors, the first conjugated).
struct Vdot {
  static constexpr auto schema = "vdot(Tensor self, Tensor other) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other) { return dot_of(self, other, "vdot"); }
  static Tensor grad_self(const Tensor& grad, const Tensor& other) { return grad.mul(other); }
  static Tensor grad_other(const Tensor& grad, const Tensor& self) { return grad.mul(self); }
};

void check_vectors(const Tensor& a, const Tensor& b, const char* op) {
  TAEDA_CHECK(a.dim() == 1 && b.dim() == 1, "[", op, "] both inputs must be vectors: got ", a.sizes(), " and ", b.sizes(), "; flatten them");
}
/// The matrix self[i] · vec2[j].
struct Outer : Composite {
  static constexpr auto schema = "outer(Tensor self, Tensor vec2) -> Tensor";
  static constexpr auto out_apart = "self vec2";
  static Tensor forward(const Tensor& self, const Tensor& vec2) {
    check_vectors(self, vec2, "outer");
    return self.unsqueeze(1).mul(vec2);
  }
};
/// As `outer`.
struct Ger : Composite {
  static constexpr auto schema = "ger(Tensor self, Tensor vec2) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& vec2) { return taeda::outer(self, vec2); }
};
/// beta · self + alpha · outer(vec1, vec2).
struct Addr : Composite {
  static constexpr auto schema = "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr auto out_apart = "self vec1 vec2";
  static Tensor forward(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
    check_vectors(vec1, vec2, "addr");
    const ScalarType type = promote_types(self.scalar_type(), promote_types(vec1.scalar_type(), vec2.scalar_type()));
    check_whole_factor(beta, type, "beta", "addr");
    check_whole_factor(alpha, type, "alpha", "addr");
    const int64_t sizes[2] = {vec1.size(0), vec2.size(0)};
    const Tensor start = self.expand(IntArrayRef(sizes, 2));
    const Tensor product = scaled(vec1.unsqueeze(1).mul(vec2), alpha);
    return beta.equal(0) ? product.to(type) : scaled(start, beta).add(product);
  }
};
/// `addr` into self.
struct Addr_ : Composite {
  static constexpr auto schema = "addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
    return self.copy_(taeda::addr(self, vec1, vec2, beta, alpha));
  }
};

/// The product of tensors by NumPy's rules: vectors become rows or columns for the time of the product, leading
/// dimensions are batches and broadcast.
struct Matmul : Composite {
  static constexpr auto schema = "matmul(Tensor self, Tensor other) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other) {
    const int64_t p = self.dim(), q = other.dim();
    if (p == 2 && q == 2) return taeda::mm(self, other);
    TAEDA_CHECK(p > 0 && q > 0, "[matmul] both arguments need to be at least 1D: got ", p, "D and ", q, "D; use mul for numbers");
    if (p == 1 && q == 1) return taeda::dot(self, other);
    if (p == 2 && q == 1) return taeda::mv(self, other);
    if (p == 1 && q == 2) return product_row(self, other);
    const int64_t inner = self.size(-1);
    TAEDA_CHECK(inner == other.size(q == 1 ? 0 : -2),
                "[matmul] the last dimension of the first input must equal the second-to-last of the second: got ", self.sizes(), " and ",
                other.sizes(), "; transpose one");
    if (p == 1) return taeda::matmul(self.unsqueeze(0), other).squeeze(-2);
    if (q == 1) return taeda::matmul(self, other.unsqueeze(1)).squeeze(-1);
    if (q == 2) return product_folded(self, other, inner);
    return product_batched(self, other, inner);
  }
  static Tensor product_row(const Tensor& self, const Tensor& other) {
    TAEDA_CHECK(self.size(0) == other.size(0), "[matmul] the vector's length must equal the matrix's rows: got ", self.sizes(), " and ", other.sizes(),
                "; transpose the matrix");
    return taeda::mv(other.t(), self);
  }
  static Tensor product_folded(const Tensor& self, const Tensor& other, int64_t inner) {
    DimVector sizes(self.sizes());
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
    sizes[sizes.size() - 1] = other.size(1);
    return taeda::mm(self.reshape({rows, inner}), other).view(sizes);
  }
  static Tensor product_batched(const Tensor& self, const Tensor& other, int64_t inner) {
    const auto p = static_cast<size_t>(self.dim()), q = static_cast<size_t>(other.dim());
    DimVector sizes = broadcast_sizes(self.sizes().slice(0, p - 2), other.sizes().slice(0, q - 2), "matmul");
    int64_t batch = 1;
    for (const int64_t s : sizes) batch *= s;
    const int64_t n = self.size(-2), m = other.size(-1);
    const auto spread = [&](const Tensor& t, int64_t rows, int64_t columns) {
      DimVector wide(sizes);
      wide.push_back(rows);
      wide.push_back(columns);
      return (t.sizes() == IntArrayRef(wide) ? t : t.expand(wide)).reshape({batch, rows, columns});
    };
    const Tensor result = taeda::bmm(spread(self, n, inner), spread(other, inner, m));
    sizes.push_back(n);
    sizes.push_back(m);
    return result.view(sizes);
  }
  static constexpr Onnx onnx{"MatMul", 13};
};
/// As `matmul`.
struct LinalgMatmul : Composite {
  static constexpr auto schema = "linalg_matmul(Tensor self, Tensor other) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Tensor& other) { return taeda::matmul(self, other); }
};

/// Sums of products over the last dimensions: result[i…, j…] = Σ_k self[i…, k] other[j…, k].
struct Inner : Composite {
  static constexpr auto schema = "inner(Tensor self, Tensor other) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other) {
    if (self.dim() == 0 || other.dim() == 0) return self.mul(other);
    TAEDA_CHECK(self.size(-1) == other.size(-1), "[inner] the last dimensions must be equal: got ", self.sizes(), " and ", other.sizes(),
                "; transpose one");
    DimVector sizes(self.sizes().slice(0, static_cast<size_t>(self.dim()) - 1));
    for (const int64_t s : other.sizes().slice(0, static_cast<size_t>(other.dim()) - 1)) sizes.push_back(s);
    const int64_t k = self.size(-1);
    const auto rows = [k](const Tensor& t) {
      int64_t n = 1;
      for (const int64_t s : t.sizes().slice(0, static_cast<size_t>(t.dim()) - 1)) n *= s;
      return t.reshape({n, k});
    };
    return taeda::mm(rows(self), rows(other).t()).reshape(sizes);
  }
};

/// Kronecker product: every element of self times the whole of other.
struct Kron : Composite {
  static constexpr auto schema = "kron(Tensor self, Tensor other) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other) {
    const int64_t dims = std::max(self.dim(), other.dim());
    DimVector left, right, sizes;
    for (int64_t d = 0; d < dims; ++d) {
      const int64_t i = d - (dims - self.dim()), j = d - (dims - other.dim());
      const int64_t a = i < 0 ? 1 : self.size(i), b = j < 0 ? 1 : other.size(j);
      left.push_back(a);
      left.push_back(1);
      right.push_back(1);
      right.push_back(b);
      sizes.push_back(a * b);
    }
    return self.reshape(left).mul(other.reshape(right)).reshape(sizes);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/matmul.inc"
