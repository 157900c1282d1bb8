// SPDX-License-Identifier: Apache-2.0
// Formulas for numbers that were seen at several sizes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "taeda/graph/size.h"

namespace taeda::graph {

/// Looks for the simplest formula that gives every number seen: a*x + b, a*x*y + b, a*x*y*z, a*x + b*y + c and (a*x + b) // d, where x, y and z are
/// symbols or formulas that were found before.
class SizeFit {
 public:
  /// `points`: the symbols' sizes at each look.
  SizeFit(const std::vector<std::string>& symbols, const std::vector<std::vector<int64_t>>& points);

  /// None where nothing fits, or where the looks leave open which of several formulas it is.
  std::optional<Size> find(const std::vector<int64_t>& seen);
  /// Makes a formula that is known otherwise one that find() knows.
  void know(const Size& size, const std::vector<int64_t>& seen);

 private:
  struct Known {
    Size size;
    std::vector<int64_t> seen;
  };
  std::optional<Size> search(const std::vector<int64_t>& seen) const;
  std::optional<Size> scaled(const Size& size, const std::vector<int64_t>& x, const std::vector<int64_t>& seen) const;
  std::optional<Size> sum(const Known& x, const Known& y, const std::vector<int64_t>& seen) const;
  std::optional<Size> quotient(const Known& x, const std::vector<int64_t>& seen) const;

  size_t symbols_;
  std::vector<Known> known_;  ///< the symbols first
  std::map<std::vector<int64_t>, Size> found_;
};

}  // namespace taeda::graph
