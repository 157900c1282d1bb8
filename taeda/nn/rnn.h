// SPDX-License-Identifier: Apache-2.0
// Recurrent modules and their cells.
#pragma once

#include "taeda/nn/any.h"
#include "taeda/nn/options_sequence.h"

namespace taeda::nn {

namespace utils::rnn {
class PackedSequence;
}

namespace detail {

/// What RNN, LSTM and GRU share. Weights are named weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, …, with the suffix
/// _reverse for the backward direction. Their start is uniform within 1 / sqrt(hidden_size).
template <class Derived>
class TAEDA_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// Weights are read where they are registered: there is nothing to do.
  void flatten_parameters() {}
  /// All weights in the order of their names' layers.
  std::vector<Tensor> all_weights() const { return flat_weights_; }
  RNNOptionsBase options_base;

 protected:
  /// Checks input (T, N, input) or without N; adds the batch dimension.
  Tensor batched_input(const Tensor& input) const;
  Tensor zero_state(int64_t batch, int64_t width, const Tensor& like) const;
  /// The initial state with a batch dimension and the size that the module needs.
  Tensor checked_state(const Tensor& state, bool batched, int64_t batch, int64_t width) const;
  Tensor without_batch(const Tensor& output) const { return output.squeeze(options_base.batch_first() ? 0 : 1); }
  int64_t batch_of(const Tensor& input) const { return input.size(options_base.batch_first() ? 0 : 1); }

  std::vector<Tensor> flat_weights_;
};
}  // namespace detail

/// Elman network: h = tanh or relu (W_ih x + b_ih + W_hh h + b_hh). Input (T, N, input) or, batch first, (N, T, input).
/// Returns the output of every step and the last hidden state (layers · directions, N, hidden).
class TAEDA_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(const utils::rnn::PackedSequence& packed_input,
                                                                           Tensor hx = {});
  RNNOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TAEDA_MODULE(RNN);

/// Long short-term memory (Hochreiter, Schmidhuber 1997), gates in the order input, forget, cell, output.
class TAEDA_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  using OptionalState = std::optional<std::tuple<Tensor, Tensor>>;
  LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& input,
                                                         std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  LSTMOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(OptionalState())})

 private:
  /// Both parts of the initial state, given or zero.
  std::vector<Tensor> initial_state(const OptionalState& hx, bool batched, int64_t batch, const Tensor& like) const;
};
TAEDA_MODULE(LSTM);

/// Gated recurrent unit (Cho et al. 2014), gates in the order reset, update, new.
class TAEDA_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(const utils::rnn::PackedSequence& packed_input,
                                                                           Tensor hx = {});
  GRUOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TAEDA_MODULE(GRU);

namespace detail {
/// What the cells share: weight_ih, weight_hh, bias_ih, bias_hh.
template <class Derived>
class TAEDA_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  virtual std::string get_nonlinearity_str() const { return {}; }
  void check_forward_input(const Tensor& input, const char* name) const;
  /// The state of `input`'s batch as a matrix: given, or zeros.
  Tensor state_rows(const Tensor& input, const Tensor& hx, const char* name) const;
};
}  // namespace detail

class TAEDA_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size) : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});
  RNNCellOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})

 protected:
  std::string get_nonlinearity_str() const override { return enumtype::get_enum_name(options.nonlinearity()); }
};
TAEDA_MODULE(RNNCell);

class TAEDA_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size) : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  using OptionalState = std::optional<std::tuple<Tensor, Tensor>>;
  LSTMCellOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(OptionalState())})
};
TAEDA_MODULE(LSTMCell);

class TAEDA_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size) : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});
  GRUCellOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TAEDA_MODULE(GRUCell);

}  // namespace taeda::nn
