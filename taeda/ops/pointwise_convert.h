// SPDX-License-Identifier: Apache-2.0
// The loops that convert elements from one dtype to another.
#pragma once

#include "taeda/core/scalar_type.h"

namespace taeda::pointwise {

/// loop(to, to_stride, from, from_stride, n): strides in bytes.
using ConvertLoop = void (*)(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n);
ConvertLoop convert_loop_for(ScalarType to, ScalarType from);

}  // namespace taeda::pointwise
