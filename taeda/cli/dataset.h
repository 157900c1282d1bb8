// SPDX-License-Identifier: Apache-2.0
// Data named on the command line: `digits`, `mnist:DIR`, `cifar:DIR`, `folder:DIR`, `csv:FILE`, `text:FILE`.
#pragma once

#include <optional>

#include "taeda/cli/config.h"
#include "taeda/data/csv.h"
#include "taeda/data/text.h"
#include "taeda/train/loader_ref.h"

namespace taeda::cli {

enum class Task { kClassification, kRegression, kLanguage };

/// Loaders and what a model must know of the data.
struct DataSet {
  Task task = Task::kClassification;
  DimVector input_shape;  ///< of one sample
  int64_t outputs = 0;    ///< classes, 1 for regression, or characters
  std::vector<std::string> classes;
  int64_t train_size = 0, val_size = 0;
  int64_t batch_size = 0;
  int64_t usual_epochs = 10;
  train::LoaderRef train, val;
  data::TableEncoder encoder;      ///< CSV
  data::CharVocabulary vocabulary;  ///< text
};

/// Throws ValueError for an unknown kind, IoError for files that cannot be read.
DataSet open_data(const RunConfig& config);

/// What a black pixel becomes in `normalise_images`.
inline constexpr double kBackground = -0.25 / 0.35;
/// Images scaled to mean 0 and spread 1, as all image data sets of the program are.
Tensor normalise_images(const Tensor& images, double maximum);

}  // namespace taeda::cli
