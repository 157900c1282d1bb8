// SPDX-License-Identifier: Apache-2.0
// Text logs: CSV, JSON lines, console; and rows in memory.
#include "taeda/train/loggers.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>

#include "taeda/core/error.h"

namespace taeda::train {

namespace detail {

GrowingFile::~GrowingFile() {
  if (file_) std::fclose(file_);
}

bool GrowingFile::open() {
  if (file_) return false;
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  std::error_code ignored;
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  const bool goes_on = keep_ > 0 && std::filesystem::exists(path_);
  file_ = std::fopen(path_.c_str(), goes_on ? "r+b" : "wb");
  TAEDA_CHECK_IO(file_, "[log] ", path_, ": the file must be writable: it cannot be opened; choose another folder");
  if (goes_on) {
    TAEDA_CHECK_IO(ftruncate(fileno(file_), keep_) == 0, "[log] ", path_, ": cannot be cut back; remove it");
    std::fseek(file_, 0, SEEK_END);
  }
  return !goes_on;
}

void GrowingFile::write(const std::string& bytes) {
  open();
  TAEDA_CHECK_IO(std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size(), "[log] ", path_,
                 ": cannot be written; is the disk full?");
}

void GrowingFile::flush() {
  if (file_) std::fflush(file_);
}

int64_t GrowingFile::length() {
  if (!file_) return keep_;
  std::fflush(file_);
  return std::ftell(file_);
}

}  // namespace detail

namespace {

/// As short as it can be without loss.
std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void save_length(serialize::OutputArchive& archive, detail::GrowingFile& file) { archive.write("length", Value(file.length())); }
void load_length(serialize::InputArchive& archive, detail::GrowingFile& file) {
  Value length;
  archive.read("length", length);
  file.keep(length.to_int());
}

}  // namespace

void CSVLogger::log_metrics(const MetricList& values, int64_t step, int64_t epoch) {
  if (file_.open()) file_.write("step,epoch,name,value\n");
  for (const auto& [name, value] : values) file_.write(std::to_string(step) + "," + std::to_string(epoch) + "," + name + "," + number(value) + "\n");
}
void CSVLogger::save(serialize::OutputArchive& archive) { save_length(archive, file_); }
void CSVLogger::load(serialize::InputArchive& archive) { load_length(archive, file_); }

void JSONLinesLogger::log_hyperparameters(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string line = "{\"config\": {";
  for (const auto& [name, value] : values) line += (line.back() == '{' ? "" : ", ") + quoted(name) + ": " + quoted(value);
  file_.write(line + "}}\n");
}
void JSONLinesLogger::log_metrics(const MetricList& values, int64_t step, int64_t epoch) {
  std::string line = "{\"step\": " + std::to_string(step) + ", \"epoch\": " + std::to_string(epoch);
  for (const auto& [name, value] : values) line += ", " + quoted(name) + ": " + (std::isfinite(value) ? number(value) : "null");
  file_.write(line + "}\n");
}
void JSONLinesLogger::save(serialize::OutputArchive& archive) { save_length(archive, file_); }
void JSONLinesLogger::load(serialize::InputArchive& archive) { load_length(archive, file_); }

void ConsoleLogger::log_metrics(const MetricList& values, int64_t step, int64_t epoch) {
  std::string line = "step " + std::to_string(step) + "  epoch " + std::to_string(epoch);
  for (const auto& [name, value] : values) {
    char text[48];
    std::snprintf(text, sizeof(text), " %.5g", value);
    line += "  " + name + text;
  }
  std::fprintf(stream_, "%s\n", line.c_str());
}

void MemoryLogger::log_metrics(const MetricList& values, int64_t step, int64_t epoch) {
  for (const auto& [name, value] : values) {
    auto found = series_.begin();
    while (found != series_.end() && found->first != name) ++found;
    if (found == series_.end()) found = series_.insert(found, {name, {}});
    found->second.push_back({step, epoch, value});
  }
}
void MemoryLogger::save(serialize::OutputArchive& archive) {
  Value::List names, rows;
  for (const auto& [name, points] : series_) {
    names.emplace_back(name);
    std::vector<double> numbers;
    for (const Point& p : points) {
      numbers.push_back(static_cast<double>(p.step));
      numbers.push_back(static_cast<double>(p.epoch));
      numbers.push_back(p.value);
    }
    rows.emplace_back(numbers);
  }
  archive.write("names", Value(std::move(names)));
  archive.write("points", Value(std::move(rows)));
}
void MemoryLogger::load(serialize::InputArchive& archive) {
  Value names, rows;
  archive.read("names", names);
  archive.read("points", rows);
  series_.clear();
  for (size_t i = 0; i < names.list().size(); ++i) {
    const std::vector<double> numbers = rows.list().at(i).double_list();
    auto& points = series_.emplace_back(names.list()[i].string(), std::vector<Point>()).second;
    for (size_t k = 0; k + 2 < numbers.size(); k += 3) {
      points.push_back({static_cast<int64_t>(numbers[k]), static_cast<int64_t>(numbers[k + 1]), numbers[k + 2]});
    }
  }
}

}  // namespace taeda::train
