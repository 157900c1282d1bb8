// SPDX-License-Identifier: Apache-2.0
// Normalisation, dropout, embedding, distances and attention with options.
#include "taeda/nn/functional.h"
#include "taeda/nn/functional_detail.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn::functional {

namespace {
using nn::detail::optional;

void check_probability(const char* op, double p) {
  TAEDA_CHECK(p >= 0. && p <= 1., "[", op, "] dropout probability has to be between 0 and 1, but got ", p,
              "; choose a probability");
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
                           o.training(), o.momentum(), o.eps(), /*cudnn_enabled=*/false);
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
Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o) {
  return taeda::nn_functional_local_response_norm(input, o.size(), o.alpha(), o.beta(), o.k());
}
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& o) {
  const Tensor result = taeda::nn_functional_normalize(input, o.p(), IntArrayRef(o.dim()), o.eps());
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
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  return taeda::nn_functional_embedding_bag(input, weight, optional(o.offsets()), o.max_norm(), o.norm_type(),
                                            o.scale_grad_by_freq(), nn::detail::word(o.mode()), o.sparse(),
                                            optional(o.per_sample_weights()), o.include_last_offset(), o.padding_idx());
}
Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return taeda::one_hot(tensor, num_classes); }
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o) {
  return taeda::cosine_similarity(x1, x2, o.dim(), o.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o) {
  return taeda::pairwise_distance(x1, x2, o.p(), o.eps(), o.keepdim());
}
Tensor pdist(const Tensor& input, double p) { return taeda::pdist(input, p); }

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const MultiheadAttentionForwardFuncOptions& o) {
  return taeda::nn_functional_multi_head_attention_forward(
      query, key, value, o.embed_dim_to_check(), o.num_heads(), optional(o.in_proj_weight()), optional(o.in_proj_bias()),
      optional(o.bias_k()), optional(o.bias_v()), o.add_zero_attn(), o.dropout_p(), o.out_proj_weight(),
      optional(o.out_proj_bias()), o.training(), optional(o.key_padding_mask()), o.need_weights(), optional(o.attn_mask()),
      o.use_separate_proj_weight(), optional(o.q_proj_weight()), optional(o.k_proj_weight()), optional(o.v_proj_weight()),
      optional(o.static_k()), optional(o.static_v()), o.average_attn_weights());
}

}  // namespace taeda::nn::functional
