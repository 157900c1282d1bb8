// SPDX-License-Identifier: Apache-2.0
// Archives: named values that modules, optimizers and users write and read, kept in `.pt` or safetensors files.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/core/dict.h"
#include "taeda/io/file.h"

namespace taeda::serialize {

/// Collects named values and writes them as one dictionary. A nested archive's names are joined by dots, so that a module's file opens
/// in Python as the state dictionary `{"layer1.weight": tensor, …}`.
class TAEDA_API OutputArchive final {
 public:
  OutputArchive();
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  OutputArchive(const OutputArchive&) = delete;
  OutputArchive& operator=(const OutputArchive&) = delete;

  /// A later value of the same name replaces an earlier one.
  void write(const std::string& key, const Value& value);
  /// `is_buffer` is for compatibility.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  void write(const std::string& key, const OutputArchive& nested);
  /// Whether nothing has been written.
  bool is_empty() const;
  /// Makes the file hold this one value in place of named ones.
  void set_root(Value value) { root_ = std::move(value); }
  /// The dictionary, or the one value.
  Value value() const { return root_ ? *root_ : Value(named_); }

  /// A safetensors file when the name ends in `.safetensors` (tensors only), else a `.pt` file; replaced atomically.
  void save_to(const std::string& filename) const;
  void save_to(std::ostream& stream) const;
  void save_to(const std::function<size_t(const void*, size_t)>& function) const;

  template <class... Ts>
  void operator()(Ts&&... ts) {
    write(std::forward<Ts>(ts)...);
  }

 private:
  std::shared_ptr<Dict> named_;
  std::optional<Value> root_;
};

/// Reads what an OutputArchive wrote, a state dictionary saved by Python, or a safetensors file. Names are looked up as a whole
/// ("layer1.weight") and through nested archives or dictionaries ("layer1", then "weight").
class TAEDA_API InputArchive final {
 public:
  InputArchive();
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;
  InputArchive(const InputArchive&) = default;
  InputArchive& operator=(const InputArchive&) = default;

  /// Throws IoError, naming the file and what it holds, when there is nothing of that name.
  void read(const std::string& key, Value& value) const;
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  void read(const std::string& key, InputArchive& archive) const;
  bool try_read(const std::string& key, Value& value) const;
  /// A tensor that has the stored one's shape, dtype and device is written in place; any other takes its data over. All handles to it see so.
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  bool try_read(const std::string& key, InputArchive& archive) const;

  void load_from(const std::string& filename, std::optional<Device> device = std::nullopt);
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<Device> device = std::nullopt);
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read_func, const std::function<size_t()>& size_func,
                 std::optional<Device> device = std::nullopt);
  void load_from(io::SourcePtr source, std::optional<Device> device = std::nullopt);

  /// The names at this level: of values, and of nested archives once each.
  std::vector<std::string> keys() const;
  /// Everything at this level and below by full name.
  std::vector<std::string> all_keys() const;
  /// The whole content when it is no dictionary; else the dictionary.
  const Value& value() const { return root_; }
  /// The file, and the path of nested archives inside it, for messages.
  std::string where() const;

  /// The whole content, which must be a tensor, as `read` does it.
  void read_root(Tensor& tensor) const;

  template <class... Ts>
  void operator()(Ts&&... ts) {
    read(std::forward<Ts>(ts)...);
  }

 private:
  const Value* find(const std::string& key) const;
  [[noreturn]] void throw_missing(const std::string& key) const;

  Value root_;
  std::string prefix_;  ///< of names in `root_`, "" or ending in a dot
  std::string path_;    ///< from the file's top to here, for messages
  std::string source_ = "an empty archive";
  std::optional<Device> device_;
};

}  // namespace taeda::serialize

namespace taeda::io {
/// The content of a `.pt` or safetensors file (told apart by their first bytes) as one value.
TAEDA_API Value load_value(SourcePtr source);
}  // namespace taeda::io
