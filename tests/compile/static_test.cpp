// SPDX-License-Identifier: Apache-2.0
// CompileMode::kStatic: replayed calls do what the function does, bit by bit, and what cannot be replayed is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <sstream>
#include <thread>

#include "tests/compile/static_support.h"

namespace taeda {
namespace {

struct Net : nn::Module {
  explicit Net(bool random = true) {
    fc1 = register_module("fc1", nn::Linear(6, 8));
    bn = register_module("bn", nn::BatchNorm1d(8));
    drop = register_module("drop", nn::Dropout(random ? 0.25 : 0.0));
    fc2 = register_module("fc2", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x) { return fc2(drop(relu(bn(fc1(x))))); }
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::BatchNorm1d bn{nullptr};
  nn::Dropout drop{nullptr};
};

/// A model and its optimizer, with the whole step as a function.
template <class Optimizer, class Options>
struct Training {
  std::shared_ptr<Net> net = std::make_shared<Net>();
  std::shared_ptr<Optimizer> optimizer;

  explicit Training(const Options& options) : optimizer(std::make_shared<Optimizer>(net->parameters(), options)) {}
  std::function<Tensor(const Tensor&, const Tensor&)> step() {
    return [net = net, optimizer = optimizer](const Tensor& x, const Tensor& y) {
      optimizer->zero_grad();
      Tensor loss = cross_entropy_loss(net->forward(x), y);
      loss.backward();
      optimizer->step();
      return loss;
    };
  }
  /// Everything that a step changes.
  std::vector<Tensor> state() const {
    std::vector<Tensor> all;
    for (const Tensor& p : net->parameters()) {
      all.push_back(p.detach().clone());
      all.push_back(p.grad().defined() ? p.grad().clone() : Tensor());
      all.push_back(full({1}, p._version(), kLong));
    }
    for (const Tensor& b : net->buffers()) all.push_back(b.clone());
    serialize::OutputArchive archive;
    optimizer->save(archive);
    std::stringstream text;
    archive.save_to(text);
    const std::string bytes = text.str();
    all.push_back(from_blob(const_cast<char*>(bytes.data()), {static_cast<int64_t>(bytes.size())}, kByte).clone());
    all.push_back(default_generator().get_state());
    return all;
  }
};

template <class Optimizer, class Options>
void expect_equal_training(const Options& options, int steps = 200) {
  std::vector<std::vector<Tensor>> ends;
  for (const int mode : {0, 1, 2}) {
    manual_seed(5);
    Training<Optimizer, Options> t(options);
    const auto fast = compile(t.step(), {.mode = CompileMode::kStatic, .backend = mode == 0   ? CompileBackend::kEager
                                                                                  : mode == 1 ? CompileBackend::kJit
                                                                                              : CompileBackend::kDebug});
    std::vector<Tensor> seen;
    for (int i = 0; i < (mode == 2 ? steps / 4 : steps); ++i) {
      if (i == 60) t.optimizer->param_groups()[0].options().set_lr(0.003);
      const Tensor x = randn({5, 6}), y = randint(3, {5}, kLong);
      seen.push_back(fast(x, y).detach());
      if (i == steps / 4 - 1 || i == steps - 1) {
        for (const Tensor& s : t.state()) seen.push_back(s);
      }
    }
    ends.push_back(seen);
    if (mode != 0) {
      EXPECT_EQ(fast.versions(), 1u) << fast.explain();
      EXPECT_FALSE(has(fast.explain(), " 0 replayed")) << fast.explain();
    }
  }
  for (size_t mode = 1; mode < 3; ++mode) {
    for (size_t i = 0; i < ends[mode].size(); ++i) expect_same(ends[mode][i], ends[0][i], str("mode ", mode, ", value ", i));
  }
}

TEST(StaticCompile, TrainsAsEagerWithSgd) { expect_equal_training<optim::SGD>(optim::SGDOptions(0.05)); }
TEST(StaticCompile, TrainsAsEagerWithMomentum) {
  expect_equal_training<optim::SGD>(optim::SGDOptions(0.05).momentum(0.9).nesterov(true).weight_decay(1e-3));
}
TEST(StaticCompile, TrainsAsEagerWithAdam) { expect_equal_training<optim::Adam>(optim::AdamOptions(1e-2).amsgrad(true)); }
TEST(StaticCompile, TrainsAsEagerWithAdamW) { expect_equal_training<optim::AdamW>(optim::AdamWOptions(1e-2)); }
TEST(StaticCompile, TrainsAsEagerWithRmsprop) { expect_equal_training<optim::RMSprop>(optim::RMSpropOptions(1e-2).centered(true)); }
TEST(StaticCompile, TrainsAsEagerWithAdagrad) { expect_equal_training<optim::Adagrad>(optim::AdagradOptions(1e-2).lr_decay(0.1)); }

TEST(StaticCompile, SkipsTheHostCode) {
  int calls = 0;
  const auto fast = fixed([&](const Tensor& x) {
    ++calls;
    return (x * 2 + 1).tanh();
  });
  for (int i = 0; i < 10; ++i) {
    const Tensor x = randn({3, 4});
    expect_same(fast(x), (x * 2 + 1).tanh());
  }
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(has(fast.explain(), "2 recorded, 8 replayed, plans 1")) << fast.explain();
}

TEST(StaticCompile, ResultsThatTheCallerHoldsStay) {
  const Tensor w = randn({4, 4}).requires_grad_();
  const auto fast = fixed([&](const Tensor& x) {
    w.mutable_grad().reset();
    Tensor y = x.matmul(w);
    Tensor loss = y.square().sum();
    loss.backward();
    return std::make_tuple(loss, y.detach().clone(), w.grad());
  });
  std::vector<Tensor> losses, values, gradients, wanted;
  for (int i = 0; i < 8; ++i) {
    const Tensor x = full({2, 4}, 0.5 * (i + 1));
    const auto [loss, y, gradient] = fast(x);
    EXPECT_TRUE(gradient.is_same(w.grad()));
    losses.push_back(loss);
    values.push_back(y);
    gradients.push_back(w.grad());
  }
  for (int i = 0; i < 8; ++i) {
    const Tensor x = full({2, 4}, 0.5 * (i + 1));
    w.mutable_grad().reset();
    Tensor y = x.matmul(w);
    Tensor loss = y.square().sum();
    loss.backward();
    const auto n = static_cast<size_t>(i);
    expect_same(losses[n], loss);
    expect_same(values[n], y.detach().clone());
    expect_same(gradients[n], w.grad());
    EXPECT_EQ(gradients[n]._version(), w.grad()._version());
    EXPECT_FALSE(losses[n].is_leaf());
    EXPECT_THROW(losses[n].backward(), Error);
  }
}

TEST(StaticCompile, GradientsMayAccumulate) {
  for (const bool reset : {false, true}) {
    const Tensor w = randn({3}).requires_grad_(), v = w.detach().clone().requires_grad_();
    const auto step = [](const Tensor& p, const Tensor& x) { (p * x).sum().backward(); };
    const auto fast = fixed([&](const Tensor& x) { step(w, x); });
    for (int i = 0; i < 12; ++i) {
      const Tensor x = randn({3});
      if (reset && i % 3 == 0) {
        w.mutable_grad().reset();
        v.mutable_grad().reset();
      }
      fast(x);
      step(v, x);
      expect_same(w.grad(), v.grad());
      EXPECT_EQ(w.grad()._version(), v.grad()._version());
    }
    if (!reset) {
      EXPECT_TRUE(has(fast.explain(), "3 recorded, 9 replayed")) << fast.explain();
    }
  }
}

TEST(StaticCompile, ZeroedGradientsKeepTheirMemory) {
  nn::Linear fast_model(3, 2), model(3, 2);
  fast_model->load_state_dict(model->state_dict());
  optim::Adam fast_optimizer(fast_model->parameters(), optim::AdamOptions(0.1)), optimizer(model->parameters(), optim::AdamOptions(0.1));
  const auto step = [](nn::Linear& m, optim::Adam& o, const Tensor& x) {
    o.zero_grad(false);
    m(x).square().mean().backward();
    o.step();
  };
  const auto fast = fixed([&](const Tensor& x) { step(fast_model, fast_optimizer, x); });
  for (int i = 0; i < 10; ++i) {
    const Tensor x = randn({4, 3});
    fast(x);
    step(model, optimizer, x);
    for (size_t p = 0; p < 2; ++p) {
      expect_same(fast_model->parameters()[p], model->parameters()[p]);
      expect_same(fast_model->parameters()[p].grad(), model->parameters()[p].grad());
    }
  }
  EXPECT_TRUE(has(fast.explain(), "plans 1")) << fast.explain();
}

TEST(StaticCompile, SchedulersOutsideTakeEffect) {
  std::vector<Tensor> ends;
  for (const bool compiled : {false, true}) {
    manual_seed(2);
    Training<optim::Adam, optim::AdamOptions> t{optim::AdamOptions(0.05)};
    optim::StepLR scheduler(*t.optimizer, 3, 0.5);
    const auto fast = compile(t.step(), {.mode = CompileMode::kStatic, .backend = compiled ? CompileBackend::kJit : CompileBackend::kEager});
    for (int i = 0; i < 20; ++i) {
      fast(randn({5, 6}), randint(3, {5}, kLong));
      scheduler.step();
    }
    for (const Tensor& s : t.state()) ends.push_back(s);
  }
  for (size_t i = 0; i < ends.size() / 2; ++i) expect_same(ends[i + ends.size() / 2], ends[i]);
}

TEST(StaticCompile, MomentumThatComesOrGoesIsNoticed) {
  const auto run = [](auto make, auto options_of) {
    std::vector<Tensor> ends;
    for (const bool compiled : {false, true}) {
      manual_seed(4);
      nn::Linear model(3, 2);
      auto optimizer = make(model->parameters());
      const auto fast = compile([&](const Tensor& x) {
        optimizer.zero_grad();
        model(x).square().mean().backward();
        optimizer.step();
      }, {.mode = CompileMode::kStatic, .backend = compiled ? CompileBackend::kJit : CompileBackend::kEager});
      for (int i = 0; i < 18; ++i) {
        if (i % 6 == 5) options_of(optimizer).momentum(i == 11 ? 0 : 0.9);
        fast(randn({4, 3}));
        ends.push_back(model->weight.detach().clone());
      }
    }
    for (size_t i = 0; i < ends.size() / 2; ++i) expect_same(ends[i + ends.size() / 2], ends[i], str("call ", i));
  };
  run([](const auto& p) { return optim::SGD(p, optim::SGDOptions(0.1)); },
      [](optim::SGD& o) -> auto& { return static_cast<optim::SGDOptions&>(o.param_groups()[0].options()); });
  run([](const auto& p) { return optim::RMSprop(p, optim::RMSpropOptions(0.1)); },
      [](optim::RMSprop& o) -> auto& { return static_cast<optim::RMSpropOptions&>(o.param_groups()[0].options()); });
}

TEST(StaticCompile, StateLoadedBetweenCallsIsUsed) {
  std::vector<Tensor> ends;
  for (const bool compiled : {false, true}) {
    manual_seed(9);
    Training<optim::AdamW, optim::AdamWOptions> t{optim::AdamWOptions(0.05)};
    const auto fast = compile(t.step(), {.mode = CompileMode::kStatic, .backend = compiled ? CompileBackend::kJit : CompileBackend::kEager});
    const auto run = [&](int n) {
      for (int i = 0; i < n; ++i) fast(randn({5, 6}), randint(3, {5}, kLong));
    };
    run(6);
    std::stringstream model_file, optimizer_file;
    save(t.net, model_file);
    save(*t.optimizer, optimizer_file);
    run(5);
    load(t.net, model_file);
    load(*t.optimizer, optimizer_file);
    run(7);
    // Loaded in place, without touching the optimizer.
    for (const Tensor& p : t.net->parameters()) {
      const NoGradGuard off;
      p.mul_(0.5);
    }
    run(2);
    for (const Tensor& s : t.state()) ends.push_back(s);
    if (compiled) {
      EXPECT_FALSE(has(fast.explain(), " 0 replayed")) << fast.explain();
    }
  }
  for (size_t i = 0; i < ends.size() / 2; ++i) expect_same(ends[i + ends.size() / 2], ends[i]);
}

TEST(StaticCompile, EagerAndStaticStepsMix) {
  std::vector<Tensor> ends;
  for (const bool compiled : {false, true}) {
    manual_seed(9);
    Training<optim::Adam, optim::AdamOptions> t{optim::AdamOptions(0.05)};
    const auto step = t.step();
    const auto fast = compile(step, {.mode = CompileMode::kStatic, .backend = compiled ? CompileBackend::kJit : CompileBackend::kEager});
    for (int i = 0; i < 20; ++i) {
      const Tensor x = randn({5, 6}), y = randint(3, {5}, kLong);
      i % 4 == 3 ? step(x, y) : fast(x, y);
    }
    for (const Tensor& s : t.state()) ends.push_back(s);
  }
  for (size_t i = 0; i < ends.size() / 2; ++i) expect_same(ends[i + ends.size() / 2], ends[i]);
}

TEST(StaticCompile, ShapesAndNumbersHavePlansOfTheirOwn) {
  int calls = 0;
  const auto f = [&](const Tensor& x, double by, const std::string& how) {
    ++calls;
    return how == "sum" ? (x * by).sum() : (x * by).exp();
  };
  const auto fast = fixed(f);
  for (int i = 0; i < 24; ++i) {
    const Tensor x = randn({i % 2 ? 3 : 5, 2});
    const double by = i % 3 == 0 ? 0.5 : 2;
    const std::string how = i % 4 < 2 ? "sum" : "exp";
    const Tensor got = fast(x, by, how);
    const int before = calls;
    expect_same(got, f(x, by, how));
    calls = before;
  }
  EXPECT_EQ(fast.versions(), 8u);
  EXPECT_EQ(calls, 16);
  EXPECT_EQ(refusal_of([&] { fast(ones({2, 2}).to(kDouble), 1, ""); }), "");
}

TEST(StaticCompile, TooManyKindsOfArgumentsAreAnError) {
  const auto fast = fixed([](const Tensor& x) { return x + 1; }, {.max_versions = 3});
  for (int64_t n = 1; n <= 3; ++n) fast(ones({n}));
  EXPECT_THROW(fast(ones({4})), CompileError);
  expect_same(fast(ones({2})), full({2}, 2.f));
}

TEST(StaticCompile, ArgumentsMayLieAnywhere) {
  const auto f = [](Tensor x, const Tensor& y) {
    x.mul_(2);
    return (x + y).t() + y.sum();
  };
  const auto fast = fixed(f);
  const Tensor data = randn({20, 2, 2}), copy = data.clone();
  for (int64_t i = 0; i < 18; ++i) {
    expect_same(fast(data[i], data[i + 1]), f(copy[i], copy[i + 1]));
    expect_same(fast(data[i], ones({2, 2})), f(copy[i], ones({2, 2})));
    expect_same(fast(data[i], data[i]), f(copy[i], copy[i]));
    expect_same(fast(data[i].t(), data[i]), f(copy[i].t(), copy[i]));
  }
  expect_same(data, copy);
  EXPECT_EQ(data._version(), copy._version());
}

TEST(StaticCompile, ArgumentsThatAreAlsoCapturedStayApart) {
  // Recorded with the captured tensor as argument, then called with another.
  const Tensor w = randn({3});
  const auto f = [&](const Tensor& x) { return x * 2 + w; };
  const auto fast = fixed(f);
  for (int i = 0; i < 3; ++i) expect_same(fast(w), f(w));
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({3});
    expect_same(fast(x), f(x));
  }
  const auto g = [&](Tensor x) {
    x.add_(1);
    return x * w;
  };
  const auto writes = fixed(g);
  const Tensor before = w.clone();
  for (int i = 0; i < 4; ++i) writes(randn({3}));
  const Tensor got = writes(w);  // not what was recorded: what it writes it reads
  expect_same(w, before + 1);
  expect_same(got, (before + 1) * (before + 1));
}

TEST(StaticCompile, ResultsOfEveryForm) {
  const Tensor w = randn({2, 2});
  const auto f = [&](const std::vector<Tensor>& x, const std::optional<Tensor>& y) {
    std::map<std::string, Tensor> named;
    Tensor sum = x[0] + x[1];
    named["sum"] = sum;
    named["view"] = sum.t();
    named["argument"] = x[1];
    named["part"] = x[0][1];
    named["captured"] = w;
    named["same"] = sum;
    return std::make_pair(named, std::array<std::optional<Tensor>, 2>{y, y ? std::optional<Tensor>(*y * 2) : std::nullopt});
  };
  const auto fast = fixed(f);
  for (int i = 0; i < 8; ++i) {
    const std::vector<Tensor> x{randn({2, 2}), randn({2, 2})};
    const std::optional<Tensor> y = i % 2 ? std::optional<Tensor>(randn({2})) : std::nullopt;
    const auto [got, rest] = fast(x, y);
    const auto [want, other] = f(x, y);
    ASSERT_EQ(got.size(), want.size());
    for (const auto& [name, t] : want) expect_same(got.at(name), t, name);
    EXPECT_TRUE(got.at("argument").is_same(x[1]));
    EXPECT_TRUE(got.at("captured").is_same(w));
    EXPECT_TRUE(got.at("same").is_same(got.at("sum")));
    EXPECT_TRUE(got.at("view").is_alias_of(got.at("sum")));
    EXPECT_TRUE(got.at("part").is_alias_of(x[0]));
    ASSERT_EQ(rest[1].has_value(), y.has_value());
    if (y) expect_same(*rest[1], *other[1]);
  }
}

TEST(StaticCompile, RandomNumbersAreThoseOfEager) {
  const auto f = [](const Tensor& x) {
    Tensor y = dropout(x, 0.5, true) + rand({4});
    return y.bernoulli_(0.5) * randn({4});
  };
  const auto fast = fixed(f);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({4});
    manual_seed(30 + static_cast<uint64_t>(i));
    const Tensor want = f(x), state = default_generator().get_state();
    manual_seed(30 + static_cast<uint64_t>(i));
    expect_same(fast(x), want);
    expect_same(default_generator().get_state(), state);
  }
}

TEST(StaticCompile, InferenceInEveryMode) {
  nn::Sequential model(nn::Linear(4, 8), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({8})), nn::Linear(8, 2));
  const auto fast = fixed(model);
  for (int i = 0; i < 5; ++i) {
    const Tensor x = randn({3, 4});
    {
      const NoGradGuard off;
      expect_same(fast(x), model->forward(x));
    }
    const InferenceMode inference;
    const Tensor y = fast(x);
    EXPECT_TRUE(y.is_inference());
    expect_same(y, model->forward(x));
  }
  EXPECT_EQ(fast.versions(), 2u);
  EXPECT_TRUE(has(refusal_of([&] { fast(ones({3, 4})); }), "a result requires grad"));
}

TEST(StaticCompile, ModesOfModulesCount) {
  manual_seed(1);
  nn::Sequential model(nn::Linear(4, 8), nn::BatchNorm1d(8), nn::Dropout(0.5));
  const auto fast = fixed(model);
  const NoGradGuard off;
  const Tensor x = randn({16, 4});
  for (int round = 0; round < 3; ++round) {
    model->train();
    for (int i = 0; i < 4; ++i) EXPECT_GT(fast(x).eq(0).sum().item<int64_t>(), 0);
    model->eval();
    for (int i = 0; i < 4; ++i) expect_same(fast(x), model->forward(x));
  }
  EXPECT_EQ(fast.versions(), 2u) << fast.explain();
}

TEST(StaticCompile, ReplacedTensorsAreNoticed) {
  Tensor w = randn({3});
  const auto f = [&](const Tensor& x) { return x * w; };
  const auto fast = fixed(f);
  const Tensor x = randn({3});
  for (int i = 0; i < 4; ++i) expect_same(fast(x), f(x));
  w = randn({3});
  for (int i = 0; i < 4; ++i) expect_same(fast(x), f(x));
  w.set_data(randn({3}));
  for (int i = 0; i < 4; ++i) expect_same(fast(x), f(x));
  w = w.view({1, 3});
  for (int i = 0; i < 4; ++i) expect_same(fast(x), f(x));
  w = randn({2, 3});
  for (int i = 0; i < 4; ++i) expect_same(fast(x), f(x));
  w.resize_({1, 3});
  for (int i = 0; i < 4; ++i) expect_same(fast(x), f(x));
}

TEST(StaticCompile, ReplacedOptimizersAreNoticed) {
  std::vector<Tensor> ends;
  for (const bool compiled : {false, true}) {
    manual_seed(3);
    nn::Linear model(3, 1);
    auto optimizer = std::make_unique<optim::Adam>(model->parameters(), optim::AdamOptions(0.1));
    const auto step = [&](const Tensor& x) {
      optimizer->zero_grad();
      model(x).square().mean().backward();
      optimizer->step();
    };
    const auto fast = compile(step, {.mode = CompileMode::kStatic, .backend = compiled ? CompileBackend::kJit : CompileBackend::kEager});
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 6; ++i) fast(randn({4, 3}));
      if (round == 0) optimizer = std::make_unique<optim::Adam>(model->parameters(), optim::AdamOptions(0.2));
      if (round == 1) optimizer->state().clear();
    }
    for (const Tensor& p : model->parameters()) ends.push_back(p.detach().clone());
  }
  for (size_t i = 0; i < 2; ++i) expect_same(ends[i + 2], ends[i]);
}

TEST(StaticCompile, FrozenAndHookedParametersAreNoticed) {
  std::vector<Tensor> ends;
  for (const bool compiled : {false, true}) {
    manual_seed(3);
    nn::Linear model(3, 1);
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1));
    const auto step = [&](const Tensor& x) {
      optimizer.zero_grad();
      model(x).square().mean().backward();
      optimizer.step();
    };
    const auto fast = compile(step, {.mode = CompileMode::kStatic, .backend = compiled ? CompileBackend::kJit : CompileBackend::kEager});
    for (int i = 0; i < 5; ++i) fast(randn({4, 3}));
    model->bias.requires_grad_(false);
    for (int i = 0; i < 5; ++i) fast(randn({4, 3}));
    model->bias.requires_grad_(true);
    for (int i = 0; i < 3; ++i) fast(randn({4, 3}));
    model->weight.register_hook([](const Tensor& g) { return g * 0.5; });
    fast(randn({4, 3}));
    for (const Tensor& p : model->parameters()) ends.push_back(p.detach().clone());
  }
  for (size_t i = 0; i < 2; ++i) expect_same(ends[i + 2], ends[i]);
}

TEST(StaticCompile, ValuesThatAreLookedAtAreRefused) {
  const Tensor flag = ones({1}), w = randn({3});
  EXPECT_TRUE(has(refusal_of([f = fixed([](const Tensor& x) { return x.sum().item<float>() > 0 ? x * 2 : x; })] { f(ones({3})); }), "a value is looked at or set"));
  EXPECT_TRUE(has(refusal_of([f = fixed([](const Tensor& x) { return x.item<float>() > 0 ? x * 2 : x; })] { f(ones({1})); }), "a value is looked at or set"));
  EXPECT_TRUE(has(refusal_of([f = fixed([&](const Tensor& x) { return flag.item<float>() > 0 ? x * 2 : x; })] { f(ones({1})); }), "a value is looked at or set"));
  EXPECT_TRUE(has(refusal_of([f = fixed([&](const Tensor& x) {
                    Tensor y = x * w;
                    return w.const_data_ptr<float>()[0] > 0 ? y + 1 : y;
                  })] { f(ones({3})); }), "a value is looked at or set"));
  EXPECT_TRUE(has(refusal_of([f = fixed([](const Tensor& x) { return x.nonzero(); })] { f(ones({3})); }), "depends on values"));
}

TEST(StaticCompile, WhatChangesFromCallToCallIsRefused) {
  int n = 0;
  EXPECT_TRUE(has(refusal_of([&, f = fixed([&](const Tensor& x) { return x * (0.1 * ++n); })] { f(ones({3})); }), "a number given to mul changes from call to call"));
  EXPECT_TRUE(has(refusal_of([&, f = fixed([&](const Tensor& x) { return ++n % 2 ? x.exp() : x.sum(); })] { f(ones({3})); }), "for")) << n;
  EXPECT_TRUE(has(refusal_of([f = fixed([](const Tensor& x) { return x + tensor({1.f, 2.f, 3.f}); })] { f(ones({3})); }), "a value is looked at or set"));
  float numbers[] = {1, 2, 3};
  EXPECT_TRUE(has(refusal_of([&, f = fixed([&](const Tensor& x) { return x + from_blob(numbers, {3}); })] { f(ones({3})); }), "is not the one of the call before"));
  Tensor sum = zeros({3});
  EXPECT_TRUE(has(refusal_of([&, f = fixed([&](const Tensor& x) {
                    sum = sum + x;
                    return sum;
                  })] { f(ones({3})); }), "keeps a tensor that add made"));
  EXPECT_TRUE(has(refusal_of([f = fixed([](const Tensor& x, int& rows) {
                    rows = static_cast<int>(x.size(0));
                    return x * 2;
                  })] {
                    int rows = 0;
                    f(ones({3}), rows);
                    EXPECT_EQ(rows, 3);
                  }), "given by reference"));
  std::vector<Tensor> list;
  EXPECT_TRUE(has(refusal_of([&, f = fixed([&](const Tensor& x) { list.push_back(x); })] { f(ones({3})); }), "keeps an argument"));
}

TEST(StaticCompile, HostSideOfTrainingThatCannotBeReplayedIsRefused) {
  nn::Linear model(3, 1);
  optim::Adam adam(model->parameters(), optim::AdamOptions(0.1));
  optim::StepLR scheduler(adam, 2);
  const Tensor x = randn({2, 3});
  const auto loss = [&] {
    model->zero_grad();
    Tensor l = model(x).square().mean();
    l.backward();
    return l;
  };
  const auto refused = [&](const std::function<void()>& also) {
    return refusal_of([&, f = fixed([&] {
      loss();
      also();
    })] { f(); });
  };
  EXPECT_TRUE(has(refused([&] { adam.step(), scheduler.step(); }), "a scheduler's step"));
  EXPECT_TRUE(has(refused([&] {
    adam.step();
    auto& o = adam.param_groups()[0].options();
    o.set_lr(o.get_lr() * 0.9);
  }), "sets options of an optimizer"));
  EXPECT_TRUE(has(refused([&] { nn::utils::clip_grad_norm_(model->parameters(), 1.0); }), "a value is looked at or set"));
  EXPECT_TRUE(has(refused([&] { model->train(!model->is_training()); }), "changes a module's mode"));
  EXPECT_TRUE(has(refused([&] { manual_seed(1); }), "a generator is seeded"));
  EXPECT_TRUE(has(refusal_of([f = fixed([](const Tensor& t) {
                    GradMode::set_enabled(false);
                    return t * 2;
                  })] {
    f(ones({2}));
    GradMode::set_enabled(true);
  }), "leaves gradient mode"));
  optim::RAdam radam(model->parameters(), optim::RAdamOptions(0.1));
  EXPECT_TRUE(has(refused([&] { radam.step(); }), "this optimizer's step"));
  const float found = 0;
  adam.set_grad_scale(1, &found);
  EXPECT_TRUE(has(refused([&] { adam.step(); }), "infinite gradients may skip"));
  EXPECT_TRUE(has(refusal_of([f = fixed(loss), &model] {
    model->weight.register_hook([](const Tensor& g) { return g; });
    f();
  }), "hooks"));
}

TEST(StaticCompile, WrongUseIsAnError) {
  const auto number = fixed([](const Tensor& x) { return x.sum().item<float>(); });
  EXPECT_THROW(number(ones({2})), CompileError);
  nn::Linear model(2, 2);
  const auto module = fixed([](nn::Linear& m, const Tensor& x) { return m(x); });
  EXPECT_THROW(module(model, ones({2})), CompileError);
  EXPECT_THROW(fixed([](const Tensor& x) { return x; }, {.background = true}), ValueError);
  const auto f = fixed([](const Tensor& x) { return x * 2; });
  EXPECT_TRUE(has(refusal_of([&] { f(ones({2}).requires_grad_()); }), "an argument requires grad"));
}

TEST(StaticCompile, ErrorsOfValuesReachTheCaller) {
  const Tensor w = randn({3, 2}).requires_grad_();
  const auto fast = fixed([&](const Tensor& index) {
    w.mutable_grad().reset();
    Tensor loss = w.index_select(0, index).sum();
    loss.backward();
    return loss;
  });
  const auto at = [](int64_t i) { return full({1}, i, kLong); };
  for (int i = 0; i < 4; ++i) fast(at(i % 3));
  EXPECT_THROW(fast(at(5)), std::exception);
  EXPECT_FALSE(w.grad().defined());
  for (int i = 0; i < 6; ++i) {
    const Tensor loss = fast(at(1));
    EXPECT_EQ(loss.item<float>(), w.detach()[1].sum().item<float>());
    EXPECT_EQ(w.grad().sum().item<float>(), 2);
  }
}

TEST(StaticCompile, ExceptionsOfTheFunctionPassThrough) {
  int n = 0;
  const auto fast = fixed([&](const Tensor& x) {
    if (n++ < 2) throw std::runtime_error("not yet");
    return x + 1;
  });
  for (int i = 0; i < 2; ++i) EXPECT_THROW(fast(ones({2})), std::runtime_error);
  for (int i = 0; i < 5; ++i) expect_same(fast(ones({2})), full({2}, 2.f));
  EXPECT_EQ(n, 4);
}

TEST(StaticCompile, ThreadsTakeTheirTurns) {
  const Tensor w = randn({8, 8});
  const auto f = [&](const Tensor& x) { return x.matmul(w).relu().mean(0); };
  const auto fast = fixed(f);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const NoGradGuard off;
      for (int i = 0; i < 100; ++i) {
        const Tensor x = full({1 + (i + t) % 3, 8}, 0.1 * (i % 7) - 0.3);
        if (!fast(x).equal(f(x))) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(StaticCompile, NestsInOtherCompiledFunctions) {
  const auto inner = fixed([](const Tensor& x) { return x * 2 + 1; });
  const auto outer = compile([&](const Tensor& x) { return inner(inner(x)).sum(); });
  const auto fixed_outer = fixed([&](const Tensor& x) { return inner(x).sum(); });
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(outer(ones(2)).item<float>(), 14);
    EXPECT_EQ(fixed_outer(ones(2)).item<float>(), 6);
    expect_same(inner(ones(2)), full({2}, 3.f));
  }
}

TEST(StaticCompile, InputsFilledThroughPointers) {
  const Tensor x = zeros({4});
  float* p = x.data_ptr<float>();
  const auto fast = fixed([](const Tensor& t) { return t * 2; });
  for (int i = 0; i < 6; ++i) {
    p[1] = static_cast<float>(i);
    EXPECT_EQ(fast(x)[1].item<float>(), 2.f * static_cast<float>(i));
  }
  EXPECT_EQ(fast.versions(), 1u);
}

}  // namespace
}  // namespace taeda
