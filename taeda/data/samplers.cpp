// SPDX-License-Identifier: Apache-2.0
// The samplers' orders and their places inside an epoch.
#include "taeda/data/samplers.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "taeda/ops/functions.h"

namespace taeda::data::samplers {
namespace {

void write_number(serialize::OutputArchive& archive, const char* key, size_t value) {
  archive.write(key, Value(static_cast<int64_t>(value)));
}

size_t read_number(serialize::InputArchive& archive, const char* key) {
  Value value;
  archive.read(key, value);
  TAEDA_CHECK_IO(value.is_int() && value.to_int() >= 0, "[load] ", archive.where(), ": '", key, "' must be a count: got ", value.describe(),
                 "; check that the file belongs to this sampler");
  return static_cast<size_t>(value.to_int());
}

/// `count` numbers from `first`.
std::vector<size_t> range(size_t first, size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

CustomBatchRequest::~CustomBatchRequest() = default;

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) return std::nullopt;
  const size_t count = std::min(batch_size, size_ - index_);
  std::vector<size_t> batch = range(index_, count);
  index_ += count;
  return batch;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const { write_number(archive, "index", index_); }
void SequentialSampler::load(serialize::InputArchive& archive) { index_ = read_number(archive, "index"); }

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype) : indices_(taeda::randperm(size, TensorOptions(index_dtype))) {}

void RandomSampler::reset(std::optional<size_t> new_size) {
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = taeda::randperm(size, indices_.options());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const auto size = static_cast<size_t>(indices_.numel());
  if (index_ >= size) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, size - index_));
  dispatch_integral(indices_.scalar_type(), "RandomSampler", [&]<class T>() {
    const T* from = indices_.const_data_ptr<T>() + index_;
    for (size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<size_t>(from[i]);
  });
  index_ += batch.size();
  return batch;
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "index", index_);
  archive.write("indices", indices_, /*is_buffer=*/true);
}

void RandomSampler::load(serialize::InputArchive& archive) {
  Tensor indices;
  archive.read("indices", indices, /*is_buffer=*/true);
  TAEDA_CHECK_IO(indices.dim() == 1 && indices.is_contiguous() && is_integral_type(indices.scalar_type(), false), "[load] ", archive.where(),
                 ": 'indices' must be a row of integers: got ", indices.scalar_type(), indices.sizes(),
                 "; check that the file belongs to this sampler");
  index_ = read_number(archive, "index");
  indices_ = indices;
}

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  shuffle();
}

void DistributedRandomSampler::shuffle() {
  const size_t local = local_sample_count();
  all_indices_ = range(0, local * num_replicas_);
  if (allow_duplicates_) {
    for (size_t i = size_; i < all_indices_.size(); ++i) all_indices_[i] = i % size_;
  } else {
    all_indices_ = range(0, size_);
  }
  std::mt19937 random(static_cast<uint32_t>(epoch_));
  std::shuffle(all_indices_.begin(), all_indices_.end(), random);
  begin_index_ = rank_ * local;
  end_index_ = begin_index_ + local;
  sample_index_ = begin_index_;
}

void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  shuffle();
}

std::optional<std::vector<size_t>> DistributedRandomSampler::next(size_t batch_size) {
  if (sample_index_ >= end_index_) return std::nullopt;
  const size_t end = std::min(sample_index_ + batch_size, end_index_);
  std::vector<size_t> batch(all_indices_.begin() + static_cast<std::ptrdiff_t>(sample_index_), all_indices_.begin() + static_cast<std::ptrdiff_t>(end));
  sample_index_ = end;
  return batch;
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "sample_index_", sample_index_);
  write_number(archive, "epoch_", epoch_);
}

void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = read_number(archive, "epoch_");
  shuffle();
  sample_index_ = read_number(archive, "sample_index_");
}

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  divide();
}

void DistributedSequentialSampler::divide() {
  begin_index_ = rank_ * local_sample_count();
  end_index_ = begin_index_ + local_sample_count();
  sample_index_ = begin_index_;
}

void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  divide();
}

std::optional<std::vector<size_t>> DistributedSequentialSampler::next(size_t batch_size) {
  if (sample_index_ >= end_index_) return std::nullopt;
  std::vector<size_t> batch = range(sample_index_, std::min(batch_size, end_index_ - sample_index_));
  sample_index_ += batch.size();
  for (size_t& index : batch) index %= size_;
  return batch;
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const { write_number(archive, "sample_index_", sample_index_); }
void DistributedSequentialSampler::load(serialize::InputArchive& archive) { sample_index_ = read_number(archive, "sample_index_"); }

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  examples_retrieved_so_far_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (examples_retrieved_so_far_ >= epoch_size_) return std::nullopt;
  const size_t count = std::min(batch_size, epoch_size_ - examples_retrieved_so_far_);
  examples_retrieved_so_far_ += count;
  return BatchSize(count);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "examples_retrieved_so_far", examples_retrieved_so_far_);
}
void StreamSampler::load(serialize::InputArchive& archive) {
  examples_retrieved_so_far_ = read_number(archive, "examples_retrieved_so_far");
}

}  // namespace taeda::data::samplers
