// SPDX-License-Identifier: Apache-2.0
// Data sets read in chunks, ahead of time, for data that do not fit memory.
#pragma once

#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include "taeda/data/datasets.h"
#include "taeda/data/samplers.h"
#include "taeda/data/sync.h"

namespace taeda::data::datasets {

/// Reads one chunk at a time; from several threads when there are several preloaders.
template <class ExampleType_, class ChunkType_ = std::vector<ExampleType_>>
class ChunkDataReader {
 public:
  using ChunkType = ChunkType_;
  using ExampleType = ExampleType_;
  using BatchType = ChunkType_;

  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  /// Called before each epoch.
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048, size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count), batch_size_(batch_size), cache_size_(cache_size), cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    TAEDA_CHECK_VALUE(preloader_count > 0 && batch_size > 0 && cache_size >= batch_size && cross_chunk_shuffle_count > 0,
                      "[ChunkDatasetOptions] counts must be positive and the cache at least a batch: got preloaders ", preloader_count, ", batch ", batch_size,
                      ", cache ", cache_size, ", chunks shuffled together ", cross_chunk_shuffle_count, "; raise the small one");
  }
#define TAEDA_CHUNK_OPTION(name)                                         \
 public:                                                                 \
  ChunkDatasetOptions& name(size_t value) { return name##_ = value, *this; } \
  size_t name() const { return name##_; }                                \
                                                                         \
 private:                                                                \
  size_t name##_
  TAEDA_CHUNK_OPTION(preloader_count);
  TAEDA_CHUNK_OPTION(batch_size);
  /// Samples held ready before reading pauses.
  TAEDA_CHUNK_OPTION(cache_size);
  /// Chunks whose samples are mixed.
  TAEDA_CHUNK_OPTION(cross_chunk_shuffle_count);
#undef TAEDA_CHUNK_OPTION
};

/// Chunks in the order of `chunk_sampler`; the samples of `cross_chunk_shuffle_count` chunks together in the order of `example_sampler`. Batches
/// run across chunks; the order does not depend on which thread reads what.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler, class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>, typename ChunkReader::BatchType, size_t> {
 public:
  using BatchType = std::optional<typename ChunkReader::BatchType>;
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  using Policy = std::function<void(UnwrappedBatchType&)>;

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler, ChunkDatasetOptions options,
               Policy preprocessing_policy = Policy())
      : state_(std::make_unique<State>(std::move(chunk_reader), std::move(chunk_sampler), std::move(example_sampler), options,
                                       std::move(preprocessing_policy))) {}
  ~ChunkDataset() override = default;
  ChunkDataset(ChunkDataset&&) noexcept = default;
  ChunkDataset& operator=(ChunkDataset&&) noexcept = default;

  /// The next samples of the epoch; nothing when it is over. Throws ValueError unless `batch_size` is the one of the options.
  BatchType get_batch(size_t batch_size) override { return state_->get_batch(batch_size); }
  BatchType get_batch() { return get_batch(state_->options.batch_size()); }
  void reset() override { state_->reset(); }
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSamplerType& chunk_sampler() { return state_->chunk_sampler; }
  void save(serialize::OutputArchive& archive) const override { state_->chunk_sampler.save(archive); }
  void load(serialize::InputArchive& archive) override { state_->chunk_sampler.load(archive); }

 private:
  struct Group {
    size_t number = 0;
    UnwrappedBatchType samples;
    std::exception_ptr exception;
  };

  /// Behind a pointer, so that threads have something that does not move.
  struct State {
    State(ChunkReader r, ChunkSampler c, ExampleSampler e, ChunkDatasetOptions o, Policy p)
        : reader(std::move(r)), chunk_sampler(std::move(c)), example_sampler(std::move(e)), options(o), policy(std::move(p)) {}
    ~State() { stop(); }

    void stop() {
      {
        const detail::MonitorLock lock(monitor);
        stopping = true;
        monitor.notify_all();
      }
      threads.join();
    }

    void reset() {
      stop();
      reader.reset();
      chunk_sampler.reset(reader.chunk_count());
      groups.clear();
      rest.clear();
      given = taken = held = 0;
      stopping = exhausted = false;
      started = true;
      for (size_t i = 0; i < options.preloader_count(); ++i) threads.start([this] { preload(); });
    }

    void preload() {
      for (;;) {
        std::optional<std::vector<size_t>> chunks;
        size_t number = 0;
        {
          const detail::MonitorLock lock(monitor);
          // The group the consumer waits for is always read, whatever the cache holds.
          monitor.wait([&] { return stopping || held < options.cache_size() || given == taken; });
          if (stopping) return;
          chunks = chunk_sampler.next(options.cross_chunk_shuffle_count());
          if (!chunks) {
            exhausted = true;
            monitor.notify_all();
            return;
          }
          number = given++;
        }
        Group group = read(*chunks);
        group.number = number;
        const detail::MonitorLock lock(monitor);
        held += group.samples.size();
        groups.push_back(std::move(group));
        monitor.notify_all();
      }
    }

    Group read(const std::vector<size_t>& chunks) {
      Group group;
      try {
        for (const size_t chunk : chunks) {
          UnwrappedBatchType part = reader.read_chunk(chunk);
          group.samples.insert(group.samples.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
        }
        if (policy) policy(group.samples);
      } catch (...) {
        group.exception = std::current_exception();
      }
      return group;
    }

    /// Adds the samples of the next group to `rest`, in the order of the example sampler; false when there is none.
    bool next_group() {
      Group group;
      {
        const detail::MonitorLock lock(monitor);
        size_t at = 0;
        const auto found = [&] {
          for (at = 0; at < groups.size() && groups[at].number != taken;) ++at;
          return at < groups.size();
        };
        monitor.wait([&] { return found() || (exhausted && given == taken); });
        if (!found()) return false;
        group = std::move(groups[at]);
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(at));
        ++taken;
        held -= group.samples.size();
        monitor.notify_all();
      }
      if (group.exception) std::rethrow_exception(group.exception);
      example_sampler.reset(group.samples.size());
      while (auto order = example_sampler.next(group.samples.size() ? group.samples.size() : 1)) {
        for (const size_t i : *order) rest.push_back(std::move(group.samples[i]));
      }
      return true;
    }

    BatchType get_batch(size_t batch_size) {
      TAEDA_CHECK_VALUE(batch_size == options.batch_size(), "[ChunkDataset] the batch size must be that of the options: got ", batch_size, " and ",
                        options.batch_size(), "; give the loader the same one");
      TAEDA_CHECK(started, "[ChunkDataset] an epoch must be begun first: got none; call reset()");
      const detail::MonitorLock one_consumer(consumer);
      while (rest.size() < batch_size && next_group()) {
      }
      if (rest.empty()) return std::nullopt;
      const auto count = static_cast<std::ptrdiff_t>(batch_size < rest.size() ? batch_size : rest.size());
      UnwrappedBatchType batch(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.begin() + count));
      rest.erase(rest.begin(), rest.begin() + count);
      return batch;
    }

    ChunkReader reader;
    ChunkSampler chunk_sampler;
    ExampleSampler example_sampler;
    ChunkDatasetOptions options;
    Policy policy;
    detail::Monitor consumer;  ///< held by the one that takes batches
    detail::Monitor monitor;   ///< guards what follows
    detail::ThreadGroup threads;
    std::vector<Group> groups;  ///< read and not taken
    UnwrappedBatchType rest;    ///< taken and not yet in a batch
    size_t given = 0, taken = 0, held = 0;
    bool stopping = false, exhausted = false, started = false;
  };

  std::unique_ptr<State> state_;
};

}  // namespace taeda::data::datasets
