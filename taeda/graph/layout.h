// SPDX-License-Identifier: Apache-2.0
// How tensors lie in memory, for the capture and the interpreter.
#pragma once

#include "taeda/graph/graph.h"
#include "taeda/ops/functions.h"

namespace taeda::graph {

Type type_of(const Tensor& t);
/// A copy with the same strides, in memory of its own.
Tensor copy_as_laid_out(const Tensor& t);
/// The element of the storage behind the last one of `t`.
int64_t end_of(const Tensor& t);
/// Whether the ranges of memory meet.
bool share_elements(const Tensor& a, const Tensor& b);
/// Whether several elements may be at one place.
bool overlaps_itself(const Tensor& t);
/// Throws ValueError where what a run changes shares memory with another of `inputs` or with a state.
void check_apart(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace taeda::graph
