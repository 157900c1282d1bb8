// SPDX-License-Identifier: Apache-2.0
// Folders for results.
#pragma once

#include <string>

#include "taeda/core/export.h"

namespace taeda::io {

/// Makes the folder and those above it where they do not exist. Throws IoError, naming it, when it cannot be made.
TAEDA_API void make_folder(const std::string& path);

}  // namespace taeda::io
