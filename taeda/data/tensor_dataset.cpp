// SPDX-License-Identifier: Apache-2.0
// Data sets over tensors.
#include "taeda/data/tensor_dataset.h"

#include "taeda/ops/functions.h"

namespace taeda::data::datasets {

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(taeda::stack(tensors)) {}
TensorDataset::TensorDataset(Tensor rows) : tensor(std::move(rows)) {
  TAEDA_CHECK_VALUE(tensor.defined() && tensor.dim() >= 1, "[TensorDataset] the tensor must have at least one dimension, that of the samples: got ",
                    tensor.defined() ? str(tensor.sizes()) : std::string("an undefined tensor"), "; add one with unsqueeze(0)");
}
TensorDataset::~TensorDataset() = default;

TensorExample TensorDataset::get(size_t index) { return tensor.select(0, static_cast<int64_t>(index)); }
std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0)); }

TensorPairDataset::TensorPairDataset(Tensor data, Tensor targets) : data_(std::move(data)), targets_(std::move(targets)) {
  TAEDA_CHECK_VALUE(data_.defined() && targets_.defined() && data_.dim() >= 1 && targets_.dim() >= 1 && data_.size(0) == targets_.size(0),
                    "[TensorPairDataset] samples and targets must have equal first dimensions: got ",
                    data_.defined() ? str(data_.sizes()) : std::string("undefined"), " and ",
                    targets_.defined() ? str(targets_.sizes()) : std::string("undefined"), "; check how they were read");
}
TensorPairDataset::~TensorPairDataset() = default;

Example<> TensorPairDataset::get(size_t index) {
  const auto row = static_cast<int64_t>(index);
  return {data_.select(0, row), targets_.select(0, row)};
}
std::optional<size_t> TensorPairDataset::size() const { return static_cast<size_t>(data_.size(0)); }

}  // namespace taeda::data::datasets
