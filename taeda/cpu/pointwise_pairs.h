// SPDX-License-Identifier: Apache-2.0
// Two arithmetic operators in one loop: what lies between them stays in a register. For interpreters of fused loops.
#pragma once

#include "taeda/cpu/pointwise_abi.h"

namespace taeda::cpu {

/// The float32 loop of `second` with the result of `first` as its left or right input; null where there is none. Inputs: those of `first`, the
/// other one of `second`. Attributes: those of `first`, then those of `second`. The bits are those of the two loops one after the other.
PointwiseLoop pointwise_pair(PointwiseKernelId first, PointwiseKernelId second, bool left);

}  // namespace taeda::cpu
