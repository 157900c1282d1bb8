// SPDX-License-Identifier: Apache-2.0
// Graphs as files.
#pragma once

#include <string>

#include "taeda/graph/graph.h"

namespace taeda::graph {

/// A safetensors file of the graph's states and constants, with its text under "graph" in the metadata.
TAEDA_API void save(const Graph& graph, const std::string& path);
/// A file that save() wrote, or a text. Throws IoError, naming the file, for another, and ValueError, naming line and column, for a wrong text.
TAEDA_API Graph load(const std::string& path);

}  // namespace taeda::graph
