// SPDX-License-Identifier: Apache-2.0
// Rates and momenta of every schedule against recorded ones, and saving in the middle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "taeda/core/tensor.h"
#include "taeda/io/archive.h"
#include "taeda/ops/functions.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/schedulers.h"
#include "taeda/optim/sgd.h"
#include "tests/support/oracle.h"

namespace taeda::optim {
namespace {

using nlohmann::json;

std::unique_ptr<Optimizer> make_optimizer(const json& spec) {
  std::vector<OptimizerParamGroup> groups;
  const bool adam = spec.at("class") == "Adam";
  for (const double lr : spec.at("lr")) {
    OptimizerParamGroup group({zeros({2}).requires_grad_()});
    if (adam) group.set_options(std::make_unique<AdamOptions>(lr));
    else group.set_options(std::make_unique<SGDOptions>(SGDOptions(lr).momentum(spec.value("momentum", 0.0))));
    groups.push_back(group);
  }
  if (adam) return std::make_unique<Adam>(groups, AdamOptions());
  return std::make_unique<SGD>(groups, SGDOptions(0.1));
}

double momentum_of(const OptimizerParamGroup& group) {
  if (const auto* adam = dynamic_cast<const AdamOptions*>(&group.options())) return std::get<0>(adam->betas());
  return dynamic_cast<const SGDOptions&>(group.options()).momentum();
}

LRLambda lambda_of(const std::string& text) {
  if (text == "0.95**e") return [](int64_t e) { return std::pow(0.95, static_cast<double>(e)); };
  if (text == "1/(1+0.1*e)") return [](int64_t e) { return 1 / (1 + 0.1 * static_cast<double>(e)); };
  if (text == "min(1,(e+1)/10)") return [](int64_t e) { return std::min(1.0, static_cast<double>(e + 1) / 10); };
  if (text.find('e') == std::string::npos) return [value = std::stod(text)](int64_t) { return value; };
  throw std::runtime_error("unknown function " + text);
}
std::vector<LRLambda> lambdas_of(const json& spec) {
  std::vector<LRLambda> out;
  if (spec.is_string()) return {lambda_of(spec)};
  for (const auto& item : spec) out.push_back(lambda_of(item));
  return out;
}
std::vector<double> list_of(const json& value) {
  return value.is_array() ? value.get<std::vector<double>>() : std::vector<double>{value.get<double>()};
}

std::shared_ptr<LRScheduler> make(const std::string& name, const json& a, Optimizer& o) {
  if (name == "StepLR") return std::make_shared<StepLR>(o, a.at("step_size"), a.value("gamma", 0.1));
  if (name == "MultiStepLR") return std::make_shared<MultiStepLR>(o, a.at("milestones").get<std::vector<int64_t>>(), a.value("gamma", 0.1));
  if (name == "ExponentialLR") return std::make_shared<ExponentialLR>(o, a.at("gamma"));
  if (name == "CosineAnnealingLR") return std::make_shared<CosineAnnealingLR>(o, a.at("T_max"), a.value("eta_min", 0.0));
  if (name == "CosineAnnealingWarmRestarts")
    return std::make_shared<CosineAnnealingWarmRestarts>(o, a.at("T_0"), a.value("T_mult", 1), a.value("eta_min", 0.0));
  if (name == "LinearLR")
    return std::make_shared<LinearLR>(o, a.value("start_factor", 1.0 / 3), a.value("end_factor", 1.0), a.value("total_iters", 5));
  if (name == "ConstantLR") return std::make_shared<ConstantLR>(o, a.value("factor", 1.0 / 3), a.value("total_iters", 5));
  if (name == "PolynomialLR") return std::make_shared<PolynomialLR>(o, a.value("total_iters", 5), a.value("power", 1.0));
  if (name == "LambdaLR") return std::make_shared<LambdaLR>(o, lambdas_of(a.at("lr_lambda")));
  if (name == "MultiplicativeLR") return std::make_shared<MultiplicativeLR>(o, lambdas_of(a.at("lr_lambda")));
  if (name == "OneCycleLR") {
    OneCycleOptions c{.max_lr = list_of(a.at("max_lr")), .total_steps = a.at("total_steps")};
    c.pct_start = a.value("pct_start", c.pct_start);
    if (a.value("anneal_strategy", "cos") == std::string("linear")) c.anneal_strategy = Anneal::kLinear;
    c.three_phase = a.value("three_phase", false);
    c.base_momentum = a.value("base_momentum", c.base_momentum);
    c.max_momentum = a.value("max_momentum", c.max_momentum);
    return std::make_shared<OneCycleLR>(o, c);
  }
  if (name == "CyclicLR") {
    CyclicOptions c{.base_lr = list_of(a.at("base_lr")), .max_lr = list_of(a.at("max_lr"))};
    c.step_size_up = a.value("step_size_up", c.step_size_up);
    c.step_size_down = a.value("step_size_down", 0.0);
    c.cycle_momentum = a.value("cycle_momentum", true);
    const std::string mode = a.value("mode", "triangular");
    c.mode = mode == "triangular2" ? CyclicMode::kTriangular2 : mode == "exp_range" ? CyclicMode::kExpRange : CyclicMode::kTriangular;
    c.gamma = a.value("gamma", 1.0);
    return std::make_shared<CyclicLR>(o, c);
  }
  std::vector<std::shared_ptr<LRScheduler>> parts;
  for (const auto& part : a.at("schedulers")) parts.push_back(make(part.at(0), part.at(1), o));
  if (name == "SequentialLR") return std::make_shared<SequentialLR>(o, parts, a.at("milestones").get<std::vector<int64_t>>());
  if (name == "ChainedScheduler") return std::make_shared<ChainedScheduler>(parts);
  throw std::runtime_error("unknown scheduler " + name);
}

std::shared_ptr<ReduceLROnPlateauScheduler> make_plateau(const json& a, Optimizer& o) {
  PlateauOptions p;
  p.mode = a.value("mode", "min") == std::string("max") ? ReduceLROnPlateauScheduler::max : ReduceLROnPlateauScheduler::min;
  p.factor = a.value("factor", p.factor);
  p.patience = a.value("patience", p.patience);
  p.threshold = a.value("threshold", p.threshold);
  p.threshold_mode = a.value("threshold_mode", "rel") == std::string("abs") ? ReduceLROnPlateauScheduler::abs : ReduceLROnPlateauScheduler::rel;
  p.cooldown = a.value("cooldown", p.cooldown);
  p.min_lr = {a.value("min_lr", 0.0)};
  return std::make_shared<ReduceLROnPlateauScheduler>(o, p);
}

template <class S>
void save_and_load(const S& from, S& to) {
  std::stringstream file;
  serialize::OutputArchive out;
  from.save(out);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  to.load(in);
}

void compare(const json& c, Optimizer& o, size_t step, double tol) {
  for (size_t g = 0; g < c.at("lr").size(); ++g) {
    EXPECT_NEAR(o.param_groups()[g].options().get_lr(), c.at("lr")[g][step].get<double>(), tol) << "group " << g << " after step " << step;
    if (c.contains("momentum")) {
      EXPECT_NEAR(momentum_of(o.param_groups()[g]), c.at("momentum")[g][step].get<double>(), tol) << "group " << g << " after step " << step;
    }
  }
}

/// Runs the case; `exchange_at`: there, the schedule is saved and goes on as another one on another optimizer.
void run(const json& c, double tol, size_t exchange_at) {
  const size_t steps = c.at("lr")[0].size() - 1;
  auto optimizer = make_optimizer(c.at("optimizer"));
  const bool plateau = c.at("class") == "ReduceLROnPlateau";
  std::shared_ptr<LRScheduler> schedule;
  std::shared_ptr<ReduceLROnPlateauScheduler> follower;
  if (plateau) follower = make_plateau(c.at("args"), *optimizer);
  else schedule = make(c.at("class"), c.at("args"), *optimizer);
  compare(c, *optimizer, 0, tol);
  for (size_t step = 1; step <= steps; ++step) {
    if (step == exchange_at) {
      auto other = make_optimizer(c.at("optimizer"));
      if (plateau) {
        auto next = make_plateau(c.at("args"), *other);
        save_and_load(*follower, *next);
        follower = next;
      } else {
        auto next = make(c.at("class"), c.at("args"), *other);
        save_and_load(*schedule, *next);
        schedule = next;
      }
      optimizer = std::move(other);
    }
    if (plateau) follower->step(c.at("metrics")[step - 1].get<double>());
    else schedule->step();
    compare(c, *optimizer, step, tol);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SchedOracle, RatesOfEverySchedule) {
  const int cases = test::for_each_oracle_case("sched.json", [](const json& c) {
    SCOPED_TRACE(c.at("id").get<std::string>());
    run(c, 1e-12, 0);
  });
  EXPECT_GE(cases, 20);
}

TEST(SchedOracle, GoesOnAfterSavingAndLoading) {
  test::for_each_oracle_case("sched.json", [](const json& c) {
    SCOPED_TRACE(c.at("id").get<std::string>());
    for (const size_t at : {1u, 9u, 33u}) run(c, 1e-12, at);
  });
}

TEST(Schedulers, AUserScheduleGivesItsRates) {
  struct Halving : LRScheduler {
    explicit Halving(Optimizer& o) : LRScheduler(o) {}
    std::vector<double> get_lrs() override { return {get_current_lrs()[0] / 2}; }
  };
  SGD optimizer({zeros({1}).requires_grad_()}, SGDOptions(0.8));
  Halving schedule(optimizer);
  EXPECT_EQ(schedule.get_last_lr()[0], 0.8);
  schedule.step();
  EXPECT_EQ(schedule.get_last_lr()[0], 0.4);
}

TEST(Schedulers, ErrorsNameTheRemedy) {
  SGD optimizer({zeros({1}).requires_grad_()}, SGDOptions(0.8));
  EXPECT_THROW(StepLR(optimizer, 0), ValueError);
  EXPECT_THROW(LinearLR(optimizer, 0.0), ValueError);
  OneCycleLR once(optimizer, 0.1, 3);
  once.step();
  once.step();
  once.step();
  EXPECT_THROW(once.step(), ValueError);
}

}  // namespace
}  // namespace taeda::optim
