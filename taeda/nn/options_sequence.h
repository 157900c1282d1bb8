// SPDX-License-Identifier: Apache-2.0
// Options of recurrent and attention modules.
#pragma once

#include <functional>

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"

namespace taeda::nn {

namespace detail {
/// What RNN, LSTM and GRU share; `mode` tells which it is.
struct TAEDA_API RNNOptionsBase {
  using rnn_options_base_mode_t = std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(rnn_options_base_mode_t, mode);
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(int64_t, num_layers) = 1;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(bool, batch_first) = false;
  TAEDA_ARG(double, dropout) = 0.0;
  TAEDA_ARG(bool, bidirectional) = false;
  TAEDA_ARG(int64_t, proj_size) = 0;
};
/// What the cells share; `num_chunks` counts the gates.
struct TAEDA_API RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(bool, bias);
  TAEDA_ARG(int64_t, num_chunks);
};
}  // namespace detail
struct TAEDA_API RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(int64_t, num_layers) = 1;
  TAEDA_ARG(nonlinearity_t, nonlinearity) = enumtype::kTanh();
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(bool, batch_first) = false;
  TAEDA_ARG(double, dropout) = 0.0;
  TAEDA_ARG(bool, bidirectional) = false;
};
struct TAEDA_API LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(int64_t, num_layers) = 1;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(bool, batch_first) = false;
  TAEDA_ARG(double, dropout) = 0.0;
  TAEDA_ARG(bool, bidirectional) = false;
  TAEDA_ARG(int64_t, proj_size) = 0;
};
struct TAEDA_API GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(int64_t, num_layers) = 1;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(bool, batch_first) = false;
  TAEDA_ARG(double, dropout) = 0.0;
  TAEDA_ARG(bool, bidirectional) = false;
};
struct TAEDA_API RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(nonlinearity_t, nonlinearity) = enumtype::kTanh();
};
struct TAEDA_API LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(bool, bias) = true;
};
struct TAEDA_API GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(bool, bias) = true;
};
struct TAEDA_API MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  TAEDA_ARG(int64_t, embed_dim);
  TAEDA_ARG(int64_t, num_heads);
  TAEDA_ARG(double, dropout) = 0.0;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(bool, add_bias_kv) = false;
  TAEDA_ARG(bool, add_zero_attn) = false;
  TAEDA_ARG(int64_t, kdim);
  TAEDA_ARG(int64_t, vdim);
};
namespace functional {
struct TAEDA_API MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads, Tensor in_proj_weight, Tensor in_proj_bias,
                                       Tensor bias_k, Tensor bias_v, bool add_zero_attn, double dropout_p, Tensor out_proj_weight,
                                       Tensor out_proj_bias);
  TAEDA_ARG(int64_t, embed_dim_to_check);
  TAEDA_ARG(int64_t, num_heads);
  TAEDA_ARG(Tensor, in_proj_weight);
  TAEDA_ARG(Tensor, in_proj_bias);
  TAEDA_ARG(Tensor, bias_k);
  TAEDA_ARG(Tensor, bias_v);
  TAEDA_ARG(bool, add_zero_attn);
  TAEDA_ARG(double, dropout_p);
  TAEDA_ARG(Tensor, out_proj_weight);
  TAEDA_ARG(Tensor, out_proj_bias);
  TAEDA_ARG(bool, training) = true;
  TAEDA_ARG(Tensor, key_padding_mask);
  TAEDA_ARG(bool, need_weights) = true;
  TAEDA_ARG(Tensor, attn_mask);
  TAEDA_ARG(bool, use_separate_proj_weight) = false;
  TAEDA_ARG(Tensor, q_proj_weight);
  TAEDA_ARG(Tensor, k_proj_weight);
  TAEDA_ARG(Tensor, v_proj_weight);
  TAEDA_ARG(Tensor, static_k);
  TAEDA_ARG(Tensor, static_v);
  TAEDA_ARG(bool, average_attn_weights) = true;
};
}  // namespace functional
using activation_t = std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;
struct TAEDA_API TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead);
  TAEDA_ARG(int64_t, d_model);
  TAEDA_ARG(int64_t, nhead);
  TAEDA_ARG(int64_t, dim_feedforward) = 2048;
  TAEDA_ARG(double, dropout) = 0.1;

 public:
  TransformerEncoderLayerOptions& activation(activation_t new_activation);
  const activation_t& activation() const noexcept { return activation_; }
  activation_t& activation() noexcept { return activation_; }

 private:
  activation_t activation_ = enumtype::kReLU();
};
struct TAEDA_API TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead);
  TAEDA_ARG(int64_t, d_model);
  TAEDA_ARG(int64_t, nhead);
  TAEDA_ARG(int64_t, dim_feedforward) = 2048;
  TAEDA_ARG(double, dropout) = 0.1;

 public:
  TransformerDecoderLayerOptions& activation(activation_t new_activation);
  const activation_t& activation() const noexcept { return activation_; }
  activation_t& activation() noexcept { return activation_; }

 private:
  activation_t activation_ = enumtype::kReLU();
};

}  // namespace taeda::nn
