// SPDX-License-Identifier: Apache-2.0
// The base of metrics: updated batch by batch, computed at any time, merged across parts.
#pragma once

#include <vector>

#include "taeda/core/tensor.h"

namespace taeda::train {

/// A streaming metric. Its whole state is a list of numbers, so that it can be saved, and metrics of the same kind merged.
class TAEDA_API Metric {
 public:
  Metric() = default;
  Metric(const Metric&) = default;
  Metric& operator=(const Metric&) = default;
  virtual ~Metric();

  /// The value of all that was seen; NaN before anything was.
  virtual double compute() const = 0;
  virtual void reset() = 0;
  virtual std::vector<double> state() const = 0;
  virtual void set_state(const std::vector<double>& state) = 0;
  /// Adds what another metric of the same kind has seen.
  virtual void merge_state(const std::vector<double>& state) = 0;
  void merge(const Metric& other) { merge_state(other.state()); }
};

}  // namespace taeda::train
