// SPDX-License-Identifier: Apache-2.0
// Recurrent networks: layers, directions, packed sequences.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/rnn.h"

namespace taeda {
namespace ops {
namespace {

/// The weights of one direction of one layer.
struct Weights {
  Tensor w_ih, w_hh, w_hr;
  std::optional<Tensor> b_ih, b_hh;
};
/// States at the end of every (layer, direction).
struct Ends {
  std::vector<Tensor> h, c;
};
struct Layers {
  RnnKind kind;
  int64_t count;
  bool bidirectional, train;
  double dropout;
  std::vector<Weights> weights;
};

Layers read_layers(RnnKind kind, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool projected,
                   const char* op) {
  Layers layers{kind, num_layers, bidirectional, train, dropout, {}};
  const size_t each = 2 + (has_biases ? 2 : 0) + (projected ? 1 : 0);
  const auto parts = static_cast<size_t>(num_layers) * (bidirectional ? 2 : 1);
  TAEDA_CHECK(params.size() == parts * each, "[", op, "] the number of weights must be ", parts * each, ": got ", params.size(),
              "; check num_layers, bias and bidirectional");
  for (size_t i = 0; i < parts; ++i) {
    const Tensor* p = params.data() + i * each;
    Weights w{p[0], p[1], projected ? p[each - 1] : Tensor(), std::nullopt, std::nullopt};
    if (has_biases) {
      w.b_ih = p[2];
      w.b_hh = p[3];
    }
    layers.weights.push_back(std::move(w));
  }
  return layers;
}

/// The input's share of the gates. Where nothing stands between them, the recurrent bias is added here.
Tensor input_gates(RnnKind kind, const Tensor& x, const Weights& w) {
  if (!w.b_ih) return taeda::linear(x, w.w_ih);
  return taeda::linear(x, w.w_ih, kind == RnnKind::kGru || w.w_hr.defined() ? *w.b_ih : w.b_ih->add(*w.b_hh));
}
/// One step with the input's share already there; a projection follows where there is one.
std::tuple<Tensor, Tensor> step(RnnKind kind, const Tensor& gates, const Tensor& h, const Tensor& c, const Weights& w) {
  const bool bias = kind == RnnKind::kGru || w.w_hr.defined();
  const Tensor hidden = taeda::linear(h, w.w_hh, bias ? w.b_hh : std::nullopt);
  // Only the state's shape matters to an LSTM's cell; with a projection that is the cell's.
  auto [state, cell, acts] = taeda::_rnn_cell(gates, hidden, w.w_hr.defined() ? c : h, c.defined() ? std::optional<Tensor>(c) : std::nullopt,
                                              static_cast<int64_t>(kind));
  return {w.w_hr.defined() ? taeda::linear(state, w.w_hr) : state, cell};
}

/// x (steps, batch, features) through one direction.
Tensor run_direction(const Layers& l, const Tensor& x, const Tensor& h0, const Tensor& c0, const Weights& w, bool reverse, Ends& ends) {
  const bool lstm = l.kind == RnnKind::kLstm;
  const int64_t steps = x.size(0), last = reverse ? 0 : steps - 1;
  const Tensor gates = input_gates(l.kind, x, w);
  if (!w.w_hr.defined()) {
    auto [states, cells, acts] = taeda::_rnn_layer(gates, h0, lstm ? std::optional<Tensor>(c0) : std::nullopt, w.w_hh,
                                                   l.kind == RnnKind::kGru ? w.b_hh : std::nullopt, static_cast<int64_t>(l.kind), reverse);
    ends.h.push_back(states.select(0, last));
    if (lstm) ends.c.push_back(cells.select(0, last));
    return states;
  }
  std::vector<Tensor> states(static_cast<size_t>(steps));
  Tensor h = h0, c = c0;
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t t = reverse ? steps - 1 - s : s;
    std::tie(h, c) = step(l.kind, gates.select(0, t), h, c, w);
    states[static_cast<size_t>(t)] = h;
  }
  ends.h.push_back(h);
  ends.c.push_back(c);
  return taeda::stack(states);
}

/// Rows of all sequences step by step, longest first: x (Σ batch_sizes, features).
Tensor run_packed_direction(const Layers& l, const Tensor& x, const std::vector<int64_t>& batch_sizes, const Tensor& h0, const Tensor& c0, const Weights& w,
                            bool reverse, Ends& ends) {
  const bool lstm = l.kind == RnnKind::kLstm;
  const Tensor gates = input_gates(l.kind, x, w);
  const size_t steps = batch_sizes.size();
  std::vector<Tensor> states(steps), done_h, done_c;
  const auto first_rows = [](const Tensor& t, int64_t n) { return t.defined() ? t.narrow(0, 0, n) : t; };
  int64_t offset = 0;
  if (!reverse) {
    Tensor h = first_rows(h0, batch_sizes[0]), c = first_rows(c0, batch_sizes[0]);
    for (size_t t = 0; t < steps; ++t) {
      const int64_t n = batch_sizes[t], ending = h.size(0) - n;
      if (ending > 0) {
        done_h.push_back(h.narrow(0, n, ending));
        if (lstm) done_c.push_back(c.narrow(0, n, ending));
        h = first_rows(h, n);
        c = first_rows(c, n);
      }
      std::tie(h, c) = step(l.kind, gates.narrow(0, offset, n), h, lstm ? c : Tensor(), w);
      states[t] = h;
      offset += n;
    }
    done_h.push_back(h);
    if (lstm) done_c.push_back(c);
    std::reverse(done_h.begin(), done_h.end());
    std::reverse(done_c.begin(), done_c.end());
    ends.h.push_back(taeda::cat(done_h));
    if (lstm) ends.c.push_back(taeda::cat(done_c));
    return taeda::cat(states);
  }
  offset = gates.size(0);
  Tensor h = first_rows(h0, batch_sizes[steps - 1]), c = first_rows(c0, batch_sizes[steps - 1]);
  for (size_t t = steps; t-- > 0;) {
    const int64_t n = batch_sizes[t], starting = n - h.size(0);
    if (starting > 0) {
      const int64_t at = h.size(0);
      h = taeda::cat({h, h0.narrow(0, at, starting)});
      if (lstm) c = taeda::cat({c, c0.narrow(0, at, starting)});
    }
    offset -= n;
    std::tie(h, c) = step(l.kind, gates.narrow(0, offset, n), h, lstm ? c : Tensor(), w);
    states[t] = h;
  }
  ends.h.push_back(h);
  if (lstm) ends.c.push_back(c);
  return taeda::cat(states);
}

struct Run {
  Tensor output, h, c;
};
/// All layers; `direction(x, h0, c0, weights, reverse, ends)` runs one.
template <class Direction>
Run run_layers(const Layers& l, Tensor x, const Tensor& hx, const Tensor& cx, const Direction& direction) {
  Ends ends;
  const int64_t directions = l.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < l.count; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t at = layer * directions + d;
      outputs.push_back(direction(x, hx.select(0, at), cx.defined() ? cx.select(0, at) : Tensor(), l.weights[static_cast<size_t>(at)], d == 1, ends));
    }
    x = outputs.size() == 1 ? outputs[0] : taeda::cat(outputs, -1);
    if (l.dropout > 0 && l.train && layer + 1 < l.count) x = taeda::dropout(x, l.dropout, true);
  }
  const auto joined = [](const std::vector<Tensor>& list) {
    if (list.empty()) return Tensor();
    return list.size() == 1 ? list[0].unsqueeze(0) : taeda::stack(list);
  };
  return {x, joined(ends.h), joined(ends.c)};
}

void check_states(const Tensor& input, const Tensor& hx, const Layers& l, int64_t batch, const char* op) {
  TAEDA_CHECK(hx.dim() == 3 && hx.size(0) == l.count * (l.bidirectional ? 2 : 1) && hx.size(1) == batch, "[", op,
              "] expected a hidden state of (layers * directions, batch, units) = (", l.count * (l.bidirectional ? 2 : 1), ", ", batch, ", …): got ",
              hx.sizes(), "; check the initial state");
  TAEDA_CHECK(input.size(-1) == l.weights[0].w_ih.size(1), "[", op, "] input.size(-1) must be equal to input_size: expected ", l.weights[0].w_ih.size(1),
              ", got ", input.size(-1), "; check the input");
}
Run run_input(RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& cx, TensorList params, bool has_biases, int64_t num_layers, double dropout,
              bool train, bool bidirectional, bool batch_first, const char* op) {
  TAEDA_CHECK(input.dim() == 3, "[", op, "] the input must have three dimensions: got ", input.sizes(), "; add a batch dimension");
  const bool projected = cx.defined() && cx.size(-1) != hx.size(-1);
  const Layers l = read_layers(kind, params, has_biases, num_layers, dropout, train, bidirectional, projected, op);
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  TAEDA_CHECK(x.size(0) > 0, "[", op, "] expected sequence length to be larger than 0: got ", input.sizes(), "; pass at least one step");
  check_states(input, hx, l, x.size(1), op);
  if (cx.defined()) check_states(input, cx, l, x.size(1), op);
  if (input.scalar_type() == kHalf || input.scalar_type() == kBFloat16) {
    std::vector<Tensor> wide;
    for (const Tensor& p : params) wide.push_back(p.to(kFloat));
    Run r = run_input(kind, input.to(kFloat), hx.to(kFloat), cx.defined() ? cx.to(kFloat) : cx, wide, has_biases, num_layers, dropout, train, bidirectional,
                      batch_first, op);
    const ScalarType type = input.scalar_type();
    return {r.output.to(type), r.h.to(type), r.c.defined() ? r.c.to(type) : r.c};
  }
  Run r = run_layers(l, x, hx, cx, [&](const Tensor& in, const Tensor& h0, const Tensor& c0, const Weights& w, bool reverse, Ends& ends) {
    return run_direction(l, in, h0, c0, w, reverse, ends);
  });
  if (batch_first) r.output = r.output.transpose(0, 1);
  return r;
}
Run run_packed(RnnKind kind, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, const Tensor& cx, TensorList params, bool has_biases,
               int64_t num_layers, double dropout, bool train, bool bidirectional, const char* op) {
  const bool projected = cx.defined() && cx.size(-1) != hx.size(-1);
  const Layers l = read_layers(kind, params, has_biases, num_layers, dropout, train, bidirectional, projected, op);
  TAEDA_CHECK(batch_sizes.dim() == 1 && batch_sizes.numel() > 0 && batch_sizes.scalar_type() == kLong, "[", op,
              "] batch_sizes must be a vector of int64: got ", batch_sizes.scalar_type(), " of sizes ", batch_sizes.sizes(), "; use pack_padded_sequence");
  const Tensor list = batch_sizes.contiguous();
  const auto* p = reinterpret_cast<const int64_t*>(list.impl().data());
  const std::vector<int64_t> sizes(p, p + list.numel());
  check_states(data, hx, l, sizes[0], op);
  return run_layers(l, data, hx, cx, [&](const Tensor& in, const Tensor& h0, const Tensor& c0, const Weights& w, bool reverse, Ends& ends) {
    return run_packed_direction(l, in, sizes, h0, c0, w, reverse, ends);
  });
}

/// Long short-term memory. input (steps, batch, features), or (batch, steps, features) with batch_first; hx: hidden and cell state, each
/// (layers · directions, batch, units); params: w_ih, w_hh, b_ih, b_hh (and w_hr with a projection) of each direction of each
/// layer. Returns the last layer's states of all steps, and the final hidden and cell states.
struct LstmInput : Composite {
  static constexpr auto schema =
      "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) "
      "-> (Tensor, Tensor, Tensor)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers,
                                                    double dropout, bool train, bool bidirectional, bool batch_first) {
    TAEDA_CHECK(hx.size() == 2, "[lstm] expects two hidden states: got ", hx.size(), "; pass (h, c)");
    Run r = run_input(RnnKind::kLstm, input, hx[0], hx[1], params, has_biases, num_layers, dropout, train, bidirectional, batch_first, "lstm");
    return {r.output, r.h, r.c};
  }
};
/// As above over a packed sequence.
struct LstmData : Composite {
  static constexpr auto schema =
      "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) "
      "-> (Tensor, Tensor, Tensor)";
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases,
                                                    int64_t num_layers, double dropout, bool train, bool bidirectional) {
    TAEDA_CHECK(hx.size() == 2, "[lstm] expects two hidden states: got ", hx.size(), "; pass (h, c)");
    Run r = run_packed(RnnKind::kLstm, data, batch_sizes, hx[0], hx[1], params, has_biases, num_layers, dropout, train, bidirectional, "lstm");
    return {r.output, r.h, r.c};
  }
};
/// Gated recurrent units. Shapes as those of `lstm`; returns all states of the last layer and the final ones.
struct GruInput : Composite {
  static constexpr auto schema =
      "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) "
      "-> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                            bool train, bool bidirectional, bool batch_first) {
    Run r = run_input(RnnKind::kGru, input, hx, Tensor(), params, has_biases, num_layers, dropout, train, bidirectional, batch_first, "gru");
    return {r.output, r.h};
  }
};
/// As above over a packed sequence.
struct GruData : Composite {
  static constexpr auto schema =
      "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) "
      "-> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases,
                                            int64_t num_layers, double dropout, bool train, bool bidirectional) {
    Run r = run_packed(RnnKind::kGru, data, batch_sizes, hx, Tensor(), params, has_biases, num_layers, dropout, train, bidirectional, "gru");
    return {r.output, r.h};
  }
};
/// A plain recurrent network with tanh. Shapes as those of `lstm`; returns all states of the last layer and the final ones.
struct RnnTanhInput : Composite {
  static constexpr auto schema =
      "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) "
      "-> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                            bool train, bool bidirectional, bool batch_first) {
    Run r = run_input(RnnKind::kTanh, input, hx, Tensor(), params, has_biases, num_layers, dropout, train, bidirectional, batch_first, "rnn_tanh");
    return {r.output, r.h};
  }
};
/// As above over a packed sequence.
struct RnnTanhData : Composite {
  static constexpr auto schema =
      "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) "
      "-> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases,
                                            int64_t num_layers, double dropout, bool train, bool bidirectional) {
    Run r = run_packed(RnnKind::kTanh, data, batch_sizes, hx, Tensor(), params, has_biases, num_layers, dropout, train, bidirectional, "rnn_tanh");
    return {r.output, r.h};
  }
};
/// A plain recurrent network with relu. Shapes as those of `lstm`; returns all states of the last layer and the final ones.
struct RnnReluInput : Composite {
  static constexpr auto schema =
      "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) "
      "-> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                            bool train, bool bidirectional, bool batch_first) {
    Run r = run_input(RnnKind::kRelu, input, hx, Tensor(), params, has_biases, num_layers, dropout, train, bidirectional, batch_first, "rnn_relu");
    return {r.output, r.h};
  }
};
/// As above over a packed sequence.
struct RnnReluData : Composite {
  static constexpr auto schema =
      "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) "
      "-> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases,
                                            int64_t num_layers, double dropout, bool train, bool bidirectional) {
    Run r = run_packed(RnnKind::kRelu, data, batch_sizes, hx, Tensor(), params, has_biases, num_layers, dropout, train, bidirectional, "rnn_relu");
    return {r.output, r.h};
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/rnn_layers.inc"
