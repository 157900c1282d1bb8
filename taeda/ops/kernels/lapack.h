// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix decompositions: what the operators hand over.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

enum class LapackRoutine : uint8_t {
  kLu,        ///< a (m, n) becomes L and U; ints: pivots, 1-based
  kCholesky,  ///< a (n, n), lower triangle, becomes L; the upper one is left
  kQr,        ///< a (m, n) becomes R and the reflectors; b (min(m, n)): their factors
  kEigh,      ///< a (n, n), triangle `lower`, becomes the eigenvectors where `vectors`; b (n): eigenvalues
  kSvd,       ///< a (m, n) is overwritten; b (k): singular values; where `vectors`, c: U (m, m or k), d: Vᵀ (n or k, n)
  kTriangularSolve,  ///< b (m, n) becomes the solution of a x = b (left) or x a = b. Row-major, unlike all others
};
/// `batch` problems side by side, matrices column-major. float32 or float64. info: 0 or LAPACK's code for each problem.
struct LapackArgs {
  LapackRoutine routine;
  ScalarType dtype;
  int64_t batch, m, n;
  char *a, *b, *c, *d;
  int32_t *ints, *info;
  bool vectors, full, lower, left, unit;
};
extern TAEDA_API DeviceKernel<void(const LapackArgs&)> lapack_kernel;

}  // namespace taeda
