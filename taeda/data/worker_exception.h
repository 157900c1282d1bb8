// SPDX-License-Identifier: Apache-2.0
// What the consumer of a loader gets when one of its threads failed.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "taeda/data/failed_sample.h"

namespace taeda::data {

/// Thrown where a batch is asked for whose making failed. Carries the exception itself, and the sample it came from.
struct TAEDA_API WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original, detail::FailedSample sample = {});
  WorkerException(const WorkerException&) = default;
  WorkerException& operator=(const WorkerException&) = default;
  ~WorkerException() override;
  const char* what() const noexcept override { return message.c_str(); }

  std::exception_ptr original_exception;
  std::string message;
  /// Number of the sample in the data set, where it is known.
  std::optional<size_t> sample_index;
};

namespace detail {
/// On the calling thread's own batches: adds the sample to an Error that passes by; leaves other exceptions as they are.
[[noreturn]] TAEDA_API void rethrow_with_sample();
}  // namespace detail

}  // namespace taeda::data
