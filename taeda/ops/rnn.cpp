// SPDX-License-Identifier: Apache-2.0
// The steps of recurrent networks: one direction of one layer, and single cells.
#include "taeda/ops/kernels/rnn.h"

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

RnnKind kind_of(int64_t kind) {
  TAEDA_CHECK(kind >= 0 && kind <= 3, "[rnn] the kind of cell must be 0 (LSTM), 1 (GRU), 2 (tanh) or 3 (relu): got ", kind, "; choose one");
  return static_cast<RnnKind>(kind);
}
/// Kernels read these operands as they are.
void check_operand(const std::optional<Tensor>& t, ScalarType type, std::initializer_list<int64_t> sizes, const char* what) {
  if (!t || !t->defined()) return;
  TAEDA_CHECK(t->scalar_type() == type, "[rnn] ", what, " must have the dtype of the input's gates: got ", t->scalar_type(), " and ", type, "; convert it");
  TAEDA_CHECK(t->sizes() == IntArrayRef(sizes), "[rnn] ", what, " must have sizes ", IntArrayRef(sizes), ": got ", t->sizes(), "; check the shapes");
}
void check_float(const Tensor& t, int64_t dims) {
  TAEDA_CHECK(t.dim() == dims && (t.scalar_type() == kFloat || t.scalar_type() == kDouble), "[rnn] expected float32 or float64 with ", dims,
              " dimensions: got ", t.scalar_type(), t.sizes(), "; convert or reshape it");
}
int64_t gate_count(RnnKind kind) { return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1; }
int64_t act_count(RnnKind kind) { return kind == RnnKind::kLstm || kind == RnnKind::kGru ? 4 : 0; }
std::optional<Tensor> given(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }
char* data_or_null(const Tensor& t) { return t.defined() && t.numel() > 0 ? t.impl().data() : nullptr; }

/// What a step does to its gates, with public operators, for gradients of gradients. All arguments have the shape (…, units).
struct StepGrad {
  Tensor gates, hidden_gates, h, c;
};
/// gates and hidden_gates (…, G units) before the activations; h, c before the step; c_out after; dh, dc its cotangents.
StepGrad differentiate_step(RnnKind kind, const Tensor& gates, const Tensor& hidden_gates, const Tensor& h, const Tensor& c, const Tensor& h_out,
                            const Tensor& c_out, const Tensor& dh, const Tensor& dc_in) {
  const auto one_minus = [](const Tensor& t) { return t.neg().add(1); };
  if (kind == RnnKind::kLstm) {
    const auto g = gates.add(hidden_gates).chunk(4, -1);
    const Tensor in = g[0].sigmoid(), forget = g[1].sigmoid(), cell = g[2].tanh(), out = g[3].sigmoid(), t = c_out.tanh();
    Tensor dc = dh.mul(out).mul(one_minus(t.mul(t)));
    if (dc_in.defined()) dc = dc.add(dc_in);
    const Tensor grads = taeda::cat({dc.mul(cell).mul(in).mul(one_minus(in)), dc.mul(c).mul(forget).mul(one_minus(forget)),
                                     dc.mul(in).mul(one_minus(cell.mul(cell))), dh.mul(t).mul(out).mul(one_minus(out))}, -1);
    return {grads, grads, Tensor(), dc.mul(forget)};
  }
  if (kind == RnnKind::kGru) {
    const auto a = gates.chunk(3, -1), b = hidden_gates.chunk(3, -1);
    const Tensor reset = a[0].add(b[0]).sigmoid(), update = a[1].add(b[1]).sigmoid(), fresh = a[2].add(reset.mul(b[2])).tanh();
    const Tensor d_fresh = dh.mul(one_minus(update)).mul(one_minus(fresh.mul(fresh)));
    const Tensor d_update = dh.mul(h.sub(fresh)).mul(update).mul(one_minus(update));
    const Tensor d_reset = d_fresh.mul(b[2]).mul(reset).mul(one_minus(reset));
    return {taeda::cat({d_reset, d_update, d_fresh}, -1), taeda::cat({d_reset, d_update, d_fresh.mul(reset)}, -1), dh.mul(update), Tensor()};
  }
  const Tensor grads = kind == RnnKind::kTanh ? dh.mul(one_minus(h_out.mul(h_out))) : dh.mul(h_out.gt(0).to(dh.scalar_type()));
  return {grads, grads, Tensor(), Tensor()};
}

RnnArgs describe(RnnKind kind, const Tensor& gates, int64_t steps, int64_t batch, int64_t hidden, bool reverse) {
  RnnArgs x{};
  x.kind = kind;
  x.dtype = gates.scalar_type();
  x.steps = steps, x.batch = batch, x.hidden = hidden, x.reverse = reverse;
  x.gates = gates.impl().data();
  return x;
}
/// States before each step: the first one and the results of all others.
Tensor states_before(const Tensor& first, const Tensor& states, bool reverse) {
  const int64_t steps = states.size(0);
  if (steps == 1) return first.unsqueeze(0);
  return reverse ? taeda::cat({states.narrow(0, 1, steps - 1), first.unsqueeze(0)}) : taeda::cat({first.unsqueeze(0), states.narrow(0, 0, steps - 1)});
}

/// One direction of one layer. gates (steps, batch, G · units): the input's share, biases included; hx, cx (batch, units); w_hh
/// (G · units, units); b_hh: of a GRU, added to the recurrent product. kind: 0 LSTM, 1 GRU, 2 tanh, 3 relu. Returns the states
/// (steps, batch, units), the LSTM's cells likewise (else empty) and the activations kept for the gradient.
struct RnnLayer {
  static constexpr auto schema =
      "_rnn_layer(Tensor gates, Tensor hx, Tensor? cx, Tensor w_hh, Tensor? b_hh, int kind, bool reverse) -> (Tensor states, Tensor cells, Tensor acts)";
  static constexpr auto variants = "function";
  static constexpr auto undefined_grads = true;
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& gates, const Tensor& hx, const std::optional<Tensor>& cx, const Tensor& w_hh,
                                                    const std::optional<Tensor>& b_hh, int64_t kind, bool reverse) {
    const RnnKind k = kind_of(kind);
    check_float(gates, 3);
    const int64_t steps = gates.size(0), batch = gates.size(1), units = hx.size(-1);
    TAEDA_CHECK(hx.dim() == 2 && hx.size(0) == batch, "[rnn] expected hidden size (", batch, ", ", units, "): got ", hx.sizes(), "; check the initial state");
    TAEDA_CHECK(w_hh.dim() == 2 && w_hh.size(0) == gate_count(k) * units && w_hh.size(1) == units && gates.size(2) == w_hh.size(0),
                "[rnn] the recurrent weight must be (", gate_count(k) * units, ", ", units, "): got ", w_hh.sizes(), "; check hidden_size");
    TAEDA_CHECK(k != RnnKind::kLstm || (cx && cx->sizes() == hx.sizes()), "[rnn] the cell state must have the hidden state's shape: got ",
                cx ? cx->sizes() : IntArrayRef(), " and ", hx.sizes(), "; check the initial state");
    const ScalarType type = gates.scalar_type();
    check_operand(hx, type, {batch, units}, "the hidden state");
    check_operand(cx, type, {batch, units}, "the cell state");
    check_operand(w_hh, type, {gate_count(k) * units, units}, "the recurrent weight");
    check_operand(b_hh, type, {gate_count(k) * units}, "the recurrent bias");
    const Tensor g = gates.contiguous(), h = hx.contiguous(), w = w_hh.contiguous();
    const Tensor c = cx && cx->defined() ? cx->contiguous() : Tensor(), b = b_hh && b_hh->defined() ? b_hh->contiguous() : Tensor();
    const auto fresh = [&](int64_t width) { return make_tensor({steps, batch, width}, gates.scalar_type(), gates.device()); };
    Tensor states = fresh(units), cells = fresh(k == RnnKind::kLstm ? units : 0), acts = fresh(act_count(k) * units);
    RnnArgs x = describe(k, g, steps, batch, units, reverse);
    x.w_hh = w.impl().data(), x.b_hh = data_or_null(b), x.h0 = h.impl().data(), x.c0 = data_or_null(c);
    x.output = states.impl().data(), x.cells = data_or_null(cells), x.acts = data_or_null(acts);
    if (states.numel() > 0) rnn_kernel(gates.device(), x);
    return {states, cells, acts};
  }
  static constexpr auto grads_for = "gates hx cx w_hh b_hh";
  static std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> grads(const Tensor& grad_states, const Tensor& grad_cells, const Tensor& gates, const Tensor& hx,
                                                                  const Tensor& cx, const Tensor& w_hh, const Tensor& b_hh, const Tensor& states,
                                                                  const Tensor& cells, const Tensor& acts, int64_t kind, bool reverse) {
    const Tensor before = states_before(hx, states, reverse);
    Tensor d_gates, d_hidden, d_h, d_c;
    if (autograd::recording()) {
      std::tie(d_gates, d_hidden, d_h, d_c) = differentiate(kind_of(kind), grad_states, grad_cells, gates, before, cx, w_hh, b_hh, states, cells, reverse);
    } else {
      std::tie(d_gates, d_hidden, d_h, d_c) =
          taeda::_rnn_layer_backward(given(grad_states), given(grad_cells), hx, given(cx), w_hh, states, cells, acts, kind, reverse);
    }
    const Tensor flat = d_hidden.reshape({-1, d_hidden.size(-1)});
    const Tensor d_w = flat.t().mm(before.reshape({-1, hx.size(-1)}));
    return {d_gates, d_h, cx.defined() ? d_c : Tensor(), d_w, b_hh.defined() ? flat.sum(IntArrayRef(zero_dim)) : Tensor()};
  }
  static constexpr int64_t zero_dim = 0;
  /// The same with public operators, for gradients of gradients.
  static std::tuple<Tensor, Tensor, Tensor, Tensor> differentiate(RnnKind kind, const Tensor& grad_states, const Tensor& grad_cells, const Tensor& gates,
                                                                  const Tensor& before, const Tensor& cx, const Tensor& w_hh, const Tensor& b_hh,
                                                                  const Tensor& states, const Tensor& cells, bool reverse) {
    const int64_t steps = gates.size(0);
    const Tensor hidden = taeda::linear(before, w_hh, given(b_hh));
    const bool lstm = kind == RnnKind::kLstm;
    const Tensor cells_before = lstm ? states_before(cx, cells, reverse) : Tensor();
    std::vector<Tensor> d_gates(static_cast<size_t>(steps)), d_hidden(static_cast<size_t>(steps));
    Tensor dh = taeda::zeros_like(before.select(0, 0)), dc;
    for (int64_t s = steps - 1; s >= 0; --s) {
      const int64_t t = reverse ? steps - 1 - s : s;
      const auto row = [t](const Tensor& x) { return x.defined() ? x.select(0, t) : Tensor(); };
      if (grad_states.defined()) dh = dh.add(row(grad_states));
      if (lstm && grad_cells.defined()) dc = dc.defined() ? dc.add(row(grad_cells)) : row(grad_cells);
      const StepGrad g = differentiate_step(kind, row(gates), row(hidden), row(before), row(cells_before), row(states), lstm ? row(cells) : Tensor(), dh, dc);
      d_gates[static_cast<size_t>(t)] = g.gates;
      d_hidden[static_cast<size_t>(t)] = g.hidden_gates;
      dh = g.hidden_gates.mm(w_hh);
      if (g.h.defined()) dh = dh.add(g.h);
      dc = g.c;
    }
    return {taeda::stack(d_gates), taeda::stack(d_hidden), dh, dc};
  }
};

/// Gradients of `_rnn_layer` for gates, the recurrent product, hx and cx.
struct RnnLayerBackward {
  static constexpr auto schema =
      "_rnn_layer_backward(Tensor? grad_states, Tensor? grad_cells, Tensor hx, Tensor? cx, Tensor w_hh, Tensor states, Tensor cells, Tensor acts, int kind, "
      "bool reverse) -> (Tensor, Tensor, Tensor, Tensor)";
  static constexpr auto no_grad = "gradients of gradients are recorded through the single steps";
  static std::tuple<Tensor, Tensor, Tensor, Tensor> forward(const std::optional<Tensor>& grad_states, const std::optional<Tensor>& grad_cells,
                                                            const Tensor& hx, const std::optional<Tensor>& cx, const Tensor& w_hh, const Tensor& states,
                                                            const Tensor& cells, const Tensor& acts, int64_t kind, bool reverse) {
    const RnnKind k = kind_of(kind);
    check_float(states, 3);
    const int64_t steps = states.size(0), batch = states.size(1), units = states.size(2);
    const ScalarType type = states.scalar_type();
    TAEDA_CHECK(k != RnnKind::kLstm || (cx && cx->defined()), "[rnn] an LSTM needs its cell state: got none; pass cx");
    check_operand(grad_states, type, {steps, batch, units}, "the states' gradient");
    check_operand(grad_cells, type, {steps, batch, k == RnnKind::kLstm ? units : 0}, "the cells' gradient");
    check_operand(hx, type, {batch, units}, "the hidden state");
    check_operand(cx, type, {batch, units}, "the cell state");
    check_operand(w_hh, type, {gate_count(k) * units, units}, "the recurrent weight");
    check_operand(cells, type, {steps, batch, k == RnnKind::kLstm ? units : 0}, "the cells");
    check_operand(acts, type, {steps, batch, act_count(k) * units}, "the activations");
    const auto whole = [](const std::optional<Tensor>& t) { return t && t->defined() ? t->contiguous() : Tensor(); };
    const Tensor gs = whole(grad_states), gc = whole(grad_cells), h = hx.contiguous(), c = whole(cx), w = w_hh.contiguous();
    const auto fresh = [&](IntArrayRef sizes) { return make_tensor(sizes, states.scalar_type(), states.device()); };
    Tensor d_gates = fresh({steps, batch, gate_count(k) * units});
    Tensor d_hidden = k == RnnKind::kGru ? fresh({steps, batch, 3 * units}) : d_gates;
    Tensor d_h = fresh({batch, units}), d_c = fresh({k == RnnKind::kLstm ? batch : 0, units});
    RnnArgs x = describe(k, d_gates, steps, batch, units, reverse);
    x.w_hh = w.impl().data(), x.h0 = h.impl().data(), x.c0 = data_or_null(c);
    const Tensor dense_states = states.contiguous(), dense_cells = cells.contiguous(), dense_acts = acts.contiguous();
    x.output = dense_states.impl().data(), x.cells = data_or_null(dense_cells), x.acts = data_or_null(dense_acts);
    x.grad_output = data_or_null(gs), x.grad_cells = data_or_null(gc);
    x.grad_gates = d_gates.impl().data(), x.grad_hidden_gates = d_hidden.impl().data(), x.grad_h0 = d_h.impl().data(), x.grad_c0 = data_or_null(d_c);
    if (states.numel() > 0) rnn_grad_kernel(states.device(), x);
    return {d_gates, d_hidden, d_h, d_c};
  }
};

/// One step. gates and hidden_gates (batch, G · units): the shares of input and hidden state; hx, cx (batch, units). Returns the new
/// state, the LSTM's new cell (else empty) and the activations kept for the gradient.
struct RnnCell {
  static constexpr auto schema =
      "_rnn_cell(Tensor gates, Tensor hidden_gates, Tensor hx, Tensor? cx, int kind) -> (Tensor state, Tensor cell, Tensor acts)";
  static constexpr auto variants = "function";
  static constexpr auto undefined_grads = true;
  static std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& gates, const Tensor& hidden_gates, const Tensor& hx, const std::optional<Tensor>& cx,
                                                    int64_t kind) {
    const RnnKind k = kind_of(kind);
    check_float(hx, 2);
    const int64_t batch = hx.size(0), units = hx.size(1);
    TAEDA_CHECK(k != RnnKind::kLstm || (cx && cx->defined()), "[rnn] an LSTM needs its cell state: got none; pass cx");
    check_operand(gates, hx.scalar_type(), {batch, gate_count(k) * units}, "the input's gates");
    check_operand(hidden_gates, hx.scalar_type(), {batch, gate_count(k) * units}, "the hidden state's gates");
    check_operand(cx, hx.scalar_type(), {batch, units}, "the cell state");
    const Tensor g = gates.contiguous(), b = hidden_gates.contiguous(), h = hx.contiguous(), c = cx && cx->defined() ? cx->contiguous() : Tensor();
    const auto fresh = [&](int64_t width) { return make_tensor({batch, width}, gates.scalar_type(), gates.device()); };
    Tensor state = fresh(units), cell = fresh(k == RnnKind::kLstm ? units : 0), acts = fresh(act_count(k) * units);
    RnnArgs x = describe(k, g, 1, batch, units, false);
    x.hidden_gates = b.impl().data(), x.h0 = h.impl().data(), x.c0 = data_or_null(c);
    x.output = state.impl().data(), x.cells = data_or_null(cell), x.acts = data_or_null(acts);
    if (state.numel() > 0) rnn_kernel(gates.device(), x);
    return {state, cell, acts};
  }
  static constexpr auto grads_for = "gates hidden_gates hx cx";
  static std::tuple<Tensor, Tensor, Tensor, Tensor> grads(const Tensor& grad_state, const Tensor& grad_cell, const Tensor& gates, const Tensor& hidden_gates,
                                                          const Tensor& hx, const Tensor& cx, const Tensor& state, const Tensor& cell, const Tensor& acts,
                                                          int64_t kind) {
    const RnnKind k = kind_of(kind);
    if (autograd::recording()) {
      const Tensor dh = grad_state.defined() ? grad_state : taeda::zeros_like(hx);
      const StepGrad g = differentiate_step(k, gates, hidden_gates, hx, cx, state, k == RnnKind::kLstm ? cell : Tensor(), dh, grad_cell);
      return {g.gates, g.hidden_gates, g.h, g.c};
    }
    auto [d_gates, d_hidden, d_h, d_c] = taeda::_rnn_cell_backward(given(grad_state), given(grad_cell), hx, given(cx), state, cell, acts, kind);
    return {d_gates, d_hidden, k == RnnKind::kGru ? d_h : Tensor(), cx.defined() ? d_c : Tensor()};
  }
};

/// Gradients of `_rnn_cell` for gates, hidden_gates, hx (of a GRU, besides the product) and cx.
struct RnnCellBackward {
  static constexpr auto schema =
      "_rnn_cell_backward(Tensor? grad_state, Tensor? grad_cell, Tensor hx, Tensor? cx, Tensor state, Tensor cell, Tensor acts, int kind) -> "
      "(Tensor, Tensor, Tensor, Tensor)";
  static constexpr auto no_grad = "gradients of gradients are recorded through the single operations";
  static std::tuple<Tensor, Tensor, Tensor, Tensor> forward(const std::optional<Tensor>& grad_state, const std::optional<Tensor>& grad_cell,
                                                            const Tensor& hx, const std::optional<Tensor>& cx, const Tensor& state, const Tensor& cell,
                                                            const Tensor& acts, int64_t kind) {
    const RnnKind k = kind_of(kind);
    check_float(state, 2);
    const int64_t batch = state.size(0), units = state.size(1);
    const ScalarType type = state.scalar_type();
    TAEDA_CHECK(k != RnnKind::kLstm || (cx && cx->defined()), "[rnn] an LSTM needs its cell state: got none; pass cx");
    check_operand(grad_state, type, {batch, units}, "the state's gradient");
    check_operand(grad_cell, type, {batch, k == RnnKind::kLstm ? units : 0}, "the cell's gradient");
    check_operand(hx, type, {batch, units}, "the hidden state");
    check_operand(cx, type, {batch, units}, "the cell state");
    check_operand(cell, type, {batch, k == RnnKind::kLstm ? units : 0}, "the cell");
    check_operand(acts, type, {batch, act_count(k) * units}, "the activations");
    const auto whole = [](const std::optional<Tensor>& t) { return t && t->defined() ? t->contiguous() : Tensor(); };
    const Tensor gs = whole(grad_state), gc = whole(grad_cell), h = hx.contiguous(), c = whole(cx);
    const auto fresh = [&](int64_t rows, int64_t width) { return make_tensor({rows, width}, state.scalar_type(), state.device()); };
    Tensor d_gates = fresh(batch, gate_count(k) * units);
    Tensor d_hidden = k == RnnKind::kGru ? fresh(batch, 3 * units) : d_gates;
    Tensor d_h = fresh(batch, units), d_c = fresh(k == RnnKind::kLstm ? batch : 0, units);
    RnnArgs x = describe(k, d_gates, 1, batch, units, false);
    x.h0 = h.impl().data(), x.c0 = data_or_null(c);
    const Tensor dense_state = state.contiguous(), dense_cell = cell.contiguous(), dense_acts = acts.contiguous();
    x.output = dense_state.impl().data(), x.cells = data_or_null(dense_cell), x.acts = data_or_null(dense_acts);
    x.grad_output = data_or_null(gs), x.grad_cells = data_or_null(gc);
    x.grad_gates = d_gates.impl().data(), x.grad_hidden_gates = d_hidden.impl().data(), x.grad_h0 = d_h.impl().data(), x.grad_c0 = data_or_null(d_c);
    if (state.numel() > 0) rnn_grad_kernel(state.device(), x);
    return {d_gates, d_hidden, d_h, d_c};
  }
};

/// A step with its two affine maps. 1-dim inputs are one row.
std::tuple<Tensor, Tensor> run_cell(RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
                                    const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh, const char* op) {
  TAEDA_CHECK(input.dim() == 2 && hx.dim() == 2, "[", op, "] input and hidden state must have two dimensions (batch, features): got ", input.sizes(), " and ",
              hx.sizes(), "; add a batch dimension");
  TAEDA_CHECK(input.size(0) == hx.size(0), "[", op, "] input batch size ", input.size(0), " doesn't match hidden batch size ", hx.size(0),
              ": got ", input.sizes(), " and ", hx.sizes(), "; check the state");
  TAEDA_CHECK(input.size(1) == w_ih.size(1), "[", op, "] input has inconsistent input_size: got ", input.size(1), " expected ", w_ih.size(1),
              "; check the input");
  TAEDA_CHECK(hx.size(1) == w_hh.size(1), "[", op, "] hidden has inconsistent hidden_size: got ", hx.size(1), ", expected ", w_hh.size(1),
              "; check the state");
  const ScalarType type = input.scalar_type(), compute = type == kDouble ? kDouble : kFloat;
  const Tensor gates = taeda::linear(input, w_ih, b_ih).to(compute), hidden = taeda::linear(hx, w_hh, b_hh).to(compute);
  auto [h, c, acts] = taeda::_rnn_cell(gates, hidden, hx.to(compute), cx.defined() ? std::optional<Tensor>(cx.to(compute)) : std::nullopt,
                                       static_cast<int64_t>(kind));
  return {h.to(type), c.to(type)};
}

/// One step of an LSTM: hx is (hidden state, cell state); returns the new ones.
struct LstmCell : Composite {
  static constexpr auto schema =
      "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)";
  static std::tuple<Tensor, Tensor> forward(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                                            const std::optional<Tensor>& b_hh) {
    TAEDA_CHECK(hx.size() == 2, "[lstm_cell] expects two hidden states: got ", hx.size(), "; pass (h, c)");
    TAEDA_CHECK(hx[0].sizes() == hx[1].sizes(), "[lstm_cell] hidden and cell state must have the same shape: got ", hx[0].sizes(), " and ", hx[1].sizes(),
                "; check the states");
    return run_cell(RnnKind::kLstm, input, hx[0], hx[1], w_ih, w_hh, b_ih, b_hh, "lstm_cell");
  }
};
/// One step of a GRU.
struct GruCell : Composite {
  static constexpr auto schema = "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                        const std::optional<Tensor>& b_hh) {
    return std::get<0>(run_cell(RnnKind::kGru, input, hx, Tensor(), w_ih, w_hh, b_ih, b_hh, "gru_cell"));
  }
};
/// One step of a plain recurrent network with tanh.
struct RnnTanhCell : Composite {
  static constexpr auto schema = "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                        const std::optional<Tensor>& b_hh) {
    return std::get<0>(run_cell(RnnKind::kTanh, input, hx, Tensor(), w_ih, w_hh, b_ih, b_hh, "rnn_tanh_cell"));
  }
};
/// One step of a plain recurrent network with relu.
struct RnnReluCell : Composite {
  static constexpr auto schema = "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                        const std::optional<Tensor>& b_hh) {
    return std::get<0>(run_cell(RnnKind::kRelu, input, hx, Tensor(), w_ih, w_hh, b_ih, b_hh, "rnn_relu_cell"));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/rnn.inc"
