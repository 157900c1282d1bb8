// SPDX-License-Identifier: Apache-2.0
// Attention and the transformer's encoder layer.
#include "taeda/nn/transformer.h"

#include <cmath>

#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn {

namespace F = functional;

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
  TAEDA_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3,
              "[MultiheadAttention] query, key and value must be (length, batch, features): got ", query.sizes(), ", ",
              key.sizes(), ", ", value.sizes(), "; add a batch dimension");
  TAEDA_CHECK(key.size(0) == value.size(0) && key.size(1) == value.size(1),
              "[MultiheadAttention] key and value must agree in length and batch: got ", key.sizes(), " and ", value.sizes(),
              "; pass one value for each key");
  const int64_t length = query.size(0);
  const int64_t batch = query.size(1);
  const int64_t e = options.embed_dim();
  const int64_t heads = options.num_heads();
  TAEDA_CHECK(query.size(2) == e, "[MultiheadAttention] the query must have embed_dim features: got ", query.size(2), " for ", e,
              "; project it first");
  const auto bias_part = [&](int64_t i) { return in_proj_bias.defined() ? in_proj_bias.slice(0, i * e, (i + 1) * e) : Tensor(); };
  const auto weight_part = [&](int64_t i, const Tensor& separate) {
    return _qkv_same_embed_dim ? in_proj_weight.slice(0, i * e, (i + 1) * e) : separate;
  };
  const Tensor q = F::linear(query, weight_part(0, q_proj_weight), bias_part(0));
  Tensor k = F::linear(key, weight_part(1, k_proj_weight), bias_part(1));
  Tensor v = F::linear(value, weight_part(2, v_proj_weight), bias_part(2));
  Tensor mask = attn_mask;
  Tensor padding = key_padding_mask;
  const auto widen = [](const Tensor& m) { return m.defined() ? taeda::constant_pad_nd(m, {0, 1}) : m; };
  if (bias_k.defined()) {
    k = taeda::cat({k, bias_k.expand({1, batch, e})}, 0);
    v = taeda::cat({v, bias_v.expand({1, batch, e})}, 0);
    mask = widen(mask);
    padding = widen(padding);
  }
  if (options.add_zero_attn()) {
    k = taeda::cat({k, taeda::zeros({1, batch, e}, k.options())}, 0);
    v = taeda::cat({v, taeda::zeros({1, batch, e}, v.options())}, 0);
    mask = widen(mask);
    padding = widen(padding);
  }
  const int64_t source = k.size(0);
  // (length, batch, heads · d) → (batch, heads, length, d)
  const auto split = [&](const Tensor& t, int64_t n) { return t.reshape({n, batch, heads, head_dim}).permute({1, 2, 0, 3}); };
  const Tensor qh = split(q, length);
  const Tensor kh = split(k, source);
  const Tensor vh = split(v, source);
  // One additive or boolean mask that broadcasts to (batch, heads, length, source); here true means "attend".
  Tensor keep;
  if (mask.defined()) {
    if (mask.dim() == 3) mask = mask.reshape({batch, heads, length, source});
    keep = mask.scalar_type() == kBool ? mask.logical_not() : mask;
  }
  if (padding.defined()) {
    TAEDA_CHECK(padding.size(0) == batch && padding.size(1) == source,
                "[MultiheadAttention] key_padding_mask must be (batch, source length): got ", padding.sizes(), "; transpose it");
    const Tensor open = padding.to(kBool).logical_not().reshape({batch, 1, 1, source});
    if (!keep.defined()) {
      keep = open;
    } else if (keep.scalar_type() == kBool) {
      keep = keep.logical_and(open);
    } else {
      keep = keep.masked_fill(open.logical_not(), -std::numeric_limits<double>::infinity());
    }
  }
  const double dropout_p = is_training() ? options.dropout() : 0.0;
  if (!need_weights) {
    const Tensor context = taeda::scaled_dot_product_attention(
        qh, kh, vh, keep.defined() ? std::optional<Tensor>(keep) : std::nullopt, dropout_p);
    return {out_proj(context.permute({2, 0, 1, 3}).reshape({length, batch, e})), Tensor()};
  }
  Tensor scores = taeda::matmul(qh * (1 / std::sqrt(static_cast<double>(head_dim))), kh.transpose(-2, -1));
  if (keep.defined()) {
    scores = keep.scalar_type() == kBool ? scores.masked_fill(keep.logical_not(), -std::numeric_limits<double>::infinity())
                                         : scores + keep;
  }
  const Tensor weights = taeda::softmax(scores, -1);
  const Tensor dropped = dropout_p > 0 ? taeda::dropout(weights, dropout_p, true) : weights;
  const Tensor context = taeda::matmul(dropped, vh);
  return {out_proj(context.permute({2, 0, 1, 3}).reshape({length, batch, e})),
          average_attn_weights ? weights.mean(1) : weights};
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
  const Tensor hidden = linear1(x);
  const Tensor active = std::visit([&](const auto& activation) -> Tensor {
    using A = std::decay_t<decltype(activation)>;
    if constexpr (std::is_same_v<A, enumtype::kReLU>) {
      return taeda::relu(hidden);
    } else if constexpr (std::is_same_v<A, enumtype::kGELU>) {
      return taeda::gelu(hidden);
    } else {
      return activation(hidden);
    }
  }, options.activation());
  return norm2(x + dropout2(linear2(dropout(active))));
}

}  // namespace taeda::nn
