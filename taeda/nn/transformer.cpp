// SPDX-License-Identifier: Apache-2.0
// Attention and the transformer's encoder layer.
#include "taeda/nn/transformer.h"

#include "taeda/nn/functional.h"
#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn {

namespace F = functional;

F::MultiheadAttentionForwardFuncOptions::MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads,
                                                                              Tensor in_proj_weight, Tensor in_proj_bias,
                                                                              Tensor bias_k, Tensor bias_v, bool add_zero_attn,
                                                                              double dropout_p, Tensor out_proj_weight,
                                                                              Tensor out_proj_bias)
    : embed_dim_to_check_(embed_dim_to_check), num_heads_(num_heads), in_proj_weight_(std::move(in_proj_weight)),
      in_proj_bias_(std::move(in_proj_bias)), bias_k_(std::move(bias_k)), bias_v_(std::move(bias_v)),
      add_zero_attn_(add_zero_attn), dropout_p_(dropout_p), out_proj_weight_(std::move(out_proj_weight)),
      out_proj_bias_(std::move(out_proj_bias)) {}

MultiheadAttentionImpl::MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
    : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : Cloneable("torch::nn::MultiheadAttention"), options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const int64_t e = options.embed_dim();
  _qkv_same_embed_dim = options.kdim() == e && options.vdim() == e;
  TAEDA_CHECK(options.num_heads() > 0 && e % options.num_heads() == 0,
              "[MultiheadAttention] embed_dim must be divisible by num_heads: got ", e, " and ", options.num_heads(),
              "; change one of them");
  head_dim = e / options.num_heads();
  const auto absent = [&](const char* name) { return register_parameter(name, Tensor(), /*requires_grad=*/false); };
  if (_qkv_same_embed_dim) {
    in_proj_weight = register_parameter("in_proj_weight", taeda::empty({3 * e, e}, TensorOptions()));
    absent("q_proj_weight");
    absent("k_proj_weight");
    absent("v_proj_weight");
  } else {
    q_proj_weight = register_parameter("q_proj_weight", taeda::empty({e, e}, TensorOptions()));
    k_proj_weight = register_parameter("k_proj_weight", taeda::empty({e, options.kdim()}, TensorOptions()));
    v_proj_weight = register_parameter("v_proj_weight", taeda::empty({e, options.vdim()}, TensorOptions()));
    absent("in_proj_weight");
  }
  in_proj_bias = options.bias() ? register_parameter("in_proj_bias", taeda::empty(IntArrayRef(3 * e), TensorOptions()))
                                : absent("in_proj_bias");
  out_proj = register_module("out_proj", Linear(LinearOptions(e, e).bias(options.bias())));
  if (options.add_bias_kv()) {
    bias_k = register_parameter("bias_k", taeda::empty({1, 1, e}, TensorOptions()));
    bias_v = register_parameter("bias_v", taeda::empty({1, 1, e}, TensorOptions()));
  } else {
    bias_k = bias_v = Tensor();
  }
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  if (_qkv_same_embed_dim) {
    init::xavier_uniform_(in_proj_weight);
  } else {
    init::xavier_uniform_(q_proj_weight);
    init::xavier_uniform_(k_proj_weight);
    init::xavier_uniform_(v_proj_weight);
  }
  if (in_proj_bias.defined()) {
    init::constant_(in_proj_bias, 0.);
    init::constant_(out_proj->bias, 0.);
  }
  if (bias_k.defined()) init::xavier_normal_(bias_k);
  if (bias_v.defined()) init::xavier_normal_(bias_v);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const Tensor& key_padding_mask, bool need_weights,
                                                           const Tensor& attn_mask, bool average_attn_weights) {
  // Integral padding masks are boolean ones in other words.
  const bool integral = key_padding_mask.defined() && !key_padding_mask.is_floating_point();
  F::MultiheadAttentionForwardFuncOptions o(noted(options).embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
                                            options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias);
  o.training(is_training())
      .key_padding_mask(integral ? key_padding_mask.to(kBool) : key_padding_mask)
      .need_weights(need_weights)
      .attn_mask(attn_mask)
      .average_attn_weights(average_attn_weights);
  if (!_qkv_same_embed_dim) {
    o.use_separate_proj_weight(true).q_proj_weight(q_proj_weight).k_proj_weight(k_proj_weight).v_proj_weight(v_proj_weight);
  }
  return F::multi_head_attention_forward(query, key, value, o);
}

Tensor detail::activate(const activation_t& activation, const Tensor& input) {
  return std::visit([&](const auto& f) -> Tensor {
    using A = std::decay_t<decltype(f)>;
    if constexpr (std::is_same_v<A, enumtype::kReLU>) {
      return taeda::relu(input);
    } else if constexpr (std::is_same_v<A, enumtype::kGELU>) {
      return taeda::gelu(input);
    } else {
      return f(input);
    }
  }, activation);
}

TransformerEncoderLayerOptions::TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
TransformerEncoderLayerOptions& TransformerEncoderLayerOptions::activation(activation_t new_activation) {
  activation_ = std::move(new_activation);
  return *this;
}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  const int64_t d = options.d_model();
  self_attn = register_module("self_attn", MultiheadAttention(MultiheadAttentionOptions(d, options.nhead()).dropout(options.dropout())));
  linear1 = register_module("linear1", Linear(d, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), d));
  norm1 = register_module("norm1", LayerNorm(LayerNormOptions({d})));
  norm2 = register_module("norm2", LayerNorm(LayerNormOptions({d})));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  const Tensor attended = std::get<0>(self_attn(src, src, src, src_key_padding_mask, /*need_weights=*/false, src_mask));
  const Tensor x = norm1(src + dropout1(attended));
  const Tensor active = detail::activate(noted(options).activation(), linear1(x));
  return norm2(x + dropout2(linear2(dropout(active))));
}

}  // namespace taeda::nn
