// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/fused.h"

namespace taeda::graph {

namespace {

std::optional<Tensor> optional_tensor(const Value& v) { return v.is_none() ? std::optional<Tensor>() : v.tensor(); }

Value fused_convolution(const Value* a) {
  const detail::ConvEpilogue after{a[kAdd].is_none() ? Tensor() : a[kAdd].tensor(), a[kRelu].to_bool(), {}};
  return Value(detail::convolution_with(a[kInput].tensor(), a[kWeight].tensor(), optional_tensor(a[kBias]), window_of(a), after));
}

}  // namespace

const OpInfo kFusedConvolution{
    "fused_convolution",
    "",
    "fused_convolution(Tensor input, Tensor weight, Tensor? bias, Tensor? add, int[] stride, int[] padding, int[] dilation, int groups, bool relu) -> Tensor",
    &fused_convolution,
    OpKind::kPlain,
    "none: made for inference",
    "Convolution, + add, relu.",
    {},
    "",
    "graph"};

detail::ConvWindow window_of(const Value* a) {
  const auto list = [](const Value& v) { return DimVector(IntArrayRef(v.int_list())); };
  return {list(a[kStride]), list(a[kPadding]), list(a[kDilation]), a[kGroups].to_int()};
}

const OpInfo* fused_operator(std::string_view name) { return name == kFusedConvolution.name ? &kFusedConvolution : nullptr; }

}  // namespace taeda::graph
