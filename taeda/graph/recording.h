// SPDX-License-Identifier: Apache-2.0
// Captures and runs that autograd sees.
#pragma once

#include "taeda/graph/capture.h"

namespace taeda::graph {

using AddInput = std::function<void(const Tensor&)>;

/// capture() while gradients are recorded: what autograd calls becomes nodes too. The function is of `inputs`, which have memory of their own,
/// and may add further inputs, made below the door.
Graph capture_with_gradients(const std::function<std::vector<Tensor>(const AddInput&)>& function, const std::vector<Tensor>& inputs, const States& states);

/// Runs the operators above autograd: on `leaves` (by value; undefined ones are made by nodes), of which none is changed. Returns the
/// outputs, then the values of the mutations.
std::vector<Tensor> run_recorded(const Graph& graph, std::vector<Tensor> leaves);

/// What as_strided shows, by views whose gradients are plain (view, narrow, permute, expand) where those can show it.
Tensor plain_view(const Tensor& whole, IntArrayRef sizes, IntArrayRef strides, int64_t offset);

}  // namespace taeda::graph
