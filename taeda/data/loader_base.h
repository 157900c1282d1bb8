// SPDX-License-Identifier: Apache-2.0
// What all loaders do: give requests to threads, collect batches in order, stop cleanly, remember the place in an epoch.
#pragma once

#include <memory>
#include <vector>

#include "taeda/data/datasets.h"
#include "taeda/data/iterator.h"
#include "taeda/data/options.h"
#include "taeda/data/random.h"
#include "taeda/data/sync.h"
#include "taeda/data/worker_exception.h"

namespace taeda::data {

namespace detail {

/// Jobs to the threads and results back. All waiting is under one mutex.
template <class Request, class Batch>
class Shuttle {
 public:
  struct Job {
    Request request;
    size_t number;
  };
  struct Result {
    std::optional<Batch> batch;
    std::exception_ptr exception;
    FailedSample sample;
    size_t number = 0;
  };

  explicit Shuttle(bool ordered) : ordered_(ordered) {}

  void push_job(Request request, size_t number) {
    const MonitorLock lock(monitor_);
    jobs_.push_back({std::move(request), number});
    ++in_flight_;
    monitor_.notify_all();
  }
  /// The next job; nothing when the threads are to end.
  std::optional<Job> pop_job() {
    const MonitorLock lock(monitor_);
    monitor_.wait([&] { return closed_ || !jobs_.empty(); });
    if (closed_) return std::nullopt;
    std::optional<Job> job(std::move(jobs_.front()));
    jobs_.erase(jobs_.begin());
    return job;
  }
  void push_result(Result result) {
    const MonitorLock lock(monitor_);
    results_.push_back(std::move(result));
    monitor_.notify_all();
  }
  /// The next result in order (or of arrival); nothing when no job is under way. Throws Error after `timeout`.
  std::optional<Result> pop_result(const std::optional<std::chrono::milliseconds>& timeout) {
    const MonitorLock lock(monitor_);
    if (in_flight_ == 0) return std::nullopt;
    const auto ready = [&] { return next_result() < results_.size(); };
    if (timeout) {
      TAEDA_CHECK(monitor_.wait_for(timeout->count(), ready), "[DataLoader] a batch must come within the timeout: waited ",
                  timeout->count(), " ms; raise the timeout or the number of workers");
    } else {
      monitor_.wait(ready);
    }
    const size_t at = next_result();
    std::optional<Result> result(std::move(results_[at]));
    results_.erase(results_.begin() + static_cast<std::ptrdiff_t>(at));
    ++next_;
    --in_flight_;
    return result;
  }
  size_t in_flight() {
    const MonitorLock lock(monitor_);
    return in_flight_;
  }
  /// Drops waiting jobs and waits until those under way are over; `stop` makes them end early.
  void drain() {
    const MonitorLock lock(monitor_);
    stop.store(true, std::memory_order_relaxed);
    in_flight_ -= jobs_.size();
    jobs_.clear();
    monitor_.wait([&] { return results_.size() == in_flight_; });
    results_.clear();
    in_flight_ = next_ = 0;
    stop.store(false, std::memory_order_relaxed);
  }
  /// The number that the first result of an epoch has.
  void start_at(size_t number) {
    const MonitorLock lock(monitor_);
    next_ = number;
  }
  void close() {
    const MonitorLock lock(monitor_);
    closed_ = true;
    monitor_.notify_all();
  }

  std::atomic<bool> stop{false};

 private:
  /// Place of the result to give next; past the end when it is not there yet. Few are under way: a search costs nothing.
  size_t next_result() const {
    size_t at = 0;
    while (ordered_ && at < results_.size() && results_[at].number != next_) ++at;
    return at;
  }

  const bool ordered_;
  Monitor monitor_;
  std::vector<Job> jobs_;
  std::vector<Result> results_;  ///< in the order of arrival
  size_t in_flight_ = 0;         ///< jobs given and not taken back
  size_t next_ = 0;
  bool closed_ = false;
};

}  // namespace detail

/// Base of the loaders. Iterating begins a new epoch; leaving a loop early is fine. One thread may use a loader at a time.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase : public detail::BatchSource<Batch> {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  explicit DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(main_thread_dataset)), shuttle_(options_.enforce_ordering) {
    TAEDA_CHECK_VALUE(options_.batch_size > 0, "[DataLoader] the batch size must be positive: got 0; choose one");
  }
  ~DataLoaderBase() override { join(); }
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  /// Begins an epoch, or goes on with the one that `load` found under way.
  Iterator<Batch> begin() {
    TAEDA_CHECK(!joined_, "[DataLoader] a loader gives no batches after join(); make another one");
    ++this->generation;
    if (options_.workers > 0) shuttle_.drain();
    if (resume_) {
      delivered_ = requested_ = *std::exchange(resume_, std::nullopt);
    } else {
      delivered_ = requested_ = 0;
      ++epoch_;
      reset();
    }
    finished_ = false;
    if (options_.workers > 0) {
      shuttle_.start_at(options_.enforce_ordering ? requested_ : 0);
      prefetch(options_.max_jobs ? options_.max_jobs : 1);
    }
    return Iterator<Batch>(this);
  }
  Iterator<Batch> end() { return {}; }

  /// Ends the threads. Happens on destruction too; work on a sample that has begun is finished first.
  void join() {
    if (joined_) return;
    joined_ = true;
    shuttle_.stop.store(true, std::memory_order_relaxed);
    shuttle_.close();
    workers_.join();
  }

  const FullDataLoaderOptions& options() const noexcept { return options_; }
  /// Batches of the current epoch that the loop has got.
  size_t batches_delivered() const { return delivered_; }
  /// Epochs begun.
  size_t epoch() const { return epoch_; }

  std::optional<Batch> next_batch() override {
    std::optional<Batch> batch = options_.workers > 0 ? next_from_workers() : next_from_main_thread();
    if (batch) ++delivered_;
    else finished_ = true;
    return batch;
  }

 protected:
  /// The next request of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  virtual void reset() = 0;

  template <class D>
  void start_worker(D dataset) {
    workers_.start([this, dataset = std::move(dataset)]() mutable {
      if constexpr (std::is_pointer_v<D>) work(*dataset);
      else work(dataset);
    });
  }

  FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;
  size_t epoch_ = 0;
  size_t delivered_ = 0;
  size_t requested_ = 0;
  bool finished_ = true;
  uint64_t seed_ = loader_seed();
  std::optional<size_t> resume_;

 private:
  void prefetch(size_t jobs) {
    for (size_t i = 0; i < jobs; ++i) {
      std::optional<BatchRequest> request = get_batch_request();
      if (!request) return;
      shuttle_.push_job(std::move(*request), requested_++);
    }
  }

  std::optional<Batch> next_from_workers() {
    while (auto result = shuttle_.pop_result(options_.timeout)) {
      if (result->exception) throw WorkerException(result->exception, result->sample);
      prefetch(1);
      if (result->batch) return std::move(result->batch);
    }
    return std::nullopt;
  }

  std::optional<Batch> next_from_main_thread() {
    std::optional<BatchRequest> request = get_batch_request();
    if (!request) return std::nullopt;
    const RandomScope random(seed_, epoch_, requested_++);
    detail::failed_sample() = {};
    try {
      return main_thread_dataset_->get_batch(std::move(*request));
    } catch (...) {
      detail::rethrow_with_sample();
    }
  }

  void work(Dataset& dataset) {
    detail::stop_request() = &shuttle_.stop;
    while (auto job = shuttle_.pop_job()) {
      typename detail::Shuttle<BatchRequest, Batch>::Result result;
      result.number = job->number;
      const RandomScope random(seed_, epoch_, job->number);
      detail::failed_sample() = {};
      try {
        result.batch = dataset.get_batch(std::move(job->request));
      } catch (const detail::Stopped&) {
      } catch (...) {
        result.exception = std::current_exception();
        result.sample = detail::failed_sample();
      }
      shuttle_.push_result(std::move(result));
    }
  }

  detail::Shuttle<BatchRequest, Batch> shuttle_;
  detail::ThreadGroup workers_;
  bool joined_ = false;
};

}  // namespace taeda::data
