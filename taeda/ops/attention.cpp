// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention (Vaswani et al. 2017) and multi-head attention on top of it.
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/attention.h"
#include "taeda/ops/matmul.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {
namespace ops {
namespace {

AttentionOperand operand(const Tensor& t) {
  const auto s = t.strides();
  return {t.impl().data(), s[0], s[1], s[2], s[3]};
}
/// With adjoining columns.
Tensor dense_rows(const Tensor& t) { return t.dim() == 0 || t.size(-1) <= 1 || t.stride(-1) == 1 ? t : t.contiguous(); }
/// A result (batch, heads, length, width); heads innermost in memory where the query has them so.
Tensor heads_like(const Tensor& query, int64_t length, int64_t width) {
  const int64_t b = query.size(0), h = query.size(1);
  const bool inner = query.stride(1) < query.stride(2) && h > 1;
  if (!inner) return make_tensor({b, h, length, width}, query.scalar_type(), query.device());
  return make_tensor_strided({b, h, length, width}, {length * h * width, width, h * width, 1}, query.scalar_type(), query.device());
}
AttentionArgs describe(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask, bool causal, double scale) {
  const ScalarType type = query.scalar_type();
  TAEDA_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && key.size(0) == query.size(0) && key.size(1) == query.size(1) &&
                  value.size(0) == query.size(0) && value.size(1) == query.size(1) && key.size(2) == value.size(2) && key.size(3) == query.size(3),
              "[_fused_attention] query, key and value must be (batch, heads, length, width): got ", query.sizes(), ", ", key.sizes(), " and ",
              value.sizes(), "; use scaled_dot_product_attention, which brings them into this form");
  TAEDA_CHECK((type == kFloat || type == kDouble) && key.scalar_type() == type && value.scalar_type() == type,
              "[_fused_attention] query, key and value must be of one dtype, float32 or float64: got ", type, ", ", key.scalar_type(), " and ",
              value.scalar_type(), "; convert them");
  AttentionArgs x{};
  x.dtype = query.scalar_type();
  x.batch = query.size(0), x.heads = query.size(1), x.length = query.size(2), x.keys = key.size(2), x.width = query.size(3),
  x.value_width = value.size(3);
  x.scale = scale, x.causal = causal;
  x.query = operand(query), x.key = operand(key), x.value = operand(value);
  if (mask && mask->defined()) {
    TAEDA_CHECK(mask->scalar_type() == kBool || mask->scalar_type() == type, "[_fused_attention] the mask must be bool or of the query's dtype: got ",
                mask->scalar_type(), " for ", type, "; convert it");
    x.mask_is_bool = mask->scalar_type() == kBool;
    x.mask = operand(mask->expand({x.batch, x.heads, x.length, x.keys}));
  }
  return x;
}

/// softmax over the last dimension; rows of nothing but -inf give zeros, and pass no gradient.
Tensor safe_softmax(const Tensor& scores) {
  const Tensor dead = scores.eq(-INFINITY).all(-1, true);
  return scores.masked_fill(dead, 0).softmax(-1).masked_fill(dead, 0);
}
/// The weights of attention, materialised.
Tensor attention_weights(const Tensor& query, const Tensor& key, const std::optional<Tensor>& mask, bool causal, double scale) {
  Tensor scores = query.matmul(key.transpose(-2, -1)).mul(scale);
  if (causal) {
    const Tensor seen = taeda::ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool)).tril();
    scores = scores.masked_fill(seen.logical_not(), -INFINITY);
  }
  if (mask && mask->defined()) {
    scores = mask->scalar_type() == kBool ? scores.masked_fill(mask->logical_not(), -INFINITY) : scores.add(*mask);
  }
  return safe_softmax(scores);
}

/// Attention without materialised weights. query (batch, heads, length, width), key and value likewise with their own
/// lengths; the mask (bool: true takes part; floating: added) broadcasts to (batch, heads, length, keys). Returns the result and the
/// logarithm of each row's sum. Rows without any key give zeros.
struct FusedAttention {
  static constexpr auto schema =
      "_fused_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale) -> (Tensor output, Tensor log_sum)";
  static constexpr auto variants = "function";
  static std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& attn_mask,
                                            bool is_causal, double scale) {
    const Tensor q = dense_rows(query), k = dense_rows(key), v = dense_rows(value);
    AttentionArgs x = describe(q, k, v, attn_mask, is_causal, scale);
    Tensor out = heads_like(q, x.length, x.value_width);
    Tensor log_sum = make_tensor({x.batch, x.heads, x.length}, q.scalar_type(), q.device());
    x.out = operand(out);
    x.log_sum = log_sum.impl().data();
    if (log_sum.numel() > 0) attention_kernel(q.device(), x);
    return {out, log_sum};
  }
  static constexpr auto grads_for = "query key value";
  static std::tuple<Tensor, Tensor, Tensor> grads(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                                                  const Tensor& attn_mask, const Tensor& output, const Tensor& log_sum, bool is_causal, double scale) {
    const std::optional<Tensor> mask = attn_mask.defined() ? std::optional<Tensor>(attn_mask) : std::nullopt;
    return taeda::_fused_attention_backward(grad, query, key, value, mask, output.detach(), log_sum.detach(), is_causal, scale);
  }
};

/// Gradients of `_fused_attention` for query, key and value.
struct FusedAttentionBackward {
  static constexpr auto schema =
      "_fused_attention_backward(Tensor grad_output, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, Tensor output, Tensor log_sum, "
      "bool is_causal, float scale) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
                                                    const std::optional<Tensor>& attn_mask, const Tensor& output, const Tensor& log_sum, bool is_causal,
                                                    double scale) {
    const Tensor q = dense_rows(query), k = dense_rows(key), v = dense_rows(value);
    AttentionArgs x = describe(q, k, v, attn_mask, is_causal, scale);
    const std::vector<int64_t> results{x.batch, x.heads, x.length, x.value_width};
    TAEDA_CHECK(output.sizes() == IntArrayRef(results) && grad_output.sizes() == IntArrayRef(results) && log_sum.dim() == 3 &&
                    log_sum.sizes() == IntArrayRef(results).slice(0, 3) && output.scalar_type() == x.dtype && grad_output.scalar_type() == x.dtype &&
                    log_sum.scalar_type() == x.dtype,
                "[_fused_attention_backward] output, its gradient and log_sum must be those of the forward: got ", output.sizes(), ", ",
                grad_output.sizes(), " and ", log_sum.sizes(), " for ", query.sizes(), "; pass its results");
    const Tensor o = dense_rows(output), g = dense_rows(grad_output), sums = log_sum.contiguous();
    Tensor dq = heads_like(q, x.length, x.width), dk = heads_like(q, x.keys, x.width), dv = heads_like(q, x.keys, x.value_width);
    x.out = operand(o), x.grad_out = operand(g);
    x.grad_query = operand(dq), x.grad_key = operand(dk), x.grad_value = operand(dv);
    x.log_sum = sums.impl().data();
    if (x.batch * x.heads > 0) attention_grad_kernel(q.device(), x);
    return {dq, dk, dv};
  }
  static constexpr auto grads_for = "grad_output query key value";
  /// With P the weights, dP = g vᵀ, dS = P (dP - Σ P dP), dq = s dS k, dk = s dSᵀ q, dv = Pᵀ g; cotangents a, b, c of dq, dk, dv.
  static std::tuple<Tensor, Tensor, Tensor, Tensor> grads(const Tensor& grad_grad_query, const Tensor& grad_grad_key, const Tensor& grad_grad_value,
                                                          const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const Tensor& attn_mask, bool is_causal, double scale) {
    const std::optional<Tensor> mask = attn_mask.defined() ? std::optional<Tensor>(attn_mask) : std::nullopt;
    const Tensor &a = grad_grad_query, &b = grad_grad_key, &c = grad_grad_value, &g = grad_output;
    const auto turned = [](const Tensor& t) { return t.transpose(-2, -1); };
    const Tensor p = attention_weights(query, key, mask, is_causal, scale);
    const Tensor dp = g.matmul(turned(value));
    const Tensor centred = dp.sub(p.mul(dp).sum(-1, true));
    const Tensor ds = p.mul(centred);
    const Tensor m = a.matmul(turned(key)).add(query.matmul(turned(b))).mul(scale);
    const Tensor r = m.mul(p).sum(-1, true);
    const Tensor cot_p = g.matmul(turned(c)).add(m.mul(centred)).sub(r.mul(dp));
    const Tensor cot_dp = p.mul(m.sub(r));
    const Tensor cot_s = p.mul(cot_p.sub(p.mul(cot_p).sum(-1, true)));
    return {cot_dp.matmul(value).add(p.matmul(c)), cot_s.matmul(key).add(ds.matmul(b)).mul(scale),
            turned(cot_s).matmul(query).add(turned(ds).matmul(a)).mul(scale), turned(cot_dp).matmul(g)};
  }
};

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask, bool is_causal) {
  const char* op = "scaled_dot_product_attention";
  TAEDA_CHECK(query.scalar_type() == key.scalar_type() && query.scalar_type() == value.scalar_type(), "[", op,
              "] query, key and value must have the same dtype: got ", query.scalar_type(), ", ", key.scalar_type(), " and ", value.scalar_type(),
              "; convert them");
  TAEDA_CHECK(query.is_floating_point(), "[", op, "] the inputs must be floating: got ", query.scalar_type(), "; convert them");
  TAEDA_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, "[", op, "] all inputs must be at least 2 dimensional: got ", query.sizes(), ", ",
              key.sizes(), " and ", value.sizes(), "; add a length dimension");
  TAEDA_CHECK(query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2), "[", op,
              "] query and key must have equal widths, key and value equal lengths: got ", query.sizes(), ", ", key.sizes(), " and ", value.sizes(),
              "; check the shapes");
  if (!mask || !mask->defined()) return;
  TAEDA_CHECK(!is_causal, "[", op, "] explicit attn_mask should not be set when is_causal=True; merge the two");
  TAEDA_CHECK(mask->scalar_type() == kBool || mask->scalar_type() == query.scalar_type() || mask->scalar_type() == kFloat, "[", op,
              "] the mask must be bool or have the query's dtype: got ", mask->scalar_type(), "; convert it");
}

/// softmax(scale · query keyᵀ + mask) value. query (…, length, width), key (…, keys, width), value (…, keys, value width); returns
/// (…, length, value width). scale: 1/√width unless given. enable_gqa: key and value may have fewer heads, a divisor of the
/// query's. A row whose keys are all masked gives zeros. Memory grows linearly with the lengths unless the mask needs a
/// gradient or weights are dropped.
struct ScaledDotProductAttention : Composite {
  static constexpr auto schema =
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
      "float? scale=None, bool enable_gqa=False) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& query, const Tensor& key_in, const Tensor& value_in, const std::optional<Tensor>& attn_mask, double dropout_p,
                        bool is_causal, std::optional<double> scale, bool enable_gqa) {
    Tensor key = key_in, value = value_in;
    check_attention(query, key, value, attn_mask, is_causal);
    if (enable_gqa) {
      TAEDA_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3 && query.size(-3) % key.size(-3) == 0 && query.size(-3) % value.size(-3) == 0,
                  "[scaled_dot_product_attention] the query's heads must be a multiple of the key's and value's: got ", query.sizes(), ", ", key.sizes(),
                  " and ", value.sizes(), "; check the heads");
      if (key.size(-3) != query.size(-3)) key = key.repeat_interleave(query.size(-3) / key.size(-3), -3);
      if (value.size(-3) != query.size(-3)) value = value.repeat_interleave(query.size(-3) / value.size(-3), -3);
    }
    const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(-1))));
    const bool has_mask = attn_mask && attn_mask->defined();
    if (dropout_p > 0 || (has_mask && attn_mask->requires_grad())) {
      Tensor weights = attention_weights(query, key, attn_mask, is_causal, factor);
      if (dropout_p > 0) weights = taeda::dropout(weights, dropout_p, true);
      return weights.matmul(value);
    }
    return fused(query, key, value, attn_mask, is_causal, factor);
  }
  static Tensor fused(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& attn_mask, bool is_causal, double factor) {
    const ScalarType type = query.scalar_type();
    const ScalarType compute = type == kDouble ? kDouble : kFloat;
    // Leading dimensions become (batch, heads).
    const auto lead = [](const Tensor& t) { return t.sizes().slice(0, static_cast<size_t>(t.dim()) - 2); };
    DimVector leading = broadcast_sizes(broadcast_sizes(lead(query), lead(key), "scaled_dot_product_attention"), lead(value), "scaled_dot_product_attention");
    const auto spread = [&](const Tensor& t) {
      DimVector wide(leading);
      wide.push_back(t.size(-2));
      wide.push_back(t.size(-1));
      Tensor x = t.sizes() == IntArrayRef(wide) ? t : t.expand(wide);
      if (x.dim() == 2) x = x.unsqueeze(0);
      if (x.dim() == 3) x = x.unsqueeze(0);
      if (x.dim() > 4) x = x.flatten(0, x.dim() - 4);
      return x.to(compute);
    };
    std::optional<Tensor> mask;
    if (attn_mask && attn_mask->defined()) {
      Tensor m = *attn_mask;
      if (m.scalar_type() != kBool) m = m.to(compute);
      if (m.dim() > 4) {
        DimVector wide(leading);
        wide.push_back(query.size(-2));
        wide.push_back(key.size(-2));
        m = m.expand(wide).flatten(0, m.dim() - 4);
      }
      while (m.dim() < 4) m = m.unsqueeze(0);
      mask = m;
    }
    Tensor out = std::get<0>(taeda::_fused_attention(spread(query), spread(key), spread(value), mask, is_causal, factor)).to(type);
    if (leading.size() == 2) return out;
    leading.push_back(query.size(-2));
    leading.push_back(value.size(-1));
    return out.reshape(leading);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/attention.inc"
