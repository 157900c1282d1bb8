// SPDX-License-Identifier: Apache-2.0
// Modules against recorded values: forward, gradients, changed state. Classes without a maker here are listed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>

#include "taeda/taeda.h"
#include "tests/support/oracle.h"

namespace taeda {
namespace {

using Json = nlohmann::json;

const test::OracleTensors& stored() {
  static const auto* tensors = new test::OracleTensors("modules.safetensors");
  return *tensors;
}

/// A stored tensor; floating values as float64.
Tensor load(const Json& reference) {
  if (reference.is_null()) return {};
  const test::OracleTensor& t = stored().of(reference);
  const std::vector<double> values = t.as_double();
  Tensor wide = make_tensor(IntArrayRef(t.shape), kDouble);
  std::copy(values.begin(), values.end(), wide.data_ptr<double>());
  if (t.dtype.starts_with("F") || t.dtype == "BF16") return wide;
  return wide.to(t.dtype == "BOOL" ? kBool : kLong);
}

/// A module as a call: its forward over the inputs, and itself.
struct Made {
  std::shared_ptr<nn::Module> module;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call;
};

template <class Holder>
Made one(Holder holder) {
  return {holder.ptr(), [holder](const std::vector<Tensor>& in) mutable { return std::vector<Tensor>{holder->forward(in.at(0))}; }};
}
template <class Holder>
Made two(Holder holder) {
  return {holder.ptr(),
          [holder](const std::vector<Tensor>& in) mutable { return std::vector<Tensor>{holder->forward(in.at(0), in.at(1))}; }};
}

double number(const Json& kwargs, const char* name, double usual) {
  if (!kwargs.contains(name) || kwargs[name].is_null()) return usual;
  const Json& v = kwargs[name];
  if (v.is_object()) return test::oracle_number(v);
  return v.get<double>();
}
int64_t integer(const Json& kwargs, const char* name, int64_t usual) {
  return kwargs.contains(name) && !kwargs[name].is_null() ? kwargs[name].get<int64_t>() : usual;
}
bool flag(const Json& kwargs, const char* name, bool usual) {
  return kwargs.contains(name) && !kwargs[name].is_null() ? kwargs[name].get<bool>() : usual;
}

using Maker = std::function<Made(const Json&)>;

const std::map<std::string, Maker>& makers() {
  static const auto* all = new std::map<std::string, Maker>{
      {"Linear", [](const Json& k) { return one(nn::Linear(nn::LinearOptions(k["in_features"], k["out_features"]).bias(flag(k, "bias", true)))); }},
      {"Identity", [](const Json&) { return one(nn::Identity()); }},
      {"ReLU", [](const Json&) { return one(nn::ReLU()); }},
      {"ReLU6", [](const Json&) { return one(nn::ReLU6()); }},
      {"SELU", [](const Json&) { return one(nn::SELU()); }},
      {"SiLU", [](const Json&) { return one(nn::SiLU()); }},
      {"Mish", [](const Json&) { return one(nn::Mish()); }},
      {"Sigmoid", [](const Json&) { return one(nn::Sigmoid()); }},
      {"Tanh", [](const Json&) { return one(nn::Tanh()); }},
      {"Tanhshrink", [](const Json&) { return one(nn::Tanhshrink()); }},
      {"Softsign", [](const Json&) { return one(nn::Softsign()); }},
      {"LogSigmoid", [](const Json&) { return one(nn::LogSigmoid()); }},
      {"ELU", [](const Json& k) { return one(nn::ELU(nn::ELUOptions().alpha(number(k, "alpha", 1)))); }},
      {"CELU", [](const Json& k) { return one(nn::CELU(nn::CELUOptions().alpha(number(k, "alpha", 1)))); }},
      {"LeakyReLU", [](const Json& k) { return one(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(number(k, "negative_slope", 0.01)))); }},
      {"Hardshrink", [](const Json& k) { return one(nn::Hardshrink(nn::HardshrinkOptions(number(k, "lambd", 0.5)))); }},
      {"Softshrink", [](const Json& k) { return one(nn::Softshrink(nn::SoftshrinkOptions(number(k, "lambd", 0.5)))); }},
      {"Hardtanh", [](const Json& k) { return one(nn::Hardtanh(nn::HardtanhOptions().min_val(number(k, "min_val", -1)).max_val(number(k, "max_val", 1)))); }},
      {"Softplus", [](const Json& k) { return one(nn::Softplus(nn::SoftplusOptions().beta(number(k, "beta", 1)).threshold(number(k, "threshold", 20)))); }},
      {"GLU", [](const Json& k) { return one(nn::GLU(nn::GLUOptions(integer(k, "dim", -1)))); }},
      {"Softmax", [](const Json& k) { return one(nn::Softmax(integer(k, "dim", 1))); }},
      {"LogSoftmax", [](const Json& k) { return one(nn::LogSoftmax(integer(k, "dim", 1))); }},
      {"Softmin", [](const Json& k) { return one(nn::Softmin(integer(k, "dim", 1))); }},
      {"GroupNorm", [](const Json& k) { return one(nn::GroupNorm(nn::GroupNormOptions(k["num_groups"], k["num_channels"]).eps(number(k, "eps", 1e-5)).affine(flag(k, "affine", true)))); }},
      {"BatchNorm1d", [](const Json& k) { return one(nn::BatchNorm1d(nn::BatchNormOptions(k["num_features"].get<int64_t>()).eps(number(k, "eps", 1e-5)).momentum(k.contains("momentum") && k["momentum"].is_null() ? std::nullopt : std::optional<double>(number(k, "momentum", 0.1))).affine(flag(k, "affine", true)).track_running_stats(flag(k, "track_running_stats", true)))); }},
      {"BatchNorm2d", [](const Json& k) { return one(nn::BatchNorm2d(nn::BatchNormOptions(k["num_features"].get<int64_t>()).eps(number(k, "eps", 1e-5)).momentum(k.contains("momentum") && k["momentum"].is_null() ? std::nullopt : std::optional<double>(number(k, "momentum", 0.1))).affine(flag(k, "affine", true)).track_running_stats(flag(k, "track_running_stats", true)))); }},
      {"MSELoss", [](const Json& k) { return k.empty() ? two(nn::MSELoss()) : Made{}; }},
      {"L1Loss", [](const Json& k) { return k.empty() ? two(nn::L1Loss()) : Made{}; }},
      {"CrossEntropyLoss", [](const Json& k) { return k.empty() ? two(nn::CrossEntropyLoss()) : Made{}; }},
      {"NLLLoss", [](const Json& k) { return k.empty() ? two(nn::NLLLoss()) : Made{}; }},
  };
  return *all;
}

/// max |got - want| / max(1, max |want|), as the reference defines it.
double distance(const Tensor& got, const Tensor& want) {
  if (got.sizes() != want.sizes()) return std::numeric_limits<double>::infinity();
  if (want.numel() == 0) return 0;
  const Tensor w = want.to(kDouble);
  const Tensor difference = (got.detach().to(kDouble) - w).abs().max();
  return difference.item<double>() / std::max(1.0, w.abs().max().item<double>());
}

void run(const Json& c, const Made& made) {
  const std::string id = c["id"];
  const double tol = c["tol"]["f32"].get<double>();
  made.module->train(c["train"].get<bool>());
  OrderedDict<std::string, Tensor> state;
  for (const Json& entry : c["state"]) state.insert(entry[0].get<std::string>(), load(entry[1]));
  const auto own = made.module->state_dict();
  for (const auto& item : own) {
    ASSERT_TRUE(state.contains(item.key())) << id << " has no " << item.key();
  }
  made.module->load_state_dict(state);
  std::vector<Tensor> inputs;
  for (const Json& entry : c["inputs"]) {
    Tensor t = load(entry);
    if (t.scalar_type() == kDouble) t = t.to(kFloat);
    if (t.is_floating_point() && entry.value("grad", false)) t.requires_grad_();
    inputs.push_back(t);
  }
  const std::vector<Tensor> outputs = made.call(inputs);
  ASSERT_EQ(outputs.size(), c["outputs"].size()) << id;
  std::vector<Tensor> roots;
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_LE(distance(outputs[i], load(c["outputs"][i])), tol) << id << " output " << i;
    if (c["grad_out"][i].is_null() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    seeds.push_back(load(c["grad_out"][i]).to(kFloat));
  }
  if (!roots.empty()) autograd::backward(roots, seeds);
  auto parameters = made.module->named_parameters();
  const auto each = [&](const char* key, const auto& check) {
    if (!c.contains(key)) return;
    for (const auto& [name, reference] : c[key].items()) {
      if (!reference.is_null()) check(name, load(reference));
    }
  };
  each("param_grads", [&](const std::string& name, const Tensor& want) {
    ASSERT_TRUE(parameters[name].grad().defined()) << id << " gradient of " << name;
    EXPECT_LE(distance(parameters[name].grad(), want), tol) << id << " gradient of " << name;
  });
  if (c.contains("input_grads")) {
    for (size_t i = 0; i < c["input_grads"].size(); ++i) {
      const Json& want = c["input_grads"][i];
      if (want.is_null() || !inputs[i].grad().defined()) continue;
      EXPECT_LE(distance(inputs[i].grad(), load(want)), tol) << id << " gradient of input " << i;
    }
  }
  auto after = made.module->state_dict();
  each("state_after", [&](const std::string& name, const Tensor& want) {
    EXPECT_LE(distance(after[name], want), tol) << id << " state " << name;
  });
}

TEST(ModuleOracle, MatchesReference) {
  std::map<std::string, int> missing;
  int run_count = 0;
  test::for_each_oracle_case("modules.json", [&](const Json& c) {
    const std::string name = c["class"];
    const auto it = makers().find(name);
    const bool called_by_name = c.contains("call") && !c["call"].empty();
    if (it == makers().end() || called_by_name) {
      ++missing[name];
      return;
    }
    const Made made = it->second(c["kwargs"]);
    if (!made.module) {
      ++missing[name];
      return;
    }
    try {
      run(c, made);
    } catch (const std::exception& error) {
      ADD_FAILURE() << c["id"] << ": " << error.what();
    }
    ++run_count;
  });
  std::cout << run_count << " cases run; not covered here:";
  for (const auto& [name, n] : missing) std::cout << ' ' << name << " (" << n << ")";
  std::cout << std::endl;
  EXPECT_GE(run_count, 30);
}

}  // namespace
}  // namespace taeda
