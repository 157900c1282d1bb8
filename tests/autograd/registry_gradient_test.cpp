// SPDX-License-Identifier: Apache-2.0
// First and second derivatives of every differentiable operator against finite differences, with the arguments of the
// reference cases in float64. `--gtest_filter=*SecondDerivative/add*` runs one operator.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "taeda/autograd/gradcheck.h"
#include "taeda/core/generator.h"
#include "tests/support/oracle_call.h"

namespace taeda {
namespace {

using autograd::variable_list;
using test::Json;

/// A reference case as a function of its differentiable arguments.
struct Case {
  std::string name;
  std::vector<Value> args;
  Kwargs kwargs;
  variable_list inputs;

  Case(const Json& c, std::string registry_name) : name(std::move(registry_name)) {
    test::Call call;
    for (size_t i = 0; i < c["args"].size(); ++i) args.push_back(widened(call.value(c["args"][i], {"args", i})));
    for (const auto& [key, v] : c["kwargs"].items()) kwargs.emplace_back(key, widened(call.value(v, {"kwargs", key})));
    test::collect_variadic(c["op"].get<std::string>(), args);
  }

  variable_list operator()(const variable_list& list) const {
    std::vector<Value> a;
    for (const Value& v : args) a.push_back(with(v, list));
    Kwargs k;
    for (const auto& [key, v] : kwargs) k.emplace_back(key, with(v, list));
    if (name.ends_with("_") && a.at(0).is_tensor()) a[0] = Value(a[0].tensor().clone());
    manual_seed(1);
    std::vector<Value> flat;
    test::flatten(call_op(name, a, k), flat);
    variable_list results;
    for (const Value& v : flat) {
      if (v.is_tensor() && v.tensor().defined() && v.tensor().is_floating_point()) results.push_back(v.tensor());
    }
    return results;
  }

 private:
  Value widened(const Value& v) {
    if (v.is_list()) {
      Value::List list;
      for (const Value& item : v.list()) list.push_back(widened(item));
      return Value(std::move(list));
    }
    if (!v.is_tensor() || !v.tensor().is_floating_point()) return v;
    const Tensor& t = v.tensor();
    Tensor wide = t.detach().to(kDouble);
    if (t.requires_grad()) {
      wide.requires_grad_();
      inputs.push_back(wide);
    }
    return Value(wide);
  }
  Value with(const Value& v, const variable_list& list) const {
    if (v.is_list()) {
      Value::List items;
      for (const Value& item : v.list()) items.push_back(with(item, list));
      return Value(std::move(items));
    }
    if (!v.is_tensor()) return v;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (v.tensor().is_same(inputs[i])) return Value(list[i]);
    }
    return Value(v.tensor().clone());  // the call may change it
  }
};

/// Cases whose sample points lie on ties or kinks, where finite differences mean nothing: operator and why.
const std::map<std::string, std::string>& not_smooth() {
  static const std::map<std::string, std::string> list{};
  return list;
}

/// Operators without second derivatives, listed with the reason in docs/autograd.md.
const std::map<std::string, std::string>& without_second_derivative() {
  static const std::map<std::string, std::string> list{};
  return list;
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const std::string& op : test::operator_names()) {
    if (test::is_special(op) || test::registry_name(op).empty()) continue;
    for (const Json& c : test::operator_cases().at(op)) {
      if (!c.contains("grad_out")) continue;
      list.push_back(op);
      break;
    }
  }
  return list;
}

template <class Check>
void for_cases(const std::string& op, const Check& check) {
  for (const Json& c : test::operator_cases().at(op)) {
    if (!c.contains("grad_out") || c["id"].get<std::string>().ends_with("/edge")) continue;
    SCOPED_TRACE(c["id"].get<std::string>());
    try {
      const Case run(c, test::registry_name(op));
      if (!run.inputs.empty()) check(run);
    } catch (const std::exception& e) {
      ADD_FAILURE() << c["id"].get<std::string>() << ": " << e.what();
    }
  }
}

autograd::GradcheckOptions fast() {
  autograd::GradcheckOptions options;
  options.fast_mode = true;
  options.atol = 1e-5;
  return options;
}

class Registry : public testing::TestWithParam<std::string> {};

TEST_P(Registry, FirstDerivative) {
  if (not_smooth().contains(GetParam())) GTEST_SKIP() << not_smooth().at(GetParam());
  for_cases(GetParam(), [](const Case& run) { autograd::gradcheck(run, run.inputs, fast()); });
}

TEST_P(Registry, SecondDerivative) {
  if (not_smooth().contains(GetParam())) GTEST_SKIP() << not_smooth().at(GetParam());
  if (without_second_derivative().contains(GetParam())) GTEST_SKIP() << without_second_derivative().at(GetParam());
  for_cases(GetParam(), [](const Case& run) { autograd::gradgradcheck(run, run.inputs, {}, fast()); });
}

INSTANTIATE_TEST_SUITE_P(Ops, Registry, testing::ValuesIn(names()), [](const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(RegistryGradients, AtMostOneInTwentyLacksASecondDerivative) {
  EXPECT_LE(without_second_derivative().size() * 20, names().size());
}

}  // namespace
}  // namespace taeda
