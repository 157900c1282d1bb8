// SPDX-License-Identifier: Apache-2.0
// An ordered map from strings and integers to values, for archives.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/core/value.h"

namespace taeda {

/// Keys (strings or integers) to values, in the order of insertion, as Python's dict keeps them.
/// Invariant: keys differ; the index holds the place of each of them.
class TAEDA_API Dict final {
 public:
  using Entry = std::pair<Value, Value>;

  Dict();
  Dict(std::initializer_list<Entry> entries);
  Dict(const Dict& other);
  Dict(Dict&& other) noexcept;
  Dict& operator=(Dict other) noexcept;
  ~Dict();
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  /// Null when the key is not there.
  const Value* find(std::string_view key) const;
  const Value* find(int64_t key) const;
  const Value* find(const char* key) const { return find(std::string_view(key)); }
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// Throws IndexError naming the key, and the keys there are, when it is not there.
  const Value& at(std::string_view key) const;
  /// Inserts at the end, or replaces the value in its place. Throws TypeError unless the key is a string, an integer or a bool.
  void set(const Value& key, Value value);
  void clear();
  /// The keys in order; integers as decimal text.
  std::vector<std::string> keys() const;

 private:
  std::vector<Entry> entries_;
  struct Index;
  Index* index_;  ///< null: no entries
};

}  // namespace taeda
