// SPDX-License-Identifier: Apache-2.0
// Kernels of sorting and selection along the middle of (outer, n, inner), row-major. NaN is larger than any number.
#pragma once

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// Stable sort of every line.
struct SortArgs {
  ScalarType dtype;  ///< any
  const void* in;
  void* values;      ///< of the input's shape
  int64_t* indices;  ///< or null
  int64_t outer, n, inner;
  bool descending;
};
extern TAEDA_API DeviceKernel<void(const SortArgs&)> sort_kernel;

/// The k first elements in sorted order of every line; output (outer, k, inner).
struct TopkArgs {
  ScalarType dtype;
  const void* in;
  void* values;
  int64_t* indices;
  int64_t outer, n, inner, k;
  bool largest;
};
extern TAEDA_API DeviceKernel<void(const TopkArgs&)> topk_kernel;

enum class PickKind : uint8_t {
  kKth,        ///< the k-th smallest, k from 1
  kMedian,     ///< the lower median; the first NaN if there is one
  kNanMedian,  ///< the lower median of what is not NaN; NaN if nothing is
  kMode,       ///< the smallest of the most frequent values, and the index of its last element
};
/// One element of every line; output (outer, inner). n > 0.
struct PickArgs {
  PickKind kind;
  ScalarType dtype;
  const void* in;
  void* values;
  int64_t* indices;
  int64_t outer, n, inner, k;
};
extern TAEDA_API DeviceKernel<void(const PickArgs&)> pick_kernel;

/// For every row of `values` (rows, count), the insertion points into the sorted row of `edges` (rows or 1, n).
struct SearchArgs {
  ScalarType dtype;        ///< of edges and values: float64 or int64
  const void* edges;
  const void* values;
  const int64_t* sorter;   ///< order of the edges, or null
  int64_t* out;
  int64_t rows, n, count;
  bool shared_edges;       ///< one row of edges serves all
  bool right;              ///< behind equal edges
};
extern TAEDA_API DeviceKernel<void(const SearchArgs&)> search_kernel;

}  // namespace taeda
