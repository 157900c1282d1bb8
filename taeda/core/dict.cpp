// SPDX-License-Identifier: Apache-2.0
// The ordered map of archives.
#include "taeda/core/dict.h"

namespace taeda {

const Value* Dict::find(std::string_view key) const {
  const auto found = by_name_.find(std::string(key));
  return found == by_name_.end() ? nullptr : &entries_[found->second].second;
}

const Value* Dict::find(int64_t key) const {
  const auto found = by_number_.find(key);
  return found == by_number_.end() ? nullptr : &entries_[found->second].second;
}

const Value& Dict::at(std::string_view key) const {
  if (const Value* value = find(key)) return *value;
  std::string known;
  for (size_t i = 0; i < entries_.size() && i < 20; ++i) {
    const Value& k = entries_[i].first;
    known += (i ? ", " : "") + (k.is_string() ? k.string() : std::to_string(k.to_int()));
  }
  if (entries_.size() > 20) known += ", …";
  TAEDA_CHECK_INDEX(false, "[Dict] the key must be in the dictionary: got '", key, "'; the ", entries_.size(),
                    " keys are: ", known);
  __builtin_unreachable();
}

void Dict::set(const Value& key, Value value) {
  TAEDA_CHECK_TYPE(key.is_string() || key.is_int() || key.is_bool(),
                   "[Dict] a key must be a string or an integer: got ", key.describe(), "; convert it");
  const auto [place, fresh] = key.is_string() ? [&] {
    auto [it, inserted] = by_name_.try_emplace(key.string(), entries_.size());
    return std::pair(it->second, inserted);
  }() : [&] {
    auto [it, inserted] = by_number_.try_emplace(key.to_int(), entries_.size());
    return std::pair(it->second, inserted);
  }();
  if (fresh) {
    entries_.emplace_back(key.is_bool() ? Value(key.to_int()) : key, std::move(value));
  } else {
    entries_[place].second = std::move(value);
  }
}

void Dict::clear() {
  entries_.clear();
  by_name_.clear();
  by_number_.clear();
}

std::vector<std::string> Dict::keys() const {
  std::vector<std::string> out;
  for (const Entry& e : entries_) out.push_back(e.first.is_string() ? e.first.string() : std::to_string(e.first.to_int()));
  return out;
}

}  // namespace taeda
