// SPDX-License-Identifier: Apache-2.0
// The names of Python objects that pickles of tensors contain, and what they stand for here.
#pragma once

#include <string>
#include <string_view>

#include "taeda/core/scalar_type.h"

namespace taeda::io {

/// Whether `module.name` may occur in a pickle that is read. None of them is run: each is interpreted by the reader.
bool is_allowed_global(std::string_view name);
/// "torch.float32" and its kind; Undefined for other names.
ScalarType dtype_of_global(std::string_view name);
/// "torch.FloatStorage" and its kind; Undefined for other names.
ScalarType dtype_of_storage(std::string_view name);
/// "FloatStorage" and its kind. Throws TypeError for dtypes without one.
const char* storage_name(ScalarType type);
/// UTF-8 text whose characters are all below 256, as bytes.
std::string latin1_bytes(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace taeda::io
