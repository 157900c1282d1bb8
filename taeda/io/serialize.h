// SPDX-License-Identifier: Apache-2.0
// `save` and `load`: tensors, lists of them, values, and everything that can write itself into an archive.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "taeda/io/archive.h"

namespace taeda {

namespace serialize {

template <class T>
concept SavesItself = requires(const T& value, OutputArchive& archive) { value.save(archive); };
template <class T>
concept PointsToSavable = !SavesItself<T> && requires(const T& value, OutputArchive& archive) { value->save(archive); };
template <class T>
concept LoadsItself = requires(T& value, InputArchive& archive) { value.load(archive); };
template <class T>
concept PointsToLoadable = !LoadsItself<T> && requires(T& value, InputArchive& archive) { value->load(archive); };

/// Modules, optimizers and other objects with `save(OutputArchive&)`, held by value or by any kind of pointer.
template <SavesItself T>
OutputArchive& operator<<(OutputArchive& archive, const T& value) {
  value.save(archive);
  return archive;
}
template <PointsToSavable T>
OutputArchive& operator<<(OutputArchive& archive, const T& value) {
  TAEDA_CHECK(static_cast<bool>(value), "[save] the object to save must exist: got an empty pointer; create it first");
  value->save(archive);
  return archive;
}
template <LoadsItself T>
InputArchive& operator>>(InputArchive& archive, T& value) {
  value.load(archive);
  return archive;
}
template <PointsToLoadable T>
InputArchive& operator>>(InputArchive& archive, T& value) {
  TAEDA_CHECK(static_cast<bool>(value), "[load] the object to load into must exist: got an empty pointer; create it first");
  value->load(archive);
  return archive;
}

TAEDA_API OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
TAEDA_API OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
TAEDA_API OutputArchive& operator<<(OutputArchive& archive, const Value& value);
TAEDA_API InputArchive& operator>>(InputArchive& archive, Tensor& tensor);
/// Puts the stored tensors behind those that the list has.
TAEDA_API InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);
TAEDA_API InputArchive& operator>>(InputArchive& archive, Value& value);

}  // namespace serialize

/// Writes `value` to a file name, a `std::ostream` or a write function. Files are replaced atomically and open with Python's
/// `torch.load(file, weights_only=True)`: a tensor as a tensor, a list as a list, a module as its state dictionary.
template <class T, class... Target>
void save(const T& value, Target&&... target) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Target>(target)...);
}

/// Reads `value` from a file name, a `std::istream`, memory or a read function. Throws IoError when the content does not fit it.
template <class T, class... From>
void load(T& value, From&&... from) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<From>(from)...);
  archive >> value;
}

/// The bytes of a `.pt` file that holds `value`.
TAEDA_API std::vector<char> pickle_save(const Value& value);
TAEDA_API Value pickle_load(const std::vector<char>& data);

}  // namespace taeda
