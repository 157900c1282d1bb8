// SPDX-License-Identifier: Apache-2.0
// The digits data set, embedded in the program.
#pragma once

#include <string_view>

namespace taeda::cli {

/// Gzipped IDX files: 1,797 images of 8×8 grey values from 0 to 16, and their labels.
std::string_view digit_images();
std::string_view digit_labels();

}  // namespace taeda::cli
