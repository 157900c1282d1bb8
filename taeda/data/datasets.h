// SPDX-License-Identifier: Apache-2.0
// Data sets: what gives batches, or single samples by number, and what is built on top of another one.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "taeda/core/array_ref.h"
#include "taeda/data/transforms.h"
#include "taeda/io/archive.h"

namespace taeda::data {

namespace detail {
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <bool kOptional, class T>
using optional_if_t = std::conditional_t<kOptional, std::optional<T>, T>;

/// A data set that can make a whole batch at once: `get_stacked(indices)` equals stacking its samples.
template <class D>
concept GivesStacked = requires(D& dataset, ArrayRef<size_t> indices) { dataset.get_stacked(indices); };
/// A transform that can change a whole batch at once: `apply_stacked(batch)` equals stacking the changed samples.
template <class T, class D>
concept ChangesStacked = GivesStacked<D> && requires(T& transform, D& dataset, ArrayRef<size_t> indices) {
  transform.apply_stacked(dataset.get_stacked(indices));
};
template <class T>
struct IsStack : std::false_type {};
template <class E>
struct IsStack<transforms::Stack<E>> : std::true_type {};

/// Turns a noted place in the batch into the sample's number.
template <class Request>
void locate_failed_sample(const Request& request) {
  if constexpr (requires { static_cast<size_t>(request[0]); request.size(); }) {
    FailedSample& sample = failed_sample();
    if (sample.kind == FailedSample::kPosition && sample.value < request.size()) {
      sample = {FailedSample::kIndex, static_cast<size_t>(request[sample.value])};
    }
  }
}
}  // namespace detail

namespace datasets {

template <class S, class T>
class MapDataset;
template <class D, class T>
MapDataset<D, T> map(D dataset, T transform);

/// Gives batches on request. `Self` is the derived class.
template <class Self, class Batch, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = detail::IsOptional<BatchType>::value;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  /// Number of samples, where it is known.
  virtual std::optional<size_t> size() const = 0;

  /// This data set with every batch passed through `transform`.
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

/// Gives single samples by number.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t index : indices) {
      const detail::FailedSampleScope scope(index, detail::FailedSample::kIndex);
      batch.push_back(get(index));
    }
    return batch;
  }
};

/// A data set whose batches depend on those given before; it gives nothing when an epoch is over.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Begins a new epoch.
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

/// Batches by their size alone.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, /*BatchRequest=*/size_t>;

/// A data set followed by a transform. Where both can work on whole batches they do: `.map(Normalize<>(…)).map(Stack<>())` over tensors
/// in memory is one copy of rows and one pass over them.
template <class SourceDataset, class AppliedTransform>
class MapDataset : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                                       detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>,
                                       typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform) : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType indices) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(indices));
      return batch ? OutputBatchType(transform_.apply_batch(std::move(*batch))) : std::nullopt;
    } else if constexpr (detail::IsStack<AppliedTransform>::value && detail::GivesStacked<SourceDataset>) {
      return dataset_.get_stacked(indices);
    } else {
      try {
        return transform_.apply_batch(dataset_.get_batch(indices));
      } catch (...) {
        detail::locate_failed_sample(indices);
        throw;
      }
    }
  }
  /// A whole batch, where source and transform can do that.
  auto get_stacked(ArrayRef<size_t> indices)
    requires detail::ChangesStacked<AppliedTransform, SourceDataset>
  {
    return transform_.apply_stacked(dataset_.get_stacked(indices));
  }

  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  void reset()
    requires SourceDataset::is_stateful
  {
    dataset_.reset();
  }
  void save(serialize::OutputArchive& archive) const
    requires SourceDataset::is_stateful
  {
    dataset_.save(archive);
  }
  void load(serialize::InputArchive& archive)
    requires SourceDataset::is_stateful
  {
    dataset_.load(archive);
  }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

template <class DatasetType, class TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  return {std::move(dataset), std::move(transform)};
}

/// One data set for all threads of a loader, which otherwise get a copy each. Its `get_batch` must be safe to call from several threads.
template <class UnderlyingDataset>
class SharedBatchDataset : public BatchDataset<SharedBatchDataset<UnderlyingDataset>, typename UnderlyingDataset::BatchType,
                                               typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;

  explicit SharedBatchDataset(std::shared_ptr<UnderlyingDataset> shared_dataset) : dataset_(std::move(shared_dataset)) {}
  BatchType get_batch(BatchRequestType request) override { return dataset_->get_batch(std::move(request)); }
  std::optional<size_t> size() const override { return dataset_->size(); }
  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }
  void reset() { dataset_->reset(); }
  auto get_stacked(ArrayRef<size_t> indices)
    requires detail::GivesStacked<UnderlyingDataset>
  {
    return dataset_->get_stacked(indices);
  }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};

template <class UnderlyingDataset, class... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return SharedBatchDataset<UnderlyingDataset>(std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...));
}

}  // namespace datasets
}  // namespace taeda::data
