// SPDX-License-Identifier: Apache-2.0
// Reductions and normalisations over the elements that a mask selects (true: takes part).
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/reduce_dims.h"

namespace taeda {
namespace ops {
namespace {

using OptTensor = std::optional<Tensor>;
using OptType = std::optional<ScalarType>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor cast(const Tensor& t, OptType dtype) { return dtype ? t.to(*dtype) : t; }
/// The input with `value` where the mask is false.
Tensor filled(const Tensor& input, const OptTensor& mask, const Scalar& value) {
  if (!mask || !mask->defined()) return input;
  // masked_fill, not where: a nan gradient at an element that takes no part must not reach the input.
  return input.masked_fill(mask->to(kBool).logical_not().expand(input.sizes()), value);
}
Scalar lowest(ScalarType t) {
  if (is_floating_type(t)) return -kInf;
  return dispatch_integral(t == kBool ? kByte : t, "masked", []<class T>() { return Scalar(static_cast<int64_t>(std::numeric_limits<T>::lowest())); });
}
Scalar highest(ScalarType t) {
  if (is_floating_type(t)) return kInf;
  return dispatch_integral(t == kBool ? kByte : t, "masked", []<class T>() { return Scalar(static_cast<int64_t>(std::numeric_limits<T>::max())); });
}
IntArrayRef list(OptionalIntArrayRef dim) { return dim.value_or(IntArrayRef()); }
Tensor count_of(const Tensor& input, const OptTensor& mask, OptionalIntArrayRef dim, bool keepdim) {
  const Tensor all = mask && mask->defined() ? mask->to(kBool).expand(input.sizes()) : taeda::ones_like(input, kBool);
  return all.sum(dim, keepdim);
}

/// Sum of the selected elements.
struct MaskedSum : Composite {
  static constexpr auto schema =
      "masked_sum(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    return filled(input, mask, 0).sum(dim, keepdim, dtype);
  }
};
/// Product of the selected elements.
struct MaskedProd : Composite {
  static constexpr auto schema =
      "masked_prod(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    Tensor t = cast(filled(input, mask, 1), dtype);
    if (input.dim() == 0) return t.prod();
    const uint64_t bits = detail::reduce_mask(dim, input.dim(), "masked_prod");
    for (int64_t d = input.dim() - 1; d >= 0; --d) {
      if ((bits >> d) & 1) t = t.prod(d, keepdim);
    }
    return t;
  }
};
/// Running sums with the others counted as zero.
struct MaskedCumsum : Composite {
  static constexpr auto schema = "masked_cumsum(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, OptType dtype, const OptTensor& mask) { return filled(input, mask, 0).cumsum(dim, dtype); }
};
/// Running products with the others counted as one.
struct MaskedCumprod : Composite {
  static constexpr auto schema = "masked_cumprod(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, OptType dtype, const OptTensor& mask) { return filled(input, mask, 1).cumprod(dim, dtype); }
};
/// Largest of the selected elements.
struct MaskedAmax : Composite {
  static constexpr auto schema =
      "masked_amax(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const Tensor t = cast(input, dtype);
    return filled(t, mask, lowest(t.scalar_type())).amax(list(dim), keepdim);
  }
};
/// Smallest of the selected elements.
struct MaskedAmin : Composite {
  static constexpr auto schema =
      "masked_amin(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const Tensor t = cast(input, dtype);
    return filled(t, mask, highest(t.scalar_type())).amin(list(dim), keepdim);
  }
};
/// Index of the largest selected element, in the input's dtype as in PyTorch.
struct MaskedArgmax : Composite {
  static constexpr auto schema =
      "masked_argmax(Tensor input, int? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, std::optional<int64_t> dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const Tensor t = cast(input, dtype);
    return filled(t, mask, lowest(t.scalar_type())).argmax(dim, keepdim).to(t.scalar_type());
  }
};
/// Index of the smallest selected element, in the input's dtype as in PyTorch.
struct MaskedArgmin : Composite {
  static constexpr auto schema =
      "masked_argmin(Tensor input, int? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, std::optional<int64_t> dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const Tensor t = cast(input, dtype);
    return filled(t, mask, highest(t.scalar_type())).argmin(dim, keepdim).to(t.scalar_type());
  }
};
/// Mean of the selected elements.
struct MaskedMean : Composite {
  static constexpr auto schema =
      "masked_mean(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    return filled(input, mask, 0).sum(dim, keepdim, dtype).div(count_of(input, mask, dim, keepdim));
  }
};
/// Median of the selected elements along `dim`, the lower of two.
struct MaskedMedian : Composite {
  static constexpr auto schema =
      "masked_median(Tensor input, int dim=-1, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const Tensor t = cast(input, dtype);
    return std::get<0>(filled(t, mask, std::numeric_limits<double>::quiet_NaN()).nanmedian(dim, keepdim));
  }
};
/// Norm of the selected elements.
struct MaskedNorm : Composite {
  static constexpr auto schema =
      "masked_norm(Tensor input, float? ord=2., int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, std::optional<double> ord, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const double p = ord.value_or(2.0);
    return taeda::linalg_vector_norm(filled(cast(input, dtype), mask, p < 0 ? kInf : 0.0), p, dim, keepdim);
  }
};

double correction_of(std::optional<bool> unbiased, const std::optional<Scalar>& correction) {
  if (correction) return correction->toDouble();
  return unbiased.value_or(true) ? 1.0 : 0.0;
}
Tensor masked_variance(const Tensor& input, OptionalIntArrayRef dim, double correction, bool keepdim, OptType dtype, const OptTensor& mask) {
  const Tensor t = cast(is_integral_type(input.scalar_type(), true) && !dtype ? input.to(default_scalar_type()) : input, dtype);
  const Tensor mean = filled(t, mask, 0).sum(dim, true).div(count_of(t, mask, dim, true));
  const Tensor total = filled(t.sub(mean).square(), mask, 0).sum(dim, keepdim);
  return total.div(count_of(t, mask, dim, keepdim).to(t.scalar_type()).sub(correction).clamp_min(0));
}
/// Variance of the selected elements.
struct MaskedVar : Composite {
  static constexpr auto schema =
      "masked_var(Tensor input, int[1]? dim=None, bool? unbiased=None, *, Scalar? correction=None, bool keepdim=False, ScalarType? dtype=None, "
      "Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, std::optional<bool> unbiased, const std::optional<Scalar>& correction, bool keepdim,
                        OptType dtype, const OptTensor& mask) {
    return masked_variance(input, dim, correction_of(unbiased, correction), keepdim, dtype, mask);
  }
};
/// Standard deviation of the selected elements.
struct MaskedStd : Composite {
  static constexpr auto schema =
      "masked_std(Tensor input, int[1]? dim=None, bool? unbiased=None, *, Scalar? correction=None, bool keepdim=False, ScalarType? dtype=None, "
      "Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, std::optional<bool> unbiased, const std::optional<Scalar>& correction, bool keepdim,
                        OptType dtype, const OptTensor& mask) {
    return masked_variance(input, dim, correction_of(unbiased, correction), keepdim, dtype, mask).sqrt();
  }
};
/// Softmax over the selected elements.
struct MaskedSoftmax : Composite {
  static constexpr auto schema = "masked_softmax(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, OptType dtype, const OptTensor& mask) {
    return filled(cast(input, dtype), mask, -kInf).softmax(dim);
  }
};
/// Logarithm of the softmax over the selected elements.
struct MaskedLogSoftmax : Composite {
  static constexpr auto schema = "masked_log_softmax(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, OptType dtype, const OptTensor& mask) {
    return filled(cast(input, dtype), mask, -kInf).log_softmax(dim);
  }
};
/// Softmax of the negated selected elements.
struct MaskedSoftmin : Composite {
  static constexpr auto schema = "masked_softmin(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, int64_t dim, OptType dtype, const OptTensor& mask) {
    return filled(cast(input, dtype), mask, kInf).neg().softmax(dim);
  }
};
/// Selected elements divided by the larger of their norm and eps; the others are zero.
struct MaskedNormalize : Composite {
  static constexpr auto schema =
      "masked_normalize(Tensor input, float ord, int dim, *, float eps=1e-12, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, double ord, int64_t dim, double eps, OptType dtype, const OptTensor& mask) {
    const Tensor norm = taeda::masked_norm(input, ord, dim, true, dtype, mask);
    return filled(cast(input, dtype), mask, 0).div(norm.clamp_min(eps));
  }
};
/// log(exp(input) + exp(other)) of what both masks select.
struct MaskedLogaddexp : Composite {
  static constexpr auto schema =
      "masked_logaddexp(Tensor input, Tensor other, *, ScalarType? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, const Tensor& other, OptType dtype, const OptTensor& input_mask, const OptTensor& other_mask) {
    return taeda::logaddexp(filled(cast(input, dtype), input_mask, -kInf), filled(cast(other, dtype), other_mask, -kInf));
  }
};
/// log(sum(exp(input))) of the selected elements.
struct MaskedLogsumexp : Composite {
  static constexpr auto schema =
      "masked_logsumexp(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& input, OptionalIntArrayRef dim, bool keepdim, OptType dtype, const OptTensor& mask) {
    const Tensor t = cast(input, dtype);
    const Tensor values = t.is_floating_point() ? t : t.to(kDouble);
    return filled(values, mask, -kInf).logsumexp(list(dim), keepdim).to(t.scalar_type());
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/masked.inc"
