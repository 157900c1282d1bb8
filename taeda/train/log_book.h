// SPDX-License-Identifier: Apache-2.0
// Named values that steps report: kept without allocation, reduced over an epoch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/io/archive.h"

namespace taeda::train {

class Metric;

/// How the values of an epoch become one. The mean is weighted by the batch sizes.
enum class Reduce : uint8_t { kMean, kSum, kMin, kMax, kLast };

struct LogOptions {
  std::optional<bool> on_step = std::nullopt;   ///< by default in training
  std::optional<bool> on_epoch = std::nullopt;  ///< by default in validation and test
  bool prog_bar = false;                        ///< shown beside the bar
  Reduce reduce = Reduce::kMean;
  int64_t batch_size = 0;                       ///< 0: rows of the batch
};

/// Values by name, in the order of their first report.
using MetricList = std::vector<std::pair<std::string, double>>;

/// The values of one stage. A name reported on steps and epochs is published as NAME_step and NAME_epoch, and as NAME.
class TAEDA_API LogBook {
 public:
  struct Slot {
    std::string name;
    bool on_step = false, on_epoch = false, prog_bar = false;
    Reduce reduce = Reduce::kMean;
    double last = 0, sum = 0, weight = 0;
    bool reported = false;      ///< since the epoch began
    Metric* metric = nullptr;   ///< computes the epoch's value, when there is one
    std::optional<std::vector<double>> waiting_state = std::nullopt;  ///< of a loaded checkpoint, for the metric when it is seen
  };

  void record(std::string_view name, double value, const LogOptions& options, double weight, bool training);
  void record(std::string_view name, Metric& metric, const LogOptions& options, bool training);
  /// The last value of each slot that is reported on steps.
  void append_step_values(MetricList& out) const;
  /// The reduced values of the epoch so far.
  MetricList epoch_values() const;
  /// Forgets the epoch's values; metrics start anew.
  void start_epoch();
  const std::vector<Slot>& slots() const { return slots_; }

  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  Slot& slot(std::string_view name, const LogOptions& options, bool training);
  std::vector<Slot> slots_;
};

}  // namespace taeda::train
