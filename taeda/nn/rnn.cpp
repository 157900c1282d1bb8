// SPDX-License-Identifier: Apache-2.0
// Recurrent modules.
#include "taeda/nn/rnn.h"

#include <cmath>
#include <ostream>

#include "taeda/nn/init.h"
#include "taeda/nn/packed_sequence.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

using utils::rnn::PackedSequence;

namespace detail {

namespace {
using Mode = RNNOptionsBase::rnn_options_base_mode_t;
int64_t gates(const Mode& mode) {
  if (std::holds_alternative<enumtype::kLSTM>(mode)) return 4;
  return std::holds_alternative<enumtype::kGRU>(mode) ? 3 : 1;
}
const char* module_name(const Mode& mode) {
  if (std::holds_alternative<enumtype::kLSTM>(mode)) return "LSTM";
  return std::holds_alternative<enumtype::kGRU>(mode) ? "GRU" : "RNN";
}
int64_t output_width(const RNNOptionsBase& o) { return o.proj_size() > 0 ? o.proj_size() : o.hidden_size(); }
void check_sizes(const RNNOptionsBase& o) {
  TAEDA_CHECK(o.hidden_size() > 0 && o.num_layers() > 0 && o.input_size() >= 0,
              "[RNN] sizes and layers must be positive: got input ", o.input_size(), ", hidden ", o.hidden_size(), ", layers ",
              o.num_layers(), "; pass 1 or more");
  TAEDA_CHECK(o.dropout() >= 0 && o.dropout() <= 1, "[RNN] dropout should be a number in range [0, 1]: got ", o.dropout(),
              "; choose a probability");
  TAEDA_CHECK(o.proj_size() >= 0 && o.proj_size() < o.hidden_size(), "[RNN] proj_size has to be smaller than hidden_size: got ",
              o.proj_size(), " and ", o.hidden_size(), "; choose 0 or a smaller size");
  if (o.dropout() > 0 && o.num_layers() == 1) {
    TAEDA_WARN("[RNN] dropout is applied after all layers but the last, so that it needs num_layers greater than 1: got dropout=",
               o.dropout(), " and num_layers=1");
  }
}
}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  RNNImplBase::reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const RNNOptionsBase& o = options_base;
  check_sizes(o);
  const int64_t directions = o.bidirectional() ? 2 : 1;
  const int64_t out = output_width(o);
  const int64_t rows = gates(o.mode()) * o.hidden_size();
  flat_weights_.clear();
  const auto add = [&](const std::string& name, IntArrayRef size) {
    flat_weights_.push_back(this->register_parameter(name, taeda::empty(size, TensorOptions())));
  };
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t width = layer == 0 ? o.input_size() : out * directions;
      const std::string suffix = str("_l", layer, direction == 1 ? "_reverse" : "");
      add("weight_ih" + suffix, {rows, width});
      add("weight_hh" + suffix, {rows, out});
      if (o.bias()) {
        add("bias_ih" + suffix, IntArrayRef(rows));
        add("bias_hh" + suffix, IntArrayRef(rows));
      }
      if (o.proj_size() > 0) add("weight_hr" + suffix, {o.proj_size(), o.hidden_size()});
    }
  }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& w : flat_weights_) init::uniform_(w, -bound, bound);
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const RNNOptionsBase& o = options_base;
  stream << std::boolalpha << "torch::nn::" << module_name(o.mode()) << "(input_size=" << o.input_size()
         << ", hidden_size=" << o.hidden_size() << ", num_layers=" << o.num_layers() << ", bias=" << o.bias()
         << ", batch_first=" << o.batch_first() << ", dropout=" << o.dropout() << ", bidirectional=" << o.bidirectional();
  if (o.proj_size() > 0) stream << ", proj_size=" << o.proj_size();
  stream << ")";
}

template <class Derived>
Tensor RNNImplBase<Derived>::batched_input(const Tensor& input) const {
  const char* name = module_name(options_base.mode());
  TAEDA_CHECK(input.dim() == 2 || input.dim() == 3, "[", name, "] Expected input to be 2D or 3D, got ", input.dim(),
              "D instead; reshape it to (T, N, input)");
  TAEDA_CHECK(input.size(-1) == options_base.input_size(), "[", name, "] input.size(-1) must be equal to input_size. Expected ",
              options_base.input_size(), ", got ", input.size(-1), "; match the module's input_size");
  return input.dim() == 3 ? input : input.unsqueeze(options_base.batch_first() ? 0 : 1);
}

template <class Derived>
Tensor RNNImplBase<Derived>::zero_state(int64_t batch, int64_t width, const Tensor& like) const {
  const int64_t directions = options_base.bidirectional() ? 2 : 1;
  return taeda::zeros({options_base.num_layers() * directions, batch, width}, like.options().requires_grad(false));
}

template <class Derived>
Tensor RNNImplBase<Derived>::checked_state(const Tensor& state, bool batched, int64_t batch, int64_t width) const {
  const char* name = module_name(options_base.mode());
  TAEDA_CHECK(state.dim() == (batched ? 3 : 2), "[", name, "] the initial state must have ", batched ? 3 : 2,
              " dimensions: got ", state.sizes(), "; shape it like the final state");
  const Tensor wide = batched ? state : state.unsqueeze(1);
  const int64_t layers = options_base.num_layers() * (options_base.bidirectional() ? 2 : 1);
  TAEDA_CHECK(wide.sizes() == IntArrayRef({layers, batch, width}), "[", name, "] Expected hidden size ",
              IntArrayRef({layers, batch, width}), ", got ", wide.sizes(), "; shape it like the final state");
  return wide;
}

namespace {
Tensor permuted(const Tensor& state, const Tensor& permutation) {
  return permutation.defined() ? state.index_select(1, permutation) : state;
}
int64_t first_batch(const PackedSequence& packed) { return packed.batch_sizes()[0].template item<int64_t>(); }
PackedSequence like(const PackedSequence& packed, const Tensor& data) {
  return PackedSequence(data, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices());
}
void check_packed(const PackedSequence& packed, const RNNOptionsBase& o) {
  TAEDA_CHECK(packed.data().dim() == 2 && packed.data().size(1) == o.input_size(), "[", module_name(o.mode()),
              "] packed input must have input_size ", o.input_size(), " features: got ", packed.data().sizes(),
              "; match the module's input_size");
}
RNNOptionsBase base_options(const RNNOptions& o) {
  const bool use_tanh = std::holds_alternative<enumtype::kTanh>(o.nonlinearity());
  return RNNOptionsBase(use_tanh ? Mode(enumtype::kRNN_TANH()) : Mode(enumtype::kRNN_RELU()), o.input_size(), o.hidden_size())
      .num_layers(o.num_layers()).bias(o.bias()).batch_first(o.batch_first()).dropout(o.dropout())
      .bidirectional(o.bidirectional());
}
RNNOptionsBase base_options(const LSTMOptions& o) {
  return RNNOptionsBase(enumtype::kLSTM(), o.input_size(), o.hidden_size())
      .num_layers(o.num_layers()).bias(o.bias()).batch_first(o.batch_first()).dropout(o.dropout())
      .bidirectional(o.bidirectional()).proj_size(o.proj_size());
}
RNNOptionsBase base_options(const GRUOptions& o) {
  return RNNOptionsBase(enumtype::kGRU(), o.input_size(), o.hidden_size())
      .num_layers(o.num_layers()).bias(o.bias()).batch_first(o.batch_first()).dropout(o.dropout())
      .bidirectional(o.bidirectional());
}
/// Calls the operator of an Elman network's nonlinearity.
template <class... Args>
std::tuple<Tensor, Tensor> elman(const Mode& mode, const Args&... args) {
  return std::holds_alternative<enumtype::kRNN_TANH>(mode) ? taeda::rnn_tanh(args...) : taeda::rnn_relu(args...);
}
}  // namespace

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace detail

RNNImpl::RNNImpl(const RNNOptions& options_) : RNNImplBase(detail::base_options(options_)), options(options_) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  const auto& o = noted(options_base);
  const Tensor x = batched_input(input);
  const bool batched = input.dim() == 3;
  const Tensor h0 = hx.defined() ? checked_state(hx, batched, batch_of(x), o.hidden_size())
                                 : zero_state(batch_of(x), o.hidden_size(), x);
  auto [output, hn] = detail::elman(o.mode(), x, h0, TensorList(flat_weights_), o.bias(), o.num_layers(), o.dropout(),
                                    is_training(), o.bidirectional(), o.batch_first());
  if (batched) return {output, hn};
  return {without_batch(output), hn.squeeze(1)};
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(const PackedSequence& packed, Tensor hx) {
  const auto& o = noted(options_base);
  detail::check_packed(packed, o);
  const int64_t batch = detail::first_batch(packed);
  const Tensor h0 = hx.defined() ? detail::permuted(checked_state(hx, true, batch, o.hidden_size()), packed.sorted_indices())
                                 : zero_state(batch, o.hidden_size(), packed.data());
  auto [data, hn] = detail::elman(o.mode(), packed.data(), packed.batch_sizes(), h0, TensorList(flat_weights_), o.bias(),
                                  o.num_layers(), o.dropout(), is_training(), o.bidirectional());
  return {detail::like(packed, data), detail::permuted(hn, packed.unsorted_indices())};
}

LSTMImpl::LSTMImpl(const LSTMOptions& options_) : RNNImplBase(detail::base_options(options_)), options(options_) {}

std::vector<Tensor> LSTMImpl::initial_state(const OptionalState& hx, bool batched, int64_t batch, const Tensor& like) const {
  const int64_t width = detail::output_width(options_base);
  const int64_t hidden = options_base.hidden_size();
  if (!hx) return {zero_state(batch, width, like), zero_state(batch, hidden, like)};
  return {checked_state(std::get<0>(*hx), batched, batch, width), checked_state(std::get<1>(*hx), batched, batch, hidden)};
}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(const Tensor& input,
                                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  const auto& o = noted(options_base);
  const Tensor x = batched_input(input);
  const bool batched = input.dim() == 3;
  auto [output, hn, cn] = taeda::lstm(x, initial_state(hx_opt, batched, batch_of(x), x), flat_weights_, o.bias(), o.num_layers(),
                                      o.dropout(), is_training(), o.bidirectional(), o.batch_first());
  if (batched) return {output, {hn, cn}};
  return {without_batch(output), {hn.squeeze(1), cn.squeeze(1)}};
}

std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  const auto& o = noted(options_base);
  detail::check_packed(packed, o);
  std::vector<Tensor> state = initial_state(hx_opt, true, detail::first_batch(packed), packed.data());
  if (hx_opt) {
    for (Tensor& part : state) part = detail::permuted(part, packed.sorted_indices());
  }
  auto [data, hn, cn] = taeda::lstm(packed.data(), packed.batch_sizes(), state, flat_weights_, o.bias(), o.num_layers(),
                                    o.dropout(), is_training(), o.bidirectional());
  return {detail::like(packed, data),
          {detail::permuted(hn, packed.unsorted_indices()), detail::permuted(cn, packed.unsorted_indices())}};
}

GRUImpl::GRUImpl(const GRUOptions& options_) : RNNImplBase(detail::base_options(options_)), options(options_) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  const auto& o = noted(options_base);
  const Tensor x = batched_input(input);
  const bool batched = input.dim() == 3;
  const Tensor h0 = hx.defined() ? checked_state(hx, batched, batch_of(x), o.hidden_size())
                                 : zero_state(batch_of(x), o.hidden_size(), x);
  auto [output, hn] = taeda::gru(x, h0, flat_weights_, o.bias(), o.num_layers(), o.dropout(), is_training(), o.bidirectional(),
                                 o.batch_first());
  if (batched) return {output, hn};
  return {without_batch(output), hn.squeeze(1)};
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(const PackedSequence& packed, Tensor hx) {
  const auto& o = noted(options_base);
  detail::check_packed(packed, o);
  const int64_t batch = detail::first_batch(packed);
  const Tensor h0 = hx.defined() ? detail::permuted(checked_state(hx, true, batch, o.hidden_size()), packed.sorted_indices())
                                 : zero_state(batch, o.hidden_size(), packed.data());
  auto [data, hn] = taeda::gru(packed.data(), packed.batch_sizes(), h0, flat_weights_, o.bias(), o.num_layers(), o.dropout(),
                               is_training(), o.bidirectional());
  return {detail::like(packed, data), detail::permuted(hn, packed.unsorted_indices())};
}

namespace detail {

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) {
  RNNCellImplBase::reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t rows = options_base.num_chunks() * options_base.hidden_size();
  weight_ih = this->register_parameter("weight_ih", taeda::empty({rows, options_base.input_size()}, TensorOptions()));
  weight_hh = this->register_parameter("weight_hh", taeda::empty({rows, options_base.hidden_size()}, TensorOptions()));
  const auto bias = [&](const char* name) {
    return options_base.bias() ? this->register_parameter(name, taeda::empty(IntArrayRef(rows), TensorOptions()))
                               : this->register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  bias_ih = bias("bias_ih");
  bias_hh = bias("bias_hh");
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const int64_t hidden = options_base.hidden_size();
  const double bound = hidden > 0 ? 1 / std::sqrt(static_cast<double>(hidden)) : 0;
  for (const Tensor& w : this->parameters()) init::uniform_(w, -bound, bound);
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const int64_t chunks = options_base.num_chunks();
  stream << "torch::nn::" << (chunks == 1 ? "RNNCell" : chunks == 4 ? "LSTMCell" : "GRUCell") << "(" << options_base.input_size()
         << ", " << options_base.hidden_size();
  if (!options_base.bias()) stream << ", bias=" << std::boolalpha << false;
  const std::string nonlinearity = get_nonlinearity_str();
  if (!nonlinearity.empty() && nonlinearity != "kTanh") stream << ", nonlinearity=" << nonlinearity;
  stream << ")";
}

template <class Derived>
void RNNCellImplBase<Derived>::check_forward_input(const Tensor& input, const char* name) const {
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2, "[", name, "] Expected input to be 1D or 2D, got ", input.dim(),
              "D instead; reshape it to (N, input)");
  TAEDA_CHECK(input.size(-1) == options_base.input_size(), "[", name, "] input has inconsistent input_size: got ", input.size(-1),
              ", expected ", options_base.input_size(), "; match the module's input_size");
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::state_rows(const Tensor& input, const Tensor& hx, const char* name) const {
  const int64_t batch = input.dim() == 1 ? 1 : input.size(0);
  if (!hx.defined()) return taeda::zeros({batch, options_base.hidden_size()}, input.options().requires_grad(false));
  const Tensor rows = hx.dim() == 1 ? hx.unsqueeze(0) : hx;
  TAEDA_CHECK(rows.sizes() == IntArrayRef({batch, options_base.hidden_size()}), "[", name, "] the state must be (N, hidden) = ",
              IntArrayRef({batch, options_base.hidden_size()}), ": got ", hx.sizes(), "; shape it like the result");
  return rows;
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

namespace {
std::optional<Tensor> maybe(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }
Tensor rows_of(const Tensor& t) { return t.dim() == 1 ? t.unsqueeze(0) : t; }
template <class Options>
RNNCellOptionsBase cell_options(const Options& o, int64_t num_chunks) {
  return {o.input_size(), o.hidden_size(), o.bias(), num_chunks};
}
}  // namespace

}  // namespace detail

using detail::maybe;
using detail::rows_of;

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : RNNCellImplBase(detail::cell_options(options_, 1)), options(options_) {}

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_forward_input(input, "RNNCell");
  const Tensor x = rows_of(input);
  const Tensor h = state_rows(input, hx, "RNNCell");
  const bool use_tanh = std::holds_alternative<enumtype::kTanh>(noted(options).nonlinearity());
  const Tensor out = use_tanh ? taeda::rnn_tanh_cell(x, h, weight_ih, weight_hh, maybe(bias_ih), maybe(bias_hh))
                              : taeda::rnn_relu_cell(x, h, weight_ih, weight_hh, maybe(bias_ih), maybe(bias_hh));
  return input.dim() == 1 ? out.squeeze(0) : out;
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : RNNCellImplBase(detail::cell_options(options_, 4)), options(options_) {}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  check_forward_input(input, "LSTMCell");
  const Tensor h = state_rows(input, hx_opt ? std::get<0>(*hx_opt) : Tensor(), "LSTMCell");
  const Tensor c = hx_opt ? state_rows(input, std::get<1>(*hx_opt), "LSTMCell") : h;
  const Tensor state[] = {h, c};
  auto [hn, cn] = taeda::lstm_cell(rows_of(input), state, weight_ih, weight_hh, maybe(bias_ih), maybe(bias_hh));
  if (input.dim() == 1) return {hn.squeeze(0), cn.squeeze(0)};
  return {hn, cn};
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : RNNCellImplBase(detail::cell_options(options_, 3)), options(options_) {}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_forward_input(input, "GRUCell");
  const Tensor h = state_rows(input, hx, "GRUCell");
  const Tensor out = taeda::gru_cell(rows_of(input), h, weight_ih, weight_hh, maybe(bias_ih), maybe(bias_hh));
  return input.dim() == 1 ? out.squeeze(0) : out;
}

}  // namespace taeda::nn
