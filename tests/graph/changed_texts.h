// SPDX-License-Identifier: Apache-2.0
// Texts of graphs with random changes: refused with a place, or read.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "taeda/core/error.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

/// Reads `rounds` changed forms of the graph's text, in which characters of `signs` stand and parts are missing or doubled. What is read must
/// print and read back equal. How many were refused.
inline size_t refused_changes(const Graph& g, const std::string& signs, int rounds) {
  const std::string text = g.text();
  const auto tensors = g.stored();
  std::mt19937_64 random(9);
  size_t refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string changed = text;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % changed.size();
      switch (random() % 4) {
        case 0: changed[at] = signs[random() % signs.size()]; break;
        case 1: changed.erase(at, 1 + random() % 20); break;
        case 2: changed.insert(at, 1 + random() % 3, signs[random() % signs.size()]); break;
        default: changed.insert(at, changed.substr(random() % changed.size(), random() % 60));
      }
    }
    try {
      const Graph read = parse(changed, tensors);
      EXPECT_EQ(parse(read.text(), read.stored()).text(), read.text()) << changed;
    } catch (const ValueError& e) {
      ++refused;
      EXPECT_TRUE(std::string(e.what()).starts_with("[graph] line ")) << e.what() << '\n' << changed;
    }
  }
  return refused;
}

}  // namespace taeda::graph
