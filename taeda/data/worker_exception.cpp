// SPDX-License-Identifier: Apache-2.0
// Messages about failed samples.
#include "taeda/data/worker_exception.h"

#include "taeda/core/error.h"

namespace taeda::data {
namespace {

std::string describe(const std::exception_ptr& original, const detail::FailedSample& sample) {
  std::string text = "Caught exception in DataLoader worker thread";
  if (sample.kind == detail::FailedSample::kIndex) text += " at sample " + std::to_string(sample.value);
  if (sample.kind == detail::FailedSample::kPosition) text += " at sample " + std::to_string(sample.value) + " of its batch";
  try {
    if (original) std::rethrow_exception(original);
  } catch (const std::exception& error) {
    text += std::string(". Original message: ") + error.what();
  } catch (...) {
    text += ". The exception has no message";
  }
  return text;
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original, detail::FailedSample sample)
    : original_exception(std::move(original)), message(describe(original_exception, sample)) {
  if (sample.kind == detail::FailedSample::kIndex) sample_index = sample.value;
}

WorkerException::~WorkerException() = default;

namespace detail {

void rethrow_with_sample() {
  const FailedSample sample = failed_sample();
  failed_sample() = {};
  try {
    throw;
  } catch (Error& error) {
    if (sample.kind == FailedSample::kIndex) error.add_context("while getting sample " + std::to_string(sample.value));
    throw;
  }
}

}  // namespace detail
}  // namespace taeda::data
