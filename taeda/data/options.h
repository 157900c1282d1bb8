// SPDX-License-Identifier: Apache-2.0
// How a loader makes batches.
#pragma once

#include <cstddef>
#include <mutex>  // std::chrono::milliseconds: <chrono> itself costs a tenth of a second in every program
#include <optional>

namespace taeda::data {

/// Options with the defaults of the compatible interface; setters chain.
struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}  // NOLINT(google-explicit-constructor)

#define TAEDA_LOADER_OPTION(T, name, initial)  \
 public:                                       \
  DataLoaderOptions& name(const T& value) {    \
    name##_ = value;                           \
    return *this;                              \
  }                                            \
  const T& name() const { return name##_; }    \
  T& name() { return name##_; }                \
                                               \
 private:                                      \
  T name##_ initial

  /// Samples in a batch; the last one of an epoch may have fewer.
  TAEDA_LOADER_OPTION(size_t, batch_size, = 1);
  /// Threads that make batches ahead of time; 0: the calling thread makes them when they are asked for.
  TAEDA_LOADER_OPTION(size_t, workers, = 0);
  /// Batches under way at a time; by default two a worker.
  TAEDA_LOADER_OPTION(std::optional<size_t>, max_jobs, );
  /// Longest wait for a batch; by default no limit.
  TAEDA_LOADER_OPTION(std::optional<std::chrono::milliseconds>, timeout, );
  /// Whether batches come in the sampler's order however long each takes.
  TAEDA_LOADER_OPTION(bool, enforce_ordering, = true);
  /// Whether a last batch with fewer samples is left out.
  TAEDA_LOADER_OPTION(bool, drop_last, = false);
#undef TAEDA_LOADER_OPTION
};

/// The options with their defaults filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(DataLoaderOptions options)
      : batch_size(options.batch_size()), workers(options.workers()), max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()), enforce_ordering(options.enforce_ordering()), drop_last(options.drop_last()) {}

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
};

}  // namespace taeda::data
