// SPDX-License-Identifier: Apache-2.0
// The order in which samples are visited.
#pragma once

#include <optional>
#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/io/archive.h"

namespace taeda::data::samplers {

/// Gives requests for batches until an epoch is over. A sampler that can be copied lets its loader be saved in the middle of an epoch.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Begins a new epoch, over `new_size` samples when it is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next request, of at most `batch_size` samples; nothing when the epoch is over.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  /// Writes and reads the place inside the epoch.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

/// A request that is not a list of sample numbers.
struct TAEDA_API CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest(CustomBatchRequest&&) noexcept = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(CustomBatchRequest&&) noexcept = default;
  virtual ~CustomBatchRequest();
  virtual size_t size() const = 0;
};

/// 0, 1, 2, …
class TAEDA_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }

 private:
  size_t size_;
  size_t index_ = 0;
};

/// Every sample once an epoch in random order: `randperm(size)` from the default generator, drawn at construction and at each reset.
class TAEDA_API RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, Dtype index_dtype = kInt64);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }

 private:
  Tensor indices_;
  size_t index_ = 0;
};

/// The part of the samples that belongs to process `rank` of `num_replicas`. With `allow_duplicates` every process gets as many samples,
/// some of them twice; without, the rest that cannot be divided is left out.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  explicit DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    TAEDA_CHECK_VALUE(rank < num_replicas, "[DistributedSampler] the rank must be below the number of processes: got ", rank, " of ",
                      num_replicas, "; check both");
  }
  /// The epoch seeds the shuffle, so that all processes divide the same order.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  size_t local_sample_count() const { return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_ : size_ / num_replicas_; }

  size_t size_;
  size_t num_replicas_;
  size_t rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

class TAEDA_API DistributedRandomSampler : public DistributedSampler<> {
 public:
  explicit DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return sample_index_; }

 private:
  void shuffle();
  size_t begin_index_ = 0;
  size_t end_index_ = 0;
  size_t sample_index_ = 0;
  std::vector<size_t> all_indices_;
};

class TAEDA_API DistributedSequentialSampler : public DistributedSampler<> {
 public:
  explicit DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return sample_index_; }

 private:
  void divide();
  size_t begin_index_ = 0;
  size_t end_index_ = 0;
  size_t sample_index_ = 0;
};

/// A request for any `size` samples of a stream.
struct TAEDA_API BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }  // NOLINT(google-explicit-constructor)
  size_t size_;
};

/// Divides an epoch of `epoch_size` samples of a stream into requests.
class TAEDA_API StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t examples_retrieved_so_far_ = 0;
  size_t epoch_size_;
};

}  // namespace taeda::data::samplers
