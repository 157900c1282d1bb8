// SPDX-License-Identifier: Apache-2.0
// Attention and the transformer's encoder layer.
#pragma once

#include "taeda/nn/any.h"
#include "taeda/nn/dropout.h"
#include "taeda/nn/linear.h"
#include "taeda/nn/norm.h"
#include "taeda/nn/options_sequence.h"

namespace taeda::nn {

/// Multi-head attention (Vaswani et al. 2017). query (L, N, E), key and value (S, N, E); returns the output (L, N, E) and,
/// when asked for, the attention weights (N, L, S) averaged over heads.
class TAEDA_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads);
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);
  /// key_padding_mask (N, S): true is ignored. attn_mask (L, S) or (N · heads, L, S): bool (true is ignored) or added.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true);
  void reset() override;
  void _reset_parameters();
  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj = nullptr;
  Tensor bias_k, bias_v;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  int64_t head_dim = 0;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
TAEDA_MODULE(MultiheadAttention);

namespace detail {
/// The activation that a transformer layer's options name, applied.
TAEDA_API Tensor activate(const activation_t& activation, const Tensor& input);
}  // namespace detail

/// Self-attention and a feed-forward network, each with dropout, a residual connection and layer normalisation after it.
class TAEDA_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();
  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr;
  LayerNorm norm2 = nullptr;
  Dropout dropout1 = nullptr;
  Dropout dropout2 = nullptr;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TAEDA_MODULE(TransformerEncoderLayer);

}  // namespace taeda::nn
