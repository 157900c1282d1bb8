// SPDX-License-Identifier: Apache-2.0
// Functions in static mode, what they give and why they are refused.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "taeda/taeda.h"

namespace taeda {

inline void expect_same(const Tensor& got, const Tensor& want, const std::string& what = "") {
  ASSERT_EQ(got.defined(), want.defined()) << what;
  if (!got.defined()) return;
  ASSERT_EQ(got.scalar_type(), want.scalar_type()) << what;
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  ASSERT_EQ(got.strides(), want.strides()) << what;
  EXPECT_EQ(got.requires_grad(), want.requires_grad()) << what;
  const Tensor a = got.detach().contiguous(), b = want.detach().contiguous();
  EXPECT_TRUE(a.numel() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0) << what << '\n' << a << '\n' << b;
}

template <class F>
auto fixed(F&& f, CompileOptions options = {}) {
  options.mode = CompileMode::kStatic;
  return compile(std::forward<F>(f), options);
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The function's refusal after enough calls; empty when there is none.
template <class F>
std::string refusal_of(const F& call) {
  try {
    for (int i = 0; i < 8; ++i) call();
  } catch (const CompileError& e) {
    return e.what();
  }
  return "";
}

}  // namespace taeda
