// SPDX-License-Identifier: Apache-2.0
// Kernels of recurrent layers: what the operators hand over.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

enum class RnnKind : uint8_t { kLstm, kGru, kTanh, kRelu };

/// One direction of one layer over `steps` steps of `batch` rows, `hidden` units each, all contiguous, float32 or float64.
/// G is the number of gates: 4 for an LSTM (input, forget, cell, output), 3 for a GRU (reset, update, new), else 1.
struct RnnArgs {
  RnnKind kind;
  ScalarType dtype;
  int64_t steps, batch, hidden;
  bool reverse;            ///< the last step comes first
  const char* gates;       ///< (steps, batch, G hidden): what the input (and the biases) contribute
  const char* w_hh;        ///< (G hidden, hidden); null: no recurrent product, `hidden_gates` holds it (one step)
  const char* hidden_gates;
  const char* b_hh;        ///< GRU: (3 hidden) or null
  const char* h0;          ///< (batch, hidden)
  const char* c0;          ///< LSTM
  char* output;            ///< (steps, batch, hidden)
  char* cells;             ///< LSTM: (steps, batch, hidden)
  char* acts;              ///< (steps, batch, A hidden): activations of the gates (A = 4 for LSTM and GRU: the GRU keeps its
                           ///< hidden share of the new gate fourth; 0 for plain cells)
  // Backward: reads the results above.
  const char* grad_output;  ///< (steps, batch, hidden) or null
  const char* grad_cells;   ///< LSTM: (steps, batch, hidden) or null
  char* grad_gates;         ///< (steps, batch, G hidden)
  char* grad_hidden_gates;  ///< GRU: (steps, batch, G hidden), gradient of the recurrent product
  char* grad_h0;            ///< (batch, hidden)
  char* grad_c0;            ///< LSTM
};
extern TAEDA_API DeviceKernel<void(const RnnArgs&)> rnn_kernel;
extern TAEDA_API DeviceKernel<void(const RnnArgs&)> rnn_grad_kernel;

}  // namespace taeda
