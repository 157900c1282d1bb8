// SPDX-License-Identifier: Apache-2.0
// Static calls whose gradients, modules or ways change between calls.
#include <memory>
#include <tuple>

#include "tests/compile/static_support.h"

namespace taeda {
namespace {

/// Runs `steps` calls of the function that `make` gives, as it is and replayed; what it gives and leaves behind must be equal. `make` gets a
/// seeded generator. Returns how many calls were recorded.
template <class Make>
int expect_equal_calls(const Make& make, int steps, CompileBackend backend = CompileBackend::kJit) {
  std::vector<std::vector<Tensor>> ends;
  std::string text;
  for (const bool compiled : {false, true}) {
    manual_seed(11);
    auto [call, state, before] = make();
    const auto fast = compile(call, {.mode = CompileMode::kStatic, .backend = compiled ? backend : CompileBackend::kEager});
    std::vector<Tensor>& seen = ends.emplace_back();
    for (int i = 0; i < steps; ++i) {
      const bool last = before(i);
      seen.push_back(fast(randn({4, 3}), last).detach().clone());
      for (const Tensor& t : state()) seen.push_back(t.defined() ? t.detach().clone() : Tensor());
    }
    text = fast.explain();
  }
  for (size_t i = 0; i < ends[0].size(); ++i) expect_same(ends[1][i], ends[0][i], str("value ", i));
  const size_t at = text.find(" recorded, ");
  const size_t from = text.find_last_not_of("0123456789", at - 1);
  EXPECT_NE(at, std::string::npos) << text;
  return std::stoi(text.substr(from + 1));
}

std::vector<Tensor> with_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> all = parameters;
  for (const Tensor& p : parameters) {
    all.push_back(p.grad());
    all.push_back(full({1}, p.grad().defined() ? p.grad()._version() : 0, kLong));
  }
  return all;
}

TEST(StaticCompile, GradientsThatAreMadeAnewAccumulate) {
  for (const CompileBackend backend : {CompileBackend::kJit, CompileBackend::kDebug}) {
    const int recorded = expect_equal_calls([] {
      nn::Linear model(3, 2);
      const auto adam = std::make_shared<optim::Adam>(model->parameters(), optim::AdamOptions(0.05));
      return std::tuple(
          [=](const Tensor& x, bool last) mutable {
            Tensor loss = model(x).square().mean();
            loss.backward();
            if (last) {
              adam->step();
              adam->zero_grad();
            }
            return loss;
          },
          [=] { return with_gradients(model->parameters()); }, [](int i) { return i % 3 == 2; });
    }, 30, backend);
    EXPECT_LE(recorded, 9);
  }
}

TEST(StaticCompile, AdversarialNetworksTrainAsEager) {
  for (const bool together : {false, true}) {
    const int recorded = expect_equal_calls([=] {
      nn::Linear maker(3, 3), judge(3, 1);
      const auto makes = std::make_shared<optim::Adam>(maker->parameters(), optim::AdamOptions(0.01));
      const auto judges = std::make_shared<optim::Adam>(judge->parameters(), optim::AdamOptions(0.01));
      std::vector<Tensor> all = maker->parameters();
      for (const Tensor& p : judge->parameters()) all.push_back(p);
      return std::tuple(
          [=](const Tensor& x, bool) mutable {
            judges->zero_grad();
            const Tensor made = maker(randn({4, 3}));
            Tensor loss = softplus(-judge(x)).mean() + softplus(judge(together ? made : made.detach())).mean();
            loss.backward({}, true);
            judges->step();
            makes->zero_grad();
            Tensor other = softplus(-judge(maker(x))).mean();
            other.backward();
            makes->step();
            return (loss + other).detach();
          },
          [=] { return with_gradients(all); }, [](int) { return true; });
    }, 20);
    EXPECT_LE(recorded, 5);
  }
}

TEST(StaticCompile, WaysThatTakeTurnsHavePlansWhereTheyCanBeSeen) {
  // Alternately with and without a gradient when the call begins.
  const int recorded = expect_equal_calls([] {
    const Tensor w = randn({3, 2}).requires_grad_();
    return std::tuple(
        [=](const Tensor& x, bool) {
          Tensor loss = x.mm(w).square().sum();
          loss.backward();
          return w.grad() * 2;
        },
        [=] { return with_gradients({w}); },
        [=](int i) {
          if (i % 2 == 0) w.mutable_grad().reset();
          return true;
        });
  }, 16);
  EXPECT_LE(recorded, 5);
}

TEST(StaticCompile, GradientsThatTheProgramKeepsStay) {
  const Tensor w = ones({3}).requires_grad_();
  const auto fast = fixed([&](const Tensor& x) { (w * x).sum().backward(); });
  const Tensor x = ones({3});
  for (int i = 0; i < 4; ++i) fast(x);
  const Tensor kept = w.grad();
  for (int i = 0; i < 3; ++i) fast(x);
  EXPECT_TRUE(kept.is_same(w.grad()));
  expect_same(kept, full({3}, 7.f));
  {
    const InferenceMode inference;
    w.mutable_grad() = zeros({3});
  }
  for (int i = 0; i < 3; ++i) fast(x);
  EXPECT_TRUE(w.grad().is_inference());
  expect_same(w.grad().clone(), full({3}, 3.f));
  w.mutable_grad() = zeros({6}).slice(0, 0, 6, 2);  // another layout
  for (int i = 0; i < 3; ++i) fast(x);
  expect_same(w.grad(), full({6}, 3.f).slice(0, 0, 6, 2));
  std::vector<Tensor> list;
  w.mutable_grad() = ones({3});
  EXPECT_TRUE(has(refusal_of([&, f = fixed([&](const Tensor& t) {
                    (w * t).sum().backward();
                    list.push_back(w.grad());
                  })] {
                    w.mutable_grad() = ones({3});
                    f(ones({3}));
                    list.clear();
                  }), "keeps a gradient"));
  const auto both = fixed([&](const Tensor& t) { return w.grad() + t.mul_(2); });
  w.mutable_grad() = ones({3});
  for (int i = 0; i < 4; ++i) expect_same(both(ones({3})), full({3}, 3.f));
  expect_same(both(w.grad()), full({3}, 4.f));  // the argument is the gradient
  expect_same(w.grad(), full({3}, 2.f));
}

TEST(StaticCompile, GradientsThroughWritesIntoViews) {
  const int recorded = expect_equal_calls([] {
    const Tensor w = randn({4, 3}).requires_grad_();
    return std::tuple(
        [=](const Tensor& x, bool) {
          w.mutable_grad().reset();
          Tensor y = w * x;
          y.select(0, 1).mul_(x[0]);
          y.narrow(1, 0, 2).t().zero_();
          Tensor z = w.t().clone();
          z.select(1, 2).copy_(x[2] * w[0]);
          Tensor loss = y.square().sum() + z.exp().sum();
          loss.backward();
          return loss;
        },
        [=] { return with_gradients({w}); }, [](int) { return true; });
  }, 8);
  EXPECT_LE(recorded, 3);
}

TEST(StaticCompile, OptionsOfModulesCount) {
  nn::Sequential model(nn::Linear(3, 8), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.1)), nn::BatchNorm1d(8), nn::Dropout(0.5),
                       nn::LayerNorm(nn::LayerNormOptions({8})), nn::Softmax(1));
  const auto fast = fixed(model);
  const NoGradGuard off;
  const auto compare = [&](const char* what) {
    for (int i = 0; i < 4; ++i) {
      const Tensor x = randn({6, 3}), mean = model[2]->as<nn::BatchNorm1d>()->running_mean.clone();
      manual_seed(static_cast<uint64_t>(i));
      const Tensor got = fast(x), mean_after = model[2]->as<nn::BatchNorm1d>()->running_mean.clone();
      model[2]->as<nn::BatchNorm1d>()->running_mean.copy_(mean);
      manual_seed(static_cast<uint64_t>(i));
      expect_same(got, model->forward(x), what);
      expect_same(mean_after, model[2]->as<nn::BatchNorm1d>()->running_mean, what);
    }
  };
  compare("at first");
  model[1]->as<nn::LeakyReLU>()->options.negative_slope(0.7);
  compare("slope");
  model[2]->as<nn::BatchNorm1d>()->options.momentum() = 0.9;
  compare("momentum");
  model[2]->as<nn::BatchNorm1d>()->options.eps(0.5);
  compare("eps of the batch norm");
  model[3]->as<nn::Dropout>()->options = nn::DropoutOptions(0.1);
  compare("p");
  double& eps = model[4]->as<nn::LayerNorm>()->options.eps();
  eps = 0.25;
  compare("eps of the layer norm");
  model[5]->as<nn::Softmax>()->options.dim(0);
  compare("dim");
  model->eval();
  compare("eval");
  EXPECT_TRUE(has(refusal_of([f = fixed([&](const Tensor& x) {
                    Tensor y = model->forward(x);
                    double& slope = model[1]->as<nn::LeakyReLU>()->options.negative_slope();
                    slope += 0.1;
                    return y;
                  })] { f(ones({2, 3})); }), "sets options or the mode of a module"));
}

TEST(StaticCompile, ModulesThatEndAreForgotten) {
  auto drop = std::make_unique<nn::DropoutImpl>(0.5);
  const auto f = [&](const Tensor& x) {
    nn::LeakyReLU leaky(nn::LeakyReLUOptions().negative_slope(0.5));  // lives for the call
    return leaky(drop->forward(x));
  };
  const auto fast = fixed(f);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      const Tensor x = randn({50});
      manual_seed(7);
      const Tensor want = f(x);
      manual_seed(7);
      expect_same(fast(x), want);
    }
    drop = std::make_unique<nn::DropoutImpl>(0.1 * (round + 1));
  }
  EXPECT_FALSE(has(fast.explain(), " 0 replayed")) << fast.explain();
  const auto ends = fixed([&](const Tensor& x) {
    const Tensor y = drop->forward(x);
    drop = std::make_unique<nn::DropoutImpl>(0.5);
    return y;
  });
  EXPECT_TRUE(has(refusal_of([&] { ends(randn({50})); }), "a module ends"));
}

TEST(StaticCompile, VariablesThatHoldAnotherModuleAreNoticed) {
  nn::LeakyReLU leaky(nn::LeakyReLUOptions().negative_slope(0.5)), other = leaky;
  const auto fast = fixed([&](const Tensor& x) { return leaky(x); });
  const Tensor x = randn({20});
  for (int i = 0; i < 4; ++i) expect_same(fast(x), leaky(x));
  leaky = nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.25));
  for (int i = 0; i < 4; ++i) expect_same(fast(x), leaky(x));
  EXPECT_TRUE(has(fast.explain(), "4 recorded, 4 replayed")) << fast.explain();
}

TEST(StaticCompile, ModesMayChangeBetweenAllCalls) {
  nn::Sequential model(nn::Linear(3, 4), nn::Dropout(0.5));
  int calls = 0;
  const auto fast = fixed([&](const Tensor& x) {
    ++calls;
    return model->forward(x);
  });
  const NoGradGuard off;
  for (int i = 0; i < 20; ++i) {
    model->train(i % 2 == 0);
    const Tensor x = randn({5, 3});
    manual_seed(3);
    const Tensor want = model->forward(x);
    manual_seed(3);
    expect_same(fast(x), want);
  }
  EXPECT_LE(calls, 5);
  EXPECT_EQ(fast.versions(), 2u);
}

TEST(StaticCompile, GradientsOfInputs) {
  nn::Sequential model(nn::Linear(3, 5), nn::Tanh(), nn::Linear(5, 1));
  const auto attack = [&](const Tensor& x) {
    const Tensor leaf = x.clone().requires_grad_();
    const Tensor g = autograd::grad({model->forward(leaf).sum()}, {leaf})[0];
    return (x + g.sign() * 0.1).detach();
  };
  const auto fast = fixed(attack);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({4, 3});
    expect_same(fast(x), attack(x));
  }
  EXPECT_TRUE(has(fast.explain(), "2 recorded, 4 replayed")) << fast.explain();
  const int attacked = expect_equal_calls([] {
    nn::Linear judge(3, 2);
    const auto adam = std::make_shared<optim::Adam>(judge->parameters(), optim::AdamOptions(0.1));
    return std::tuple(
        [=](const Tensor& x, bool) mutable {
          const Tensor leaf = x.clone().requires_grad_();
          judge(leaf).square().sum().backward();
          adam->zero_grad();
          Tensor loss = judge(x + leaf.grad().sign() * 0.1).square().sum();
          loss.backward();
          adam->step();
          return loss;
        },
        [=] { return with_gradients(judge->parameters()); }, [](int) { return true; });
  }, 10);
  EXPECT_LE(attacked, 4);
  const int recorded = expect_equal_calls([] {
    nn::Sequential judge(nn::Linear(3, 5), nn::Tanh(), nn::Linear(5, 1));
    const auto sgd = std::make_shared<optim::SGD>(judge->parameters(), 0.1);
    return std::tuple(
        [=](const Tensor& x, bool) mutable {
          sgd->zero_grad();
          const Tensor leaf = x.clone().requires_grad_();
          const Tensor y = judge->forward(leaf);
          const Tensor g = autograd::grad({y.sum()}, {leaf}, {}, true, true)[0];
          Tensor loss = y.mean() + (g.norm(2, 1) - 1).square().mean();
          loss.backward();
          sgd->step();
          return loss;
        },
        [=] { return with_gradients(judge->parameters()); }, [](int) { return true; });
  }, 10);
  EXPECT_LE(recorded, 4);
}

}  // namespace
}  // namespace taeda
