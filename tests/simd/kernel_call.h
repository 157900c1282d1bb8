// Calls pointwise kernels on plain arrays, for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "taeda/cpu/pointwise_abi.h"

namespace taeda::test {

inline cpu::PointwiseKernelId kernel_id(const std::string& name) {
  const int id = cpu::find_pointwise_kernel(name.c_str());
  EXPECT_GE(id, 0) << "no kernel " << name;
  return static_cast<cpu::PointwiseKernelId>(id);
}

/// The instruction sets that this processor can run.
inline std::vector<cpu::SimdTarget> targets() {
  std::vector<cpu::SimdTarget> all;
  for (int t = 0; t <= static_cast<int>(cpu::best_simd_target()); ++t) all.push_back(static_cast<cpu::SimdTarget>(t));
  return all;
}

template <class T>
cpu::PointwiseLoop loop_of(const std::string& name, cpu::SimdTarget target) {
  const cpu::PointwiseKernel& kernel = cpu::pointwise_kernel(kernel_id(name), target);
  if constexpr (std::is_same_v<T, float>) return kernel.f32;
  else if constexpr (std::is_same_v<T, double>) return kernel.f64;
  else return kernel.i64;
}

/// Dense call: every input has as many elements as the output.
template <class Out, class T>
std::vector<Out> call(const std::string& name, cpu::SimdTarget target, const std::vector<std::vector<T>>& inputs,
                      const std::vector<T>& attrs = {}) {
  std::vector<Out> out(inputs[0].size());
  std::vector<char*> ptrs{reinterpret_cast<char*>(out.data())};
  std::vector<int64_t> strides{sizeof(Out)};
  for (const auto& input : inputs) {
    ptrs.push_back(reinterpret_cast<char*>(const_cast<T*>(input.data())));
    strides.push_back(sizeof(T));
  }
  loop_of<T>(name, target)(ptrs.data(), strides.data(), static_cast<int64_t>(out.size()), attrs.data());
  return out;
}

}  // namespace taeda::test
