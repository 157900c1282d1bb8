// How the generated parts of the kernel tables reach pointwise_table.cpp's accessors. Internal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu/pointwise_ids.h"

namespace taeda::cpu::detail {

/// The kernels of one generated translation unit, in the order of the ids.
struct PointwisePart {
  const PointwiseKernel* kernels;
  int count;
};

extern const int pointwise_part_count;
extern const PointwisePart* const pointwise_parts[kSimdTargets];
extern const PointwiseKernelInfo pointwise_infos[kPointwiseKernels];

}  // namespace taeda::cpu::detail
