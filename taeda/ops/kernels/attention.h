// SPDX-License-Identifier: Apache-2.0
// Kernels of scaled dot-product attention: what the operators hand over.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// A 4-dim operand (batch, heads, rows, columns) with strides in elements; the columns of tensors adjoin.
struct AttentionOperand {
  char* data = nullptr;
  int64_t batch = 0, head = 0, row = 0, column = 1;
};
/// query (batch, heads, length, width), key (…, keys, width), value (…, keys, value_width). float32 or float64.
struct AttentionArgs {
  ScalarType dtype;
  int64_t batch, heads, length, keys, width, value_width;
  double scale;
  bool causal;
  bool mask_is_bool;
  AttentionOperand query, key, value, mask;  ///< mask.data null: none; bool: true takes part
  AttentionOperand out;                      ///< backward: the forward's result, read
  char* log_sum;                             ///< (batch, heads, length): log Σ exp of the scores, -inf for a row without keys
  AttentionOperand grad_out, grad_query, grad_key, grad_value;  ///< backward only
};
extern TAEDA_API DeviceKernel<void(const AttentionArgs&)> attention_kernel;
extern TAEDA_API DeviceKernel<void(const AttentionArgs&)> attention_grad_kernel;

}  // namespace taeda
