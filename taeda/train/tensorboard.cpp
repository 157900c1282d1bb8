// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: the few protobuf messages they need, framed as TFRecords with masked CRC-32C.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "taeda/io/image.h"
#include "taeda/ops/functions.h"
#include "taeda/train/loggers.h"
#include "taeda/train/protobuf.h"

namespace taeda::train {

using namespace protobuf;  // NOLINT(google-build-using-namespace): a few functions of this room

namespace {

/// CRC-32C (Castagnoli) with the reflected polynomial 0x82f63b78, masked as TFRecords ask.
uint32_t masked_crc(const std::string& bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ crc >> 8;
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

}  // namespace

double TensorBoardLogger::wall_time() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

TensorBoardLogger::TensorBoardLogger(const std::string& folder) : folder_(folder), file_("") {
  const auto stamp = static_cast<long long>(wall_time());
  std::string name = str("events.out.tfevents.", stamp, ".taeda");
  for (int i = 1; std::filesystem::exists(std::filesystem::path(folder) / name); ++i) name = str("events.out.tfevents.", stamp, ".taeda.", i);
  file_.set_path((std::filesystem::path(folder) / name).string());
}

void TensorBoardLogger::add_event(const std::string& event) {
  const auto frame = [&](const std::string& data) {
    std::string length, record;
    put_raw(length, static_cast<uint64_t>(data.size()));
    record = length;
    put_raw(record, masked_crc(length));
    record += data;
    put_raw(record, masked_crc(data));
    file_.write(record);
  };
  if (file_.open()) {
    std::string first;
    put_double(first, 1, wall_time());
    put_bytes(first, 3, "brain.Event:2");
    frame(first);
  }
  frame(event);
}

void TensorBoardLogger::add_summary(const std::string& value, int64_t step) {
  std::string summary, event;
  put_bytes(summary, 1, value);
  put_double(event, 1, wall_time());
  put_int(event, 2, step);
  put_bytes(event, 5, summary);
  add_event(event);
}

void TensorBoardLogger::add_scalar(const std::string& tag, double value, int64_t step) {
  std::string v;
  put_bytes(v, 1, tag);
  put_float(v, 2, static_cast<float>(value));
  add_summary(v, step);
}

void TensorBoardLogger::log_metrics(const MetricList& values, int64_t step, int64_t) {
  for (const auto& [name, value] : values) add_scalar(name, value, step);
}

void TensorBoardLogger::add_histogram(const std::string& tag, const Tensor& values, int64_t step, int64_t bins) {
  const Tensor flat = values.detach().to(kFloat64).contiguous().view({-1});
  const double* x = flat.data_ptr<double>();
  const int64_t n = flat.numel();
  TAEDA_CHECK_VALUE(n > 0 && bins > 0, "[add_histogram] there must be values and bins: got ", n, " and ", bins, "; leave it out");
  const auto [low, high] = std::minmax_element(x, x + n);
  const double width = std::max((*high - *low) / static_cast<double>(bins), 1e-300);
  std::vector<double> limits(static_cast<size_t>(bins)), counts(static_cast<size_t>(bins), 0.0);
  for (int64_t i = 0; i < bins; ++i) limits[static_cast<size_t>(i)] = i + 1 == bins ? *high : *low + width * static_cast<double>(i + 1);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += x[i];
    squares += x[i] * x[i];
    ++counts[static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>((x[i] - *low) / width), 0, bins - 1))];
  }
  std::string histogram, v;
  put_double(histogram, 1, *low);
  put_double(histogram, 2, *high);
  put_double(histogram, 3, static_cast<double>(n));
  put_double(histogram, 4, sum);
  put_double(histogram, 5, squares);
  put_bytes(histogram, 6, packed(limits));
  put_bytes(histogram, 7, packed(counts));
  put_bytes(v, 1, tag);
  put_bytes(v, 5, histogram);
  add_summary(v, step);
}

void TensorBoardLogger::add_image(const std::string& tag, const Tensor& image, int64_t step) {
  std::string picture, v;
  put_int(picture, 1, image.size(1));
  put_int(picture, 2, image.size(2));
  put_int(picture, 3, image.size(0));
  put_bytes(picture, 4, io::encode_png(image));
  put_bytes(v, 1, tag);
  put_bytes(v, 4, picture);
  add_summary(v, step);
}

void TensorBoardLogger::add_text(const std::string& tag, const std::string& text, int64_t step) {
  std::string plugin, metadata, tensor, dim, shape, v;
  put_bytes(plugin, 1, "text");
  put_bytes(metadata, 1, plugin);
  put_int(dim, 1, 1);
  put_bytes(shape, 2, dim);
  put_int(tensor, 1, 7);  // DT_STRING
  put_bytes(tensor, 2, shape);
  put_bytes(tensor, 8, text);
  put_bytes(v, 1, tag + "/text_summary");
  put_bytes(v, 8, tensor);
  put_bytes(v, 9, metadata);
  add_summary(v, step);
}

void TensorBoardLogger::log_hyperparameters(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string start;
  for (const auto& [name, text] : values) {
    std::string value, entry;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && end == text.c_str() + text.size()) put_double(value, 2, number);
    else put_bytes(value, 3, text);
    put_bytes(entry, 1, name);
    put_bytes(entry, 2, value);
    put_bytes(start, 1, entry);
  }
  put_double(start, 5, wall_time());
  std::string data, plugin, metadata, v;
  put_bytes(data, 3, start);
  put_bytes(plugin, 1, "hparams");
  put_bytes(plugin, 2, data);
  put_bytes(metadata, 1, plugin);
  put_bytes(v, 1, "_hparams_/session_start_info");
  put_bytes(v, 9, metadata);
  add_summary(v, 0);
}

void TensorBoardLogger::save(serialize::OutputArchive& archive) {
  archive.write("length", Value(file_.length()));
  archive.write("file", Value(std::filesystem::path(file_.path()).filename().string()));
}
void TensorBoardLogger::load(serialize::InputArchive& archive) {
  Value length, name;
  archive.read("length", length);
  archive.read("file", name);
  file_.keep(length.to_int());
  if (length.to_int() > 0) file_.set_path((std::filesystem::path(folder_) / std::filesystem::path(name.string()).filename()).string());
}

}  // namespace taeda::train
