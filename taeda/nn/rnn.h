// SPDX-License-Identifier: Apache-2.0
// Recurrent modules and their cells.
#pragma once

#include "taeda/nn/any.h"
#include "taeda/nn/options_sequence.h"

namespace taeda::nn {

namespace detail {

/// What RNN, LSTM and GRU share. Weights are named weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, …, with the suffix
/// _reverse for the backward direction.
class TAEDA_API RecurrentBase {
 public:
  struct Shape {
    int64_t input_size, hidden_size, num_layers, proj_size, gates;
    bool bias, batch_first, bidirectional;
    double dropout;
  };

 protected:
  /// Registers the weights of all layers and draws them uniformly within 1 / sqrt(hidden_size).
  static std::vector<Tensor> make_weights(Module& module, const Shape& shape, std::vector<std::string>& names);
  static void reset_weights(const std::vector<Tensor>& weights, int64_t hidden_size);
  static Tensor zero_state(const Tensor& input, const Shape& shape, int64_t width);
  static void print(std::ostream& stream, const char* name, const Shape& shape);
};
TAEDA_API Tensor to_batched(const Tensor& input, bool batch_first, bool& batched);
}  // namespace detail

/// Elman network: h = tanh or relu (W_ih x + b_ih + W_hh h + b_hh). Input (T, N, input) or, batch first, (N, T, input).
/// Returns the output of every step and the last hidden state (layers · directions, N, hidden).
class TAEDA_API RNNImpl : public Cloneable<RNNImpl>, detail::RecurrentBase {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  std::vector<Tensor> all_weights() const { return flat_weights_; }
  RNNOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})

 private:
  Shape shape() const;
  std::vector<Tensor> flat_weights_;
};
TAEDA_MODULE(RNN);

/// Long short-term memory (Hochreiter, Schmidhuber 1997), gates in the order input, forget, cell, output.
class TAEDA_API LSTMImpl : public Cloneable<LSTMImpl>, detail::RecurrentBase {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& input,
                                                         std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  std::vector<Tensor> all_weights() const { return flat_weights_; }
  LSTMOptions options;
  using OptionalState = std::optional<std::tuple<Tensor, Tensor>>;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(OptionalState())})

 private:
  Shape shape() const;
  std::vector<Tensor> flat_weights_;
};
TAEDA_MODULE(LSTM);

/// Gated recurrent unit (Cho et al. 2014), gates in the order reset, update, new.
class TAEDA_API GRUImpl : public Cloneable<GRUImpl>, detail::RecurrentBase {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  std::vector<Tensor> all_weights() const { return flat_weights_; }
  GRUOptions options;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})

 private:
  Shape shape() const;
  std::vector<Tensor> flat_weights_;
};
TAEDA_MODULE(GRU);

/// What the cells share: weight_ih, weight_hh, bias_ih, bias_hh.
template <class Derived, class Options>
class TAEDA_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const Options& options_) : options(options_) {}
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Options options;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  void check_input(const Tensor& input, const char* op) const;
};

class TAEDA_API RNNCellImpl : public RNNCellImplBase<RNNCellImpl, RNNCellOptions> {
 public:
  static constexpr int64_t kGates = 1;
  static constexpr const char* kName = "RNNCell";
  RNNCellImpl(int64_t input_size, int64_t hidden_size) : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_) : RNNCellImplBase(options_) { reset(); }
  Tensor forward(const Tensor& input, const Tensor& hx = {});
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TAEDA_MODULE(RNNCell);

class TAEDA_API LSTMCellImpl : public RNNCellImplBase<LSTMCellImpl, LSTMCellOptions> {
 public:
  static constexpr int64_t kGates = 4;
  static constexpr const char* kName = "LSTMCell";
  LSTMCellImpl(int64_t input_size, int64_t hidden_size) : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_) : RNNCellImplBase(options_) { reset(); }
  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  using OptionalState = std::optional<std::tuple<Tensor, Tensor>>;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(OptionalState())})
};
TAEDA_MODULE(LSTMCell);

class TAEDA_API GRUCellImpl : public RNNCellImplBase<GRUCellImpl, GRUCellOptions> {
 public:
  static constexpr int64_t kGates = 3;
  static constexpr const char* kName = "GRUCell";
  GRUCellImpl(int64_t input_size, int64_t hidden_size) : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_) : RNNCellImplBase(options_) { reset(); }
  Tensor forward(const Tensor& input, const Tensor& hx = {});
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TAEDA_MODULE(GRUCell);

}  // namespace taeda::nn
