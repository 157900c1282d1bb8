// SPDX-License-Identifier: Apache-2.0
// Finding the first operator that made NaN or Inf.
#include "taeda/autograd/anomaly.h"

namespace taeda::autograd::anomaly {

void run_node(Node& node, std::span<Tensor> in, std::span<Tensor> out) { node.backward(in, out); }

}  // namespace taeda::autograd::anomaly
