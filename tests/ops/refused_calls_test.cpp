// SPDX-License-Identifier: Apache-2.0
// Odd calls and what LibTorch 2.13 was seen to do with them.
#include <gtest/gtest.h>

#include "taeda/core/error.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace {

TEST(OddCalls, AreRefusedAsByLibTorch) {
  const Tensor flags = taeda::ones({4}, kBool), points = taeda::rand({3, 2});
  EXPECT_THROW(taeda::arange(3, kBool), NotImplementedError);
  EXPECT_THROW(taeda::arange(0, 3, 1, kBool), NotImplementedError);
  EXPECT_THROW(taeda::range(0, 3, 1, kBool), NotImplementedError);
  EXPECT_THROW(taeda::gradient(flags, Scalar(1), IntArrayRef{0}), Error);
  EXPECT_THROW(taeda::gradient(flags, IntArrayRef{0}), Error);
  EXPECT_THROW(taeda::cdist(points, points, 2, 3), Error);
  EXPECT_THROW(taeda::cdist(points, points, 2, -1), Error);
}

TEST(OddCalls, GiveResultsAsByLibTorch) {
  EXPECT_EQ(taeda::block_diag({}).sizes(), (IntArrayRef{1, 0}));
  EXPECT_EQ(taeda::cdist(taeda::rand({3, 2}), taeda::rand({4, 2}), 2, 2).sizes(), (IntArrayRef{3, 4}));
}

}  // namespace
}  // namespace taeda
