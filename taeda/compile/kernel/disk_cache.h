// SPDX-License-Identifier: Apache-2.0
// Generated code on disk: one file for each key, written whole or not at all, checked before it is used.
#pragma once

#include <optional>
#include <string>

#include "taeda/core/export.h"

namespace taeda::kernel {

/// The object kept under `key` in `folder`; nothing when there is none, or when it is damaged, foreign or not this user's.
TAEDA_API std::optional<std::string> read_cached(const std::string& folder, const std::string& key);
/// Keeps an object. Failures are no error: the next run compiles again.
TAEDA_API void write_cached(const std::string& folder, const std::string& key, const std::string& object);
/// 128 bits of a text, as 32 hexadecimal digits.
std::string digest(const std::string& text);

}  // namespace taeda::kernel
