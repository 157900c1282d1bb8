// SPDX-License-Identifier: Apache-2.0
// The transformer's decoder layer, stacks of layers, and the whole model.
#include "taeda/nn/transformer_stack.h"

#include <limits>

#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn {

TransformerDecoderLayerOptions::TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead) {}
TransformerDecoderLayerOptions& TransformerDecoderLayerOptions::activation(activation_t new_activation) {
  activation_ = std::move(new_activation);
  return *this;
}
TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
TransformerEncoderOptions::TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                                                     int64_t num_layers)
    : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                                                     int64_t num_layers)
    : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}
TransformerOptions::TransformerOptions() = default;
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers)
    : d_model_(d_model), nhead_(nhead), num_encoder_layers_(num_encoder_layers), num_decoder_layers_(num_decoder_layers) {}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  const int64_t d = options.d_model();
  const auto attention = [&] {
    return MultiheadAttention(MultiheadAttentionOptions(d, options.nhead()).dropout(options.dropout()));
  };
  self_attn = register_module("self_attn", attention());
  multihead_attn = register_module("multihead_attn", attention());
  linear1 = register_module("linear1", Linear(d, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), d));
  norm1 = register_module("norm1", LayerNorm(LayerNormOptions({d})));
  norm2 = register_module("norm2", LayerNorm(LayerNormOptions({d})));
  norm3 = register_module("norm3", LayerNorm(LayerNormOptions({d})));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
  norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  const Tensor own = std::get<0>(self_attn(tgt, tgt, tgt, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
  Tensor x = norm1(tgt + dropout1(own));
  const Tensor other = std::get<0>(multihead_attn(x, memory, memory, memory_key_padding_mask, /*need_weights=*/false, memory_mask));
  x = norm2(x + dropout2(other));
  const Tensor active = detail::activate(noted(options).activation(), linear1(x));
  return norm3(x + dropout3(linear2(dropout(active))));
}

namespace {

/// Registers copies of `layer` and of the final norm.
template <class Stack, class Layer>
void build_stack(Stack& stack, const Layer& layer) {
  TAEDA_CHECK(stack.options.num_layers() >= 0, "[Transformer] num_layers must not be negative: got ", stack.options.num_layers(),
              "; pass 0 or more");
  stack.layers = stack.register_module("layers", ModuleList());
  for (int64_t i = 0; i < stack.options.num_layers(); ++i) stack.layers->push_back(layer->clone());
  if (stack.options.norm().is_empty()) return;
  stack.norm = stack.options.norm().clone();
  stack.register_module("norm", stack.norm.ptr());
}

template <class Layer, class Stack>
void reset_stack(Stack& stack) {
  TAEDA_CHECK(stack.layers->size() == static_cast<size_t>(stack.options.num_layers()),
              "[Transformer] the layers must be those of the options: got ", stack.layers->size(), " for ",
              stack.options.num_layers(), "; do not add layers");
  for (const auto& layer : *stack.layers) layer->template as<Layer>()->reset_parameters();
  // Like Python's, the final norm is not known to have parameters unless it is a layer norm.
  if (stack.norm.is_empty()) return;
  if (auto* norm = stack.norm.ptr()->template as<LayerNorm>()) norm->reset_parameters();
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_) : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}
void TransformerEncoderImpl::reset() { build_stack(*this, options.encoder_layer()); }
void TransformerEncoderImpl::reset_parameters() { reset_stack<TransformerEncoderLayer>(*this); }

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (const auto& layer : *layers) x = layer->as<TransformerEncoderLayer>()->forward(x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_) : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}
void TransformerDecoderImpl::reset() { build_stack(*this, options.decoder_layer()); }
void TransformerDecoderImpl::reset_parameters() { reset_stack<TransformerDecoderLayer>(*this); }

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (const auto& layer : *layers) {
    x = layer->as<TransformerDecoderLayer>()->forward(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                                      memory_key_padding_mask);
  }
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) { TransformerImpl::reset(); }

void TransformerImpl::reset() {
  const auto& o = options;
  const auto norm = [&] { return AnyModule(LayerNorm(LayerNormOptions({o.d_model()}))); };
  if (o.custom_encoder().is_empty()) {
    const TransformerEncoderLayer layer(TransformerEncoderLayerOptions(o.d_model(), o.nhead())
                                            .dim_feedforward(o.dim_feedforward())
                                            .dropout(o.dropout())
                                            .activation(o.activation()));
    encoder = AnyModule(TransformerEncoder(TransformerEncoderOptions(layer, o.num_encoder_layers()).norm(norm())));
  } else {
    encoder = o.custom_encoder().clone();
  }
  register_module("encoder", encoder.ptr());
  if (o.custom_decoder().is_empty()) {
    const TransformerDecoderLayer layer(TransformerDecoderLayerOptions(o.d_model(), o.nhead())
                                            .dim_feedforward(o.dim_feedforward())
                                            .dropout(o.dropout())
                                            .activation(o.activation()));
    decoder = AnyModule(TransformerDecoder(TransformerDecoderOptions(layer, o.num_decoder_layers()).norm(norm())));
  } else {
    decoder = o.custom_decoder().clone();
  }
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& p : parameters()) {
    if (p.dim() > 1) init::xavier_uniform_(p);
  }
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  TAEDA_CHECK(src.dim() == 3 && tgt.dim() == 3, "[Transformer] src and tgt should have 3 dimensions, but got ", src.dim(), " and ",
              tgt.dim(), "; shape them as (length, batch, features)");
  TAEDA_CHECK(src.size(1) == tgt.size(1), "[Transformer] src and tgt should have equal batch size (at dim 1), but got ",
              src.size(1), " and ", tgt.size(1), "; pass one target for each source");
  TAEDA_CHECK(src.size(2) == noted(options).d_model() && tgt.size(2) == options.d_model(),
              "[Transformer] src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ",
              tgt.size(2), " while d_model is ", options.d_model(), "; project them first");
  const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  TAEDA_CHECK(sz >= 0, "[Transformer] Input size must be non-negative to generate a valid square subsequent mask, but got ", sz,
              "; pass a length");
  return taeda::full({sz, sz}, -std::numeric_limits<float>::infinity(), TensorOptions(kFloat)).triu(1);
}

}  // namespace taeda::nn
