// SPDX-License-Identifier: Apache-2.0
// Options of recurrent and attention modules.
#pragma once

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"
#include <functional>

namespace taeda::nn {

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

}  // namespace taeda::nn
