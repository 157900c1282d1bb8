// SPDX-License-Identifier: Apache-2.0
// Descriptions of files and values.
#include "taeda/io/describe.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "taeda/core/dict.h"
#include "taeda/io/image.h"
#include "taeda/io/npy.h"
#include "taeda/io/pt.h"
#include "taeda/io/safetensors.h"
#include "taeda/io/zip.h"

namespace taeda::io {
namespace {

const char* dtype_name(ScalarType type) {
  switch (type) {
    case kBool: return "bool";
    case kByte: return "uint8";
    case kChar: return "int8";
    case kShort: return "int16";
    case kInt: return "int32";
    case kLong: return "int64";
    case kHalf: return "float16";
    case kBFloat16: return "bfloat16";
    case kFloat: return "float32";
    case kDouble: return "float64";
    default: return to_string(type);
  }
}

std::string human_bytes(double bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  char text[40];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string shape(IntArrayRef sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + ")";
}

/// Without control characters, and not longer than a line.
std::string shown(std::string_view text, size_t limit = 100) {
  std::string out;
  for (const char c : text.substr(0, limit)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return text.size() > limit ? out + "…" : out;
}

struct Totals {
  uint64_t tensors = 0, elements = 0, bytes = 0;
  void add(uint64_t numel, uint64_t size) {
    ++tensors;
    elements += numel;
    bytes += size;
  }
  std::string text() const {
    return grouped(tensors) + (tensors == 1 ? " tensor, " : " tensors, ") + grouped(elements) + " elements, " + human_bytes(static_cast<double>(bytes));
  }
};

/// Names on the left, what they are on the right.
class Table {
 public:
  explicit Table(size_t max_lines) : max_lines_(max_lines) {}
  bool add(std::string left, std::string right) {
    if (rows_.size() >= max_lines_) {
      ++hidden_;
      return false;
    }
    rows_.emplace_back(std::move(left), std::move(right));
    return true;
  }
  std::string text() const {
    size_t width = 0;
    for (const auto& row : rows_) width = std::max(width, std::min<size_t>(row.first.size(), 60));
    std::string out;
    for (const auto& [left, right] : rows_) {
      out += "  " + left;
      if (!right.empty()) out += std::string(left.size() < width ? width - left.size() + 2 : 2, ' ') + right;
      out += '\n';
    }
    if (hidden_) out += "  … and more (" + grouped(hidden_) + " entries are not shown)\n";
    return out;
  }

 private:
  size_t max_lines_;
  size_t hidden_ = 0;
  std::vector<std::pair<std::string, std::string>> rows_;
};

std::string tensor_text(const Tensor& tensor) {
  return str(dtype_name(tensor.scalar_type()), " ", shape(tensor.sizes()), tensor.requires_grad() ? " requires grad" : "");
}

void walk(const Value& value, const std::string& name, size_t depth, Table& table, Totals& totals);

bool is_leaf_list(const Value& value) {
  for (const Value& v : value.list()) {
    if (!v.is_number()) return false;
  }
  return true;
}

std::string plain_text(const Value& value) {
  if (value.is_none()) return "None";
  if (value.is_string()) return "\"" + shown(value.string()) + "\"";
  if (value.is_bool()) return value.to_bool() ? "true" : "false";
  if (value.is_int()) return std::to_string(value.to_int());
  if (value.is_double()) return str(value.to_double());
  return value.describe();
}

void walk_list(const Value& value, const std::string& name, size_t depth, Table& table, Totals& totals) {
  const Value::List& list = value.list();
  if (is_leaf_list(value)) {
    std::string text = "[";
    for (size_t i = 0; i < list.size() && i < 8; ++i) text += (i ? ", " : "") + plain_text(list[i]);
    table.add(name, text + (list.size() > 8 ? str(", … (", list.size(), ")]") : std::string("]")));
    return;
  }
  if (!table.add(name, "list of " + std::to_string(list.size()))) return;
  for (size_t i = 0; i < list.size(); ++i) walk(list[i], std::to_string(i), depth + 1, table, totals);
}

void walk(const Value& value, const std::string& name, size_t depth, Table& table, Totals& totals) {
  const std::string left = std::string(2 * depth, ' ') + shown(name);
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    if (tensor.defined()) totals.add(static_cast<uint64_t>(tensor.numel()), tensor.nbytes());
    table.add(left, tensor.defined() ? tensor_text(tensor) : "undefined tensor");
  } else if (value.is_list()) {
    walk_list(value, left, depth, table, totals);
  } else if (value.is_dict()) {
    if (!name.empty() && !table.add(left, "dict of " + std::to_string(value.dict().size()))) return;
    const size_t inner = name.empty() ? depth : depth + 1;
    for (const auto& [key, item] : value.dict()) {
      walk(item, key.is_string() ? key.string() : std::to_string(key.to_int()), inner, table, totals);
    }
  } else {
    table.add(left, plain_text(value));
  }
}

std::string describe_tree(const Value& value, size_t max_lines, Totals& totals) {
  Table table(max_lines);
  walk(value, value.is_dict() ? "" : "value", 0, table, totals);
  return table.text();
}

std::string describe_safetensors(SourcePtr source) {
  const SafetensorsReader reader(std::move(source));
  Table table(1000);
  Totals totals;
  for (const auto& [key, value] : reader.metadata()) table.add("metadata " + shown(key), "\"" + shown(value) + "\"");
  for (const auto& entry : reader.entries()) {
    uint64_t numel = 1;
    for (int64_t size : entry.sizes) numel *= static_cast<uint64_t>(size);
    totals.add(numel, entry.end - entry.begin);
    table.add(shown(entry.name), str(entry.dtype == ScalarType::Undefined ? entry.dtype_name : dtype_name(entry.dtype), " ", shape(entry.sizes)));
  }
  return "safetensors: " + totals.text() + "\n" + table.text();
}

std::string describe_array(const NpyHeader& header) {
  return str(header.dtype == ScalarType::Undefined ? header.descr : dtype_name(header.dtype), " ", shape(header.sizes),
             header.fortran_order ? ", column-major" : "", header.big_endian ? ", big-endian" : "");
}

std::string describe_npz(const ZipReader& zip) {
  Table table(1000);
  for (const ZipReader::Entry& entry : zip.entries()) {
    const SourcePtr array = make_source(zip.read(entry), zip.name() + ":" + entry.name);
    table.add(shown(entry.name.substr(0, entry.name.size() - 4)), describe_array(read_npy_header(*array)));
  }
  return "NumPy archive: " + std::to_string(zip.entries().size()) + " arrays\n" + table.text();
}

bool is_npz(const ZipReader& zip) {
  for (const ZipReader::Entry& entry : zip.entries()) {
    if (entry.name.size() <= 4 || entry.name.compare(entry.name.size() - 4, 4, ".npy") != 0) return false;
  }
  return !zip.entries().empty();
}

std::string describe_content(SourcePtr source) {
  const std::string start = source->read(0, std::min<uint64_t>(source->size(), 16));
  if (start.compare(0, 6, "\x93NUMPY") == 0) return "NumPy array: " + describe_array(read_npy_header(*source)) + "\n";
  if (start.compare(0, 3, "\xff\xd8\xff") == 0 || start.compare(0, 4, "\x89PNG") == 0) {
    const std::string bytes = source->read_all();
    const ImageInfo info = image_info(bytes, source->name());
    return str(info.format, " image: ", info.width, " x ", info.height, ", ", info.channels, info.channels == 1 ? " channel\n" : " channels\n");
  }
  if (ZipReader::is_zip(*source)) {
    if (const ZipReader zip(source); is_npz(zip)) return describe_npz(zip);
  }
  if (start.size() > 8 && start[8] == '{') return describe_safetensors(std::move(source));
  const bool pt = ZipReader::is_zip(*source) || start.compare(0, 2, "\x80\x02") == 0;
  TAEDA_CHECK_IO(pt, "[info] ", source->name(), " is of no known format; known are safetensors, .pt, .npy, .npz, JPEG and PNG");
  Totals totals;
  const std::string tree = describe_tree(load_pt(std::move(source)), 1000, totals);
  return "PyTorch file: " + totals.text() + "\n" + tree;
}

}  // namespace

std::string describe_value(const Value& value, size_t max_lines) {
  Totals totals;
  return describe_tree(value, max_lines, totals);
}

std::string describe_file(const std::string& path) {
  SourcePtr source = open_file(path);
  const uint64_t size = source->size();
  std::string text = describe_content(std::move(source));
  return path + " (" + human_bytes(static_cast<double>(size)) + ")\n" + text;
}

}  // namespace taeda::io
