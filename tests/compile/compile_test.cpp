// SPDX-License-Identifier: Apache-2.0
// compile(): what a compiled function computes, changes and throws is what the function does.
#include "taeda/compile/compile.h"
#include "taeda/compile/background.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tests/compile/same.h"

namespace taeda {
namespace {

/// Without stepping aside: what these tests do is too small to be worth compiling.
template <class F>
auto compile(F&& f, CompileOptions options = {}) {
  options.step_aside = false;
  return taeda::compile(std::forward<F>(f), options);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Compile, LaterCallsMatchTheFirstAndEqualEager) {
  const auto f = [](const Tensor& x, const Tensor& y) { return (x * y + 1).tanh().sum(0) - x.exp().mean(); };
  const auto fast = compile(f);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = randn({3, 5}), y = randn({5});
    expect_same(fast(x, y), f(x, y));
  }
  EXPECT_TRUE(has(fast.explain(), "operators matched 21, recorded 7")) << fast.explain();
}

TEST(Compile, AliasingInputsOnTheSecondCall) {
  const auto f = [](Tensor x, const Tensor& y) {
    x *= 2;
    return x + y;
  };
  const auto fast = compile(f);
  for (int i = 0; i < 2; ++i) {
    expect_same(fast(ones(4), ones(4)), full({4}, 3.0f));
    const Tensor base = ones(8);
    expect_same(fast(base.slice(0, 0, 4), base.slice(0, 2, 6)), tensor({4.f, 4.f, 3.f, 3.f}));
    expect_same(base, tensor({2.f, 2.f, 2.f, 2.f, 1.f, 1.f, 1.f, 1.f}));
  }
}

TEST(Compile, ViewsAndInPlaceUpdates) {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 2;
    Tensor row = y[1];
    row.add_(10);
    y.select(1, 0).zero_();
    Tensor t = y.t();
    t.mul_(x.t());
    x.slice(0, 0, 1).sub_(1);
    return std::make_tuple(y, row + x[0], t.clone());
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor a = randn({3, 4}), b = a.clone();
    const auto [y1, r1, t1] = f(a);
    const auto [y2, r2, t2] = fast(b);
    expect_same(y2, y1);
    expect_same(r2, r1);
    expect_same(t2, t1);
    expect_same(b, a);
    EXPECT_EQ(b._version(), a._version());
    EXPECT_EQ(y2._version(), y1._version());
  }
}

TEST(Compile, ControlFlowOnValues) {
  int seen = 0;
  const auto f = [&](const Tensor& x) {
    ++seen;
    Tensor y = x.relu();
    if (y.sum().item<float>() > 3) {
      y = y * 10;
    } else {
      y = y - 1;
    }
    while (y.max().item<float>() > 1) y = y / 2;
    return y;
  };
  const auto fast = compile(f);
  for (const float v : {0.5f, 2.f, 0.25f, 7.f, -1.f, 2.f}) expect_same(fast(full({3}, v)), f(full({3}, v)));
  EXPECT_EQ(seen, 12);
  EXPECT_TRUE(has(fast.explain(), "a value was looked at"));
}

TEST(Compile, ChangingNumbersAreInputs) {
  const auto fast = compile([](const Tensor& x, double a) { return x * a + a; });
  for (int i = 0; i < 20; ++i) expect_same(fast(ones(3), 0.1 * i), ones(3) * (0.1 * i) + 0.1 * i);
  EXPECT_TRUE(has(fast.explain(), "recorded 2,")) << fast.explain();
  // An integer promotes otherwise than a floating number: another version.
  const auto g = compile([](const Tensor& x, const Scalar& a) { return x * a; });
  EXPECT_EQ(g(ones(3, kLong), 2).scalar_type(), kLong);
  EXPECT_EQ(g(ones(3, kLong), 2.5).scalar_type(), kFloat);
  EXPECT_EQ(g(ones(3, kLong), 3).scalar_type(), kLong);
}

TEST(Compile, RandomOperatorsDrawAsEager) {
  const auto f = [](const Tensor& x) {
    Tensor unused = rand({2});
    Tensor y = x + rand({3});
    y = dropout(y, 0.5, true) * randn({3});
    y.bernoulli_(0.5);
    return y + x;
  };
  const auto fast = compile(f);
  const Tensor x = randn({3});
  for (int i = 0; i < 4; ++i) {
    manual_seed(40 + static_cast<uint64_t>(i));
    const Tensor want = f(x);
    const Tensor after = default_generator().get_state();
    manual_seed(40 + static_cast<uint64_t>(i));
    expect_same(fast(x), want);
    expect_same(default_generator().get_state(), after);
  }
}

TEST(Compile, SeedingInsideTheFunctionIsInOrder) {
  const auto f = [](const Tensor& x) {
    Tensor a = rand({2}) + x;
    manual_seed(7);
    Tensor b = rand({2});
    const Tensor state = default_generator().get_state();
    return std::vector<Tensor>{a, b + rand({2}), state};
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    manual_seed(3);
    const auto want = f(ones(2));
    manual_seed(3);
    const auto got = fast(ones(2));
    for (size_t k = 0; k < want.size(); ++k) expect_same(got[k], want[k]);
  }
}

TEST(Compile, ExceptionsHappenAfterWhatCameBefore) {
  const auto fast = compile([](Tensor x, bool fail) {
    x.add_(1);
    if (fail) throw std::runtime_error("stop");
    return x * 2;
  });
  const Tensor x = zeros(2);
  fast(x, false);
  fast(x, false);
  EXPECT_THROW(fast(x, true), std::runtime_error);
  EXPECT_THROW(fast(x, true), std::runtime_error);
  expect_same(x, full({2}, 4.0f));
  expect_same(fast(x, false), full({2}, 10.0f));
}

TEST(Compile, ShapeErrorsComeFromTheCall) {
  const auto fast = compile([](const Tensor& x, const Tensor& y) {
    const Tensor a = x * 2;
    try {
      return x + y;
    } catch (const Error&) {
      return a;
    }
  });
  for (int i = 0; i < 2; ++i) {
    expect_same(fast(ones(3), ones(3)), full({3}, 2.0f));
    expect_same(fast(ones(3), ones(2)), full({3}, 2.0f));
  }
}

TEST(Compile, ErrorsOfValuesReachTheCaller) {
  const auto fast = compile([](const Tensor& table, const Tensor& index) { return (table * 2).index_select(0, index) + 1; });
  const Tensor table = ones({3, 2});
  const auto at = [](int64_t i) { return full({1}, i, kLong); };
  fast(table, at(1));
  fast(table, at(2));
  EXPECT_THROW(fast(table, at(5)), std::exception);
  expect_same(fast(table, at(0)), full({1, 2}, 3.0f));
}

TEST(Compile, PointersSeeWhatWasRecorded) {
  const auto f = [](Tensor x) {
    Tensor y = x + 1;
    x.data_ptr<float>()[0] = 100;
    Tensor z = x * 2;
    z.mutable_data_ptr<float>()[1] = y.const_data_ptr<float>()[0];
    return z + y;
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor a = rand({3}), b = a.clone();
    expect_same(fast(b), f(a));
    expect_same(b, a);
  }
}

TEST(Compile, PointersFromBeforeTheCallAreRespected) {
  const Tensor x = zeros(3);
  float* p = x.data_ptr<float>();
  float next = 1;
  const auto fast = compile([&] {
    Tensor y = x + 1;
    p[0] = next;
    return y + x;
  });
  for (int i = 0; i < 3; ++i) {
    p[0] = 0;
    next = static_cast<float>(i + 1);
    EXPECT_EQ(fast()[0].item<float>(), 1 + next);
  }
}

TEST(Compile, ShapesThatDependOnValues) {
  const auto f = [](const Tensor& x) { return (x * 2).masked_select(x > 0).sum() + x.nonzero().size(0) + x.index({x < 0}).numel(); };
  const auto fast = compile(f);
  for (int i = 0; i < 5; ++i) {
    const Tensor x = randn({6}).round();
    expect_same(fast(x), f(x));
  }
}

TEST(Compile, OutVariantsWriteAfterReaders) {
  const auto f = [](const Tensor& a, const Tensor& b) {
    Tensor out = zeros(3);
    Tensor y = out + 1;
    add_out(out, a, b);
    Tensor z = out * 2;
    matmul_out(out, a.view({1, 3}).expand({3, 3}), b);
    return y + z + out;
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor a = randn({3}), b = randn({3});
    expect_same(fast(a, b), f(a, b));
  }
}

TEST(Compile, ReshapingInPlace) {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 2;
    y.unsqueeze_(0);
    y.add_(1);
    y.resize_({2, 2});
    y.squeeze_();
    return y.slice(0, 0, 1) + 1;
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({4});
    expect_same(fast(x), f(x));
  }
}

TEST(Compile, GradientsThroughACompiledForward) {
  const Tensor w = randn({4, 4}).requires_grad_();
  const auto f = [&](const Tensor& x) { return x.matmul(w).sigmoid().sum(); };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({2, 4});
    f(x).backward();
    const Tensor want = w.grad().clone();
    w.mutable_grad().reset();
    fast(x).backward();
    expect_same(w.grad(), want);
    w.mutable_grad().reset();
  }
}

struct Net : nn::Module {
  Net() {
    fc1 = register_module("fc1", nn::Linear(6, 8));
    bn = register_module("bn", nn::BatchNorm1d(8));
    drop = register_module("drop", nn::Dropout(0.25));
    fc2 = register_module("fc2", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) { return fc2(drop(relu(bn(fc1(x))))); }
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::BatchNorm1d bn{nullptr};
  nn::Dropout drop{nullptr};
};

template <class Make>
void expect_equal_training(const Make& make_optimizer) {
  std::vector<std::vector<Tensor>> ends;
  for (const bool compiled : {false, true}) {
    manual_seed(5);
    auto net = std::make_shared<Net>();
    auto optimizer = make_optimizer(net->parameters());
    const auto step = [&](const Tensor& x, const Tensor& y) {
      optimizer.zero_grad();
      Tensor loss = cross_entropy_loss(net->forward(x), y);
      loss.backward();
      nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      optimizer.step();
      return loss;
    };
    const auto fast = compile(step, {.backend = compiled ? CompileBackend::kInterpreter : CompileBackend::kEager, .step_aside = false});
    std::vector<Tensor> seen;
    for (int i = 0; i < 6; ++i) {
      const Tensor x = randn({5, 6}), y = randint(3, {5}, kLong);
      seen.push_back(fast(x, y).detach());
    }
    for (const Tensor& p : net->parameters()) seen.push_back(p.detach().clone());
    for (const Tensor& b : net->buffers()) seen.push_back(b.clone());
    seen.push_back(default_generator().get_state());
    ends.push_back(seen);
    if (compiled) {
      EXPECT_FALSE(has(fast.explain(), "matched 0,")) << fast.explain();
    }
  }
  ASSERT_EQ(ends[0].size(), ends[1].size());
  for (size_t i = 0; i < ends[0].size(); ++i) expect_same(ends[1][i], ends[0][i], ("value " + std::to_string(i)).c_str());
}

TEST(Compile, WholeTrainingStepsWithAdam) {
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::Adam(p, optim::AdamOptions(1e-2)); });
}
TEST(Compile, WholeTrainingStepsWithSgd) {
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::SGD(p, optim::SGDOptions(0.1).momentum(0.9).nesterov(true)); });
}
TEST(Compile, WholeTrainingStepsWithRmsprop) {
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::RMSprop(p, optim::RMSpropOptions(1e-2).centered(true)); });
}
TEST(Compile, WholeTrainingStepsWithEveryOtherFusedRule) {
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::AdamW(p, optim::AdamWOptions(1e-2).amsgrad(true)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::NAdam(p, optim::NAdamOptions(1e-2)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::RAdam(p, optim::RAdamOptions(1e-2)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::Adamax(p, optim::AdamaxOptions(1e-2)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::Adadelta(p, optim::AdadeltaOptions(0.5)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::Adagrad(p, optim::AdagradOptions(1e-2)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::Rprop(p, optim::RpropOptions(1e-2)); });
  expect_equal_training([](const std::vector<Tensor>& p) { return optim::ASGD(p, optim::ASGDOptions(1e-2)); });
}

TEST(Compile, ModulesAndHoldersKeepTheirFace) {
  nn::Sequential model(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  const auto fast = compile(model);
  EXPECT_EQ(fast->parameters().size(), 4u);
  fast->eval();
  EXPECT_FALSE(model->is_training());
  const Tensor x = randn({5, 3});
  for (int i = 0; i < 2; ++i) expect_same(fast(x), model->forward(x));
  const auto net = std::make_shared<Net>();
  const auto fast_net = compile(net);
  fast_net->eval();
  for (int i = 0; i < 2; ++i) expect_same(fast_net.forward(randn({5, 6}).fill_(0.5)), net->forward(full({5, 6}, 0.5)));
}

TEST(Compile, CompiledFunctionsNest) {
  const auto inner = compile([](const Tensor& x) { return x * 2 + 1; });
  const auto outer = compile([&](const Tensor& x) { return inner(inner(x)).sum(); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outer(ones(2)).item<float>(), 14);
}

TEST(Compile, ManyThreadsShareOneFunction) {
  const Tensor w = randn({8, 8});
  const auto f = [&](const Tensor& x) {
    Tensor y = x.matmul(w).relu();
    if (y.sum().item<float>() > 0) y.add_(1);
    return y.mean(0);
  };
  const auto fast = compile(f);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Tensor x = full({1 + (i + t) % 5, 8}, 0.1 * (i % 7) - 0.3);
        if (!fast(x).equal(f(x))) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Compile, OtherThreadsMayLookAtPendingValues) {
  const auto fast = compile([](const Tensor& x) {
    const Tensor y = x * 3;
    float seen = 0;
    std::thread([&] { seen = y.sum().item<float>(); }).join();
    return y + seen;
  });
  for (int i = 0; i < 3; ++i) expect_same(fast(ones(2)), full({2}, 9.0f));
}

TEST(Compile, FewVersionsAreKeptAndAllGoOnWorking) {
  const auto fast = compile([](const Tensor& x) { return (x + 1).sum(); }, {.dynamic = false, .max_versions = 3});
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 0; n < 12; ++n) EXPECT_EQ(fast(ones(n)).item<float>(), 2.0f * static_cast<float>(n));
  }
  EXPECT_TRUE(has(fast.explain(), "versions retired 21")) << fast.explain();
}

TEST(Compile, SizesOfOneAxisMakeFewVersions) {
  const Tensor w = randn({4, 6}).requires_grad_();
  const auto f = [&](const Tensor& x) {
    Tensor y = (x.matmul(w).tanh() * 2).reshape({-1});
    y.mean().backward();
    return std::vector<Tensor>{y.detach(), std::exchange(w.mutable_grad(), Tensor())};
  };
  const auto fast = compile(f), fixed = compile(f, {.dynamic = false, .max_versions = 100});
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 0; n <= 64; ++n) {
      const Tensor x = randn({n, 4});
      const std::vector<Tensor> want = f(x);
      for (const auto& got : {fast(x), fixed(x)}) {
        if (n == 0) continue;  // the mean of nothing is NaN, whose sign is not promised
        for (size_t i = 0; i < want.size(); ++i) expect_same(got[i], want[i]);
      }
    }
  }
  EXPECT_LE(fast.versions(), 2u) << fast.explain();
  EXPECT_TRUE(has(fast.explain(), "Float[s0, 4]")) << fast.explain();
  EXPECT_EQ(fixed.versions(), 65u);
}

TEST(Compile, PlansMadeInTheBackgroundTakeOver) {
  const auto f = [](const Tensor& x) { return (x * 2 + 1).tanh().sum(); };
  const auto fast = compile(f, {.background = true});
  const Tensor x = randn({64});
  for (int i = 0; i < 3; ++i) expect_same(fast(x), f(x));
  lazy::wait_for_plans();
  for (int i = 0; i < 3; ++i) expect_same(fast(x), f(x));
  EXPECT_TRUE(has(fast.explain(), "fused (")) << fast.explain();
}

TEST(Compile, OptionsAreChecked) {
  const auto f = [](const Tensor& x) { return x; };
  EXPECT_THROW(compile(f, {.max_versions = 0}), ValueError);
  EXPECT_THROW(compile(f, {.code_from_elements = -1}), ValueError);
  EXPECT_THROW(compile(f, {.cache_dir = "/proc/none/here"}), IoError);
}

TEST(Compile, TheLogTellsWhatHappens) {
  ::setenv("TAEDA_LOG", "other,compile", 1);
  const auto fast = compile([](const Tensor& x) { return x.sum().item<float>() > 0 ? x * 2 : x.exp(); });
  ::unsetenv("TAEDA_LOG");
  testing::internal::CaptureStderr();
  for (const float v : {1.f, -1.f, 1.f}) fast(full({2}, v));
  const std::string text = testing::internal::GetCapturedStderr();
  for (const char* part : {"recorded sum(Float[2])", "segment ends: a value was looked at", "recompile: another operator: exp for mul", "plan of"}) {
    EXPECT_TRUE(has(text, part)) << part << '\n' << text;
  }
  EXPECT_TRUE(has(fast.explain(), "recompiles 1\n  because another operator: exp for mul")) << fast.explain();
}

TEST(Compile, ManyRecompilesWarnOnceWithTheReason) {
  const auto fast = compile([](const Tensor& x, int n) {
    Tensor y = x;
    for (int i = 0; i < n; ++i) y = y + y;
    return n % 2 ? y.exp() : y.sum();
  });
  testing::internal::CaptureStderr();
  for (int n = 0; n < 40; ++n) fast(ones(2), n);
  const std::string text = testing::internal::GetCapturedStderr();
  const size_t first = text.find("recompiles, the last one because of");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("recompiles, the last one because of", first + 1), std::string::npos) << text;
}

TEST(Compile, DefaultDtypeIsPartOfTheKey) {
  const auto fast = compile([](const Tensor& x) { return x / 2; });
  EXPECT_EQ(fast(ones(2, kLong)).scalar_type(), kFloat);
  set_default_dtype(kDouble);
  EXPECT_EQ(fast(ones(2, kLong)).scalar_type(), kDouble);
  set_default_dtype(kFloat);
  EXPECT_EQ(fast(ones(2, kLong)).scalar_type(), kFloat);
}

TEST(Compile, PointwiseStepsShareOneLoop) {
  const auto f = [](const Tensor& x) { return tanh(x * 1.5 + 0.5) * sigmoid(x) + exp(-x * x); };
  for (const auto backend : {CompileBackend::kInterpreter, CompileBackend::kJit}) {
    const auto fast = compile(f, {.backend = backend});
    const Tensor x = randn({3, 1000});
    for (int i = 0; i < 3; ++i) expect_same(fast(x), f(x));
    EXPECT_TRUE(has(fast.explain(), "plan of 1 kernels for 9 operators")) << fast.explain();
  }
}

/// What `f` gives compiled is what it gives; its plan has `kernels` kernels.
template <class F>
void expect_kernels(const F& f, int kernels, const Tensor& x) {
  for (const auto backend : {CompileBackend::kInterpreter, CompileBackend::kJit}) {
    const auto fast = taeda::compile(f, {.backend = backend, .step_aside = false, .code_from_elements = 0});
    for (int i = 0; i < 3; ++i) expect_same(fast(x * (i + 1)), f(x * (i + 1)));
    EXPECT_TRUE(has(fast.explain(), "plan of " + std::to_string(kernels) + " kernels for ")) << fast.explain();
  }
}

TEST(Compile, RowsShareOneLoopWithWhatSurroundsThem) {
  const Tensor w = randn({40}), b = randn({40});
  expect_kernels([](const Tensor& x) { return (x * 2 + 1).softmax(-1).mul(3); }, 1, randn({5, 7, 40}));
  expect_kernels([](const Tensor& x) { return x.tanh().log_softmax(1).exp(); }, 1, randn({9, 40}));
  expect_kernels([&](const Tensor& x) { return layer_norm(x + x.sigmoid(), {40}, w, b).relu(); }, 1, randn({5, 7, 40}));
  expect_kernels([&](const Tensor& x) { return layer_norm(x.exp(), {7, 40}) * 2; }, 1, randn({5, 7, 40}));
  expect_kernels([](const Tensor& x) { return x * (x * x).mean(-1, true).add(1e-5).rsqrt(); }, 1, randn({9, 40}));
  expect_kernels([](const Tensor& x) { return (x - x.amax({-1}, true)).exp().sum({-1}).log(); }, 1, randn({5, 9, 40}));
  expect_kernels([](const Tensor& x) { return (x - 1).pow(2).mean(); }, 1, randn({300, 400}));
  expect_kernels([](const Tensor& x) { return (x * 2).t().softmax(-1); }, 2, randn({9, 40}));  // rows of a transposed tensor
}

TEST(Compile, OneUpdateOfManyTensorsIsOneLaunch) {
  std::vector<Tensor> averages, values;
  for (int i = 0; i < 20; ++i) {
    averages.push_back(zeros({3 + i, 5}));
    values.push_back(randn({3 + i, 5}));
  }
  const auto f = [&] {
    for (size_t i = 0; i < averages.size(); ++i) averages[i].mul_(0.9).add_(values[i], 0.1);
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) fast();
  EXPECT_TRUE(has(fast.explain(), "plan of 1 kernels for 40 operators")) << fast.explain();
  const std::vector<Tensor> got = std::exchange(averages, {});
  for (const Tensor& v : values) averages.push_back(zeros_like(v));
  for (int i = 0; i < 3; ++i) f();
  for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], averages[i]);
}

TEST(Compile, AnOptimizerStepIsOneLaunch) {
  std::vector<Tensor> parameters;
  for (int i = 0; i < 20; ++i) parameters.push_back(randn({2 + i}).requires_grad_());
  optim::AdamW optimizer(parameters, optim::AdamWOptions(1e-2));
  for (const Tensor& p : parameters) p.mutable_grad() = ones_like(p);
  const auto fast = compile([&] { optimizer.step(); });
  for (int i = 0; i < 3; ++i) fast();
  EXPECT_TRUE(has(fast.explain(), "plan of 1 kernels for 1 operators")) << fast.explain();
}

TEST(Compile, GradientsAndInPlaceStepsJoinTheLoop) {
  const Tensor w = randn({64}).requires_grad_();
  const auto f = [&](const Tensor& x) {
    Tensor y = x * w;
    y.mul_(2).add_(1);
    y.sigmoid().backward(ones({64}));
    return std::exchange(w.mutable_grad(), Tensor());
  };
  const auto fast = compile(f);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = randn({64});
    expect_same(fast(x), f(x));
  }
  EXPECT_TRUE(has(fast.explain(), "fused (interpreted, 64 elements):")) << fast.explain();
}

TEST(Compile, InPlaceStepsOnOverlappingElementsHaveTheirOwnLoop) {
  const auto f = [](const Tensor& x) {
    Tensor windows = (x + 0).unfold(0, 2, 1);
    windows.cosh_();
    return windows.acos() + windows;
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = rand({9});
    expect_same(fast(x).isnan(), f(x).isnan());
    expect_same(fast(x).nan_to_num(), f(x).nan_to_num());
  }
}

TEST(Compile, CallsThatGainNothingStepAside) {
  const auto fast = taeda::compile([](const Tensor& x) { return x.sum() + 1; });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(fast(ones(3)).item<float>(), 4);
  EXPECT_TRUE(has(fast.explain(), "calls that ran without recording")) << fast.explain();
}

TEST(Compile, ScalarsRepeatAlongADimension) {
  const auto f = [](const Tensor& x) { return x.sum().repeat_interleave(2, 0) + 1; };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) expect_same(fast(ones({3})), tensor({4.f, 4.f}));
}

TEST(Compile, CallsThatGainGoOn) {
  // Most of what this records is not needed.
  const auto fast = taeda::compile([](const Tensor& x) {
    for (int i = 0; i < 5; ++i) x.matmul(x);
    return x.exp();
  });
  for (int i = 0; i < 5; ++i) fast(ones({64, 64}));
  EXPECT_FALSE(has(fast.explain(), "calls that ran without recording")) << fast.explain();
}

TEST(Compile, SetDataAndDetachedWrites) {
  const auto f = [](const Tensor& w) {
    Tensor y = w * 2;
    w.data().mul_(3);
    Tensor z = w + 1;
    w.set_data(zeros(2));
    return y + z + w;
  };
  const auto fast = compile(f);
  for (int i = 0; i < 3; ++i) {
    const Tensor a = ones(2), b = ones(2);
    expect_same(fast(b), f(a));
    EXPECT_EQ(b._version(), a._version());
  }
}

}  // namespace
}  // namespace taeda
