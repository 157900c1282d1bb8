// The loop itself: body and tail, strides, broadcasting, masks, aliasing, on every kernel and instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <random>

#include "cpu/pointwise_ids.h"
#include "tests/simd/kernel_call.h"

namespace taeda::test {
namespace {

constexpr int kCount = 67;  // two or more full vectors and a tail on every target

template <class T>
T sample(std::mt19937& random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random() % 41) - 20;
  } else {
    static const T kSpecial[] = {0, T(-0.0), 1, -1, std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                                 std::numeric_limits<T>::quiet_NaN(), T(1e-40), T(-3e38)};
    if (random() % 8 == 0) return kSpecial[random() % 9];
    return static_cast<T>(static_cast<int>(random() % 2001) - 1000) / T(250);
  }
}

struct Operands {
  std::vector<std::vector<char>> storage;  // inputs, dense
  std::vector<int64_t> sizes;              // element sizes, output first
};

template <class T>
Operands make_operands(const cpu::PointwiseKernelInfo& info, int count, unsigned seed) {
  std::mt19937 random(seed);
  Operands all;
  all.sizes.push_back(info.bool_result ? 1 : sizeof(T));
  for (int k = 0; k < info.inputs; ++k) {
    const bool mask = (info.mask_inputs >> k) & 1;
    all.sizes.push_back(mask ? 1 : sizeof(T));
    all.storage.emplace_back(static_cast<size_t>(count) * sizeof(T));
    for (int i = 0; i < count; ++i) {
      if (mask) {
        all.storage[k][i] = static_cast<char>(random() & 1);
      } else {
        const T value = sample<T>(random);
        std::memcpy(&all.storage[k][i * sizeof(T)], &value, sizeof(T));
      }
    }
  }
  return all;
}

template <class T>
void check_kernel(int id, cpu::SimdTarget target) {
  const cpu::PointwiseKernelInfo& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(id));
  const cpu::PointwiseLoop loop = loop_of<T>(info.name, target);
  if (loop == nullptr) return;
  SCOPED_TRACE(std::string(info.name) + " on " + cpu::simd_target_name(target));
  const T attrs[] = {T(1), T(2), T(1), T(1)};
  const Operands in = make_operands<T>(info, kCount, 17);
  const int64_t out_size = in.sizes[0];

  std::vector<char*> ptrs(info.inputs + 1);
  std::vector<int64_t> strides = in.sizes;
  std::vector<char> dense(kCount * sizeof(T)), other(kCount * sizeof(T) * 3);
  const auto point = [&](std::vector<char>& out, int first) {
    ptrs[0] = out.data();
    for (int k = 0; k < info.inputs; ++k) ptrs[k + 1] = const_cast<char*>(in.storage[k].data()) + first * in.sizes[k + 1];
  };
  point(dense, 0);
  loop(ptrs.data(), strides.data(), kCount, attrs);

  // One element at a time gives the same bits: body equals tail, and nothing depends on the place.
  for (int i = 0; i < kCount; ++i) {
    point(other, i);
    loop(ptrs.data(), strides.data(), 1, attrs);
    EXPECT_EQ(std::memcmp(&dense[i * out_size], other.data(), out_size), 0) << "element " << i;
  }

  // Every input and the output strided.
  std::vector<std::vector<char>> spread(info.inputs);
  for (int k = 0; k < info.inputs; ++k) {
    spread[k].resize(kCount * in.sizes[k + 1] * 3);
    strides[k + 1] = in.sizes[k + 1] * 3;
    for (int i = 0; i < kCount; ++i) std::memcpy(&spread[k][i * strides[k + 1]], &in.storage[k][i * in.sizes[k + 1]], in.sizes[k + 1]);
    ptrs[k + 1] = spread[k].data();
  }
  strides[0] = out_size * 2;
  ptrs[0] = other.data();
  loop(ptrs.data(), strides.data(), kCount, attrs);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(std::memcmp(&dense[i * out_size], &other[i * strides[0]], out_size), 0) << "strided " << i;

  // The last input broadcast equals the last input repeated.
  if (info.inputs > 1) {
    Operands repeated = in;
    const int last = info.inputs - 1;
    for (int i = 1; i < kCount; ++i) std::memcpy(&repeated.storage[last][i * in.sizes[last + 1]], repeated.storage[last].data(), in.sizes[last + 1]);
    strides = in.sizes;
    point(dense, 0);
    ptrs[last + 1] = repeated.storage[last].data();
    loop(ptrs.data(), strides.data(), kCount, attrs);
    strides[last + 1] = 0;
    ptrs[0] = other.data();
    loop(ptrs.data(), strides.data(), kCount, attrs);
    EXPECT_EQ(std::memcmp(dense.data(), other.data(), kCount * out_size), 0) << "broadcast";
  }
  strides = in.sizes;
  point(dense, 0);
  loop(ptrs.data(), strides.data(), kCount, attrs);

  // In place, over each input of the output's size.
  for (int k = 0; k < info.inputs; ++k) {
    if (in.sizes[k + 1] != out_size) continue;
    std::vector<char*> aliased = ptrs;
    std::memcpy(other.data(), ptrs[k + 1], kCount * out_size);
    aliased[0] = aliased[k + 1] = other.data();
    loop(aliased.data(), strides.data(), kCount, attrs);
    EXPECT_EQ(std::memcmp(dense.data(), other.data(), kCount * out_size), 0) << "in place over input " << k;
  }
}

TEST(PointwiseLoop, BodyTailStridesBroadcastAndAliasingAgreeForEveryKernel) {
  for (cpu::SimdTarget target : targets()) {
    for (int id = 0; id < cpu::pointwise_kernel_count(); ++id) {
      check_kernel<float>(id, target);
      check_kernel<double>(id, target);
      check_kernel<int64_t>(id, target);
    }
  }
}

TEST(PointwiseLoop, WritesNothingBeyondTheEnd) {
  for (cpu::SimdTarget target : targets()) {
    for (int n = 0; n <= 40; ++n) {
      std::vector<float> a(n, 2.0f), b(n, 3.0f), out(n + 8, -1.0f);
      std::vector<uint8_t> less(n + 8, 7);
      const float alpha = 1;
      char* ptrs[] = {reinterpret_cast<char*>(out.data()), reinterpret_cast<char*>(a.data()), reinterpret_cast<char*>(b.data())};
      const int64_t strides[] = {4, 4, 4};
      cpu::pointwise_kernel(cpu::PointwiseKernelId::kAdd, target).f32(ptrs, strides, n, &alpha);
      ptrs[0] = reinterpret_cast<char*>(less.data());
      const int64_t bool_strides[] = {1, 4, 4};
      cpu::pointwise_kernel(cpu::PointwiseKernelId::kLt, target).f32(ptrs, bool_strides, n, nullptr);
      for (int i = 0; i < n + 8; ++i) {
        EXPECT_EQ(out[i], i < n ? 5.0f : -1.0f) << n;
        EXPECT_EQ(less[i], i < n ? 1 : 7) << n;
      }
    }
  }
}

TEST(PointwiseTable, CachesTheTableOfTheTargetInUse) {
  const auto id = cpu::PointwiseKernelId::kExp;
  EXPECT_EQ(&cpu::pointwise_kernel(id), &cpu::pointwise_kernel(id, cpu::simd_target()));
  EXPECT_STREQ(cpu::pointwise_kernel_info(id).name, "Exp");
  EXPECT_EQ(cpu::find_pointwise_kernel("Exp"), static_cast<int>(id));
  EXPECT_EQ(cpu::find_pointwise_kernel("NoSuchKernel"), -1);
  EXPECT_EQ(cpu::pointwise_kernel_count(), cpu::kPointwiseKernels);
}

}  // namespace
}  // namespace taeda::test
