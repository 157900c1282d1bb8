// SPDX-License-Identifier: Apache-2.0
// Optimizers and schedules that a program defines itself, as written for LibTorch. Standard headers come with <torch/torch.h>.
#include <torch/torch.h>

#include <gtest/gtest.h>

namespace {

using torch::optim::LRScheduler;
using torch::optim::Optimizer;
using torch::optim::OptimizerParamGroup;

struct SignSGDOptions : public torch::optim::OptimizerCloneableOptions<SignSGDOptions> {
  SignSGDOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(double, momentum) = 0.9;

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, momentum);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(momentum);
  }
  double get_lr() const override { return lr(); }
  void set_lr(const double value) override { lr(value); }
};

struct SignSGDParamState : public torch::optim::OptimizerCloneableParamState<SignSGDParamState> {
  TORCH_ARG(torch::Tensor, buffer);
  TORCH_ARG(int64_t, step) = 0;

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, buffer);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, step);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(buffer);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(step);
  }
};

class SignSGD : public Optimizer {
 public:
  explicit SignSGD(std::vector<OptimizerParamGroup> groups, SignSGDOptions defaults = {})
      : Optimizer(std::move(groups), std::make_unique<SignSGDOptions>(defaults)) {}
  explicit SignSGD(std::vector<torch::Tensor> params, SignSGDOptions defaults = {})
      : SignSGD({OptimizerParamGroup(std::move(params))}, defaults) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    torch::Tensor loss = {};
    if (closure != nullptr) {
      at::AutoGradMode enable_grad(true);
      loss = closure();
    }
    for (auto& group : param_groups_) {
      auto& options = static_cast<SignSGDOptions&>(group.options());
      for (auto& p : group.params()) {
        if (!p.grad().defined()) continue;
        auto found = state_.find(p.unsafeGetTensorImpl());
        if (found == state_.end()) {
          auto made = std::make_unique<SignSGDParamState>();
          made->buffer(torch::zeros_like(p));
          state_[p.unsafeGetTensorImpl()] = std::move(made);
        }
        auto& state = static_cast<SignSGDParamState&>(*state_[p.unsafeGetTensorImpl()]);
        state.step(state.step() + 1);
        state.buffer().mul_(options.momentum()).add_(p.grad());
        p.add_(state.buffer().sign(), -options.lr());
      }
    }
    return loss;
  }
  void save(torch::serialize::OutputArchive& archive) const override { serialize(*this, archive); }
  void load(torch::serialize::InputArchive& archive) override { serialize(*this, archive); }

 private:
  template <typename Self, typename Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(SignSGD);
  }
};

/// Says nothing about saving.
struct BareOptions : public torch::optim::OptimizerCloneableOptions<BareOptions> {
  double rate = 0.5;
};
class Bare : public Optimizer {
 public:
  explicit Bare(std::vector<torch::Tensor> params) : Optimizer({OptimizerParamGroup(std::move(params))}, std::make_unique<BareOptions>()) {}
  torch::Tensor step(LossClosure /*closure*/ = nullptr) override { return {}; }
};

class Decay : public LRScheduler {
 public:
  Decay(Optimizer& optimizer, double factor) : LRScheduler(optimizer), factor_(factor) {}

 protected:
  std::vector<double> get_lrs() override {
    std::vector<double> lrs = get_current_lrs();
    for (double& lr : lrs) lr *= step_count_ == 0 ? 1.0 : factor_;
    return lrs;
  }

 private:
  double factor_;
};

void descend(SignSGD& optimizer, torch::Tensor& x) {
  optimizer.step([&] {
    optimizer.zero_grad();
    torch::Tensor loss = (x - 3).pow(2).sum();
    loss.backward();
    return loss;
  });
}

TEST(OwnOptimizers, StepSaveAndResume) {
  auto x = torch::zeros({2}, torch::requires_grad());
  SignSGD optimizer({x}, SignSGDOptions(0.25).momentum(0.5));
  for (int i = 0; i < 3; ++i) descend(optimizer, x);
  EXPECT_TRUE(x.equal(torch::full({2}, 0.75f)));
  EXPECT_EQ(optimizer.state().size(), 1u);

  std::stringstream stream;
  torch::save(optimizer, stream);
  auto y = x.detach().clone().requires_grad_();
  SignSGD resumed({y});
  torch::load(resumed, stream);
  EXPECT_EQ(static_cast<SignSGDOptions&>(resumed.param_groups()[0].options()).momentum(), 0.5);
  EXPECT_EQ(static_cast<SignSGDParamState&>(*resumed.state().at(y.unsafeGetTensorImpl())).step(), 3);
  descend(optimizer, x);
  descend(resumed, y);
  EXPECT_TRUE(x.equal(y));
}

TEST(OwnOptimizers, WhatIsNotImplementedThrows) {
  Bare bare({torch::ones({1}, torch::requires_grad())});
  EXPECT_THROW(bare.param_groups()[0].options().get_lr(), c10::Error);
  EXPECT_THROW(bare.param_groups()[0].options().set_lr(1), c10::Error);
  std::stringstream stream;
  EXPECT_THROW(torch::save(bare, stream), c10::Error);
  EXPECT_EQ(static_cast<BareOptions&>(*bare.defaults().clone()).rate, 0.5);
}

TEST(OwnOptimizers, ScheduleCountsFromItsFirstStep) {
  auto x = torch::zeros({2}, torch::requires_grad());
  torch::optim::SGD sgd({x}, 1.0);
  Decay decay(sgd, 0.5);
  std::vector<double> rates;
  for (int i = 0; i < 3; ++i) {
    decay.step();
    rates.push_back(sgd.param_groups()[0].options().get_lr());
  }
  EXPECT_EQ(rates, (std::vector<double>{1.0, 0.5, 0.25}));
}

TEST(OwnOptimizers, OptionsAreFilledInAndStatesMadeAsLibTorchDoes) {
  auto x = torch::zeros({2}, torch::requires_grad());
  torch::optim::LBFGS lbfgs({x}, torch::optim::LBFGSOptions(1).max_iter(8));
  EXPECT_EQ(static_cast<torch::optim::LBFGSOptions&>(lbfgs.param_groups()[0].options()).max_eval(), 10);
  torch::optim::Adagrad adagrad({x}, torch::optim::AdagradOptions(1).initial_accumulator_value(0.5));
  EXPECT_EQ(static_cast<torch::optim::AdagradParamState&>(*adagrad.state().at(x.unsafeGetTensorImpl())).sum().sum().item<float>(), 1);
}

TEST(OwnOptimizers, OptionsAndStatesWriteThemselves) {
  torch::serialize::OutputArchive out;
  torch::optim::AdamOptions(0.3).betas({0.8, 0.9}).serialize(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  torch::optim::AdamOptions options;
  options.serialize(in);
  EXPECT_TRUE(options == torch::optim::AdamOptions(0.3).betas({0.8, 0.9}));
}

}  // namespace
