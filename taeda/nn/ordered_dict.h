// SPDX-License-Identifier: Apache-2.0
// A dictionary that remembers the order of insertion.
#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taeda/core/error.h"

namespace taeda {

/// Keys and values in the order in which they were inserted. Lookups of a missing key throw Error and name it.
template <class Key, class Value>
class OrderedDict {
 public:
  /// One pair; the key cannot change.
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : key_description_("Key") {
    for (const Item& item : items) insert(item.key(), item.value());
  }
  const std::string& key_description() const noexcept { return key_description_; }

  Item& front() { return checked(0); }
  const Item& front() const { return const_cast<OrderedDict*>(this)->front(); }
  Item& back() { return checked(items_.size() - 1); }
  const Item& back() const { return const_cast<OrderedDict*>(this)->back(); }
  Item& operator[](size_t index) { return checked(index); }
  const Item& operator[](size_t index) const { return const_cast<OrderedDict*>(this)->checked(index); }
  Value& operator[](const Key& key) {
    Value* value = find(key);
    TAEDA_CHECK(value != nullptr, "[OrderedDict] ", key_description_, " '", key, "' is not defined; insert it first");
    return *value;
  }
  const Value& operator[](const Key& key) const { return const_cast<OrderedDict&>(*this)[key]; }
  Value* find(const Key& key) noexcept {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  const Value* find(const Key& key) const noexcept { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const noexcept { return index_.contains(key); }

  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void reserve(size_t n) { items_.reserve(n); }

  /// Throws Error when the key exists.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    TAEDA_CHECK(!contains(key), "[OrderedDict] ", key_description_, " '", key, "' already defined; choose another name");
    items_.emplace_back(Key(std::forward<K>(key)), Value(std::forward<V>(value)));
    index_.emplace(items_.back().key(), items_.size() - 1);
    return items_.back().value();
  }
  Value& insert(Key key, Value&& value) { return insert<Key, Value>(std::move(key), std::move(value)); }
  void update(OrderedDict&& other) {
    for (Item& item : other) insert(item.key(), std::move(item.value()));
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    const auto it = index_.find(key);
    TAEDA_CHECK(it != index_.end(), "[OrderedDict] ", key_description_, " '", key, "' is not defined; insert it first");
    const size_t at = it->second;
    index_.erase(it);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    for (auto& [unused, position] : index_) position -= position > at;
  }
  void clear() {
    index_.clear();
    items_.clear();
  }
  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> out;
    for (const Item& item : items_) out.push_back(item.key());
    return out;
  }
  std::vector<Value> values() const {
    std::vector<Value> out;
    for (const Item& item : items_) out.push_back(item.value());
    return out;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> out;
    for (const Item& item : items_) out.push_back(item.pair());
    return out;
  }
  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(a.items_[i].pair() == b.items_[i].pair())) return false;
    }
    return true;
  }

 private:
  Item& checked(size_t index) {
    TAEDA_CHECK(index < items_.size(), "[OrderedDict] index must be below the size: got ", index, " of ", items_.size(),
                "; check the index");
    return items_[index];
  }
  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
  std::string key_description_;
};

}  // namespace taeda
