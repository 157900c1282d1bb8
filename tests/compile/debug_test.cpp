// SPDX-License-Identifier: Apache-2.0
// The debug backend: right programs pass through it, wrong kernels are named.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "taeda/compile/kernel/disk_cache.h"
#include "taeda/compile/kernel/kernel.h"
#include "taeda/ops/capture.h"
#include "taeda/taeda.h"

namespace taeda {
namespace {

const CompileOptions kDebug{.backend = CompileBackend::kDebug, .code_from_elements = 0};

/// x + n, where n is how often the kernel ran.
struct Drifting {
  static inline int runs = 0;
  static Tensor kernel(const Tensor& x) { return x + runs++; }
  static void run(const capture::Replay& call) { call.results.push_back(kernel(call.tensors[0])); }
};
/// Doubles its argument and does not say so.
struct Sneaking {
  static Tensor kernel(const Tensor& x) {
    static_cast<float*>(x.unsafeGetTensorImpl()->storage->bytes())[0] *= 2;
    return zeros({1});
  }
  static void run(const capture::Replay& call) { call.results.push_back(kernel(call.tensors[0])); }
};
template <class Kernel>
Tensor call(const char* name, const Tensor& x) {
  if (!capture::active()) return Kernel::kernel(x);
  capture::Call c({name, nullptr, &Kernel::run});
  c.add(x);
  return capture::through<Tensor>(c, [&] { return Kernel::kernel(x); });
}

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const CompileError& e) {
    return e.what();
  }
  return "";
}

TEST(CompileDebug, NamesTheOperatorThatDiffers) {
  const auto fast = compile([](const Tensor& x) { return (call<Drifting>("drifting", x * 2) + 1).exp(); }, kDebug);
  fast(ones(3));  // recorded
  const std::string error = error_of([&] { fast(ones(3)); });
  EXPECT_NE(error.find("result of drifting(Float[3]): element 0"), std::string::npos) << error;
}

TEST(CompileDebug, SeesWhatThePlanLeavesOut) {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 1;
    call<Sneaking>("sneaking", y);
    return y + 1;
  };
  const auto fast = compile(f, kDebug);
  const Tensor x = ones(3);
  fast(x);
  const std::string error = error_of([&] { fast(x); });
  EXPECT_NE(error.find("the plan of 3 operators"), std::string::npos) << error;
  EXPECT_NE(error.find("element 0 of Float[3] is 2 for 3"), std::string::npos) << error;
}

TEST(CompileDebug, ResultsNeverComputedThrow) {
  Tensor held;
  const auto fast = compile([&](const Tensor& x) {
    Tensor a = call<Drifting>("drifting", x);
    held = a * 3;
    return a;
  }, kDebug);
  fast(ones(3));
  EXPECT_THROW(fast(ones(3)), CompileError);
  EXPECT_THROW(held.sum().item<float>(), Error);
}

TEST(CompileDebug, RightProgramsPassAndDrawOnce) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto f = [](const Tensor& x) {
    Tensor y = dropout(x.log() * 2 + rand_like(x), 0.5, true);
    Tensor room = empty({2, 3});
    room.copy_(y.slice(0, 0, 2));
    y.select(1, 0).mul_(2);
    const Tensor unused = randn({4});
    return std::make_tuple(y.softmax(1), room.sum(), y.sum(0));
  };
  const auto fast = compile(f, kDebug);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = tensor({-1.f, 0.f, inf, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f}).view({3, 3});
    manual_seed(static_cast<uint64_t>(i));
    const auto want = f(x);
    const Tensor state = default_generator().get_state();
    manual_seed(static_cast<uint64_t>(i));
    const auto got = fast(x);
    EXPECT_TRUE(default_generator().get_state().equal(state));
    EXPECT_TRUE(allclose(std::get<0>(got), std::get<0>(want), 0, 0, true));
    EXPECT_TRUE(allclose(std::get<1>(got), std::get<1>(want), 0, 0, true));
    EXPECT_TRUE(allclose(std::get<2>(got), std::get<2>(want), 0, 0, true));
  }
  EXPECT_NE(fast.explain().find("fused ("), std::string::npos) << fast.explain();
}

/// Key and object of the only file of generated code in `folder`.
std::pair<std::string, std::string> generated_code(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string format;
    size_t key = 0;
    file >> format >> key;
    std::getline(file, format);
    std::string name(key, ' ');
    file.read(name.data(), static_cast<std::streamsize>(key));
    return {name, std::string(std::istreambuf_iterator<char>(file), {})};
  }
  return {};
}

TEST(CompileDebug, FindsAFusedLoopWithWrongCode) {
  if (!kernel::jit_available()) GTEST_SKIP() << kernel::jit_problem();
  const std::string folder = (std::filesystem::temp_directory_path() / str("taeda_debug_", ::getpid())).string();
  const auto options = [&](const char* name, CompileBackend backend) {
    return CompileOptions{.backend = backend, .step_aside = false, .code_from_elements = 0, .cache_dir = folder + name};
  };
  const auto f = [](const Tensor& x) { return (x + 1.5).tanh() * 2; };
  const auto g = [](const Tensor& x) { return (x - 1.5).tanh() * 2; };
  const Tensor x = randn({40});
  std::filesystem::create_directory(folder);
  const auto first = compile(f, options("/f", CompileBackend::kJit));
  const auto second = compile(g, options("/g", CompileBackend::kJit));
  for (int i = 0; i < 2; ++i) first(x), second(x);
  // A third folder has the code of one function under the key of the other.
  const auto [key, right] = generated_code(folder + "/f");
  const std::string wrong = generated_code(folder + "/g").second;
  ASSERT_FALSE(key.empty() || right.empty() || wrong.empty());
  kernel::write_cached(folder + "/wrong", key, wrong);
  const auto trusting = compile(f, options("/wrong", CompileBackend::kJit));
  for (int i = 0; i < 2; ++i) trusting(x);
  EXPECT_TRUE(trusting(x).equal(g(x)));
  for (const CompileMode mode : {CompileMode::kDynamic, CompileMode::kStatic}) {
    CompileOptions debug = options("/wrong", CompileBackend::kDebug);
    debug.mode = mode;
    const auto checked = compile(f, debug);
    const std::string error = error_of([&] {
      for (int i = 0; i < 3; ++i) checked(x);
    });
    EXPECT_NE(error.find("a loop of 3 operators changed the result of mul"), std::string::npos) << error;
  }
  std::filesystem::remove_all(folder);
}

TEST(CompileDebug, TrainingStepsPass) {
  manual_seed(1);
  nn::Sequential model(nn::Linear(4, 8), nn::ReLU(), nn::LayerNorm(nn::LayerNormOptions({8})), nn::Linear(8, 3));
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(0.01));
  const auto step = compile([&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    Tensor loss = nn::functional::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer.step();
    return loss.item<float>();
  }, kDebug);
  const Tensor x = randn({6, 4}), y = tensor({0, 1, 2, 0, 1, 2}, kLong);
  const float first = step(x, y);
  float last = first;
  for (int i = 0; i < 6; ++i) last = step(x, y);
  EXPECT_LT(last, first);
}

}  // namespace
}  // namespace taeda
