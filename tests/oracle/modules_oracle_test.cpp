// SPDX-License-Identifier: Apache-2.0
// Every module of the reference in float32 and float64: forward, gradients, names and order of its state, what a call changes in it,
// and copies of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "taeda/taeda.h"
#include "tests/support/module_makers.h"
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
Tensor load(const Json& reference, ScalarType type) {
  const Tensor t = load(reference);
  return t.defined() && t.is_floating_point() ? t.to(type) : t;
}

/// max |got - want| / max(1, max |want|), as the reference defines it.
double distance(const Tensor& got, const Tensor& want) {
  if (!got.defined() || got.sizes() != want.sizes()) return std::numeric_limits<double>::infinity();
  if (want.numel() == 0) return 0;
  const Tensor w = want.to(kDouble);
  const Tensor difference = (got.detach().to(kDouble) - w).abs().max();
  return difference.item<double>() / std::max(1.0, w.abs().max().item<double>());
}

/// A gradient as recorded; one that never came must be zero.
void expect_gradient(const Tensor& leaf, const Json& reference, double tol, const std::string& what) {
  const Tensor want = load(reference);
  if (!leaf.grad().defined()) {
    EXPECT_EQ(want.abs().max().item<double>(), 0) << what << " is missing";
    return;
  }
  EXPECT_LE(distance(leaf.grad(), want), tol) << what;
}

/// A part of a case, empty when it is absent or null.
Json part(const Json& c, const char* key) { return c.contains(key) && !c[key].is_null() ? c[key] : Json::object(); }

test::NamedArguments named_arguments(const Json& c, ScalarType type) {
  test::NamedArguments named;
  const Json call = part(c, "call");
  for (const auto& [name, value] : call.items()) {
    if (value.is_boolean()) {
      named.flags[name] = value.get<bool>();
    } else {
      named.tensors[name] = load(value, type);
      if (part(c, "call_grads").contains(name)) named.tensors[name].requires_grad_();
    }
  }
  return named;
}

std::vector<Tensor> inputs_of(const Json& c, ScalarType type) {
  std::vector<Tensor> inputs;
  for (const Json& entry : c["inputs"]) {
    Tensor t = load(entry, type);
    if (t.is_floating_point() && entry.value("grad", false)) t.requires_grad_();
    inputs.push_back(t);
  }
  return inputs;
}

void load_state(nn::Module& module, const Json& c) {
  OrderedDict<std::string, Tensor> state;
  for (const Json& entry : c["state"]) state.insert(entry[0].get<std::string>(), load(entry[1]));
  EXPECT_EQ(module.state_dict().keys(), state.keys());
  module.load_state_dict(state);
}

void check_outputs(const Json& c, const std::vector<Tensor>& outputs, double tol) {
  ASSERT_EQ(outputs.size(), c["outputs"].size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (c["outputs"][i].is_null()) continue;
    EXPECT_LE(distance(outputs[i], load(c["outputs"][i])), tol) << "output " << i;
  }
}

void run_backward(const Json& c, const std::vector<Tensor>& outputs, ScalarType type) {
  std::vector<Tensor> roots;
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (c["grad_out"][i].is_null()) continue;
    ASSERT_TRUE(outputs[i].requires_grad()) << "output " << i;
    roots.push_back(outputs[i]);
    seeds.push_back(load(c["grad_out"][i], type));
  }
  if (!roots.empty()) autograd::backward(roots, seeds);
}

/// CrossMapLRN2d as the reference computes it: the running sum over channels never drops the first one, and the gradient gathers
/// windows one channel too early. The module follows the formula instead, so these values only show where the reference differs.
struct RunningSumLrn {
  int64_t size;
  double alpha, beta, k;
  Tensor scale(const Tensor& x, bool running) const {
    const int64_t reach = (size - 1) / 2;
    const int64_t channels = x.size(1);
    Tensor sum = zeros_like(x);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < channels; ++i) {
        const bool inside = i >= c - reach && i <= c + reach;
        const bool kept = running && i == 0 && c > reach;
        if (inside || kept) sum.select(1, c).add_(x.select(1, i).square());
      }
    }
    return sum * (alpha / static_cast<double>(size)) + k;
  }
  Tensor output(const Tensor& x, bool running) const { return x * scale(x, running).pow(-beta); }
  Tensor gradient(const Tensor& x, const Tensor& cotangent, bool running) const {
    const int64_t reach = (size - 1) / 2;
    const Tensor s = scale(x, running);
    const Tensor ratio = cotangent * x * s.pow(-beta - 1);
    Tensor gathered = zeros_like(x);
    for (int64_t c = 0; c < x.size(1); ++c) {
      const int64_t first = c - reach - (running ? 1 : 0);
      for (int64_t i = std::max<int64_t>(first, 0); i <= std::min(first + 2 * reach, x.size(1) - 1); ++i) {
        gathered.select(1, c).add_(ratio.select(1, i));
      }
    }
    return cotangent * s.pow(-beta) - x * gathered * (2 * alpha * beta / static_cast<double>(size));
  }
};

void run_cross_map_lrn(const Json& c) {
  const double tol = c["tol"]["f32"].get<double>();
  const test::MadeModule made = test::make_module(c["class"], c["kwargs"], [](const Json& j) { return load(j); });
  const auto& o = dynamic_cast<nn::CrossMapLRN2dImpl&>(*made.module).options;
  const RunningSumLrn rule{o.size(), o.alpha(), o.beta(), static_cast<double>(o.k())};
  const Tensor x = load(c["inputs"][0]);
  const Tensor cotangent = load(c["grad_out"][0]);
  EXPECT_LE(distance(rule.output(x, true), load(c["outputs"][0])), tol);
  EXPECT_LE(distance(rule.gradient(x, cotangent, true), load(c["input_grads"][0])), tol);
  const Tensor leaf = x.clone().requires_grad_();
  const Tensor output = made.call(*made.module, {leaf}, {}).at(0);
  EXPECT_LE(distance(output, rule.output(x, false)), 1e-12);
  output.backward(cotangent);
  EXPECT_LE(distance(leaf.grad(), rule.gradient(x, cotangent, false)), 1e-12);
}

void run(const Json& c, ScalarType type) {
  if (c["class"] == "CrossMapLRN2d") return run_cross_map_lrn(c);
  const double tol = c["tol"][type == kFloat ? "f32" : "f64"].get<double>();
  const test::MadeModule made = test::make_module(c["class"], c["kwargs"], [&](const Json& j) { return load(j, type); });
  nn::Module& module = *made.module;
  module.to(type);
  module.train(c["train"].get<bool>());
  load_state(module, c);
  const std::shared_ptr<nn::Module> copy = module.clone();
  OrderedDict<std::string, Tensor> before;
  for (const auto& item : module.state_dict()) before.insert(item.key(), item.value().detach().clone());

  const std::vector<Tensor> inputs = inputs_of(c, type);
  const test::NamedArguments named = named_arguments(c, type);
  const std::vector<Tensor> outputs = made.call(module, inputs, named);
  check_outputs(c, outputs, tol);
  run_backward(c, outputs, type);
  auto parameters = module.named_parameters();
  const Json param_grads = part(c, "param_grads");
  for (const auto& [name, reference] : param_grads.items()) {
    if (!reference.is_null()) expect_gradient(parameters[name], reference, tol, "gradient of " + name);
  }
  const Json input_grads = part(c, "input_grads");
  for (size_t i = 0; i < input_grads.size(); ++i) {
    const Json& reference = input_grads[i];
    if (!reference.is_null()) expect_gradient(inputs[i], reference, tol, "gradient of input " + std::to_string(i));
  }
  const Json call_grads = part(c, "call_grads");
  for (const auto& [name, reference] : call_grads.items()) {
    if (!reference.is_null()) expect_gradient(named.tensor(name), reference, tol, "gradient of " + name);
  }
  const Json changed = part(c, "state_after");
  for (const auto& item : module.state_dict()) {
    const Tensor want = changed.contains(item.key()) ? load(changed[item.key()]) : before[item.key()];
    EXPECT_LE(distance(item.value(), want), changed.contains(item.key()) ? tol : 0.0) << "state " << item.key();
  }
  // A copy prints alike and computes the same.
  std::ostringstream printed;
  std::ostringstream printed_copy;
  printed << module;
  printed_copy << *copy;
  EXPECT_EQ(printed.str(), printed_copy.str());
  check_outputs(c, made.call(*copy, inputs_of(c, type), named_arguments(c, type)), tol);
}

TEST(ModuleOracle, MatchesReference) {
  int count = 0;
  std::map<std::string, int> missing;
  test::for_each_oracle_case("modules.json", [&](const Json& c) {
    SCOPED_TRACE(c["id"].get<std::string>());
    try {
      if (!test::make_module(c["class"], c["kwargs"], [](const Json& j) { return load(j); }).module) {
        ++missing[c["class"]];
        return;
      }
      run(c, kFloat);
      if (!c["tol"]["f64"].is_null()) run(c, kDouble);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    ++count;
  });
  for (const auto& [name, n] : missing) ADD_FAILURE() << "there is no module " << name << " (" << n << " cases)";
  std::cout << count << " cases run" << std::endl;
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace taeda
