// SPDX-License-Identifier: Apache-2.0
// Convolutions of float and double on the CPU, by instruction set.
#pragma once

#include "taeda/ops/kernels/conv.h"

namespace taeda::cpu {

/// The loops of one dtype.
struct ConvLoops {
  void (*forward)(const ConvArgs&);
  void (*transposed)(const ConvArgs&);
  void (*weight)(const ConvArgs&);
  int64_t (*pack)(const ConvGeometry&, const char* weight, char* packed);
};
const ConvLoops& conv_loops_f32();
const ConvLoops& conv_loops_f64();

}  // namespace taeda::cpu
