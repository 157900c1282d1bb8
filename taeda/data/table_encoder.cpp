// SPDX-License-Identifier: Apache-2.0
// From columns to tensors.
#include <algorithm>
#include <cmath>
#include <set>

#include "taeda/data/csv.h"
#include "taeda/io/tensor_bytes.h"

namespace taeda::data {
namespace {

constexpr size_t kMaxClassesOfNumbers = 20;
constexpr size_t kMaxCategories = 1000;

struct Moments {
  double mean = 0, spread = 1;
};

Moments moments(const std::vector<double>& numbers) {
  double sum = 0, squares = 0;
  size_t count = 0;
  for (const double x : numbers) {
    if (!std::isnan(x)) sum += x, ++count;
  }
  if (count == 0) return {};
  const double mean = sum / static_cast<double>(count);
  for (const double x : numbers) {
    if (!std::isnan(x)) squares += (x - mean) * (x - mean);
  }
  const double spread = std::sqrt(squares / static_cast<double>(count));
  return {mean, spread > 0 ? spread : 1};
}

/// 3 for 3.0: the way a class made of numbers is called.
std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? std::to_string(static_cast<int64_t>(value)) : str(value);
}

std::vector<std::string> categories_of(const CsvColumn& column) {
  std::set<std::string> seen;
  for (size_t i = 0; i < column.texts.size(); ++i) {
    if (!column.missing[i]) seen.insert(column.texts[i]);
  }
  return {seen.begin(), seen.end()};
}

int64_t place_of(const std::vector<std::string>& sorted, const std::string& text) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), text);
  return found != sorted.end() && *found == text ? found - sorted.begin() : -1;
}

Value texts_value(const std::vector<std::string>& texts) { return Value::List(texts.begin(), texts.end()); }

std::vector<std::string> texts_of(const Value& value) {
  std::vector<std::string> out;
  for (const Value& v : value.list()) out.push_back(v.string());
  return out;
}

}  // namespace

TableEncoder::TableEncoder(const CsvTable& table, const std::string& target, CsvTask task) : TableEncoder(table, table, target, task) {}

TableEncoder::TableEncoder(const CsvTable& table, const CsvTable& training, const std::string& target, CsvTask task) : target_(target) {
  learn_target(table.at(target), training.at(target), task);
  for (const CsvColumn& column : training.columns) {
    if (column.name == target) continue;
    Input input{column.name, column.numeric, 0, 1, {}};
    if (column.numeric) {
      const Moments m = moments(column.numbers);
      input.mean = m.mean;
      input.spread = m.spread;
    } else {
      input.categories = categories_of(column);
      TAEDA_CHECK_VALUE(input.categories.size() <= kMaxCategories, "[csv] a text column must have at most ", kMaxCategories, " kinds of values: got ",
                        input.categories.size(), " in '", column.name, "'; remove the column");
    }
    inputs_.push_back(std::move(input));
  }
  name_features();
  TAEDA_CHECK_VALUE(!feature_names_.empty(), "[csv] the table must have columns besides the target: got only '", target, "'; check the delimiter");
}

void TableEncoder::learn_target(const CsvColumn& column, const CsvColumn& training, CsvTask task) {
  std::set<double> kinds;
  bool whole = true;
  for (const double x : column.numbers) {
    if (std::isnan(x)) continue;
    whole = whole && x == std::floor(x);
    if (kinds.size() <= kMaxClassesOfNumbers) kinds.insert(x);
  }
  TAEDA_CHECK_VALUE(task != CsvTask::kRegression || column.numeric, "[csv] the target of a regression must be numeric: got text in '", column.name,
                    "'; choose classification");
  classification_ = task == CsvTask::kClassification ||
                    (task == CsvTask::kAuto && (!column.numeric || (whole && kinds.size() <= kMaxClassesOfNumbers)));
  if (!classification_) {
    const Moments m = moments(training.numbers);
    target_mean_ = m.mean;
    target_spread_ = m.spread;
  } else if (column.numeric) {
    std::set<double> all;
    for (const double x : column.numbers) {
      if (!std::isnan(x)) all.insert(x);
    }
    for (const double x : all) classes_.push_back(number_text(x));
  } else {
    classes_ = categories_of(column);
  }
  TAEDA_CHECK_VALUE(!classification_ || classes_.size() >= 2, "[csv] the target must have at least two kinds of values: got ", classes_.size(), " in '",
                    column.name, "'; choose another column");
}

void TableEncoder::name_features() {
  feature_names_.clear();
  for (const Input& input : inputs_) {
    if (input.numeric) feature_names_.push_back(input.name);
    for (const std::string& category : input.categories) feature_names_.push_back(input.name + "=" + category);
  }
}

Tensor TableEncoder::features(const CsvTable& table) const {
  const auto width = static_cast<int64_t>(feature_names_.size());
  Tensor out = make_tensor({static_cast<int64_t>(table.rows), width}, kFloat);
  auto* data = reinterpret_cast<float*>(io::raw_data(out));
  std::fill(data, data + out.numel(), 0.0f);
  for (const Input& input : inputs_) {
    const CsvColumn& column = table.at(input.name);
    const bool empty = !column.numeric && std::find(column.missing.begin(), column.missing.end(), false) == column.missing.end();
    TAEDA_CHECK_VALUE(empty || column.numeric == input.numeric, "[csv] the column '", input.name, "' must be ", input.numeric ? "numeric" : "text",
                      " as in training: got ", column.numeric ? "numbers" : "text", "; check the file");
    for (size_t row = 0; row < table.rows; ++row) {
      float* to = data + static_cast<int64_t>(row) * width;
      if (column.missing[row]) continue;  // the mean is 0, no category is all zeros
      if (input.numeric) {
        *to = static_cast<float>((column.numbers[row] - input.mean) / input.spread);
      } else if (const int64_t place = place_of(input.categories, column.texts[row]); place >= 0) {
        to[place] = 1.0f;
      }
    }
    data += input.numeric ? 1 : static_cast<int64_t>(input.categories.size());
  }
  return out;
}

std::vector<size_t> TableEncoder::rows_with_target(const CsvTable& table) const {
  const CsvColumn& column = table.at(target_);
  std::vector<size_t> rows;
  for (size_t i = 0; i < table.rows; ++i) {
    if (!column.missing[i]) rows.push_back(i);
  }
  return rows;
}

Tensor TableEncoder::targets(const CsvTable& table) const {
  const CsvColumn& column = table.at(target_);
  const auto rows = static_cast<int64_t>(table.rows);
  Tensor out = classification_ ? make_tensor({rows}, kLong) : make_tensor({rows, 1}, kFloat);
  for (size_t i = 0; i < table.rows; ++i) {
    TAEDA_CHECK_VALUE(!column.missing[i], "[csv] every row must have a target: got none in row ", i + 1, " of '", target_,
                      "'; choose rows with rows_with_target");
    if (!classification_) {
      TAEDA_CHECK_VALUE(column.numeric, "[csv] the target '", target_, "' must be numeric as in training: got text; check the file");
      reinterpret_cast<float*>(io::raw_data(out))[i] = static_cast<float>((column.numbers[i] - target_mean_) / target_spread_);
      continue;
    }
    const std::string text = column.numeric ? number_text(column.numbers[i]) : column.texts[i];
    const auto found = std::find(classes_.begin(), classes_.end(), text);
    TAEDA_CHECK_VALUE(found != classes_.end(), "[csv] every target must be a class known from training: got '", text, "' in row ", i + 1,
                      "; the known ones number ", classes_.size());
    reinterpret_cast<int64_t*>(io::raw_data(out))[i] = found - classes_.begin();
  }
  return out;
}

Value TableEncoder::to_value() const {
  Value::List inputs;
  for (const Input& input : inputs_) {
    inputs.push_back(Dict{{"name", input.name}, {"numeric", input.numeric}, {"mean", input.mean}, {"spread", input.spread},
                          {"categories", texts_value(input.categories)}});
  }
  return Dict{{"inputs", inputs}, {"target", target_}, {"classification", classification_}, {"classes", texts_value(classes_)},
              {"target_mean", target_mean_}, {"target_spread", target_spread_}};
}

TableEncoder TableEncoder::from_value(const Value& value) {
  TableEncoder encoder;
  try {
    const Dict& dict = value.dict();
    for (const Value& v : dict.at("inputs").list()) {
      const Dict& input = v.dict();
      encoder.inputs_.push_back({input.at("name").string(), input.at("numeric").to_bool(), input.at("mean").to_double(),
                                 input.at("spread").to_double(), texts_of(input.at("categories"))});
    }
    encoder.target_ = dict.at("target").string();
    encoder.classification_ = dict.at("classification").to_bool();
    encoder.classes_ = texts_of(dict.at("classes"));
    encoder.target_mean_ = dict.at("target_mean").to_double();
    encoder.target_spread_ = dict.at("target_spread").to_double();
  } catch (const Error& error) {
    TAEDA_CHECK_VALUE(false, "[csv] the value must be one that TableEncoder::to_value made: ", error.what(), "; check the checkpoint");
  }
  encoder.name_features();
  return encoder;
}

}  // namespace taeda::data
