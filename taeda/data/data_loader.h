// SPDX-License-Identifier: Apache-2.0
// Loaders: a data set, a sampler, and threads between them.
#pragma once

#include "taeda/data/loader_base.h"
#include "taeda/data/samplers.h"

namespace taeda::data {

/// Batches of a data set in the order of a sampler. Each worker thread has a copy of the data set.
template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename super::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : super(options), sampler_(std::move(sampler)), dataset_size_(dataset.size()) {
    for (size_t i = 0; i < this->options_.workers; ++i) this->start_worker(dataset);
    if (this->options_.workers == 0) this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
  }
  ~StatelessDataLoader() override { this->join(); }  // before the sampler goes

  Sampler& sampler() { return sampler_; }
  /// Batches in an epoch that visits every sample once, where the size of the data set is known.
  std::optional<size_t> size() const {
    if (!dataset_size_) return std::nullopt;
    const size_t batch = this->options_.batch_size;
    return this->options_.drop_last ? *dataset_size_ / batch : (*dataset_size_ + batch - 1) / batch;
  }

  /// Writes the place in the epoch: after `load`, `begin()` goes on with the batch after the last one the loop got, in the same order
  /// and with the same random numbers.
  void save(serialize::OutputArchive& archive) const
    requires std::is_copy_constructible_v<Sampler>
  {
    const bool under_way = !this->finished_ || this->resume_;
    archive.write("epoch", Value(static_cast<int64_t>(this->epoch_)));
    archive.write("under_way", Value(under_way));
    archive.write("delivered", Value(static_cast<int64_t>(this->resume_.value_or(this->delivered_))));
    archive.write("seed", Value(static_cast<int64_t>(this->seed_)));
    serialize::OutputArchive order;
    (under_way && epoch_start_ ? *epoch_start_ : sampler_).save(order);
    archive.write("sampler", order);
  }
  void load(serialize::InputArchive& archive)
    requires std::is_copy_constructible_v<Sampler>
  {
    Value epoch, under_way, delivered, seed;
    archive.read("epoch", epoch);
    archive.read("under_way", under_way);
    archive.read("delivered", delivered);
    archive.read("seed", seed);
    serialize::InputArchive order;
    archive.read("sampler", order);
    Sampler loaded(sampler_);
    loaded.load(order);
    epoch_start_.emplace(loaded);
    const auto batches = static_cast<size_t>(delivered.to_int());
    for (size_t i = 0; under_way.to_bool() && i < batches; ++i) {
      TAEDA_CHECK_IO(loaded.next(this->options_.batch_size), "[load] ", archive.where(), ": the epoch under way must have had ", batches,
                     " batches of ", this->options_.batch_size, ": it ends after ", i, "; load with the batch size it was saved with");
    }
    sampler_ = std::move(loaded);
    this->epoch_ = static_cast<size_t>(epoch.to_int());
    this->seed_ = static_cast<uint64_t>(seed.to_int());
    this->finished_ = true;
    if (under_way.to_bool()) this->resume_ = batches;
    else this->resume_.reset();
  }

 private:
  void reset() override {
    sampler_.reset(std::nullopt);
    if constexpr (std::is_copy_constructible_v<Sampler>) epoch_start_.emplace(sampler_);
  }
  std::optional<BatchRequestType> get_batch_request() override {
    auto indices = sampler_.next(this->options_.batch_size);
    if (!indices || (indices->size() < this->options_.batch_size && this->options_.drop_last)) return std::nullopt;
    return indices;
  }

  Sampler sampler_;
  std::optional<Sampler> epoch_start_;  ///< as it was when the epoch began
  std::optional<size_t> dataset_size_;
};

/// Batches of a data set that decides itself what comes next. All worker threads use the one data set.
template <class Dataset>
class StatefulDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType>;
  using typename super::BatchRequestType;

  StatefulDataLoader(Dataset dataset, DataLoaderOptions options) : super(options, std::make_unique<Dataset>(std::move(dataset))) {
    for (size_t i = 0; i < this->options_.workers; ++i) this->start_worker(this->main_thread_dataset_.get());
  }
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override { this->main_thread_dataset_->reset(); }
  std::optional<BatchRequestType> get_batch_request() override { return this->options_.batch_size; }
};

/// A loader over a data set of samples in the order of `sampler`.
template <class Dataset, class Sampler>
std::enable_if_t<!Dataset::is_stateful, std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>> make_data_loader(
    Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler), options);
}

/// A loader whose sampler (by default a RandomSampler) is made from the size of the data set: `make_data_loader<SequentialSampler>(dataset, 64)`.
template <class Sampler = samplers::RandomSampler, class Dataset>
std::enable_if_t<!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>, std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  TAEDA_CHECK_VALUE(size.has_value(), "[make_data_loader] the data set must know its size for the sampler to be made: got none; pass a sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

/// A loader over a stateful data set.
template <class Dataset, typename = std::enable_if_t<Dataset::is_stateful>>
std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace taeda::data
