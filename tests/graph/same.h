// SPDX-License-Identifier: Apache-2.0
// Equality of bits.
#pragma once

#include <cstring>

#include "taeda/taeda.h"

namespace taeda::graph {

using Tensors = std::vector<Tensor>;

/// A NaN's sign and payload are not promised.
inline bool same(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  if (x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0) return true;
  return x.is_floating_point() && x.isnan().equal(y.isnan()) && x.nan_to_num(0.5).equal(y.nan_to_num(0.5));
}

}  // namespace taeda::graph
