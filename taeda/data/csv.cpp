// SPDX-License-Identifier: Apache-2.0
// Reading of CSV files (RFC 4180, with other delimiters).
#include "taeda/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "taeda/io/file.h"

namespace taeda::data {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 34;

struct Field {
  std::string text;
  bool quoted = false;
};

/// Divides the text into rows of fields.
class CsvReader {
 public:
  CsvReader(std::string_view text, char delimiter, const std::string& file) : text_(text), delimiter_(delimiter), file_(file) {}

  /// False at the end. Lines without any character are skipped.
  bool next(std::vector<Field>& row) {
    row.clear();
    while (place_ < text_.size() && (text_[place_] == '\n' || text_[place_] == '\r')) line_ += text_[place_++] == '\n';
    if (place_ >= text_.size()) return false;
    row_line_ = line_;
    do row.push_back(field());
    while (accept(delimiter_));
    if (place_ < text_.size() && text_[place_] == '\r') ++place_;
    if (place_ < text_.size() && text_[place_] == '\n') ++place_, ++line_;
    return true;
  }
  size_t line() const { return row_line_; }

 private:
  bool accept(char c) {
    if (place_ >= text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }
  Field field() {
    Field out;
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
    if (accept('"')) return quoted();
    const size_t begin = place_;
    while (place_ < text_.size() && text_[place_] != delimiter_ && text_[place_] != '\n' && text_[place_] != '\r') ++place_;
    size_t end = place_;
    while (end > begin && text_[end - 1] == ' ') --end;
    out.text = text_.substr(begin, end - begin);
    return out;
  }
  Field quoted() {
    Field out{{}, true};
    for (;;) {
      TAEDA_CHECK_IO(place_ < text_.size(), "[csv] ", file_, " line ", row_line_, ": a quoted field has no end; close the quote");
      const char c = text_[place_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        out.text += c;
      } else if (!accept('"')) {
        break;
      } else {
        out.text += '"';
      }
    }
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
    const bool ends = place_ >= text_.size() || text_[place_] == delimiter_ || text_[place_] == '\n' || text_[place_] == '\r';
    TAEDA_CHECK_IO(ends, "[csv] ", file_, " line ", row_line_, ": text follows a quoted field; write a quote inside quotes twice");
    return out;
  }

  std::string_view text_;
  char delimiter_;
  const std::string& file_;
  size_t place_ = 0;
  size_t line_ = 1;
  size_t row_line_ = 1;
};

char guess_delimiter(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  char best = ',';
  size_t most = 0;
  for (const char c : {',', ';', '\t'}) {
    const auto count = static_cast<size_t>(std::count(line.begin(), line.end(), c));
    if (count > most) most = count, best = c;
  }
  return best;
}

bool parse_number(const std::string& text, double* value) {
  const char* begin = text.data() + (text.size() > 1 && text[0] == '+');
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*value);
}

bool is_missing(const Field& field, const CsvOptions& options) {
  if (field.text.empty()) return true;
  return !field.quoted && std::find(options.missing.begin(), options.missing.end(), field.text) != options.missing.end();
}

bool all_numbers(const std::vector<Field>& row, const CsvOptions& options) {
  double ignored;
  for (const Field& field : row) {
    if (!is_missing(field, options) && !parse_number(field.text, &ignored)) return false;
  }
  return true;
}

void name_columns(CsvTable& table, const std::vector<Field>& row, bool header, const std::string& name) {
  for (size_t i = 0; i < row.size(); ++i) {
    std::string column = header ? row[i].text : std::string();
    if (column.empty()) column = "column" + std::to_string(i + 1);
    TAEDA_CHECK_IO(!table.find(column), "[csv] ", name, ": two columns have the name '", column, "'; rename one");
    table.columns.emplace_back().name = column;
  }
}

/// Text until the end of the table; then numbers where all fields are some.
void make_numeric(CsvColumn& column) {
  std::vector<double> numbers(column.texts.size(), std::numeric_limits<double>::quiet_NaN());
  bool any = false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (column.missing[i]) continue;
    any = true;
    if (!parse_number(column.texts[i], &numbers[i])) {
      any = false;
      break;
    }
  }
  column.numeric = any;
  if (!any) return;
  column.numbers = std::move(numbers);
  column.texts.clear();
}

}  // namespace

const CsvColumn* CsvTable::find(std::string_view name) const {
  for (const CsvColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

std::vector<std::string> CsvTable::names() const {
  std::vector<std::string> out;
  for (const CsvColumn& column : columns) out.push_back(column.name);
  return out;
}

CsvTable CsvTable::select(const std::vector<size_t>& rows) const {
  CsvTable out;
  out.rows = rows.size();
  for (const CsvColumn& column : columns) {
    CsvColumn& part = out.columns.emplace_back();
    part.name = column.name;
    part.numeric = column.numeric;
    for (const size_t row : rows) {
      TAEDA_CHECK_INDEX(row < this->rows, "[csv] rows must be below ", this->rows, ": got ", row, "; count from 0");
      part.missing.push_back(column.missing[row]);
      if (column.numeric) part.numbers.push_back(column.numbers[row]);
      else part.texts.push_back(column.texts[row]);
    }
  }
  return out;
}

const CsvColumn& CsvTable::at(std::string_view name) const {
  const CsvColumn* column = find(name);
  std::string known;
  for (const CsvColumn& c : columns) known += (known.empty() ? "" : ", ") + c.name;
  TAEDA_CHECK_VALUE(column, "[csv] the table must have the column asked for: got '", name, "'; the columns are ", known);
  return *column;
}

CsvTable parse_csv(std::string_view text, const std::string& name, const CsvOptions& options) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  CsvReader reader(text, options.delimiter ? options.delimiter : guess_delimiter(text), name);
  CsvTable table;
  std::vector<Field> row;
  TAEDA_CHECK_IO(reader.next(row), "[csv] ", name, " holds no rows; check the file");
  const bool header = options.header.value_or(!all_numbers(row, options));
  name_columns(table, row, header, name);
  if (header && !reader.next(row)) row.clear();
  while (!row.empty()) {
    TAEDA_CHECK_IO(row.size() == table.columns.size(), "[csv] ", name, " line ", reader.line(), ": a row must have ", table.columns.size(),
                   " fields as the first one does: got ", row.size(), "; check the delimiter and the quotes");
    for (size_t i = 0; i < row.size(); ++i) {
      const bool missing = is_missing(row[i], options);
      table.columns[i].missing.push_back(missing);
      table.columns[i].texts.push_back(missing ? std::string() : std::move(row[i].text));
    }
    ++table.rows;
    if (!reader.next(row)) break;
  }
  for (CsvColumn& column : table.columns) make_numeric(column);
  return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) { return parse_csv(io::read_file(path, kMaxFile), path, options); }

}  // namespace taeda::data
