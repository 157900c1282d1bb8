// SPDX-License-Identifier: Apache-2.0
// Finding the first operator that made NaN or Inf.
#pragma once

#include "taeda/core/node.h"

namespace taeda::autograd::anomaly {

/// Runs `node` and checks what it computed.
void run_node(Node& node, std::span<Tensor> in, std::span<Tensor> out);

}  // namespace taeda::autograd::anomaly
