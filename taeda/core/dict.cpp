// SPDX-License-Identifier: Apache-2.0
// The ordered map of archives.
#include "taeda/core/dict.h"

#include <unordered_map>

namespace taeda {

struct Dict::Index {
  std::unordered_map<std::string, size_t> by_name;
  std::unordered_map<int64_t, size_t> by_number;
};

Dict::Dict() : index_(nullptr) {}
Dict::Dict(std::initializer_list<Entry> entries) : Dict() {
  for (const Entry& entry : entries) set(entry.first, entry.second);
}
Dict::Dict(const Dict& other) : entries_(other.entries_), index_(other.index_ ? new Index(*other.index_) : nullptr) {}
Dict::Dict(Dict&& other) noexcept : entries_(std::move(other.entries_)), index_(std::exchange(other.index_, nullptr)) {
  other.entries_.clear();
}
Dict& Dict::operator=(Dict other) noexcept {
  entries_.swap(other.entries_);
  std::swap(index_, other.index_);
  return *this;
}
Dict::~Dict() { delete index_; }

const Value* Dict::find(std::string_view key) const {
  if (!index_) return nullptr;
  const auto found = index_->by_name.find(std::string(key));
  return found == index_->by_name.end() ? nullptr : &entries_[found->second].second;
}

const Value* Dict::find(int64_t key) const {
  if (!index_) return nullptr;
  const auto found = index_->by_number.find(key);
  return found == index_->by_number.end() ? nullptr : &entries_[found->second].second;
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
  if (!index_) index_ = new Index;
  const auto [place, fresh] = key.is_string() ? [&] {
    auto [it, inserted] = index_->by_name.try_emplace(key.string(), entries_.size());
    return std::pair(it->second, inserted);
  }() : [&] {
    auto [it, inserted] = index_->by_number.try_emplace(key.to_int(), entries_.size());
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
  delete std::exchange(index_, nullptr);
}

std::vector<std::string> Dict::keys() const {
  std::vector<std::string> out;
  for (const Entry& e : entries_) out.push_back(e.first.is_string() ? e.first.string() : std::to_string(e.first.to_int()));
  return out;
}

}  // namespace taeda
