// SPDX-License-Identifier: Apache-2.0
// A graph as a page.
#pragma once

#include <string>
#include <vector>

#include "taeda/graph/passes/passes.h"

namespace taeda::cli {

/// A page that needs nothing from elsewhere: both graphs side by side and the log of the passes. Values link to where they are made; the value
/// under the pointer is marked wherever it occurs.
std::string graph_html(const graph::Graph& before, const std::vector<graph::PassRun>& runs, const graph::Graph& after);

}  // namespace taeda::cli
