// SPDX-License-Identifier: Apache-2.0
// Tensors from vectors, foreign memory, files and DLPack: who owns what, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "taeda/ops/dlpack.h"
#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda {
namespace {

TEST(FromVector, OwnsItsValues) {
  Tensor t;
  {
    std::vector<float> values{1, 2, 3, 4, 5, 6};
    t = from_vector(std::move(values), std::vector<int64_t>{2, 3});
  }
  EXPECT_EQ(t[1][2].item<float>(), 6);
  EXPECT_EQ(from_vector(std::vector<int64_t>{7}).scalar_type(), kLong);
  EXPECT_THROW(from_vector(std::vector<float>{1, 2}, std::vector<int64_t>{3}), Error);
}

TEST(FromBlob, CallsTheDeleterOnceWhenTheLastViewIsGone) {
  std::vector<double> memory(6, 1.0);
  int calls = 0;
  Tensor view;
  {
    const Tensor t = from_blob(memory.data(), {2, 3}, [&](void* p) { calls += p == memory.data(); }, kDouble);
    view = t.select(0, 1);
  }
  EXPECT_EQ(calls, 0);
  view.fill_(3);
  EXPECT_EQ(memory[5], 3);
  view.reset();
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(from_blob(memory.data(), {2}, IntArrayRef({1, 2}), kDouble), Error);
  EXPECT_THROW(from_blob(nullptr, {2}), Error);
}

TEST(FromFile, ReadsAndMaps) {
  const std::string name = testing::TempDir() + "taeda_from_file.bin";
  std::remove(name.c_str());
  {
    Tensor t = from_file(name, true, 4, kFloat);
    t.fill_(2.5);
  }
  EXPECT_TRUE(from_file(name, false, 4, kFloat).equal(taeda::full({4}, 2.5)));
  EXPECT_THROW(from_file(name, false, 5, kFloat), IoError);
  EXPECT_THROW(from_file(name + ".absent", false, 1, kFloat), IoError);
  std::remove(name.c_str());
}

TEST(DLPack, SharesMemoryBothWays) {
  for (const ScalarType type : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBool, kBFloat16}) {
    Tensor t = taeda::ones({3, 4}, type).t();
    const Tensor back = from_dlpack(to_dlpack_versioned(t));
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_EQ(back.strides(), t.strides());
    t.zero_();
    EXPECT_TRUE(back.equal(t)) << type;
    EXPECT_TRUE(from_dlpack(to_dlpack(t)).equal(t));
  }
  EXPECT_EQ(from_dlpack(to_dlpack(taeda::ones({}))).dim(), 0);
}

TEST(DLPack, RefusesWhatItCannotRepresent) {
  EXPECT_THROW(to_dlpack(taeda::ones({2}).requires_grad_(true)), Error);
  dlpack::DLManagedTensorVersioned* managed = to_dlpack_versioned(taeda::ones({2}));
  managed->version.major = 2;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed->version.major = 1;
  managed->dl_tensor.dtype.lanes = 4;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed->dl_tensor.dtype.lanes = 1;
  managed->dl_tensor.device.device_type = dlpack::kDLCUDA;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed->deleter(managed);
}

TEST(DLPack, ReadOnlyMemoryIsCopied) {
  const Tensor t = taeda::ones({2});
  dlpack::DLManagedTensorVersioned* managed = to_dlpack_versioned(t);
  managed->flags |= dlpack::kFlagReadOnly;
  Tensor copy = from_dlpack(managed);
  copy.zero_();
  EXPECT_EQ(t.sum().item<float>(), 2);
}

}  // namespace
}  // namespace taeda
