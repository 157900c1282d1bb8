// SPDX-License-Identifier: Apache-2.0
// Shared by the autograd tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "taeda/autograd/autograd.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::test {

inline std::vector<double> values(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous();
  const auto* data = static_cast<const double*>(flat.const_data_ptr());
  return std::vector<double>(data, data + flat.numel());
}

inline Tensor of(std::vector<double> numbers, IntArrayRef sizes, ScalarType dtype = kDouble) {
  Tensor t = taeda::empty(sizes, TensorOptions(kDouble));
  std::copy(numbers.begin(), numbers.end(), static_cast<double*>(t.mutable_data_ptr()));
  return t.to(dtype);
}
inline Tensor of(std::vector<double> numbers, ScalarType dtype = kDouble) {
  const auto n = static_cast<int64_t>(numbers.size());
  return of(std::move(numbers), {n}, dtype);
}
inline Tensor leaf(std::vector<double> numbers, ScalarType dtype = kDouble) {
  return of(std::move(numbers), dtype).requires_grad_();
}
inline Tensor leaf(std::vector<double> numbers, IntArrayRef sizes) { return of(std::move(numbers), sizes).requires_grad_(); }

/// EXPECT that the statement throws taeda::Error whose message contains every one of `parts`.
template <class F>
void expect_error(const F& f, const std::vector<std::string>& parts) {
  try {
    f();
  } catch (const Error& e) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << "'" << part << "' missing in: " << e.what();
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown where an error with '" << (parts.empty() ? "" : parts[0]) << "' was expected";
}

#define EXPECT_VALUES(tensor, ...)                                   \
  do {                                                               \
    const std::vector<double> want_ __VA_ARGS__;                     \
    const std::vector<double> got_ = ::taeda::test::values(tensor);  \
    ASSERT_EQ(got_.size(), want_.size());                            \
    for (size_t i_ = 0; i_ < want_.size(); ++i_) EXPECT_NEAR(got_[i_], want_[i_], 1e-6) << "element " << i_; \
  } while (false)

}  // namespace taeda::test
