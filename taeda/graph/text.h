// SPDX-License-Identifier: Apache-2.0
// Pieces of the text form.
#pragma once

#include <cstdint>
#include <string_view>

#include "taeda/graph/graph.h"

namespace taeda::graph {

/// The bits of the NaN that is written "nan".
template <class T>
inline constexpr auto kUsualNan = std::uint16_t{0x7e00};
template <>
inline constexpr auto kUsualNan<BFloat16> = std::uint16_t{0x7fc0};
template <>
inline constexpr auto kUsualNan<float> = std::uint32_t{0x7fc00000};
template <>
inline constexpr auto kUsualNan<double> = std::uint64_t{0x7ff8000000000000};

/// In quotes, with what is not printable as \xHH.
std::string quoted(std::string_view text);
/// One line: results, operator, arguments.
std::string text_of(const Graph& graph, const Node& node);
/// Operator and arguments.
std::string call_of(const Node& node);
/// The memory of a constant or state from its first to its last element.
Tensor memory_of(const Tensor& t);
/// Whether a constant's elements are written into the text.
bool is_inline(const Datum& v);
/// The name of a constant's memory beside the text.
std::string stored_name(int64_t id);

}  // namespace taeda::graph
