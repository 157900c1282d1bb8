// SPDX-License-Identifier: Apache-2.0
#include "taeda/core/overlap.h"

#include <algorithm>

namespace taeda::detail {

bool may_overlap_itself(IntArrayRef sizes, IntArrayRef strides) {
  SmallVector<size_t, 8> order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  int64_t reach = 0;  // of the dimensions so far: the next must step over it
  for (const size_t d : order) {
    if (strides[d] <= reach) return true;
    reach += strides[d] * (sizes[d] - 1);
  }
  return false;
}

}  // namespace taeda::detail
