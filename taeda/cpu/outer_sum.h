// SPDX-License-Identifier: Apache-2.0
// Sums of outer products of vectors, as products of matrices with one inner dimension and additions would form them.
#pragma once

#include <cstdint>
#include <span>

#include "taeda/core/scalar_type.h"

namespace taeda::cpu {

/// A column times a row. Elements of the row adjoin.
struct OuterTerm {
  const void* column;
  int64_t stride;  ///< of the column, in elements
  const void* row;
};

/// out (m, n), row-major, of float32 or float64: each product is rounded, then added to the sum of those before.
void outer_sum(ScalarType dtype, int64_t m, int64_t n, std::span<const OuterTerm> terms, void* out);

}  // namespace taeda::cpu
