// SPDX-License-Identifier: Apache-2.0
// What is in a file: the text behind `taeda info FILE`.
#pragma once

#include <string>

#include "taeda/core/value.h"

namespace taeda::io {

/// Several lines: the format, then names, dtypes, shapes and sizes of everything in a safetensors, `.pt`, `.npy`, `.npz`, JPEG or PNG
/// file, told apart by content. Throws IoError naming the file for damaged files and other formats.
TAEDA_API std::string describe_file(const std::string& path);
/// A value as an indented tree, tensors by dtype and shape; at most `max_lines` lines.
TAEDA_API std::string describe_value(const Value& value, size_t max_lines = 1000);

}  // namespace taeda::io
