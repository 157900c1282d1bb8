// SPDX-License-Identifier: Apache-2.0
// Operators that choose among pointwise ones: optional bounds, rounding modes, approximations, and a few short compositions.
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

Tensor& as_mutable(const Tensor& self) { return const_cast<Tensor&>(self); }

ScalarType clamped_type(const Tensor& self, const Scalar& min, const Scalar& max) {
  return promote_types(result_type(self, min), result_type(self, max));
}
Tensor clamp_numbers(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  TAEDA_CHECK(min || max, "[clamp] at least one of min or max must be given: got none; pass a bound");
  if (!max) return taeda::clamp_min(self, *min);
  if (!min) return taeda::clamp_max(self, *max);
  const ScalarType type = clamped_type(self, *min, *max);
  return taeda::_clamp(type == self.scalar_type() ? self : self.to(type), *min, *max);
}
Tensor& clamp_numbers_(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  TAEDA_CHECK(min || max, "[clamp_] at least one of min or max must be given: got none; pass a bound");
  if (!max) return taeda::clamp_min_(self, *min);
  if (!min) return taeda::clamp_max_(self, *max);
  const ScalarType type = clamped_type(self, *min, *max);
  TAEDA_CHECK(can_cast(type, self.scalar_type()), "[clamp_] result type ", type, " can't be cast to the desired output type ",
              self.scalar_type(), "; use clamp");
  return taeda::_clamp_(self, *min, *max);
}
Tensor clamp_tensors(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  TAEDA_CHECK(min || max, "[clamp] at least one of min or max must be given: got none; pass a bound");
  if (!max) return taeda::clamp_min(self, *min);
  if (!min) return taeda::clamp_max(self, *max);
  return taeda::_clamp_tensor(self, *min, *max);
}
Tensor& clamp_tensors_(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  TAEDA_CHECK(min || max, "[clamp_] at least one of min or max must be given: got none; pass a bound");
  if (!max) return taeda::clamp_min_(self, *min);
  if (!min) return taeda::clamp_max_(self, *max);
  return taeda::_clamp_tensor_(self, *min, *max);
}

/// self limited to [min, max], either of which may be absent; max wins where min > max.
struct Clamp : Composite {
  static constexpr auto schema = "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor";
  static constexpr auto out_apart = "self";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
    return clamp_numbers(self, min, max);
  }
};
struct Clamp_ : Composite {
  static constexpr auto schema = "clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
    return clamp_numbers_(self, min, max);
  }
};
/// self limited by tensors that broadcast; either may be absent.
struct ClampTensor : Composite {
  static constexpr auto schema = "clamp.Tensor(Tensor self, Tensor? min, Tensor? max=None) -> Tensor";
  static Tensor forward(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
    return clamp_tensors(self, min, max);
  }
};
struct ClampTensor_ : Composite {
  static constexpr auto schema = "clamp_.Tensor(Tensor(a!) self, Tensor? min, Tensor? max=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
    return clamp_tensors_(self, min, max);
  }
};
/// clamp under another name.
struct Clip : Composite {
  static constexpr auto schema = "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor";
  static Tensor forward(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
    return clamp_numbers(self, min, max);
  }
};
struct Clip_ : Composite {
  static constexpr auto schema = "clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
    return clamp_numbers_(self, min, max);
  }
};
/// clamp by tensors under another name.
struct ClipTensor : Composite {
  static constexpr auto schema = "clip.Tensor(Tensor self, Tensor? min, Tensor? max=None) -> Tensor";
  static Tensor forward(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
    return clamp_tensors(self, min, max);
  }
};
struct ClipTensor_ : Composite {
  static constexpr auto schema = "clip_.Tensor(Tensor(a!) self, Tensor? min, Tensor? max=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
    return clamp_tensors_(self, min, max);
  }
};

/// self^2; bool counts as int64.
struct SquareOp : Composite {
  static constexpr auto schema = "square(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return taeda::_square(self.scalar_type() == kBool ? self.to(kLong) : self); }
};
struct Square_ : Composite {
  static constexpr auto schema = "square_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self) { return taeda::_square_(self); }
};

void check_hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  TAEDA_CHECK(self.scalar_type() != kBool, "[hardtanh] bool inputs are not supported: got Bool; convert them");
  TAEDA_CHECK(self.scalar_type() != kByte || (min_val.toDouble() >= 0 && max_val.toDouble() >= 0),
              "[hardtanh] an unsigned type cannot have negative limits: got ", min_val, " and ", max_val, "; convert the input");
}
/// self limited to [min_val, max_val]; the gradient at the bounds is 0.
struct HardtanhOp : Composite {
  static constexpr auto schema = "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
    check_hardtanh(self, min_val, max_val);
    return taeda::_hardtanh(self, min_val, max_val);
  }
};
struct Hardtanh_ : Composite {
  static constexpr auto schema = "hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)";
  static constexpr auto function = true;
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
    check_hardtanh(self, min_val, max_val);
    return taeda::_hardtanh_(self, min_val, max_val);
  }
};

/// self moved towards 0 by lambd, 0 within lambd of it.
struct SoftshrinkOp : Composite {
  static constexpr auto schema = "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, const Scalar& lambd) {
    TAEDA_CHECK(lambd.to<double>() >= 0, "[softshrink] lambda must be greater or equal to 0: got ", lambd, "; use a number from 0 on");
    return taeda::_softshrink(self, lambd);
  }
};

/// self * Phi(self), exactly ("none") or through tanh ("tanh").
struct Gelu : Composite {
  static constexpr auto schema = "gelu(Tensor self, *, str approximate='none') -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, std::string_view approximate) {
    if (approximate == "none") return taeda::_gelu_erf(self);
    TAEDA_CHECK(approximate == "tanh", "[gelu] approximate must be either none or tanh: got ", approximate, "; use one of these");
    return taeda::_gelu_tanh(self);
  }
};
struct Gelu_ : Composite {
  static constexpr auto schema = "gelu_(Tensor(a!) self, *, str approximate='none') -> Tensor(a!)";
  static constexpr auto function = true;
  static constexpr auto variants = "function";
  static Tensor& forward(const Tensor& self, std::string_view approximate) {
    if (approximate == "none") return taeda::_gelu_erf_(self);
    TAEDA_CHECK(approximate == "tanh", "[gelu_] approximate must be either none or tanh: got ", approximate, "; use one of these");
    return taeda::_gelu_tanh_(self);
  }
};

enum class Rounding { kNone, kFloor, kTrunc };
Rounding rounding_of(std::optional<std::string_view> mode) {
  if (!mode) return Rounding::kNone;
  if (*mode == "floor") return Rounding::kFloor;
  TAEDA_CHECK(*mode == "trunc", "[div] rounding_mode must be none, floor or trunc: got ", *mode, "; use one of these");
  return Rounding::kTrunc;
}
template <class Other>
Tensor divide_by_mode(const Tensor& self, const Other& other, std::optional<std::string_view> mode) {
  switch (rounding_of(mode)) {
    case Rounding::kFloor: return taeda::floor_divide(self, other);
    case Rounding::kTrunc: return taeda::_trunc_divide(self, other);
    default: return taeda::div(self, other);
  }
}
template <class Other>
Tensor& divide_by_mode_(const Tensor& self, const Other& other, std::optional<std::string_view> mode) {
  switch (rounding_of(mode)) {
    case Rounding::kFloor: return taeda::floor_divide_(self, other);
    case Rounding::kTrunc: return taeda::_trunc_divide_(self, other);
    default: return taeda::div_(self, other);
  }
}

/// self / other, rounded to an integer: down ("floor"), towards zero ("trunc") or not at all (none).
struct DivMode : Composite {
  static constexpr auto schema = "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode(self, other, rounding_mode);
  }
};
struct DivScalarMode : Composite {
  static constexpr auto schema = "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor";
  static Tensor forward(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode(self, other, rounding_mode);
  }
};
struct DivMode_ : Composite {
  static constexpr auto schema = "div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode_(self, other, rounding_mode);
  }
};
struct DivScalarMode_ : Composite {
  static constexpr auto schema = "div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode_(self, other, rounding_mode);
  }
};
/// div with a rounding mode under another name.
struct DivideMode : Composite {
  static constexpr auto schema = "divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode(self, other, rounding_mode);
  }
};
struct DivideScalarMode : Composite {
  static constexpr auto schema = "divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor";
  static Tensor forward(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode(self, other, rounding_mode);
  }
};
struct DivideMode_ : Composite {
  static constexpr auto schema = "divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode_(self, other, rounding_mode);
  }
};
struct DivideScalarMode_ : Composite {
  static constexpr auto schema = "divide_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
    return divide_by_mode_(self, other, rounding_mode);
  }
};

/// log(x / (1 - x)) of self, limited to [eps, 1 - eps] when eps is given.
struct LogitOp : Composite {
  static constexpr auto schema = "logit(Tensor self, float? eps=None) -> Tensor";
  static Tensor forward(const Tensor& self, std::optional<double> eps) { return taeda::_logit(self, eps.value_or(-1.0)); }
};
struct Logit_ : Composite {
  static constexpr auto schema = "logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, std::optional<double> eps) { return taeda::_logit_(self, eps.value_or(-1.0)); }
};
/// logit under another name.
struct SpecialLogit : Composite {
  static constexpr auto schema = "special_logit(Tensor self, float? eps=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, std::optional<double> eps) { return taeda::_logit(self, eps.value_or(-1.0)); }
};

double largest_finite(ScalarType type) {
  switch (type) {
    case kDouble: return std::numeric_limits<double>::max();
    case kHalf: return 65504.0;
    case kBFloat16: return 3.3895313892515355e38;
    default: return std::numeric_limits<float>::max();
  }
}
/// self with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest and smallest finite numbers of the dtype).
struct NanToNumOp : Composite {
  static constexpr auto schema = "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor";
  static Tensor forward(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
    if (!is_floating_type(self.scalar_type())) return self.clone();
    const double largest = largest_finite(self.scalar_type());
    return taeda::_nan_to_num(self, nan.value_or(0.0), posinf.value_or(largest), neginf.value_or(-largest));
  }
};
struct NanToNum_ : Composite {
  static constexpr auto schema = "nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
    if (!is_floating_type(self.scalar_type())) return as_mutable(self);
    const double largest = largest_finite(self.scalar_type());
    return taeda::_nan_to_num_(self, nan.value_or(0.0), posinf.value_or(largest), neginf.value_or(-largest));
  }
};

/// The bitwise complement of integers, the negation of bool.
struct BitwiseNotOp : Composite {
  static constexpr auto schema = "bitwise_not(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) {
    return self.scalar_type() == kBool ? taeda::logical_not(self) : taeda::_bitwise_not(self);
  }
};
struct BitwiseNot_ : Composite {
  static constexpr auto schema = "bitwise_not_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto function = true;
  static Tensor& forward(const Tensor& self) {
    if (self.scalar_type() == kBool) return as_mutable(self).copy_(taeda::logical_not(self));
    return taeda::_bitwise_not_(self);
  }
};

/// self where positive, weight * self elsewhere; weight has one element or one for each channel (dimension 1).
struct Prelu : Composite {
  static constexpr auto schema = "prelu(Tensor self, Tensor weight) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& weight) {
    TAEDA_CHECK(self.scalar_type() == weight.scalar_type(), "[prelu] the types of input and weight must be the same: got ",
                to_string(self.scalar_type()), " and ", to_string(weight.scalar_type()), "; convert one of them");
    TAEDA_CHECK(weight.dim() <= 1, "[prelu] weight must be a number or one-dimensional: got ", weight.dim(), " dimensions; flatten it");
    if (weight.numel() == 1) return taeda::_prelu_kernel(self, weight.dim() > self.dim() ? weight.reshape({}) : weight);
    const int64_t channels = self.dim() == 0 ? 1 : self.dim() == 1 ? self.size(0) : self.size(1);
    TAEDA_CHECK(self.dim() > 0 && (self.dim() == 1 ? 1 : channels) == weight.numel(),
                "[prelu] the number of parameters must equal the input channel size: got ", weight.numel(), " and ",
                self.dim() == 1 ? int64_t{1} : channels, "; give one weight, or one for each channel");
    DimVector shape;
    for (int64_t d = 0; d < self.dim(); ++d) shape.push_back(d == 1 ? weight.numel() : 1);
    return taeda::_prelu_kernel(self, weight.reshape(shape));
  }
};

/// self itself; not for bool.
struct Positive : Composite {
  static constexpr auto schema = "positive(Tensor(a) self) -> Tensor(a)";
  static Tensor forward(const Tensor& self) {
    TAEDA_CHECK(self.scalar_type() != kBool, "[positive] bool tensors have no sign: got bool; convert to an integer dtype");
    return self;
  }
};

/// self^exponent in float64.
struct FloatPower : Composite {
  static constexpr auto schema = "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& exponent) { return taeda::pow(self.to(kDouble), exponent.to(kDouble)); }
};
struct FloatPowerScalar : Composite {
  static constexpr auto schema = "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor";
  static Tensor forward(const Tensor& self, const Scalar& exponent) {
    return taeda::pow(self.to(kDouble), Scalar(exponent.to<double>()));
  }
};
struct FloatPowerOfScalar : Composite {
  static constexpr auto schema = "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Scalar& self, const Tensor& exponent) {
    return taeda::pow(Scalar(self.to<double>()), exponent.to(kDouble));
  }
};

Tensor& float_power_in_place(const Tensor& self, const auto& exponent) {
  TAEDA_CHECK(self.scalar_type() == kDouble, "[float_power_] the result is float64, which must be the input's dtype: got ",
              self.scalar_type(), "; call float_power, or convert the input with to(kDouble)");
  return as_mutable(self).pow_(exponent);
}
struct FloatPower_ : Composite {
  static constexpr auto schema = "float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Tensor& exponent) { return float_power_in_place(self, exponent.to(kDouble)); }
};
struct FloatPowerScalar_ : Composite {
  static constexpr auto schema = "float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, const Scalar& exponent) {
    return float_power_in_place(self, Scalar(exponent.to<double>()));
  }
};

/// Whether |self - other| <= atol + rtol |other|, or both are the same infinity, or (with equal_nan) both are nan.
struct IsClose : Composite {
  static constexpr auto schema =
      "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor";
  static Tensor forward(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
    TAEDA_CHECK(self.scalar_type() == other.scalar_type(), "[isclose] both tensors must have one dtype: got ",
                to_string(self.scalar_type()), " and ", to_string(other.scalar_type()), "; convert one of them");
    TAEDA_CHECK(rtol >= 0 && atol >= 0, "[isclose] rtol and atol must not be negative: got ", rtol, " and ", atol, "; use zero");
    Tensor close = taeda::eq(self, other);
    const bool floating = is_floating_type(self.scalar_type());
    if (equal_nan && floating) close = taeda::logical_or(close, taeda::logical_and(taeda::isnan(self), taeda::isnan(other)));
    if (rtol == 0 && atol == 0) return close;
    const Tensor a = floating ? self : self.to(default_scalar_type()), b = floating ? other : other.to(default_scalar_type());
    const Tensor distance = taeda::abs(taeda::sub(a, b));
    const Tensor allowed = taeda::add(taeda::abs(taeda::mul(b, rtol)), atol);
    return taeda::logical_or(close, taeda::logical_and(taeda::isfinite(distance), taeda::le(distance, allowed)));
  }
};

/// Whether the numbers are real: true for every dtype there is.
struct IsReal : Composite {
  static constexpr auto schema = "isreal(Tensor self) -> Tensor";
  static Tensor forward(const Tensor& self) { return taeda::logical_or(taeda::eq(self, self), taeda::ne(self, self)); }
};

Tensor multivariate_lgamma(const Tensor& self, int64_t p) {
  TAEDA_CHECK(p >= 1, "[mvlgamma] p must be at least 1: got ", p, "; use a positive dimension");
  TAEDA_CHECK(self.scalar_type() != kBool, "[mvlgamma] the input tensor may not be a boolean tensor: got dtype Bool; convert it");
  const TensorOptions options = self.options().dtype(self.is_floating_point() ? self.scalar_type() : default_scalar_type());
  const double n = static_cast<double>(p);
  const Tensor shifts = taeda::arange(0.5 - 0.5 * n, 0.5, 0.5, options);
  return taeda::add(taeda::lgamma(taeda::add(self.unsqueeze(-1), shifts)).sum(-1), 0.25 * n * (n - 1) * std::log(3.141592653589793));
}
/// The logarithm of the multivariate gamma function of dimension p.
struct Mvlgamma : Composite {
  static constexpr auto schema = "mvlgamma(Tensor self, int p) -> Tensor";
  static Tensor forward(const Tensor& self, int64_t p) { return multivariate_lgamma(self, p); }
};
struct Mvlgamma_ : Composite {
  static constexpr auto schema = "mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)";
  static Tensor& forward(const Tensor& self, int64_t p) { return as_mutable(self).copy_(multivariate_lgamma(self, p)); }
};
/// mvlgamma under another name.
struct SpecialMultigammaln : Composite {
  static constexpr auto schema = "special_multigammaln(Tensor self, int p) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t p) { return multivariate_lgamma(self, p); }
};

/// The first half of self along dim times the sigmoid of the second half.
struct Glu : Composite {
  static constexpr auto schema = "glu(Tensor self, int dim=-1) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, int64_t dim) {
    TAEDA_CHECK(self.dim() > 0, "[glu] glu does not support 0-dimensional tensors: got one; add a dimension");
    TAEDA_CHECK_NOT_IMPLEMENTED(is_floating_type(self.scalar_type()), "[glu] is not implemented for ", self.scalar_type(), "; convert the input");
    const int64_t size = self.size(dim);
    TAEDA_CHECK(size % 2 == 0, "[glu] the halved dimension must have an even size: got dimension ", dim, " of size ", size,
                "; choose another dimension");
    return taeda::mul(self.narrow(dim, 0, size / 2), taeda::sigmoid(self.narrow(dim, size / 2, size / 2)));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/pointwise_composite.inc"
