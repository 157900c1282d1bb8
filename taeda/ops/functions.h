// SPDX-License-Identifier: Apache-2.0
// All operators as free functions. Declarations are generated from the operator definitions.
#pragma once

#include "taeda/core/tensor.h"
#include "taeda/ops/generated/functions.h"  // IWYU pragma: export

namespace taeda {

// One dimension as an int, which would otherwise become `bool unbiased`.
inline Tensor var(const Tensor& self, int dim) { return self.var(dim); }
inline Tensor std(const Tensor& self, int dim) { return self.std(dim); }
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) {
  const int64_t d = dim;
  return var_mean(self, IntArrayRef(d));
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) {
  const int64_t d = dim;
  return std_mean(self, IntArrayRef(d));
}

}  // namespace taeda
