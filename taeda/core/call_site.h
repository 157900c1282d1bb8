// SPDX-License-Identifier: Apache-2.0
// Where the program called the library: return addresses now, names when somebody wants to read them.
#pragma once

#include <string>
#include <vector>

#include "taeda/core/export.h"

namespace taeda::detail {

/// Return addresses of the calls that are running, innermost first.
TAEDA_API std::vector<void*> call_site_here();
/// One line for each function that is not internal to the library: its name, and where it lies.
TAEDA_API std::string call_site_text(const std::vector<void*>& frames);

}  // namespace taeda::detail
