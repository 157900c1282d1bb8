// SPDX-License-Identifier: Apache-2.0
// Data sets over tensors in memory.
#pragma once

#include "taeda/data/datasets.h"
#include "taeda/data/gather.h"

namespace taeda::data::datasets {

/// The rows of one tensor.
struct TAEDA_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  explicit TensorDataset(Tensor tensor);
  ~TensorDataset() override;

  TensorExample get(size_t index) override;
  TensorExample get_stacked(ArrayRef<size_t> indices) { return gather_rows(tensor, indices); }
  std::optional<size_t> size() const override;

  Tensor tensor;
};

/// The rows of two tensors, samples and their targets, with equal first dimensions.
class TAEDA_API TensorPairDataset : public Dataset<TensorPairDataset> {
 public:
  /// Throws ValueError when the numbers of rows differ.
  TensorPairDataset(Tensor data, Tensor targets);
  ~TensorPairDataset() override;

  Example<> get(size_t index) override;
  Example<> get_stacked(ArrayRef<size_t> indices) { return {gather_rows(data_, indices), gather_rows(targets_, indices)}; }
  std::optional<size_t> size() const override;
  const Tensor& data() const { return data_; }
  const Tensor& targets() const { return targets_; }

 private:
  Tensor data_, targets_;
};

}  // namespace taeda::data::datasets
