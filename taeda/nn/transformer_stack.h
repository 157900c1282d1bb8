// SPDX-License-Identifier: Apache-2.0
// The transformer's decoder layer, stacks of layers, and the whole model (Vaswani et al. 2017).
#pragma once

#include "taeda/nn/module_list.h"
#include "taeda/nn/transformer.h"

namespace taeda::nn {

/// Self-attention, attention over the encoder's output and a feed-forward network, each with dropout, a residual connection and
/// layer normalisation after it. tgt (T, N, E), memory (S, N, E).
class TAEDA_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Dropout dropout1 = nullptr;
  LayerNorm norm1 = nullptr;
  MultiheadAttention multihead_attn = nullptr;
  Dropout dropout2 = nullptr;
  LayerNorm norm2 = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  Dropout dropout3 = nullptr;
  LayerNorm norm3 = nullptr;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                                 {5, AnyValue(Tensor())})
};
TAEDA_MODULE(TransformerDecoderLayer);

struct TAEDA_API TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers);
  TAEDA_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  TAEDA_ARG(int64_t, num_layers);
  TAEDA_ARG(AnyModule, norm);
};

struct TAEDA_API TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers);
  TAEDA_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  TAEDA_ARG(int64_t, num_layers);
  TAEDA_ARG(AnyModule, norm);
};

struct TAEDA_API TransformerOptions {
  TransformerOptions();
  TransformerOptions(int64_t d_model, int64_t nhead);
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers);
  TAEDA_ARG(int64_t, d_model) = 512;
  TAEDA_ARG(int64_t, nhead) = 8;
  TAEDA_ARG(int64_t, num_encoder_layers) = 6;
  TAEDA_ARG(int64_t, num_decoder_layers) = 6;
  TAEDA_ARG(int64_t, dim_feedforward) = 2048;
  TAEDA_ARG(double, dropout) = 0.1;
  TAEDA_ARG(activation_t, activation) = enumtype::kReLU();
  TAEDA_ARG(AnyModule, custom_encoder);
  TAEDA_ARG(AnyModule, custom_decoder);
};

/// Copies of one encoder layer, one after the other, and a final norm when given.
class TAEDA_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();
  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TAEDA_MODULE(TransformerEncoder);

/// Copies of one decoder layer, one after the other, and a final norm when given.
class TAEDA_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  TransformerDecoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                                 {5, AnyValue(Tensor())})
};
TAEDA_MODULE(TransformerDecoder);

/// Encoder and decoder. src (S, N, E), tgt (T, N, E); returns (T, N, E). A custom encoder or decoder is copied.
class TAEDA_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_);
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();
  /// (sz, sz): 0 where a position may be seen, minus infinity above the diagonal.
  static Tensor generate_square_subsequent_mask(int64_t sz);
  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                                 {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
TAEDA_MODULE(Transformer);

}  // namespace taeda::nn
