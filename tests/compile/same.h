// SPDX-License-Identifier: Apache-2.0
// Tensors that are to be equal to the bit.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "taeda/taeda.h"

namespace taeda {

/// Equal bits, dtype, shape and strides, and both require grad or neither does.
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

}  // namespace taeda
