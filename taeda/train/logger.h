// SPDX-License-Identifier: Apache-2.0
// Where the values of a run are written.
#pragma once

#include <string>

#include "taeda/train/log_book.h"

namespace taeda::train {

/// Base of the loggers. Rows come in order; on resume the trainer hands back the state of the checkpoint, and what was written after it goes.
class TAEDA_API Logger {
 public:
  Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  virtual ~Logger();

  virtual void log_hyperparameters(const std::vector<std::pair<std::string, std::string>>&) {}
  virtual void log_metrics(const MetricList& values, int64_t step, int64_t epoch) = 0;
  virtual void flush() {}
  /// The end of the run.
  virtual void close() { flush(); }
  virtual std::string state_name() const { return {}; }
  virtual void save(serialize::OutputArchive&) {}
  virtual void load(serialize::InputArchive&) {}
};

}  // namespace taeda::train
