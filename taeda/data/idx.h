// SPDX-License-Identifier: Apache-2.0
// IDX files (MNIST's format), plain or gzip, and the data sets made of them.
#pragma once

#include <string>

#include "taeda/data/tensor_dataset.h"
#include "taeda/io/file.h"

namespace taeda::data {

/// A tensor of the file's type and shape. Throws IoError, naming the file and the fault, for damaged files.
TAEDA_API Tensor read_idx(const std::string& path);
TAEDA_API Tensor read_idx(const io::Source& source);

namespace datasets {

/// MNIST from a folder with `train-images-idx3-ubyte` and its kin, plain or with the end `.gz`. Images: float32 (N, 1, 28, 28) in [0, 1];
/// targets: int64 (N).
class TAEDA_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  ~MNIST() override;

  Example<> get(size_t index) override;
  Example<> get_stacked(ArrayRef<size_t> indices) { return {gather_rows(images_, indices), gather_rows(targets_, indices)}; }
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  Tensor images_, targets_;
  Mode mode_;
};

/// CIFAR-10 or CIFAR-100 from a folder with the binary files (`data_batch_1.bin` … or `train.bin`, `test.bin`), or one above it.
/// Images: uint8 (N, 3, 32, 32); targets: int64 (N), the fine ones of CIFAR-100.
class TAEDA_API Cifar : public Dataset<Cifar> {
 public:
  explicit Cifar(const std::string& root, bool train = true);
  ~Cifar() override;

  Example<> get(size_t index) override;
  Example<> get_stacked(ArrayRef<size_t> indices) { return {gather_rows(images_, indices), gather_rows(targets_, indices)}; }
  std::optional<size_t> size() const override;
  int64_t classes() const { return classes_; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  Tensor images_, targets_;
  int64_t classes_ = 10;
};

}  // namespace datasets
}  // namespace taeda::data
