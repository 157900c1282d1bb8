// SPDX-License-Identifier: Apache-2.0
// Every optimizer against recorded runs, in float32 and float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
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
  if (j.is_string()) return Value(j.get<std::string>());
  if (j.is_number_integer()) return Value(j.get<int64_t>());
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

/// The optimizer of a case.
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
  if (name == "Adadelta") return build(AdadeltaOptions(), static_cast<Adadelta*>(nullptr));
  if (name == "Adamax") return build(AdamaxOptions(), static_cast<Adamax*>(nullptr));
  if (name == "NAdam") return build(NAdamOptions(), static_cast<NAdam*>(nullptr));
  if (name == "RAdam") return build(RAdamOptions(), static_cast<RAdam*>(nullptr));
  if (name == "Rprop") return build(RpropOptions(), static_cast<Rprop*>(nullptr));
  if (name == "ASGD") return build(ASGDOptions(), static_cast<ASGD*>(nullptr));
  if (name == "Adafactor") return build(AdafactorOptions(), static_cast<Adafactor*>(nullptr));
  if (name == "Muon") return build(MuonOptions(), static_cast<Muon*>(nullptr));
  if (name == "LBFGS") return build(LBFGSOptions(), static_cast<LBFGS*>(nullptr));
  throw std::runtime_error("there is no optimizer " + name);
}

Tensor tensor_of(const test::OracleTensor& t, ScalarType type) {
  return from_vector(t.as_double()).view(t.shape).to(type);
}

double distance(const Tensor& got, const Tensor& want) {
  const Tensor wide = got.detach().to(kFloat64);
  const double size = std::max(1.0, want.abs().max().item<double>());
  return (wide - want).abs().max().item<double>() / size;
}

/// A recorded state entry against a field: numbers, tensors, lists of both.
void expect_state(const Value& got, const json& want, const test::OracleTensors& tensors, double tol, const std::string& what) {
  if (want.is_array()) {
    ASSERT_EQ(got.list().size(), want.size()) << what;
    for (size_t i = 0; i < want.size(); ++i) expect_state(got.list()[i], want[i], tensors, tol, what + "." + std::to_string(i));
  } else if (want.is_null()) {
    EXPECT_TRUE(got.is_none()) << what;
  } else {
    const Tensor reference = want.is_object() ? tensor_of(tensors.of(want), kFloat64) : full({}, want.get<double>(), kFloat64);
    const Tensor value = got.is_tensor() ? got.tensor() : full({}, got.to_double(), kFloat64);
    EXPECT_LE(distance(value.reshape(reference.sizes()), reference), tol) << what;
  }
}

/// The final state of a float64 run.
void check_state(const json& c, const Optimizer& optimizer, const std::vector<Tensor>& params, const test::OracleTensors& tensors,
                 double tol) {
  for (const auto& [index, entries] : c.at("state_f64").items()) {
    const auto it = optimizer.state().find(params.at(std::stoul(index)).unsafeGetTensorImpl());
    ASSERT_NE(it, optimizer.state().end()) << "state of parameter " << index;
    for (const auto& [name, want] : entries.items()) {
      bool found = false;
      for (const auto& [field, value] : it->second->fields()) {
        if (field != name) continue;
        found = true;
        expect_state(value, want, tensors, tol, "state " + name + " of parameter " + index);
      }
      EXPECT_TRUE(found) << "no state " << name;
    }
  }
}

/// The optimizer written to an archive and read into a fresh one.
std::unique_ptr<Optimizer> exchanged(const json& c, const Optimizer& optimizer, const std::vector<Tensor>& params) {
  auto other = make_optimizer(c, params);
  std::stringstream file;
  serialize::OutputArchive out;
  optimizer.save(out);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  other->load(in);
  return other;
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
    if (exchange && step == steps / 2) optimizer = exchanged(c, *optimizer, params);
    for (size_t i = 0; i < params.size(); ++i) params[i].mutable_grad() = grads[i].select(0, step).clone();
    optimizer->step();
    for (size_t i = 0; i < params.size(); ++i) {
      ASSERT_LE(distance(params[i], after[i].select(0, step)), tol) << "parameter " << i << " after step " << step + 1;
    }
  }
  if (type == kFloat64) check_state(c, *optimizer, params, tensors, tol);
}

/// LBFGS has a function in the place of gradients.
void run_function(const json& c, const test::OracleTensors& tensors, ScalarType type, bool exchange) {
  std::vector<Tensor> params, after;
  for (const auto& ref : c.at("init")) params.push_back(tensor_of(tensors.of(ref), type).requires_grad_());
  for (const auto& ref : c.at("after_f64")) after.push_back(tensor_of(tensors.of(ref), kFloat64));
  const bool quadratic = c.at("function") == "quadratic";
  const Tensor a = quadratic ? tensor_of(tensors.of(c.at("A")), type) : Tensor();
  const Tensor b = quadratic ? tensor_of(tensors.of(c.at("b")), type) : Tensor();
  auto optimizer = make_optimizer(c, params);
  const auto closure = [&] {
    optimizer->zero_grad();
    std::vector<Tensor> flat;
    for (const Tensor& p : params) flat.push_back(p.reshape({-1}));
    const Tensor x = cat(flat);
    const Tensor head = x.slice(0, 0, x.numel() - 1), next = x.slice(0, 1);
    Tensor loss = quadratic ? x.dot(a.mv(x)) * 0.5 - b.dot(x)
                            : ((next - head.square()).square() * 100 + (1 - head).square()).sum();
    loss.backward();
    return loss;
  };
  const json& tol = c.at("tol").at(type == kFloat32 ? "f32" : "f64");
  const json& losses = c.at("loss_f64");
  double loss = 0;
  for (size_t step = 0; step < losses.size(); ++step) {
    if (exchange && step == losses.size() / 2) optimizer = exchanged(c, *optimizer, params);
    loss = optimizer->step(closure).item<double>();
    if (tol.is_null()) continue;
    ASSERT_LE(std::abs(loss - losses[step].get<double>()), tol.get<double>() * std::max(1.0, std::abs(losses[step].get<double>())));
    for (size_t i = 0; i < params.size(); ++i) {
      ASSERT_LE(distance(params[i], after[i].select(0, static_cast<int64_t>(step))), tol.get<double>())
          << "parameter " << i << " after step " << step + 1;
    }
  }
  if (tol.is_null()) {
    EXPECT_LE(loss, losses.back().get<double>() + c.at("tol").at("final_loss_f32").get<double>());
  } else if (type == kFloat64) {
    for (const char* count : {"func_evals", "n_iter"}) {
      for (const auto& [field, value] : optimizer->state().at(params[0].unsafeGetTensorImpl())->fields()) {
        if (field == count) {
          EXPECT_EQ(value.to_int(), c.at("state_f64").at("0").at(count).get<int64_t>()) << count;
        }
      }
    }
  }
}

TEST(OptimOracle, ParametersAfterEveryStep) {
  const test::OracleTensors tensors("optim.safetensors");
  int ran = 0;
  test::for_each_oracle_case("optim.json", [&](const json& c) {
    SCOPED_TRACE(c.at("id").get<std::string>());
    ++ran;
    const auto run_case = c.contains("function") ? run_function : run;
    try {
      run_case(c, tensors, kFloat32, false);
      run_case(c, tensors, kFloat64, false);
      run_case(c, tensors, kFloat64, true);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  });
  EXPECT_GT(ran, 0);
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
      } else if (want.is_array()) {
        ASSERT_EQ(value.list().size(), want.size()) << name << "." << field;
        for (size_t i = 0; i < want.size(); ++i) {
          const Value& item = value.list()[i];
          EXPECT_TRUE(want[i].is_null() ? item.is_none() : item.to_double() == want[i].get<double>()) << name << "." << field;
        }
      }
    }
  };
  check("SGD", SGDOptions(1e-3));
  check("Adam", AdamOptions());
  check("AdamW", AdamWOptions());
  check("Adagrad", AdagradOptions());
  check("RMSprop", RMSpropOptions());
  check("Adadelta", AdadeltaOptions());
  check("Adamax", AdamaxOptions());
  check("NAdam", NAdamOptions());
  check("RAdam", RAdamOptions());
  check("Rprop", RpropOptions());
  check("ASGD", ASGDOptions());
  check("Adafactor", AdafactorOptions());
  check("Muon", MuonOptions());
}

}  // namespace
}  // namespace taeda::optim
