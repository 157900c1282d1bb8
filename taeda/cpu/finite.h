// SPDX-License-Identifier: Apache-2.0
// Whether adjoining words have no exponent of all ones (NaN or infinite).
#pragma once

#include <cstdint>

namespace taeda::cpu {

bool finite_words(const uint16_t* words, int64_t n, uint16_t exponent);
bool finite_words(const uint32_t* words, int64_t n, uint32_t exponent);
bool finite_words(const uint64_t* words, int64_t n, uint64_t exponent);

}  // namespace taeda::cpu
