// SPDX-License-Identifier: Apache-2.0
// Running kernels over tensors, and comparing bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "taeda/compile/kernel/kernel.h"
#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::kernel {

/// The place of a tensor that broadcasts to `sizes`.
inline Place place_of(const Tensor& t, IntArrayRef sizes) {
  Place place{.data = t.impl().data()};
  const size_t lead = sizes.size() - t.sizes().size();
  for (size_t d = lead; d < sizes.size(); ++d) {
    place.strides[d] = t.sizes()[d - lead] == 1 ? 0 : t.strides()[d - lead] * static_cast<int64_t>(t.impl().itemsize());
  }
  return place;
}

/// Runs over the shape `sizes`; tensors are inputs, then outputs.
inline void run_over(const CompiledKernel& kernel, IntArrayRef sizes, const std::vector<Tensor>& tensors,
                     const std::vector<Scalar>& params = {}) {
  std::vector<Place> places;
  for (const Tensor& t : tensors) places.push_back(place_of(t, sizes));
  Launch launch{.dims = static_cast<int>(sizes.size()), .places = places.data(), .params = params.data()};
  for (size_t d = 0; d < sizes.size(); ++d) launch.sizes[d] = sizes[d];
  collapse(launch, places.data(), static_cast<int>(places.size()), kernel.kernel().has_rows());
  kernel.run(launch);
}

/// Equal bits in every element, where every nan counts as equal to every other.
inline ::testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return ::testing::AssertionFailure() << "dtype or shape differ";
  const Tensor x = a.contiguous(), y = b.contiguous();
  const size_t item = x.impl().itemsize();
  const bool floating = is_floating_type(a.scalar_type());
  const Tensor x_nan = floating ? isnan(x) : Tensor(), y_nan = floating ? isnan(y) : Tensor();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (std::memcmp(x.impl().data() + at * item, y.impl().data() + at * item, item) == 0) continue;
    if (floating && x_nan.impl().data()[at] && y_nan.impl().data()[at]) continue;
    const auto number = [&](const Tensor& t) { return t.flatten()[i].to(kDouble).item<double>(); };
    return ::testing::AssertionFailure() << "element " << i << ": " << number(x) << " and " << number(y);
  }
  return ::testing::AssertionSuccess();
}

/// The backends that are there.
inline std::vector<Backend> backends() {
  std::vector<Backend> list = {Backend::kInterpreter};
  if (jit_available()) list.push_back(Backend::kJit);
  return list;
}

}  // namespace taeda::kernel
