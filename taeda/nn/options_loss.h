// SPDX-License-Identifier: Apache-2.0
// Options of losses.
#pragma once

#include <functional>

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"

namespace taeda::nn {

namespace detail {
template <class T, class Reductions>
concept one_of_reductions = std::is_convertible_v<T, Reductions>;
}  // namespace detail

struct TAEDA_API L1LossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  L1LossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  L1LossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API MSELossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  MSELossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  MSELossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API MultiLabelMarginLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  MultiLabelMarginLossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  MultiLabelMarginLossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API SoftMarginLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  SoftMarginLossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  SoftMarginLossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API KLDivLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  KLDivLossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  KLDivLossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
  TAEDA_ARG(bool, log_target) = false;
};
struct TAEDA_API BCELossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API BCEWithLogitsLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
  TAEDA_ARG(Tensor, pos_weight);
};
struct TAEDA_API HingeEmbeddingLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API MarginRankingLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(double, margin) = 0;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API CosineEmbeddingLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(double, margin) = 0.0;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API MultiMarginLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(int64_t, p) = 1;
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API MultiLabelSoftMarginLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API TripletMarginLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(double, p) = 2.0;
  TAEDA_ARG(double, eps) = 1e-6;
  TAEDA_ARG(bool, swap) = false;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API TripletMarginWithDistanceLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  TAEDA_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(bool, swap) = false;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API CTCLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(int64_t, blank) = 0;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
  TAEDA_ARG(bool, zero_infinity) = false;
};
struct TAEDA_API SmoothL1LossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  SmoothL1LossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  SmoothL1LossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
  TAEDA_ARG(std::optional<double>, beta) = std::nullopt;
};
struct TAEDA_API HuberLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  HuberLossOptions() = default;
  template <detail::one_of_reductions<reduction_t> R>
  HuberLossOptions(R reduction) : reduction_(reduction) {}  // NOLINT(google-explicit-constructor): `MSELoss(kSum)`
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
  TAEDA_ARG(double, delta) = 1.0;
};
struct TAEDA_API PoissonNLLLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(bool, log_input) = true;
  TAEDA_ARG(bool, full) = false;
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API NLLLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(int64_t, ignore_index) = -100;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
};
struct TAEDA_API CrossEntropyLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(int64_t, ignore_index) = -100;
  TAEDA_ARG(reduction_t, reduction) = enumtype::kMean();
  TAEDA_ARG(double, label_smoothing) = 0.0;
};
namespace functional {
using L1LossFuncOptions = L1LossOptions;
using MSELossFuncOptions = MSELossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
}

}  // namespace taeda::nn
