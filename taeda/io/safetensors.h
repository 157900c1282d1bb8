// SPDX-License-Identifier: Apache-2.0
// The safetensors format, both ways: a JSON header of names, dtypes, shapes and byte ranges, then the raw elements.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/io/file.h"

namespace taeda::io {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// An opened safetensors file; the header is read and checked whole, elements only on demand.
class TAEDA_API SafetensorsReader {
 public:
  struct Entry {
    std::string name;
    ScalarType dtype = ScalarType::Undefined;  ///< Undefined: a dtype tensors cannot have here
    std::string dtype_name;
    std::vector<int64_t> sizes;
    uint64_t begin = 0;  ///< byte range, from the end of the header
    uint64_t end = 0;
  };

  /// Throws IoError, naming the file and the fault, when anything in the header is wrong: lengths, overlaps, gaps,
  /// duplicate names, sizes that do not fit their range.
  explicit SafetensorsReader(const std::string& path) : SafetensorsReader(open_file(path)) {}
  explicit SafetensorsReader(SourcePtr source);

  /// In the order of the file's header.
  const std::vector<Entry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  bool contains(const std::string& name) const { return places_.count(name) != 0; }
  /// Throws IndexError when there is no tensor of that name.
  const Entry& entry(const std::string& name) const;
  /// A new tensor with the elements of one entry.
  Tensor load(const std::string& name) const { return load(entry(name)); }
  Tensor load(const Entry& entry) const;

 private:
  SourcePtr source_;
  uint64_t data_begin_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> places_;
  Metadata metadata_;
};

/// All tensors of a file in the order of its header, and its metadata when asked for.
TAEDA_API NamedTensors load_safetensors(const std::string& path, Metadata* metadata = nullptr);
TAEDA_API NamedTensors load_safetensors(SourcePtr source, Metadata* metadata = nullptr);
/// Writes the tensors (made contiguous) atomically. Throws ValueError for a name given twice.
TAEDA_API void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
TAEDA_API void write_safetensors(Sink& sink, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace taeda::io
