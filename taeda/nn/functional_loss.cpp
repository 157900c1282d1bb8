// SPDX-License-Identifier: Apache-2.0
// Losses with options.
#include "taeda/nn/functional.h"
#include "taeda/nn/functional_detail.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn::functional {

namespace {
using nn::detail::optional;
using nn::detail::reduction;
using nn::detail::word;
}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& o) {
  return taeda::l1_loss(input, target, reduction(o));
}
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& o) {
  return taeda::mse_loss(input, target, reduction(o));
}
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& o) {
  if (!std::holds_alternative<enumtype::kBatchMean>(o.reduction())) {
    return taeda::kl_div(input, target, enumtype::reduction_number(o.reduction()), o.log_target());
  }
  const Tensor sum = taeda::kl_div(input, target, 2, o.log_target());
  return input.dim() != 0 ? sum / input.size(0) : sum;
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& o) {
  return taeda::binary_cross_entropy(input, target, optional(o.weight()), reduction(o));
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& o) {
  TAEDA_CHECK(target.sizes() == input.sizes(), "[binary_cross_entropy_with_logits] Target size (", target.sizes(),
              ") must be the same as input size (", input.sizes(), "); reshape one of them");
  return taeda::binary_cross_entropy_with_logits(input, target, optional(o.weight()), optional(o.pos_weight()), reduction(o));
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& o) {
  return taeda::hinge_embedding_loss(input, target, o.margin(), reduction(o));
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& o) {
  TAEDA_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
              "[margin_ranking_loss] all input tensors should have the same dimension: got ", input1.sizes(), ", ", input2.sizes(), " and ",
              target.sizes(), "; reshape them");
  return taeda::margin_ranking_loss(input1, input2, target, o.margin(), reduction(o));
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& o) {
  return taeda::soft_margin_loss(input, target, reduction(o));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o) {
  return taeda::smooth_l1_loss(input, target, reduction(o), o.beta().value_or(1.0));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o, double beta) {
  TAEDA_CHECK(!o.beta().has_value(), "[smooth_l1_loss] beta must be given once: got ", o.beta().value_or(0),
              " in the options and ", beta, "; leave one of them out");
  return taeda::smooth_l1_loss(input, target, reduction(o), beta);
}
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& o) {
  return taeda::huber_loss(input, target, reduction(o), o.delta());
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& o) {
  return taeda::poisson_nll_loss(input, target, o.log_input(), o.full(), o.eps(), reduction(o));
}
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& o) {
  return taeda::nll_loss(input, target, optional(o.weight()), reduction(o), o.ignore_index());
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& o) {
  return taeda::cross_entropy_loss(input, target, optional(o.weight()), reduction(o), o.ignore_index(), o.label_smoothing());
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& o) {
  TAEDA_CHECK(o.p() == 1 || o.p() == 2, "[multi_margin_loss] only p == 1 and p == 2 are supported: got ", o.p(), "; choose one");
  return taeda::multi_margin_loss(input, target, o.p(), o.margin(), optional(o.weight()), reduction(o));
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& o) {
  return taeda::multilabel_margin_loss(input, target, reduction(o));
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& o) {
  return taeda::nn_functional_multilabel_soft_margin_loss(input, target, optional(o.weight()), word(o.reduction()));
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& o) {
  return taeda::cosine_embedding_loss(input1, input2, target, o.margin(), reduction(o));
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& o) {
  return taeda::triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(), o.swap(), reduction(o));
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& o) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return o.distance_function() ? (*o.distance_function())(a, b) : taeda::pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (o.swap()) far = taeda::minimum(far, distance(positive, negative));
  const Tensor loss = (near - far + o.margin()).clamp_min(0);
  switch (reduction(o)) {
    case 0: return loss;
    case 1: return loss.mean();
    default: return loss.sum();
  }
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                const CTCLossFuncOptions& o) {
  return taeda::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(), reduction(o), o.zero_infinity());
}

}  // namespace taeda::nn::functional
