// SPDX-License-Identifier: Apache-2.0
// One row of a max pooling in two dimensions, with vectors.
#pragma once

#include <cstdint>

namespace taeda::cpu {

/// Outputs [begin, end) of a row whose windows lie wholly inside the plane: output i is the largest of plane[line + stride · i + taps[k]]
/// over k (the last nan, if there is one), and index[i] its position (index may be null). `room`: elements of `plane` that may be read.
template <class T>
struct MaxPoolRow {
  const T* plane;
  int64_t room;
  int64_t line;
  int64_t stride;  // 1 or 2
  const int64_t* taps;
  int64_t tap_count;
  int64_t begin, end;
  T* out;
  int64_t* index;
};

/// As many outputs as whole vectors hold; the last vector may overlap the one before. Returns the first output that was not made.
int64_t max_pool_row(const MaxPoolRow<float>& row);
int64_t max_pool_row(const MaxPoolRow<double>& row);

}  // namespace taeda::cpu
