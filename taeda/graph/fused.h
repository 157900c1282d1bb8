// SPDX-License-Identifier: Apache-2.0
// Operators that only graphs have: what passes make of several.
#pragma once

#include "taeda/graph/graph.h"
#include "taeda/ops/conv.h"

namespace taeda::graph {

/// fused_convolution(input, weight, bias, add, stride, padding, dilation, groups, relu): convolution, + add, relu; bit by bit those three.
extern const OpInfo kFusedConvolution;
/// The arguments of a node of kFusedConvolution.
enum FusedConvolution : size_t { kInput, kWeight, kBias, kAdd, kStride, kPadding, kDilation, kGroups, kRelu };

/// One of these operators by name, or null.
const OpInfo* fused_operator(std::string_view name);

/// The window of a node of kFusedConvolution, from its arguments in order.
detail::ConvWindow window_of(const Value* args);

}  // namespace taeda::graph
