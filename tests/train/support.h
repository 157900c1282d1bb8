// SPDX-License-Identifier: Apache-2.0
// Small models and data for the trainer's tests.
#pragma once

#include <filesystem>
#include <string>

#include "taeda/taeda.h"
#include "taeda/train.h"

namespace taeda::train {

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "taeda_train_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return (std::filesystem::path(path_) / name).string(); }

 private:
  std::string path_;
};

/// Rows of ten classes that a linear model can tell apart.
inline data::datasets::TensorPairDataset class_rows(int64_t rows, uint64_t seed = 1) {
  const Generator generator = make_generator<CPUGeneratorImpl>(seed);
  const Tensor targets = remainder(arange(rows), 10);
  const Tensor centres = randn({10, 32}, make_generator<CPUGeneratorImpl>(7));
  const Tensor data = centres.index_select(0, targets) + randn({rows, 32}, generator).mul(0.5);
  return {data, targets};
}

inline TrainerOptions silent(TrainerOptions options) {
  options.quiet = true;
  return options;
}

}  // namespace taeda::train
