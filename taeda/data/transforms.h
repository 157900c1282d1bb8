// SPDX-License-Identifier: Apache-2.0
// What happens to samples between a data set and a batch.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "taeda/data/example.h"
#include "taeda/data/failed_sample.h"

namespace taeda::data::detail {
TAEDA_API Tensor stack_tensors(const std::vector<Tensor>& tensors);
TAEDA_API Tensor normalize_tensor(const Tensor& input, const Tensor& mean, const Tensor& stddev, bool stacked);
TAEDA_API Tensor channel_values(ArrayRef<double> values);
}  // namespace taeda::data::detail

namespace taeda::data::transforms {

/// A function from batches to batches.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

/// A function of single samples.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> output_batch;
    output_batch.reserve(input_batch.size());
    for (size_t i = 0; i < input_batch.size(); ++i) {
      const data::detail::FailedSampleScope scope(i, data::detail::FailedSample::kPosition);
      output_batch.push_back(apply(std::move(input_batch[i])));
    }
    return output_batch;
  }
};

template <class InputBatch, class OutputBatch = InputBatch>
class BatchLambda : public BatchTransform<InputBatch, OutputBatch> {
 public:
  using typename BatchTransform<InputBatch, OutputBatch>::InputBatchType;
  using typename BatchTransform<InputBatch, OutputBatch>::OutputBatchType;
  using FunctionType = std::function<OutputBatchType(InputBatchType)>;

  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  OutputBatchType apply_batch(InputBatchType input_batch) override { return function_(std::move(input_batch)); }

 private:
  FunctionType function_;
};

template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using typename Transform<Input, Output>::InputType;
  using typename Transform<Input, Output>::OutputType;
  using FunctionType = std::function<Output(Input)>;

  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  OutputType apply(InputType input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// A list of samples to one value.
template <class T = Example<>, class BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <class T = Example<>, class BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

/// Joins tensors of equal shape along a new first dimension. Data sets that can give whole batches (`get_stacked`) are asked for them,
/// without a detour over single samples.
template <class T = Example<>>
struct Stack;

template <>
struct Stack<Example<>> final : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override {
    std::vector<Tensor> data, targets;
    data.reserve(examples.size());
    targets.reserve(examples.size());
    for (Example<>& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(std::move(example.target));
    }
    return {data::detail::stack_tensors(data), data::detail::stack_tensors(targets)};
  }
};

template <>
struct Stack<TensorExample> final : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override {
    std::vector<Tensor> data;
    data.reserve(examples.size());
    for (TensorExample& example : examples) data.push_back(std::move(example.data));
    return data::detail::stack_tensors(data);
  }
};

/// A function of the samples' data; targets stay.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  using typename Transform<E, E>::InputType;
  using typename Transform<E, E>::OutputType;

  virtual Tensor operator()(Tensor input) = 0;
  OutputType apply(InputType input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// (x - mean) / stddev for each channel of samples (channels, height, width); a single value counts for all channels.
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean(data::detail::channel_values(mean)), stddev(data::detail::channel_values(stddev)) {}

  Tensor operator()(Tensor input) override { return data::detail::normalize_tensor(input, mean, stddev, /*stacked=*/false); }
  /// The same on a whole batch at once.
  Example<Tensor, Target> apply_stacked(Example<Tensor, Target> batch) {
    batch.data = data::detail::normalize_tensor(batch.data, mean, stddev, /*stacked=*/true);
    return batch;
  }

  Tensor mean, stddev;
};

}  // namespace taeda::data::transforms
