// SPDX-License-Identifier: Apache-2.0
// Recurrent modules.
#include "taeda/nn/rnn.h"

#include <cmath>
#include <ostream>

#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

namespace detail {

std::vector<Tensor> RecurrentBase::make_weights(Module& module, const Shape& s, std::vector<std::string>& names) {
  TAEDA_CHECK(s.hidden_size > 0 && s.num_layers > 0 && s.input_size >= 0,
              "[RNN] sizes and layers must be positive: got input ", s.input_size, ", hidden ", s.hidden_size, ", layers ",
              s.num_layers, "; pass 1 or more");
  TAEDA_CHECK(s.dropout >= 0 && s.dropout <= 1, "[RNN] dropout should be a number in range [0, 1]: got ", s.dropout,
              "; choose a probability");
  TAEDA_CHECK(s.proj_size >= 0 && s.proj_size < s.hidden_size, "[RNN] proj_size has to be smaller than hidden_size: got ",
              s.proj_size, " and ", s.hidden_size, "; choose 0 or a smaller size");
  const int64_t directions = s.bidirectional ? 2 : 1;
  const int64_t out = s.proj_size > 0 ? s.proj_size : s.hidden_size;
  std::vector<Tensor> weights;
  const auto add = [&](const std::string& name, IntArrayRef size) {
    weights.push_back(module.register_parameter(name, taeda::empty(size, TensorOptions())));
    names.push_back(name);
  };
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t width = layer == 0 ? s.input_size : out * directions;
      const std::string suffix = str("_l", layer, direction == 1 ? "_reverse" : "");
      const int64_t rows = s.gates * s.hidden_size;
      add("weight_ih" + suffix, {rows, width});
      add("weight_hh" + suffix, {rows, out});
      if (s.bias) {
        add("bias_ih" + suffix, IntArrayRef(rows));
        add("bias_hh" + suffix, IntArrayRef(rows));
      }
      if (s.proj_size > 0) add("weight_hr" + suffix, {s.proj_size, s.hidden_size});
    }
  }
  return weights;
}

void RecurrentBase::reset_weights(const std::vector<Tensor>& weights, int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const Tensor& w : weights) init::uniform_(w, -bound, bound);
}

Tensor RecurrentBase::zero_state(const Tensor& input, const Shape& s, int64_t width) {
  const int64_t batch = s.batch_first ? input.size(0) : input.size(1);
  return taeda::zeros({s.num_layers * (s.bidirectional ? 2 : 1), batch, width}, input.options());
}

void RecurrentBase::print(std::ostream& stream, const char* name, const Shape& s) {
  stream << std::boolalpha << "torch::nn::" << name << "(input_size=" << s.input_size << ", hidden_size=" << s.hidden_size
         << ", num_layers=" << s.num_layers << ", bias=" << s.bias << ", batch_first=" << s.batch_first
         << ", dropout=" << s.dropout << ", bidirectional=" << s.bidirectional;
  if (s.proj_size > 0) stream << ", proj_size=" << s.proj_size;
  stream << ")";
}

Tensor to_batched(const Tensor& input, bool batch_first, bool& batched) {
  TAEDA_CHECK(input.dim() == 2 || input.dim() == 3, "[RNN] Expected input to be 2D or 3D, got ", input.dim(),
              "D instead; reshape it to (T, N, input)");
  batched = input.dim() == 3;
  return batched ? input : input.unsqueeze(batch_first ? 0 : 1);
}

namespace {
Tensor state_with_batch(const Tensor& state, bool batched) {
  TAEDA_CHECK(state.dim() == (batched ? 3 : 2), "[RNN] the initial state must have ", batched ? 3 : 2, " dimensions: got ",
              state.sizes(), "; shape it like the final state");
  return batched ? state : state.unsqueeze(1);
}
Tensor output_without_batch(const Tensor& output, bool batched, bool batch_first) {
  return batched ? output : output.squeeze(batch_first ? 0 : 1);
}
Tensor state_without_batch(const Tensor& state, bool batched) { return batched ? state : state.squeeze(1); }
}  // namespace

}  // namespace detail

RNNImpl::RNNImpl(const RNNOptions& options_) : options(options_) { RNNImpl::reset(); }
detail::RecurrentBase::Shape RNNImpl::shape() const {
  return {options.input_size(), options.hidden_size(), options.num_layers(), 0, 1, options.bias(), options.batch_first(),
          options.bidirectional(), options.dropout()};
}
void RNNImpl::reset() {
  std::vector<std::string> names;
  flat_weights_ = make_weights(*this, shape(), names);
  reset_parameters();
}
void RNNImpl::reset_parameters() { reset_weights(flat_weights_, options.hidden_size()); }
void RNNImpl::pretty_print(std::ostream& stream) const { print(stream, "RNN", shape()); }
std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  bool batched = true;
  const Tensor x = detail::to_batched(input, options.batch_first(), batched);
  const Tensor h0 = hx.defined() ? detail::state_with_batch(hx, batched) : zero_state(x, shape(), options.hidden_size());
  const bool use_tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  const auto run = [&](auto function) {
    return function(x, h0, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
                    options.bidirectional(), options.batch_first());
  };
  auto [output, hn] = use_tanh ? run([](auto&&... a) { return taeda::rnn_tanh(a...); })
                               : run([](auto&&... a) { return taeda::rnn_relu(a...); });
  return {detail::output_without_batch(output, batched, options.batch_first()), detail::state_without_batch(hn, batched)};
}

LSTMImpl::LSTMImpl(const LSTMOptions& options_) : options(options_) { LSTMImpl::reset(); }
detail::RecurrentBase::Shape LSTMImpl::shape() const {
  return {options.input_size(), options.hidden_size(), options.num_layers(), options.proj_size(), 4, options.bias(),
          options.batch_first(), options.bidirectional(), options.dropout()};
}
void LSTMImpl::reset() {
  std::vector<std::string> names;
  flat_weights_ = make_weights(*this, shape(), names);
  reset_parameters();
}
void LSTMImpl::reset_parameters() { reset_weights(flat_weights_, options.hidden_size()); }
void LSTMImpl::pretty_print(std::ostream& stream) const { print(stream, "LSTM", shape()); }
std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(const Tensor& input,
                                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  bool batched = true;
  const Tensor x = detail::to_batched(input, options.batch_first(), batched);
  const int64_t out = options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
  const std::vector<Tensor> state =
      hx_opt ? std::vector<Tensor>{detail::state_with_batch(std::get<0>(*hx_opt), batched),
                                   detail::state_with_batch(std::get<1>(*hx_opt), batched)}
             : std::vector<Tensor>{zero_state(x, shape(), out), zero_state(x, shape(), options.hidden_size())};
  auto [output, hn, cn] = taeda::lstm(x, state, flat_weights_, options.bias(), options.num_layers(), options.dropout(),
                                      is_training(), options.bidirectional(), options.batch_first());
  return {detail::output_without_batch(output, batched, options.batch_first()),
          {detail::state_without_batch(hn, batched), detail::state_without_batch(cn, batched)}};
}

GRUImpl::GRUImpl(const GRUOptions& options_) : options(options_) { GRUImpl::reset(); }
detail::RecurrentBase::Shape GRUImpl::shape() const {
  return {options.input_size(), options.hidden_size(), options.num_layers(), 0, 3, options.bias(), options.batch_first(),
          options.bidirectional(), options.dropout()};
}
void GRUImpl::reset() {
  std::vector<std::string> names;
  flat_weights_ = make_weights(*this, shape(), names);
  reset_parameters();
}
void GRUImpl::reset_parameters() { reset_weights(flat_weights_, options.hidden_size()); }
void GRUImpl::pretty_print(std::ostream& stream) const { print(stream, "GRU", shape()); }
std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  bool batched = true;
  const Tensor x = detail::to_batched(input, options.batch_first(), batched);
  const Tensor h0 = hx.defined() ? detail::state_with_batch(hx, batched) : zero_state(x, shape(), options.hidden_size());
  auto [output, hn] = taeda::gru(x, h0, flat_weights_, options.bias(), options.num_layers(), options.dropout(), is_training(),
                                 options.bidirectional(), options.batch_first());
  return {detail::output_without_batch(output, batched, options.batch_first()), detail::state_without_batch(hn, batched)};
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::reset() {
  const int64_t rows = Derived::kGates * options.hidden_size();
  weight_ih = this->register_parameter("weight_ih", taeda::empty({rows, options.input_size()}, TensorOptions()));
  weight_hh = this->register_parameter("weight_hh", taeda::empty({rows, options.hidden_size()}, TensorOptions()));
  const auto bias = [&](const char* name) {
    return options.bias() ? this->register_parameter(name, taeda::empty(IntArrayRef(rows), TensorOptions()))
                          : this->register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  bias_ih = bias("bias_ih");
  bias_hh = bias("bias_hh");
  reset_parameters();
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::reset_parameters() {
  const double bound = options.hidden_size() > 0 ? 1 / std::sqrt(static_cast<double>(options.hidden_size())) : 0;
  for (const Tensor& w : this->parameters()) init::uniform_(w, -bound, bound);
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::" << Derived::kName << "(" << options.input_size() << ", " << options.hidden_size();
  if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
  if constexpr (requires { options.nonlinearity(); }) {
    const std::string name = enumtype::get_enum_name(options.nonlinearity());
    if (name != "kTanh") stream << ", nonlinearity=" << name;
  }
  stream << ")";
}

template <class Derived, class Options>
void RNNCellImplBase<Derived, Options>::check_input(const Tensor& input, const char* op) const {
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2, "[", op, "] Expected input to be 1D or 2D, got ", input.dim(),
              "D instead; reshape it to (N, input)");
  TAEDA_CHECK(input.size(-1) == options.input_size(), "[", op, "] input has inconsistent input_size: got ", input.size(-1),
              ", expected ", options.input_size(), "; match the module's input_size");
}

template class RNNCellImplBase<RNNCellImpl, RNNCellOptions>;
template class RNNCellImplBase<LSTMCellImpl, LSTMCellOptions>;
template class RNNCellImplBase<GRUCellImpl, GRUCellOptions>;

namespace {
std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }
Tensor rows_of(const Tensor& t) { return t.dim() == 1 ? t.unsqueeze(0) : t; }
}  // namespace

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_input(input, "RNNCell");
  const Tensor x = rows_of(input);
  const Tensor h = hx.defined() ? rows_of(hx) : taeda::zeros({x.size(0), options.hidden_size()}, input.options());
  const bool use_tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  const Tensor out = use_tanh ? taeda::rnn_tanh_cell(x, h, weight_ih, weight_hh, optional(bias_ih), optional(bias_hh))
                              : taeda::rnn_relu_cell(x, h, weight_ih, weight_hh, optional(bias_ih), optional(bias_hh));
  return input.dim() == 1 ? out.squeeze(0) : out;
}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  check_input(input, "LSTMCell");
  const Tensor x = rows_of(input);
  Tensor h;
  Tensor c;
  if (hx_opt) {
    h = rows_of(std::get<0>(*hx_opt));
    c = rows_of(std::get<1>(*hx_opt));
  } else {
    h = c = taeda::zeros({x.size(0), options.hidden_size()}, input.options());
  }
  const Tensor state[] = {h, c};
  auto [hn, cn] = taeda::lstm_cell(x, state, weight_ih, weight_hh, optional(bias_ih), optional(bias_hh));
  if (input.dim() == 1) return {hn.squeeze(0), cn.squeeze(0)};
  return {hn, cn};
}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_input(input, "GRUCell");
  const Tensor x = rows_of(input);
  const Tensor h = hx.defined() ? rows_of(hx) : taeda::zeros({x.size(0), options.hidden_size()}, input.options());
  const Tensor out = taeda::gru_cell(x, h, weight_ih, weight_hh, optional(bias_ih), optional(bias_hh));
  return input.dim() == 1 ? out.squeeze(0) : out;
}

}  // namespace taeda::nn
