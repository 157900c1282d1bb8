// SPDX-License-Identifier: Apache-2.0
// Variance and standard deviation, with and without the mean.
#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

using detail::reduce_mask;
using detail::restore_dims;

double correction_of(const std::optional<Scalar>& correction) { return correction ? correction->toDouble() : 1.0; }

std::tuple<Tensor, Tensor> moments(const Tensor& self, OptionalIntArrayRef dim, double correction, bool keepdim, const char* op) {
  TAEDA_CHECK(self.is_floating_point(), "[", op, "] only floating dtypes are supported: got ", self.scalar_type(),
              "; convert the input first");
  const ScalarType dtype = self.scalar_type();
  if (dtype == kHalf || dtype == kBFloat16) {
    auto [var, mean] = moments(self.to(kFloat), dim, correction, keepdim, op);
    return {var.to(dtype), mean.to(dtype)};
  }
  const uint64_t mask = reduce_mask(dim, self.dim(), op);
  const DimVector sizes = detail::reduced_sizes(self.sizes(), mask, keepdim);
  Tensor var = make_tensor(sizes, dtype, self.device());
  Tensor mean = make_tensor(sizes, dtype, self.device());
  if (var.numel() == 0) return {var, mean};
  const detail::Reducible r = detail::make_reducible(self, mask, true);
  moments_kernel(self.device(), MomentsArgs{dtype, r.tensor.impl().data(), mean.impl().data(), var.impl().data(), r.outer, r.n,
                                            r.inner, correction});
  return {var, mean};
}
Tensor var_grad(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, double correction, bool keepdim) {
  const uint64_t mask = reduce_mask(dim, self.dim(), "var");
  const auto n = static_cast<double>(detail::reduced_numel(self.sizes(), mask));
  const double factor = n - correction > 0 ? 2.0 / (n - correction) : std::numeric_limits<double>::infinity();
  const Tensor g = restore_dims(grad, mask, self.dim(), keepdim);
  return g.mul(factor).mul(self.sub(self.mean(dim, true)));
}
Tensor std_grad(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim, double correction, bool keepdim) {
  const Tensor g = grad.div(result.mul(2)).masked_fill(result.eq(0), 0);
  return var_grad(g, self, dim, correction, keepdim);
}
Tensor mean_grad(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  const uint64_t mask = reduce_mask(dim, self.dim(), "mean");
  const auto n = static_cast<double>(detail::reduced_numel(self.sizes(), mask));
  return restore_dims(grad.div(n), mask, self.dim(), keepdim).expand(self.sizes());
}

/// Variance over dimensions (all when none are named), divided by n - correction (1 unless given).
struct VarCorrection {
  static constexpr auto schema =
      "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim) {
    return std::get<0>(moments(self, dim, correction_of(correction), keepdim, "var"));
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, std::optional<Scalar> correction, bool keepdim) {
    return var_grad(grad, self, dim, correction_of(correction), keepdim);
  }
};
/// Variance of all elements, divided by n - 1 or n.
struct Var : Composite {
  static constexpr auto schema = "var(Tensor self, bool unbiased=True) -> Tensor";
  static constexpr auto no_cpp_default = "unbiased";
  static Tensor forward(const Tensor& self, bool unbiased) {
    return taeda::var(self, OptionalIntArrayRef(), std::optional<Scalar>(unbiased ? 1 : 0), false);
  }
};
/// Variance over dimensions, divided by n - 1 or n.
struct VarDim : Composite {
  static constexpr auto schema = "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor";
  static constexpr auto no_cpp_default = "unbiased";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
    return taeda::var(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
  }
};
/// Standard deviation over dimensions: the square root of the variance.
struct StdCorrection {
  static constexpr auto schema =
      "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim) {
    return std::get<0>(moments(self, dim, correction_of(correction), keepdim, "std")).sqrt();
  }
  static Tensor grad_self(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                          std::optional<Scalar> correction, bool keepdim) {
    return std_grad(grad, self, result, dim, correction_of(correction), keepdim);
  }
};
/// Standard deviation of all elements.
struct Std : Composite {
  static constexpr auto schema = "std(Tensor self, bool unbiased=True) -> Tensor";
  static constexpr auto no_cpp_default = "unbiased";
  static Tensor forward(const Tensor& self, bool unbiased) {
    return taeda::std(self, OptionalIntArrayRef(), std::optional<Scalar>(unbiased ? 1 : 0), false);
  }
};
/// Standard deviation over dimensions.
struct StdDim : Composite {
  static constexpr auto schema = "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor";
  static constexpr auto no_cpp_default = "unbiased";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
    return taeda::std(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
  }
};

/// Variance and mean over dimensions.
struct VarMeanCorrection {
  static constexpr auto schema =
      "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor var, Tensor mean)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim) {
    return moments(self, dim, correction_of(correction), keepdim, "var_mean");
  }
  static Tensor grad_self(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, OptionalIntArrayRef dim,
                          std::optional<Scalar> correction, bool keepdim) {
    return var_grad(grad_var, self, dim, correction_of(correction), keepdim).add(mean_grad(grad_mean, self, dim, keepdim));
  }
};
/// Variance and mean of all elements.
struct VarMean : Composite {
  static constexpr auto schema = "var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static constexpr auto no_cpp_default = "unbiased";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, bool unbiased) {
    return taeda::var_mean(self, OptionalIntArrayRef(), std::optional<Scalar>(unbiased ? 1 : 0), false);
  }
};
/// Variance and mean over dimensions.
struct VarMeanDim : Composite {
  static constexpr auto schema = "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static constexpr auto no_cpp_default = "unbiased";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
    return taeda::var_mean(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
  }
};
/// Standard deviation and mean over dimensions.
struct StdMeanCorrection {
  static constexpr auto schema =
      "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor std, Tensor mean)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim) {
    auto [var, mean] = moments(self, dim, correction_of(correction), keepdim, "std_mean");
    return {var.sqrt(), mean};
  }
  static Tensor grad_self(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std, OptionalIntArrayRef dim,
                          std::optional<Scalar> correction, bool keepdim) {
    return std_grad(grad_std, self, std, dim, correction_of(correction), keepdim).add(mean_grad(grad_mean, self, dim, keepdim));
  }
};
/// Standard deviation and mean of all elements.
struct StdMean : Composite {
  static constexpr auto schema = "std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static constexpr auto no_cpp_default = "unbiased";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, bool unbiased) {
    return taeda::std_mean(self, OptionalIntArrayRef(), std::optional<Scalar>(unbiased ? 1 : 0), false);
  }
};
/// Standard deviation and mean over dimensions.
struct StdMeanDim : Composite {
  static constexpr auto schema = "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static constexpr auto no_cpp_default = "unbiased";
  static std::tuple<Tensor, Tensor> forward(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
    return taeda::std_mean(self, dim, std::optional<Scalar>(unbiased ? 1 : 0), keepdim);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/reduce_moments.inc"
