// SPDX-License-Identifier: Apache-2.0
// Which sample an exception came from: noted while it passes by, read where it is handed to the consumer.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

#include "taeda/core/export.h"

namespace taeda::data::detail {

struct FailedSample {
  enum Kind { kNone, kPosition, kIndex };  ///< a place in the batch, or a number in the data set
  Kind kind = kNone;
  size_t value = 0;
};

/// The innermost sample that the exception now in flight on this thread came from.
TAEDA_API FailedSample& failed_sample();
/// Set while a loader's thread makes a batch: true when nobody waits for it any more.
TAEDA_API const std::atomic<bool>*& stop_request();
/// Thrown between two samples when nobody waits; only the loader's threads see it.
struct Stopped {};

/// Around the work on one sample.
class FailedSampleScope {
 public:
  FailedSampleScope(size_t value, FailedSample::Kind kind) : value_(value), kind_(kind), exceptions_(std::uncaught_exceptions()) {
    const std::atomic<bool>* stop = stop_request();
    if (stop && stop->load(std::memory_order_relaxed)) throw Stopped();
  }
  ~FailedSampleScope() {
    if (std::uncaught_exceptions() > exceptions_ && failed_sample().kind == FailedSample::kNone) failed_sample() = {kind_, value_};
  }
  FailedSampleScope(const FailedSampleScope&) = delete;
  FailedSampleScope& operator=(const FailedSampleScope&) = delete;

 private:
  size_t value_;
  FailedSample::Kind kind_;
  int exceptions_;
};

}  // namespace taeda::data::detail
