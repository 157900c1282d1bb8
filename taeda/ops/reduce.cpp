// SPDX-License-Identifier: Apache-2.0
// Sums, means, products, logical reductions and counts.
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce;
using detail::reduce_mask;

Tensor cast(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype && *dtype != self.scalar_type() ? self.to(*dtype) : self;
}
Tensor cast_result(Tensor result, std::optional<ScalarType> dtype) {
  return dtype && *dtype != result.scalar_type() ? result.to(*dtype) : result;
}
Tensor expand_grad(const Tensor& grad, IntArrayRef sizes, uint64_t mask, bool keepdim) {
  return detail::restore_dims(grad, mask, static_cast<int64_t>(sizes.size()), keepdim).expand(sizes);
}
ScalarType mean_dtype(const Tensor& self, std::optional<ScalarType> dtype, const char* op) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  TAEDA_CHECK(is_floating_type(type), "[", op, "] the result must be floating: got ", type,
              "; convert the input or pass a floating dtype");
  return type;
}
Tensor sum_over(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  return cast_result(reduce(ReduceKind::kSum, cast(self, dtype), reduce_mask(dim, self.dim(), "sum"), keepdim), dtype);
}

/// Sum of all elements. Integers and bool give int64 unless `dtype` says otherwise.
struct Sum {
  static constexpr auto schema = "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, std::optional<ScalarType> dtype) {
    const TensorImpl& t = self.impl();
    if (TAEDA_LIKELY(t.dtype == kFloat && t.contiguous && t.numel <= 32 && !dtype && t.device_.is_cpu())) {
      const float* x = reinterpret_cast<const float*>(t.data());
      double total = 0;
      for (int64_t i = 0; i < t.numel; ++i) total += static_cast<double>(x[i]);
      Tensor result = make_tensor({}, kFloat);
      *reinterpret_cast<float*>(result.impl().data()) = static_cast<float>(total);
      return result;
    }
    return sum_over(self, std::nullopt, false, dtype);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, ScalarType self_dtype) {
    return grad.to(self_dtype).expand(self_sizes);
  }
  static constexpr Onnx onnx{"ReduceSum", 13};
};
/// Sum over dimensions (all when none are named).
struct SumDim {
  static constexpr auto schema =
      "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    return sum_over(self, dim, keepdim, dtype);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, ScalarType self_dtype, OptionalIntArrayRef dim, bool keepdim) {
    return expand_grad(grad.to(self_dtype), self_sizes, reduce_mask(dim, static_cast<int64_t>(self_sizes.size()), "sum"), keepdim);
  }
  static constexpr Onnx onnx{"ReduceSum", 13};
};

/// Mean over dimensions (all when none are named). Floating inputs, or a floating `dtype`.
struct MeanDim {
  static constexpr auto schema =
      "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    const ScalarType type = mean_dtype(self, dtype, "mean");
    const uint64_t mask = reduce_mask(dim, self.dim(), "mean");
    const auto n = static_cast<double>(detail::reduced_numel(self.sizes(), mask));
    return reduce(ReduceKind::kSum, cast(self, type), mask, keepdim, n);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, ScalarType self_dtype, OptionalIntArrayRef dim, bool keepdim) {
    const uint64_t mask = reduce_mask(dim, static_cast<int64_t>(self_sizes.size()), "mean");
    const auto n = static_cast<double>(detail::reduced_numel(self_sizes, mask));
    return expand_grad(grad.to(self_dtype).div(n), self_sizes, mask, keepdim);
  }
  static constexpr Onnx onnx{"ReduceMean", 18};
};
/// Mean of all elements.
struct Mean {
  static constexpr auto schema = "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, std::optional<ScalarType> dtype) {
    return MeanDim::forward(self, std::nullopt, false, dtype);
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, ScalarType self_dtype) {
    return MeanDim::grad_self(grad, self_sizes, self_dtype, std::nullopt, false);
  }
  static constexpr Onnx onnx{"ReduceMean", 18};
};

/// Sum with NaN counted as zero.
struct NanSum {
  static constexpr auto schema =
      "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    const Tensor in = cast(self, dtype);
    const bool floating = in.is_floating_point();
    return cast_result(reduce(floating ? ReduceKind::kNanSum : ReduceKind::kSum, in, reduce_mask(dim, self.dim(), "nansum"), keepdim), dtype);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
    const Tensor g = expand_grad(grad.to(self.scalar_type()), self.sizes(), reduce_mask(dim, self.dim(), "nansum"), keepdim);
    return g.mul(self.isnan().logical_not());
  }
};
/// Mean of the elements that are not NaN.
struct NanMean : Composite {
  static constexpr auto schema =
      "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
    TAEDA_CHECK(self.is_floating_point(), "[nanmean] the input must be floating: got ", self.scalar_type(), "; convert it first");
    const Tensor count = self.detach().isnan().logical_not().sum(dim, keepdim);
    return self.nansum(dim, keepdim, dtype).div(count);
  }
};

Tensor prod_over(const Tensor& self, uint64_t mask, bool keepdim, std::optional<ScalarType> dtype) {
  return cast_result(reduce(ReduceKind::kProd, cast(self, dtype), mask, keepdim), dtype);
}
/// Products of all other elements along `dim`, from both sides; exact where there are zeros.
Tensor products_of_others(const Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim);
  const Tensor one = taeda::ones_like(self.narrow(dim, 0, 1));
  const Tensor before = taeda::cat({one, self.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  const Tensor after = taeda::cat({one, self.narrow(dim, 1, n - 1).flip(dim)}, dim).cumprod(dim).flip(dim);
  return before.mul(after);
}
/// Product of all elements.
struct Prod {
  static constexpr auto schema = "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, std::optional<ScalarType> dtype) {
    return prod_over(self, reduce_mask(std::nullopt, self.dim(), "prod"), false, dtype);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result) {
    const Tensor g = grad.to(self.scalar_type());
    if (self.numel() == 0) return taeda::zeros_like(self);
    if (self.dim() == 0) return g.clone();
    if (self.detach().count_nonzero().item<int64_t>() == self.numel()) return g.mul(result).div(self);
    return g.mul(products_of_others(self.reshape(IntArrayRef(int64_t{-1})), 0).reshape(self.sizes()));
  }
  static constexpr Onnx onnx{"ReduceProd", 18};
};
/// Product over one dimension.
struct ProdDim {
  static constexpr auto schema = "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
    return prod_over(self, reduce_mask(dim, self.dim(), "prod"), keepdim, dtype);
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
    if (self.numel() == 0) return taeda::zeros_like(self);
    if (self.dim() == 0) return grad.to(self.scalar_type());
    const uint64_t mask = reduce_mask(dim, self.dim(), "prod");
    const Tensor g = detail::restore_dims(grad.to(self.scalar_type()), mask, self.dim(), keepdim);
    const Tensor r = detail::restore_dims(result, mask, self.dim(), keepdim);
    if (self.detach().count_nonzero().item<int64_t>() == self.numel()) return g.mul(r).div(self);
    return g.mul(products_of_others(self, dim));
  }
  static constexpr Onnx onnx{"ReduceProd", 18};
};

Tensor logical(ReduceKind kind, const Tensor& self, uint64_t mask, bool keepdim) {
  const Tensor result = reduce(kind, self, mask, keepdim);
  return self.scalar_type() == kByte ? result.to(kByte) : result;  // as uint8 masks of old
}
/// Whether any element is not zero.
struct Any {
  static constexpr auto schema = "any(Tensor self) -> Tensor";
  static constexpr auto no_grad = "the result is no number that varies smoothly";
  static Tensor forward(const Tensor& self) { return logical(ReduceKind::kAny, self, reduce_mask(std::nullopt, self.dim(), "any"), false); }
};
/// Whether any element along `dim` is not zero.
struct AnyDim {
  static constexpr auto schema = "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor";
  static constexpr auto no_grad = "the result is no number that varies smoothly";
  static Tensor forward(const Tensor& self, int64_t dim, bool keepdim) {
    return logical(ReduceKind::kAny, self, reduce_mask(dim, self.dim(), "any"), keepdim);
  }
};
/// Whether any element along the dimensions is not zero; all dimensions when none are named.
struct AnyDims {
  static constexpr auto schema = "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto no_grad = "the result is no number that varies smoothly";
  static constexpr auto no_cpp_default = "dim";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
    if (dim.has_value() && dim->empty()) return logical(ReduceKind::kAny, self, 0, keepdim);
    return logical(ReduceKind::kAny, self, reduce_mask(dim, self.dim(), "any"), keepdim);
  }
};
/// Whether no element is zero.
struct All {
  static constexpr auto schema = "all(Tensor self) -> Tensor";
  static constexpr auto no_grad = "the result is no number that varies smoothly";
  static Tensor forward(const Tensor& self) { return logical(ReduceKind::kAll, self, reduce_mask(std::nullopt, self.dim(), "all"), false); }
};
/// Whether no element along `dim` is zero.
struct AllDim {
  static constexpr auto schema = "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor";
  static constexpr auto no_grad = "the result is no number that varies smoothly";
  static Tensor forward(const Tensor& self, int64_t dim, bool keepdim) {
    return logical(ReduceKind::kAll, self, reduce_mask(dim, self.dim(), "all"), keepdim);
  }
};
/// Whether no element along the dimensions is zero; all dimensions when none are named.
struct AllDims {
  static constexpr auto schema = "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto no_grad = "the result is no number that varies smoothly";
  static constexpr auto no_cpp_default = "dim";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
    if (dim.has_value() && dim->empty()) return logical(ReduceKind::kAll, self, 0, keepdim);
    return logical(ReduceKind::kAll, self, reduce_mask(dim, self.dim(), "all"), keepdim);
  }
};

/// The number of elements that are not zero.
struct CountNonzero {
  static constexpr auto schema = "count_nonzero(Tensor self, int? dim=None) -> Tensor";
  static constexpr auto no_grad = "the result is a count";
  static Tensor forward(const Tensor& self, std::optional<int64_t> dim) {
    const uint64_t mask = dim ? reduce_mask(*dim, self.dim(), "count_nonzero") : reduce_mask(std::nullopt, self.dim(), "count_nonzero");
    return reduce(ReduceKind::kCountNonzero, self, mask, false);
  }
};
/// The number of elements along the dimensions that are not zero.
struct CountNonzeroDims {
  static constexpr auto schema = "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor";
  static constexpr auto no_grad = "the result is a count";
  static Tensor forward(const Tensor& self, IntArrayRef dim) {
    return reduce(ReduceKind::kCountNonzero, self, reduce_mask(OptionalIntArrayRef(dim), self.dim(), "count_nonzero"), false);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/reduce.inc"
