// SPDX-License-Identifier: Apache-2.0
// Normalisation, dropout, embedding, distances and losses with options.
#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn::functional {

namespace {
std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

void check_probability(const char* op, double p) {
  TAEDA_CHECK(p >= 0. && p <= 1., "[", op, "] dropout probability has to be between 0 and 1, but got ", p,
              "; choose a probability");
}
template <class Loss>
int64_t reduction(const Loss& options) {
  return enumtype::reduction_number(options.reduction());
}
}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& o) {
  TAEDA_CHECK(input.dim() >= 2, "[batch_norm] Expected at least 2 input dimensions, but got ", input.dim(),
              "; add a batch dimension");
  if (o.training() && input.size(1) > 0) {
    TAEDA_CHECK(input.numel() / input.size(1) != 1, "[batch_norm] Expected more than 1 value per channel when training: got ",
                "input size ", input.sizes(), "; use a larger batch or eval()");
  }
  return taeda::batch_norm(input, optional(o.weight()), optional(o.bias()), optional(running_mean), optional(running_var),
                           o.training(), o.momentum().value_or(0), o.eps(), /*cudnn_enabled=*/false);
}
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  return taeda::instance_norm(input, optional(o.weight()), optional(o.bias()), optional(o.running_mean()),
                              optional(o.running_var()), o.use_input_stats(), o.momentum(), o.eps(), /*cudnn_enabled=*/false);
}
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& o) {
  return taeda::layer_norm(input, o.normalized_shape(), optional(o.weight()), optional(o.bias()), o.eps());
}
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& o) {
  return taeda::group_norm(input, o.num_groups(), optional(o.weight()), optional(o.bias()), o.eps());
}
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& o) {
  const Tensor length = input.abs().pow(o.p()).sum(o.dim(), /*keepdim=*/true).pow(1.0 / o.p()).clamp_min(o.eps());
  const Tensor result = input / length.expand_as(input);
  if (!o.out()) return result;
  Tensor out = *o.out();
  return out.copy_(result);
}

Tensor dropout(Tensor input, const DropoutFuncOptions& o) {
  check_probability("dropout", o.p());
  return o.inplace() ? input.copy_(taeda::dropout(input.clone(), o.p(), o.training()))
                     : taeda::dropout(input, o.p(), o.training());
}
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& o) {
  check_probability("dropout2d", o.p());
  return o.inplace() ? taeda::feature_dropout_(input, o.p(), o.training()) : taeda::feature_dropout(input, o.p(), o.training());
}
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& o) { return dropout2d(std::move(input), o); }
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& o) {
  check_probability("alpha_dropout", o.p());
  return o.inplace() ? taeda::alpha_dropout_(input, o.p(), o.training()) : taeda::alpha_dropout(input, o.p(), o.training());
}
Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& o) {
  check_probability("feature_alpha_dropout", o.p());
  return o.inplace() ? taeda::feature_alpha_dropout_(input, o.p(), o.training())
                     : taeda::feature_alpha_dropout(input, o.p(), o.training());
}
Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& o) {
  return taeda::nn_functional_embedding(input, weight, o.padding_idx(), o.max_norm(), o.norm_type(), o.scale_grad_by_freq(),
                                        o.sparse());
}
Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return taeda::one_hot(tensor, num_classes); }
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o) {
  const Tensor dot = (x1 * x2).sum(o.dim());
  const Tensor n1 = (x1 * x1).sum(o.dim()).sqrt().clamp_min(o.eps());
  const Tensor n2 = (x2 * x2).sum(o.dim()).sqrt().clamp_min(o.eps());
  return dot / (n1 * n2);
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o) {
  return (x1 - x2 + o.eps()).abs().pow(o.p()).sum(IntArrayRef(int64_t{-1}), o.keepdim()).pow(1.0 / o.p());
}

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
  return taeda::margin_ranking_loss(input1, input2, target, o.margin(), reduction(o));
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& o) {
  return taeda::soft_margin_loss(input, target, reduction(o));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o) {
  return taeda::smooth_l1_loss(input, target, reduction(o), o.beta().value_or(1.0));
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

}  // namespace taeda::nn::functional
