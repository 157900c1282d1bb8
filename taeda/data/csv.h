// SPDX-License-Identifier: Apache-2.0
// Tables from CSV files: typed columns, and the way from a table to tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/core/dict.h"
#include "taeda/data/tensor_dataset.h"

namespace taeda::data {

struct CsvOptions {
  /// Between fields; 0: comma, semicolon or tab, whichever the first line has most of.
  char delimiter = 0;
  /// Whether the first line names the columns; by default it does unless all of its fields are numbers.
  std::optional<bool> header;
  /// Fields that mean "no value", besides empty ones.
  std::vector<std::string> missing = {"NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"};
};

/// A column is numeric when every field that has a value is a number, else it is text.
struct CsvColumn {
  std::string name;
  bool numeric = true;
  std::vector<double> numbers;     ///< numeric: NaN where there is no value
  std::vector<std::string> texts;  ///< text: "" where there is no value
  std::vector<bool> missing;
};

struct TAEDA_API CsvTable {
  std::vector<CsvColumn> columns;
  size_t rows = 0;
  /// Null when there is none of that name.
  const CsvColumn* find(std::string_view name) const;
  /// Throws ValueError that lists the names there are.
  const CsvColumn& at(std::string_view name) const;
  std::vector<std::string> names() const;
  /// A table of these rows, the columns' kinds unchanged.
  CsvTable select(const std::vector<size_t>& rows) const;
};

/// Quoted fields ("a, b", "say ""yes""", line ends inside quotes), LF and CRLF, a byte order mark. Throws IoError with the line's number for
/// rows of another length than the first and for quotes without an end.
TAEDA_API CsvTable read_csv(const std::string& path, const CsvOptions& options = {});
TAEDA_API CsvTable parse_csv(std::string_view text, const std::string& name, const CsvOptions& options = {});

enum class CsvTask { kAuto, kRegression, kClassification };

/// Turns tables into tensors as learned from one table: numeric columns are standardised, missing numbers become the mean; text
/// columns become one number per category (one-hot; an unknown one is all zeros). Kept in checkpoints, so that predictions see
/// what training saw.
class TAEDA_API TableEncoder {
 public:
  TableEncoder() = default;
  /// Learns from `table`. `kAuto`: classification when the target is text, or whole numbers of at most 20 kinds. Throws ValueError when there
  /// is no such target (the names are listed), or no other column.
  TableEncoder(const CsvTable& table, const std::string& target, CsvTask task = CsvTask::kAuto);
  /// Learns means, spreads and categories from `training` alone, a selection of the rows of `table`; from all rows only the kind of task and the
  /// names of the classes.
  TableEncoder(const CsvTable& table, const CsvTable& training, const std::string& target, CsvTask task = CsvTask::kAuto);

  /// float32 (rows, features). Throws ValueError when a column is missing or of another kind.
  Tensor features(const CsvTable& table) const;
  /// Classification: int64 (rows) of class numbers; regression: float32 (rows, 1), standardised. Throws ValueError for values without class.
  Tensor targets(const CsvTable& table) const;
  /// Rows that have a target; the others cannot be trained on.
  std::vector<size_t> rows_with_target(const CsvTable& table) const;

  bool is_classification() const { return classification_; }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  const std::string& target_name() const { return target_; }
  /// A standardised prediction in the units of the target.
  double unscale(double value) const { return value * target_spread_ + target_mean_; }
  double target_mean() const { return target_mean_; }
  double target_spread() const { return target_spread_; }

  Value to_value() const;
  /// Throws ValueError when the value was not made by `to_value`.
  static TableEncoder from_value(const Value& value);

 private:
  struct Input {
    std::string name;
    bool numeric = true;
    double mean = 0, spread = 1;
    std::vector<std::string> categories;
  };
  void learn_target(const CsvColumn& column, const CsvColumn& training, CsvTask task);
  void name_features();

  std::vector<Input> inputs_;
  std::vector<std::string> feature_names_;
  std::string target_;
  bool classification_ = false;
  std::vector<std::string> classes_;
  double target_mean_ = 0, target_spread_ = 1;
};

}  // namespace taeda::data
