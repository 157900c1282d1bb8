// SPDX-License-Identifier: Apache-2.0
// Norms of vectors and matrices.
#include <algorithm>
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce;
using detail::reduce_mask;
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor cast(const Tensor& self, std::optional<ScalarType> dtype) { return dtype ? self.to(*dtype) : self; }

/// (sum |x|^ord)^(1/ord) over dimensions; the count of non-zeros for 0, the extremes of |x| for ±inf.
struct LinalgVectorNorm {
  static constexpr auto schema =
      "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    TAEDA_CHECK(self.is_floating_point(), "[linalg_vector_norm] expected a floating point tensor as input: got ", self.scalar_type(), "; convert it");
    TAEDA_CHECK(!dtype || is_floating_type(*dtype), "[linalg_vector_norm] dtype must be floating: got ", dtype.value_or(kFloat), "; choose another");
    const Tensor x = cast(self, dtype);
    const uint64_t mask = reduce_mask(dim, self.dim(), "linalg_vector_norm");
    const double p = ord.toDouble();
    if (self.numel() == 0 && (p < 0 || p == kInf)) {
      TAEDA_CHECK(dim.has_value() && !dim->empty(), "[linalg_vector_norm] cannot compute the norm of order ", p, " of an empty tensor: it has no identity; pass elements");
      detail::check_not_empty(self, mask, "linalg_vector_norm");
    }
    if (p == 0) return reduce(ReduceKind::kCountNonzero, x, mask, keepdim).to(x.scalar_type());
    if (p == 1) return reduce(ReduceKind::kSumAbs, x, mask, keepdim);
    if (p == 2) return root_of_squares(x, mask, keepdim);
    if (p == kInf) return reduce(ReduceKind::kMax, x.abs(), mask, keepdim);
    if (p == -kInf) return reduce(ReduceKind::kMin, x.abs(), mask, keepdim);
    const bool wide = x.scalar_type() == kDouble;
    const double q = wide ? p : static_cast<double>(static_cast<float>(p));
    return reduce(ReduceKind::kSum, x.to(wide ? kDouble : kFloat).abs().pow(q), mask, keepdim).pow(1.0 / q).to(x.scalar_type());
  }
  static Tensor root_of_squares(const Tensor& x, uint64_t mask, bool keepdim) {
    const ScalarType type = x.scalar_type();
    if (type == kHalf || type == kBFloat16) return root_of_squares(x.to(kFloat), mask, keepdim).to(type);
    return reduce(ReduceKind::kSumSquares, x, mask, keepdim).sqrt();
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim) {
    const uint64_t mask = reduce_mask(dim, self.dim(), "linalg_vector_norm");
    const ScalarType type = self.scalar_type();
    const Tensor g = detail::restore_dims(grad, mask, self.dim(), keepdim).to(type);
    const Tensor n = detail::restore_dims(result, mask, self.dim(), keepdim).to(type);
    const double p = ord.toDouble();
    if (p == 0) return taeda::zeros_like(self);
    if (p == 1) return self.sgn().mul(g);
    if (p == 2) return self.mul(g.div(n).masked_fill(n.eq(0), 0));
    if (p == kInf || p == -kInf) {
      const Tensor chosen = self.abs().eq(n).logical_or(self.isnan().logical_and(n.isnan())).to(type);
      DimVector dims;
      for (int64_t d = 0; d < self.dim(); ++d) {
        if ((mask >> d) & 1) dims.push_back(d);
      }
      const Tensor count = self.dim() == 0 ? chosen : chosen.sum(IntArrayRef(dims), true);
      return self.sgn().mul(g.div(count)).mul(chosen);
    }
    if (p < 1) {
      const Tensor slope = self.sgn().mul(self.abs().pow(p - 1)).masked_fill(self.eq(0), 0);
      return slope.mul(g.mul(n.pow(1 - p)));
    }
    if (p < 2) return self.sgn().mul(self.abs().pow(p - 1)).mul(g.div(n.pow(p - 1)).masked_fill(n.eq(0), 0));
    return self.mul(self.abs().div(n).pow(p - 2).masked_fill(n.eq(0), 0)).mul(g.div(n).masked_fill(n.eq(0), 0));
  }
};

Tensor vector_norm(const Tensor& self, const std::optional<Scalar>& p, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return taeda::linalg_vector_norm(self, p.value_or(Scalar(2)), dim, keepdim, dtype);
}
/// p-norm of all elements.
struct Norm : Composite {
  static constexpr auto schema = "norm.Scalar(Tensor self, Scalar p=2) -> Tensor";
  static Tensor forward(const Tensor& self, const Scalar& p) { return vector_norm(self, p, std::nullopt, false, std::nullopt); }
};
/// p-norms over dimensions.
struct NormDim : Composite {
  static constexpr auto schema = "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
    return vector_norm(self, p, OptionalIntArrayRef(dim), keepdim, std::nullopt);
  }
};
/// p-norms over dimensions, computed in `dtype`.
struct NormDimDtype : Composite {
  static constexpr auto schema = "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype) {
    return vector_norm(self, p, OptionalIntArrayRef(dim), keepdim, dtype);
  }
};
/// p-norm of all elements, computed in `dtype`.
struct NormDtype : Composite {
  static constexpr auto schema = "norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
    return vector_norm(self, p, std::nullopt, false, dtype);
  }
};
/// Frobenius ("fro") or nuclear ("nuc") norm.
struct NormNamed : Composite {
  static constexpr auto schema = "norm.named(Tensor self, str p, int[1]? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto variants = "none";  // by name only: beside a text, `norm(x, 0, {0}, true)` would mean two things
  static Tensor forward(const Tensor& self, std::string_view p, OptionalIntArrayRef dim, bool keepdim) {
    if (p == "fro") return vector_norm(self, std::nullopt, dim, keepdim, std::nullopt);
    TAEDA_CHECK_VALUE(p == "nuc", "[norm] p is a number, 'fro' or 'nuc': got '", p, "'; choose one of them");
    if (dim.has_value()) return taeda::nuclear_norm(self, *dim, keepdim);
    return taeda::nuclear_norm(self, keepdim);
  }
};
/// Root of the sum of squares over dimensions.
struct FrobeniusNorm : Composite {
  static constexpr auto schema = "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef dim, bool keepdim) {
    return vector_norm(self, std::nullopt, OptionalIntArrayRef(dim), keepdim, std::nullopt);
  }
};

struct MatrixDims {
  int64_t row, column;
};
MatrixDims matrix_dims(const Tensor& self, IntArrayRef dim, const char* op) {
  TAEDA_CHECK(dim.size() == 2, "[", op, "] dim must be a 2-tuple of ints: got ", dim, "; name two dimensions");
  TAEDA_CHECK(self.dim() >= 2, "[", op, "] the input tensor must have at least 2 dimensions: got ", self.dim(), "; use a vector norm");
  TAEDA_CHECK(self.is_floating_point(), "[", op, "] expected a floating point tensor as input: got ", self.scalar_type(), "; convert it");
  const MatrixDims d{maybe_wrap_dim(dim[0], self.dim(), op), maybe_wrap_dim(dim[1], self.dim(), op)};
  TAEDA_CHECK(d.row != d.column, "[", op, "] dims must be different: got ", dim, "; name two dimensions");
  return d;
}
/// Singular values of the matrices in two dimensions, largest first, in the last dimension.
Tensor singular_values(const Tensor& x, MatrixDims d) {
  return call_op("linalg_svdvals", {Value(x.movedim(IntArrayRef({d.row, d.column}), IntArrayRef({-2, -1})))}).tensor();
}
Tensor keep_dims(const Tensor& result, MatrixDims d, bool keepdim) {
  if (!keepdim) return result;
  return result.unsqueeze(std::min(d.row, d.column)).unsqueeze(std::max(d.row, d.column));
}
/// Norm of matrices: of order ±1 the extreme sum of a column, ±inf of a row, ±2 the extreme singular value.
struct LinalgMatrixNorm : Composite {
  static constexpr auto schema =
      "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    const MatrixDims d = matrix_dims(self, dim, "linalg_matrix_norm");
    const Tensor x = cast(self, dtype);
    const double p = ord.toDouble();
    const double size = std::abs(p);
    TAEDA_CHECK(size == 1 || size == 2 || size == kInf, "[linalg_matrix_norm] order ", p, " not supported; use 1, 2, inf, their negatives, 'fro' or 'nuc'");
    Tensor values;
    if (size == 2) {
      values = singular_values(x, d);
      return keep_dims(p > 0 ? values.amax(int64_t{-1}) : values.amin(int64_t{-1}), d, keepdim);
    }
    const int64_t summed = size == 1 ? d.row : d.column;
    const int64_t searched = size == 1 ? d.column : d.row;
    const Tensor sums = vector_norm(x, 1, summed, true, std::nullopt);
    const Tensor extreme = p > 0 ? sums.amax(searched, true) : sums.amin(searched, true);
    return keepdim ? extreme : extreme.squeeze(IntArrayRef({d.row, d.column}));
  }
};
/// Frobenius ("fro") or nuclear ("nuc") norm of matrices.
struct LinalgMatrixNormNamed : Composite {
  static constexpr auto schema =
      "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    const MatrixDims d = matrix_dims(self, dim, "linalg_matrix_norm");
    if (ord == "fro") return vector_norm(self, 2, OptionalIntArrayRef(dim), keepdim, dtype);
    TAEDA_CHECK(ord == "nuc", "[linalg_matrix_norm] order '", ord, "' not supported; use 'fro', 'nuc' or a number");
    return keep_dims(singular_values(cast(self, dtype), d).sum(-1), d, keepdim);
  }
};
/// Sum of the singular values.
struct NuclearNorm : Composite {
  static constexpr auto schema = "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, bool keepdim) { return taeda::linalg_matrix_norm(self, "nuc", {-2, -1}, keepdim); }
};
/// Sums of the singular values of the matrices in two dimensions.
struct NuclearNormDim : Composite {
  static constexpr auto schema = "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, IntArrayRef dim, bool keepdim) { return taeda::linalg_matrix_norm(self, "nuc", dim, keepdim); }
};
/// Vector norm of one dimension or of everything without an order; matrix norm of two dimensions with one.
struct LinalgNorm : Composite {
  static constexpr auto schema =
      "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    if (dim.has_value()) {
      TAEDA_CHECK(dim->size() == 1 || dim->size() == 2, "[linalg_norm] if dim is specified, it must be of length 1 or 2: got ", *dim, "; name one or two dimensions");
    } else if (ord) {
      TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "[linalg_norm] if dim is not specified but ord is, the input must be 1D or 2D: got ", self.dim(),
                  "D; name the dimensions");
    }
    if (ord && ((dim.has_value() && dim->size() == 2) || (!dim.has_value() && self.dim() == 2))) {
      return taeda::linalg_matrix_norm(self, *ord, dim.has_value() ? *dim : IntArrayRef({-2, -1}), keepdim, dtype);
    }
    return vector_norm(self, ord, dim, keepdim, dtype);
  }
};
/// Frobenius ("fro") or nuclear ("nuc") norm of matrices.
struct LinalgNormNamed : Composite {
  static constexpr auto schema =
      "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    if (dim.has_value()) {
      TAEDA_CHECK(dim->size() == 1 || dim->size() == 2, "[linalg_norm] if dim is specified, it must be of length 1 or 2: got ", *dim, "; name one or two dimensions");
    } else {
      TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "[linalg_norm] if dim is not specified but ord is, the input must be 1D or 2D: got ", self.dim(),
                  "D; name the dimensions");
    }
    return taeda::linalg_matrix_norm(self, ord, dim.has_value() ? *dim : IntArrayRef({-2, -1}), keepdim, dtype);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/reduce_norm.inc"
