// SPDX-License-Identifier: Apache-2.0
// Every pointwise kernel of the registry, forward and gradient, in every compute type: interpreted and generated code
// against the eager loop, bit by bit.
#include <algorithm>
#include <limits>
#include <random>

#include "taeda/cpu/pointwise_abi.h"
#include "tests/kernel/kernel_support.h"

namespace taeda::kernel {
namespace {

constexpr int64_t kCount = 331;  // not a multiple of any vector length

template <class T>
std::vector<T> values(int number) {
  std::vector<T> result;
  std::mt19937 random(static_cast<unsigned>(number + 1));
  if constexpr (std::is_integral_v<T>) {
    result = {0, 1, -1, 2, -2, 3, 63, 64, -64, 65, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
    std::uniform_int_distribution<T> any(-50, 50);
    while (result.size() < kCount) result.push_back(any(random));
  } else {
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    result = {T(0), T(-0.0), inf, -inf, nan, std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(), std::numeric_limits<T>::min(),
              std::numeric_limits<T>::denorm_min(), T(-1e-40), T(1), T(-1), T(0.5), T(-0.5), T(0.625), T(2), T(3), T(-3), T(6), T(20.5),
              T(88.7), T(89), T(-104), T(1e-8), T(3.14159265), T(1e9), T(-1e9), T(7e8), T(128), T(-150), T(2.5), T(1.5), T(10)};
    std::normal_distribution<double> normal(0, 1), wide(0, 20);
    while (result.size() < kCount) result.push_back(static_cast<T>(result.size() % 3 ? normal(random) : wide(random)));
  }
  if (number > 0) std::shuffle(result.begin(), result.end(), random);  // special values meet each other
  return result;
}

template <class T>
struct Arrays {
  std::vector<std::vector<T>> inputs;
  std::vector<std::vector<char>> masks;
  std::vector<char*> ptrs;
  std::vector<int64_t> strides;
  explicit Arrays(const cpu::PointwiseKernelInfo& info) {
    for (int k = 0; k < info.inputs; ++k) {
      inputs.push_back(values<T>(k));
      masks.emplace_back();
      for (int64_t i = 0; i < kCount; ++i) masks.back().push_back(static_cast<char>(i * 7 % 3 == 0));
    }
    for (int k = 0; k < info.inputs; ++k) {
      const bool mask = (info.mask_inputs >> k) & 1;
      ptrs.push_back(mask ? masks[static_cast<size_t>(k)].data() : reinterpret_cast<char*>(inputs[static_cast<size_t>(k)].data()));
      strides.push_back(mask ? 1 : static_cast<int64_t>(sizeof(T)));
    }
  }
};

template <class T>
void check_kernel(int id, ScalarType dtype, cpu::PointwiseLoop loop, Backend backend) {
  const cpu::PointwiseKernelInfo& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(id));
  SCOPED_TRACE(std::string(info.name) + " " + to_string(dtype));
  Arrays<T> arrays(info);
  const ScalarType out_type = info.bool_result ? kBool : dtype;
  const auto out_size = static_cast<int64_t>(item_size(out_type));
  std::vector<T> attrs;
  for (int k = 0; k < info.attrs; ++k) attrs.push_back(std::is_integral_v<T> ? static_cast<T>(k + 1) : static_cast<T>(0.75 * (k + 1)));

  std::vector<char> expected(static_cast<size_t>(kCount * out_size)), got(expected.size(), 77);
  std::vector<char*> ptrs = {expected.data()};
  std::vector<int64_t> strides = {out_size};
  ptrs.insert(ptrs.end(), arrays.ptrs.begin(), arrays.ptrs.end());
  strides.insert(strides.end(), arrays.strides.begin(), arrays.strides.end());
  loop(ptrs.data(), strides.data(), kCount, attrs.data());

  Kernel kernel(info.name);
  std::vector<Id> inputs, attributes;
  std::vector<Scalar> params;
  for (int k = 0; k < info.inputs; ++k) inputs.push_back(kernel.input((info.mask_inputs >> k) & 1 ? kBool : dtype));
  for (const T a : attrs) {
    attributes.push_back(kernel.param(dtype));
    params.emplace_back(a);
  }
  kernel.output(kernel.call(id, dtype, inputs, attributes), out_type);
  const auto compiled = compile_kernel(kernel, backend);
  ASSERT_EQ(compiled->backend(), backend);
  std::vector<Place> places;
  for (int k = 0; k < info.inputs; ++k) {
    places.push_back({arrays.ptrs[static_cast<size_t>(k)], {arrays.strides[static_cast<size_t>(k)]}});
  }
  places.push_back({got.data(), {out_size}});
  compiled->run({.dims = 1, .sizes = {kCount}, .places = places.data(), .params = params.data()});

  for (int64_t i = 0; i < kCount; ++i) {
    const char *e = expected.data() + i * out_size, *g = got.data() + i * out_size;
    if (std::memcmp(e, g, static_cast<size_t>(out_size)) == 0) continue;
    T want{}, have{};
    if (!info.bool_result) {
      std::memcpy(&want, e, sizeof want);
      std::memcpy(&have, g, sizeof have);
      if (want != want && have != have) continue;
    }
    std::string operands;
    for (const auto& in : arrays.inputs) operands += " " + std::to_string(in[static_cast<size_t>(i)]);
    ADD_FAILURE() << "element " << i << " of" << operands << ": eager " << want << ", kernel " << have;
    return;
  }
}

class EveryKernel : public ::testing::TestWithParam<Backend> {};

TEST_P(EveryKernel, EqualsItsEagerLoop) {
  if (GetParam() == Backend::kJit && !jit_available()) GTEST_SKIP() << jit_problem();
  int checked = 0;
  for (int id = 0; id < cpu::pointwise_kernel_count(); ++id) {
    const cpu::PointwiseKernel& loops = cpu::pointwise_kernel(static_cast<cpu::PointwiseKernelId>(id));
    if (loops.f32) check_kernel<float>(id, kFloat, loops.f32, GetParam());
    if (loops.f64) check_kernel<double>(id, kDouble, loops.f64, GetParam());
    if (loops.i64) check_kernel<int64_t>(id, kLong, loops.i64, GetParam());
    checked += (loops.f32 != nullptr) + (loops.f64 != nullptr) + (loops.i64 != nullptr);
  }
  EXPECT_GT(checked, 500);
}

INSTANTIATE_TEST_SUITE_P(, EveryKernel, ::testing::Values(Backend::kInterpreter, Backend::kJit),
                         [](const auto& p) { return p.param == Backend::kJit ? "Jit" : "Interpreter"; });

}  // namespace
}  // namespace taeda::kernel
