// SPDX-License-Identifier: Apache-2.0
// How tensors lie in memory, for the capture and the interpreter.
#pragma once

#include "taeda/graph/graph.h"
#include "taeda/ops/functions.h"

namespace taeda::graph {

Type type_of(const Tensor& t);
/// A copy with the same strides where the tensor is dense, else a contiguous one.
Tensor copy_as_laid_out(const Tensor& t);

}  // namespace taeda::graph
