// SPDX-License-Identifier: Apache-2.0
// Every optimizer against recorded runs, in float32 and float64; what is not there yet is listed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "taeda/taeda.h"
#include "tests/support/oracle.h"

namespace taeda::optim {
namespace {

using nlohmann::json;

/// A JSON option as the value of an option field.
Value option_value(const json& j) {
  if (j.is_boolean()) return Value(j.get<bool>());
  if (j.is_array()) {
    Value::List list;
    for (const auto& item : j) list.push_back(option_value(item));
    return Value(std::move(list));
  }
  if (j.is_null()) return Value();
  return Value(j.get<double>());
}

void set_options(OptimizerOptions& options, const json& given) {
  for (const auto& [key, j] : given.items()) {
    bool known = false;
    for (const auto& [name, value] : options.fields()) known |= name == key;
    if (!known) throw std::runtime_error("no option " + key);
    const Value value = option_value(j);
    options.set_fields([&, name = key](const std::string& asked) { return asked == name ? &value : nullptr; });
  }
}

/// The optimizer of a case, or null when its class does not exist here.
std::unique_ptr<Optimizer> make_optimizer(const json& c, const std::vector<Tensor>& params) {
  const std::string name = c.at("class");
  const json options = c.value("options", json::object());
  std::vector<OptimizerParamGroup> groups;
  const auto build = [&]<class O, class Options>(Options defaults, O*) -> std::unique_ptr<Optimizer> {
    set_options(defaults, options);
    if (!c.contains("groups")) return std::make_unique<O>(params, defaults);
    for (size_t i = 0; i < params.size(); ++i) {
      auto own = std::make_unique<Options>(defaults);
      set_options(*own, c.at("groups")[i]);
      groups.emplace_back(std::vector<Tensor>{params[i]}, std::move(own));
    }
    return std::make_unique<O>(groups, defaults);
  };
  if (name == "SGD") return build(SGDOptions(1e-3), static_cast<SGD*>(nullptr));
  if (name == "Adam") return build(AdamOptions(), static_cast<Adam*>(nullptr));
  if (name == "AdamW") return build(AdamWOptions(), static_cast<AdamW*>(nullptr));
  if (name == "Adagrad") return build(AdagradOptions(), static_cast<Adagrad*>(nullptr));
  if (name == "RMSprop") return build(RMSpropOptions(), static_cast<RMSprop*>(nullptr));
  return nullptr;
}

Tensor tensor_of(const test::OracleTensor& t, ScalarType type) {
  return from_vector(t.as_double()).view(t.shape).to(type);
}

double distance(const Tensor& got, const Tensor& want) {
  const Tensor wide = got.detach().to(kFloat64);
  const double size = std::max(1.0, want.abs().max().item<double>());
  return (wide - want).abs().max().item<double>() / size;
}

/// Runs the case; `exchange`: halfway, the optimizer is saved and another one goes on.
void run(const json& c, const test::OracleTensors& tensors, ScalarType type, bool exchange) {
  const double tol = c.at("tol").at(type == kFloat32 ? "f32" : "f64").get<double>();
  std::vector<Tensor> params, grads, after;
  for (const auto& ref : c.at("init")) params.push_back(tensor_of(tensors.of(ref), type).requires_grad_());
  for (const auto& ref : c.at("grads")) grads.push_back(tensor_of(tensors.of(ref), type));
  for (const auto& ref : c.at("after_f64")) after.push_back(tensor_of(tensors.of(ref), kFloat64));
  auto optimizer = make_optimizer(c, params);
  const int64_t steps = after[0].size(0);
  for (int64_t step = 0; step < steps; ++step) {
    if (exchange && step == steps / 2) {
      auto other = make_optimizer(c, params);
      std::stringstream file;
      serialize::OutputArchive out;
      optimizer->save(out);
      out.save_to(file);
      serialize::InputArchive in;
      in.load_from(file);
      other->load(in);
      optimizer = std::move(other);
    }
    for (size_t i = 0; i < params.size(); ++i) params[i].mutable_grad() = grads[i].select(0, step).clone();
    optimizer->step();
    for (size_t i = 0; i < params.size(); ++i) {
      ASSERT_LE(distance(params[i], after[i].select(0, step)), tol) << "parameter " << i << " after step " << step + 1;
    }
  }
}

bool exists(const json& c) { return make_optimizer(c, {zeros({1}).requires_grad_(), zeros({1}).requires_grad_()}) != nullptr; }

TEST(OptimOracle, ParametersAfterEveryStep) {
  const test::OracleTensors tensors("optim.safetensors");
  std::set<std::string> missing;
  int ran = 0;
  test::for_each_oracle_case("optim.json", [&](const json& c) {
    if (!exists(c)) {
      missing.insert(c.at("class").get<std::string>());
      return;
    }
    SCOPED_TRACE(c.at("id").get<std::string>());
    ++ran;
    run(c, tensors, kFloat32, false);
    run(c, tensors, kFloat64, false);
    run(c, tensors, kFloat64, true);
  });
  EXPECT_GE(ran, 13);
  std::string names;
  for (const std::string& name : missing) names += " " + name;
  std::printf("optimizers that do not exist yet:%s\n", names.c_str());
  RecordProperty("missing", names);
}

TEST(OptimOracle, OptionsHaveTheRecordedDefaults) {
  const json classes = test::read_oracle("optim.json").at("classes");
  const auto check = [&](const char* name, const OptimizerOptions& options) {
    const json& recorded = classes.at(name).at("param_group");
    for (const auto& [field, value] : options.fields()) {
      if (!recorded.contains(field) || std::string(name) + field == "SGDlr") continue;
      const json& want = recorded.at(field);
      if (want.is_boolean()) {
        EXPECT_EQ(value.to_bool(), want.get<bool>()) << name << "." << field;
      } else if (want.is_number()) {
        EXPECT_EQ(value.to_double(), want.get<double>()) << name << "." << field;
      }
    }
  };
  check("SGD", SGDOptions(1e-3));
  check("Adam", AdamOptions());
  check("AdamW", AdamWOptions());
  check("Adagrad", AdagradOptions());
  check("RMSprop", RMSpropOptions());
}

}  // namespace
}  // namespace taeda::optim
