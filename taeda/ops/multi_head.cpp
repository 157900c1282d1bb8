// SPDX-License-Identifier: Apache-2.0
// Multi-head attention as the functional interface calls it (Vaswani et al. 2017).
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

bool has(const std::optional<Tensor>& t) { return t && t->defined(); }
/// A mask to be added: bool masks hide where they are true.
Tensor additive(const Tensor& mask, ScalarType type) {
  if (mask.scalar_type() != kBool) return mask.to(type);
  return taeda::zeros(mask.sizes(), TensorOptions(type)).masked_fill(mask, -INFINITY);
}

/// Multi-head attention. query (length, batch, embedding), key and value (keys, batch, …), or without batch. Returns the result and
/// the attention weights (batch, length, keys), averaged over heads unless average_attn_weights is false; undefined unless need_weights.
struct NnMultiHeadAttentionForward : Composite {
  static constexpr auto schema =
      "nn_functional_multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, Tensor? in_proj_weight, "
      "Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, "
      "bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, "
      "Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, "
      "bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim_to_check, int64_t num_heads,
                                            const std::optional<Tensor>& in_proj_weight, const std::optional<Tensor>& in_proj_bias,
                                            const std::optional<Tensor>& bias_k, const std::optional<Tensor>& bias_v, bool add_zero_attn, double dropout_p,
                                            const Tensor& out_proj_weight, const std::optional<Tensor>& out_proj_bias, bool training,
                                            const std::optional<Tensor>& key_padding_mask, bool need_weights, const std::optional<Tensor>& attn_mask,
                                            bool use_separate_proj_weight, const std::optional<Tensor>& q_proj_weight, const std::optional<Tensor>& k_proj_weight,
                                            const std::optional<Tensor>& v_proj_weight, const std::optional<Tensor>& static_k,
                                            const std::optional<Tensor>& static_v, bool average_attn_weights, bool is_causal) {
    const char* op = "multi_head_attention_forward";
    TAEDA_CHECK(query.dim() == 2 || query.dim() == 3, "[", op, "] the query must be (length, batch, embedding) or (length, embedding): got ", query.sizes(), "; reshape it");
    TAEDA_CHECK(key.dim() == query.dim() && value.dim() == query.dim(), "[", op, "] key and value must have the query's number of dimensions: got ", key.sizes(), " and ",
                value.sizes(), "; reshape them");
    const bool batched = query.dim() == 3;
    const auto with_batch = [&](const Tensor& t) { return batched ? t : t.unsqueeze(1); };
    Tensor q = with_batch(query), k = with_batch(key), v = with_batch(value);
    const int64_t length = q.size(0), batch = q.size(1), embed = q.size(2);
    TAEDA_CHECK(embed == embed_dim_to_check, "[", op, "] was expecting embedding dimension of ", embed_dim_to_check, ", but got ", embed, "; check embed_dim");
    TAEDA_CHECK(num_heads > 0 && embed % num_heads == 0, "[", op, "] embed_dim must be divisible by num_heads: got ", embed, " and ", num_heads, "; choose another");
    const int64_t width = embed / num_heads;
    project(q, k, v, in_proj_weight, in_proj_bias, use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, embed, op);

    Tensor padding = has(key_padding_mask) ? (batched ? *key_padding_mask : key_padding_mask->unsqueeze(0)) : Tensor();
    Tensor mask = has(attn_mask) ? *attn_mask : Tensor();
    if (has(bias_k) && has(bias_v)) {
      k = taeda::cat({k, bias_k->repeat({1, batch, 1})});
      v = taeda::cat({v, bias_v->repeat({1, batch, 1})});
      one_more_key(mask, padding);
    }
    // (batch, heads, length, width)
    const auto split = [&](const Tensor& t) { return t.reshape({t.size(0), batch, num_heads, width}).permute({1, 2, 0, 3}); };
    q = split(q);
    k = has(static_k) ? static_k->view({batch, num_heads, -1, width}) : split(k);
    v = has(static_v) ? static_v->view({batch, num_heads, -1, width}) : split(v);
    if (add_zero_attn) {
      const Tensor zero = taeda::zeros({batch, num_heads, 1, width}, k.options());
      k = taeda::cat({k, zero}, 2);
      v = taeda::cat({v, zero}, 2);
      one_more_key(mask, padding);
    }
    const int64_t keys = k.size(2);
    const std::optional<Tensor> total = merged(mask, padding, batch, num_heads, length, keys, q.scalar_type(), op);
    const double drop = training ? dropout_p : 0.0;
    Tensor out, weights;
    if (need_weights) {
      Tensor scores = q.mul(1.0 / std::sqrt(static_cast<double>(width))).matmul(k.transpose(-2, -1));
      if (total) scores = scores.add(*total);
      weights = scores.softmax(-1);
      if (drop > 0) weights = taeda::dropout(weights, drop, true);
      out = weights.matmul(v);
      if (average_attn_weights) weights = weights.mean(IntArrayRef({int64_t{1}}));
      if (!batched) weights = weights.squeeze(0);
    } else {
      out = taeda::scaled_dot_product_attention(q, k, v, total, drop, is_causal && !total);
    }
    out = taeda::linear(out.permute({2, 0, 1, 3}).reshape({length, batch, embed}), out_proj_weight, out_proj_bias);
    return {batched ? out : out.squeeze(1), weights};
  }
  static void project(Tensor& q, Tensor& k, Tensor& v, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, bool separate,
                      const std::optional<Tensor>& wq, const std::optional<Tensor>& wk, const std::optional<Tensor>& wv, int64_t embed, const char* op) {
    const auto part = [&](const std::optional<Tensor>& t, int64_t i) { return has(t) ? std::optional<Tensor>(t->narrow(0, i * embed, embed)) : std::nullopt; };
    if (separate) {
      TAEDA_CHECK(has(wq) && has(wk) && has(wv), "[", op, "] separate projections need q_proj_weight, k_proj_weight and v_proj_weight; pass all three");
      q = taeda::linear(q, *wq, part(bias, 0));
      k = taeda::linear(k, *wk, part(bias, 1));
      v = taeda::linear(v, *wv, part(bias, 2));
      return;
    }
    TAEDA_CHECK(has(weight) && weight->size(0) == 3 * embed, "[", op, "] in_proj_weight must be (3 * embed_dim, embed_dim); pass it");
    if (q.is_same(k) && k.is_same(v)) {
      const auto all = taeda::linear(q, *weight, bias).chunk(3, -1);
      q = all[0], k = all[1], v = all[2];
      return;
    }
    q = taeda::linear(q, *part(weight, 0), part(bias, 0));
    k = taeda::linear(k, *part(weight, 1), part(bias, 1));
    v = taeda::linear(v, *part(weight, 2), part(bias, 2));
  }
  /// Room for a key that everything sees.
  static void one_more_key(Tensor& mask, Tensor& padding) {
    const int64_t pad[2] = {0, 1};
    if (mask.defined()) mask = taeda::constant_pad_nd(mask, IntArrayRef(pad, 2), 0);
    if (padding.defined()) padding = taeda::constant_pad_nd(padding, IntArrayRef(pad, 2), 0);
  }
  /// Both masks as one to be added, broadcastable to (batch, heads, length, keys).
  static std::optional<Tensor> merged(const Tensor& mask, const Tensor& padding, int64_t batch, int64_t heads, int64_t length, int64_t keys, ScalarType type,
                                      const char* op) {
    Tensor total;
    if (mask.defined()) {
      TAEDA_CHECK(mask.dim() == 2 || mask.dim() == 3, "[", op, "] attn_mask must have 2 or 3 dimensions: got ", mask.sizes(), "; reshape it");
      TAEDA_CHECK(mask.size(-1) == keys && mask.size(-2) == length && (mask.dim() == 2 || mask.size(0) == batch * heads), "[", op,
                  "] attn_mask must be (length, keys) or (batch * heads, length, keys): got ", mask.sizes(), "; check it");
      total = additive(mask.dim() == 3 ? mask.view({batch, heads, length, keys}) : mask, type);
    }
    if (padding.defined()) {
      TAEDA_CHECK(padding.dim() == 2 && padding.size(0) == batch && padding.size(1) == keys, "[", op, "] key_padding_mask must be (batch, keys): got ", padding.sizes(),
                  "; check it");
      const Tensor p = additive(padding, type).view({batch, 1, 1, keys});
      total = total.defined() ? total.add(p) : p;
    }
    return total.defined() ? std::optional<Tensor>(total) : std::nullopt;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/multi_head.inc"
