// SPDX-License-Identifier: Apache-2.0
// Matrix products of float and double matrices with any strides: C = alpha A B + beta C + bias.
#pragma once

#include <cstdint>

#include "taeda/core/export.h"

namespace taeda::cpu {

/// Element (i, j) of A lies at a[i * a_row + j * a_col]; likewise B. C has rows of stride c_row, its columns adjoin.
/// beta 0 means that C is written without being read. `bias` (n numbers, may be null) is added to every row.
template <class T>
struct Gemm {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row, b_col;
  T* c;
  int64_t c_row;
  T alpha = 1;
  T beta = 0;
  const T* bias = nullptr;
};

/// On as many threads as the size is worth. The order of additions does not depend on their number.
TAEDA_API void gemm(const Gemm<float>& g);
TAEDA_API void gemm(const Gemm<double>& g);
/// On the calling thread.
TAEDA_API void gemm_serial(const Gemm<float>& g);
TAEDA_API void gemm_serial(const Gemm<double>& g);

}  // namespace taeda::cpu
