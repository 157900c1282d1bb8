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

/// pointwise_gradient(kernel, dtype, grad, saved, numbers): the gradient of a pointwise operator by its kernel, computed in `dtype`.
extern const OpInfo kPointwiseGradient;
/// The arguments of a node of kPointwiseGradient.
enum PointwiseGradient : size_t { kKernel, kDtype, kGrad, kSaved, kNumbers };

/// One of these operators by name, or null.
const OpInfo* fused_operator(std::string_view name);

/// The window of a node of kFusedConvolution, from its arguments in order.
detail::ConvWindow window_of(const Value* args);
/// The kernel of a node of kPointwiseGradient. Throws where there is none that takes so many arguments.
int gradient_kernel(const Value* args);
Tensor pointwise_gradient(int kernel, const Value* args);

}  // namespace taeda::graph
