// SPDX-License-Identifier: Apache-2.0
// Data named on the command line: `digits`, `mnist:DIR`, `cifar:DIR`, `folder:DIR`, `csv:FILE`, `text:FILE`.
#pragma once

#include "taeda/cli/config.h"
#include "taeda/data/csv.h"
#include "taeda/data/text.h"
#include "taeda/train/loader_ref.h"

namespace taeda::cli {

enum class Task { kClassification, kRegression, kLanguage };

/// What a model must know of its data. Kept in checkpoints, so that a trained model can be used without them.
struct DataInfo {
  Task task = Task::kClassification;
  DimVector input_shape;  ///< of one sample
  int64_t outputs = 0;    ///< classes, 1 for regression, or characters
  std::vector<std::string> classes;
  double mean = 0, spread = 1;      ///< images from 0 to 1 are given to the model as (image - mean) / spread
  data::TableEncoder encoder;       ///< CSV
  data::CharVocabulary vocabulary;  ///< text

  bool is_image() const { return task == Task::kClassification && input_shape.size() == 3; }
  Value to_value() const;
  /// Throws IoError when the value is not what `to_value` makes.
  static DataInfo from_value(const Value& value);
};

/// Loaders, and how much they give.
struct DataSet : DataInfo {
  int64_t train_size = 0, val_size = 0;
  std::string val_name;  ///< what the validation samples are
  train::LoaderRef train, val;
};

/// The data of a resolved configuration. Throws IoError for files that cannot be read.
DataSet open_data(const RunConfig& config);
/// Data to measure a trained model on: the validation part of `config.data`, or with `whole` everything in a folder, table or text.
DataSet open_eval_data(const RunConfig& config, const DataInfo& known, bool whole);

/// A random sample as a batch of one: what the model takes.
Tensor example_of(const DataInfo& info);

}  // namespace taeda::cli
