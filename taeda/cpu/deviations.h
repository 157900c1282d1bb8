// SPDX-License-Identifier: Apache-2.0
// Mean and variance from deviations.
#pragma once

#include <algorithm>

namespace taeda::cpu {

/// The sums of d and d^2 over d = x - center, for a center near the mean: exact for elements that are all the same.
struct Deviations {
  double sum = 0, square = 0;
  double mean(double center, double n) const { return center + sum / n; }
  /// The sum of squared deviations from the mean; nan when some element is not finite.
  double from_mean(double n) const { return std::max(square - sum * (sum / n), 0.0); }
};

}  // namespace taeda::cpu
