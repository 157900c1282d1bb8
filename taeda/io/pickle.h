// SPDX-License-Identifier: Apache-2.0
// A subset of Python's pickle format, both ways. Reading executes nothing: the few globals that stand for tensors,
// dictionaries and dtypes are interpreted here, any other one is an error that names it.
#pragma once

#include <functional>
#include <string>

#include "taeda/core/value.h"

namespace taeda::io {

/// What a pickle says of a storage; its bytes lie beside the pickle.
struct PickledStorage {
  std::string key;
  ScalarType dtype = ScalarType::Undefined;  ///< Undefined: bytes without a type
  int64_t numel = 0;                         ///< elements of `dtype`, or bytes
};

/// Gives the storage of a key, the same one each time. The storage holds at least what `numel` says.
using StorageLoader = std::function<Storage(const PickledStorage&)>;
/// Gives the key under which a tensor's storage is written, and the tensor to describe in its place (a compact copy, say).
using StorageSaver = std::function<std::pair<PickledStorage, Tensor>(const Tensor&)>;

/// Reads a pickle of protocol 0 to 5 made of numbers, strings, lists, tuples (which become lists), dicts and tensors. `name` is for
/// messages. Throws IoError for anything else, for damage, for nesting deeper than 200 and for data that multiply themselves.
TAEDA_API Value unpickle(std::string_view bytes, const std::string& name, const StorageLoader& load_storage);

/// Writes a pickle of protocol 2. Throws ValueError for strings that are not UTF-8 and for nesting deeper than 200.
TAEDA_API std::string pickle(const Value& value, const StorageSaver& save_storage);

inline constexpr int kMaxPickleDepth = 200;

}  // namespace taeda::io
