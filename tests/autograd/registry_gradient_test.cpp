// SPDX-License-Identifier: Apache-2.0
// First and second derivatives of every differentiable operator against finite differences, with the arguments of the
// reference cases in float64. `--gtest_filter=*SecondDerivative/add*` runs one operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

  Case(Json c, std::string registry_name) : name(std::move(registry_name)) {
    widen_dtypes(c);
    test::Call call;
    for (size_t i = 0; i < c["args"].size(); ++i) args.push_back(widened(call.value(c["args"][i], {"args", i})));
    for (const auto& [key, v] : c["kwargs"].items()) kwargs.emplace_back(key, widened(call.value(v, {"kwargs", key})));
    test::adapt_python(c["op"].get<std::string>(), args, kwargs);
  }

  /// Whether inputs and results are finite: elsewhere differences mean nothing.
  bool finite() const {
    variable_list all = inputs;
    const NoGradGuard off;
    for (const Tensor& t : (*this)(inputs)) all.push_back(t);
    for (const Tensor& t : all) {
      for (const double v : test::elements(t)) {
        if (!std::isfinite(v)) return false;
      }
    }
    return true;
  }

  variable_list operator()(const variable_list& given) const {
    variable_list list;
    for (size_t i = 0; i < given.size(); ++i) list.push_back(constrained(given[i], i));
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
    // The singular values are a by-product of least squares, as in PyTorch.
    if (name == "linalg_lstsq") results.resize(std::min<size_t>(results.size(), 2));
    return results;
  }

 private:
  /// Maps any matrix to one that the operator is defined for: differences disturb single elements.
  Tensor constrained(const Tensor& t, size_t i) const {
    static const std::set<std::string> symmetric{"cholesky",        "linalg_cholesky",  "linalg_cholesky_ex",
                                                 "linalg_eigvalsh", "linalg_eigh"};
    const bool hermitian = std::any_of(kwargs.begin(), kwargs.end(), [](const auto& k) {
      return k.first == "hermitian" && k.second.is_bool() && k.second.to_bool();
    });
    if (symmetric.contains(name) || (hermitian && i == 0)) return t.add(t.mT()).mul(0.5);
    const bool triangle = (name == "cholesky_inverse" && i == 0) || (name == "cholesky_solve" && i == 1);
    if (!triangle) return t;
    bool upper = false;  // the last bool of the call
    for (const Value& v : args) upper = v.is_bool() ? v.to_bool() : upper;
    for (const auto& [key, v] : kwargs) upper = key == "upper" ? v.to_bool() : upper;
    return upper ? t.triu() : t.tril();
  }
  /// Periodic functions and remainders: numbers that a difference cannot carry across a jump or a pole.
  void move_off_jumps(const Tensor& t) const {
    static const std::set<std::string> jumping{"fmod", "remainder", "div", "tan"};
    if (!jumping.contains(name)) return;
    auto* data = static_cast<double*>(t.mutable_data_ptr());
    for (int64_t i = 0; i < t.numel(); ++i) {
      if (name == "tan") {
        data[i] = std::remainder(data[i], 3.0) * 0.8;
      } else if (std::fabs(data[i]) < 0.5) {
        data[i] += std::copysign(0.5, data[i]);
      }
    }
  }
  /// Floating dtypes given as arguments become float64.
  static void widen_dtypes(Json& j) {
    if (j.is_object() && j.contains("dtype") && j["dtype"].is_string() && j["dtype"].get<std::string>().find("float") == 0) {
      j["dtype"] = "float64";
    }
    if (j.is_structured()) {
      for (Json& item : j) widen_dtypes(item);
    }
  }
  /// Sample points are often 0, 1 or equal to each other, where many operators have kinks or ties.
  void move_off_kinks(const Tensor& t) {
    auto* data = static_cast<double*>(t.mutable_data_ptr());
    for (int64_t i = 0; i < t.numel(); ++i) {
      seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
      data[i] += 1e-3 * (0.5 + static_cast<double>(seed_ >> 11) * 0x1p-54) * (seed_ & 1024 ? 1 : -1);
    }
  }
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
      move_off_kinks(wide);
      move_off_jumps(wide);
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

  uint64_t seed_ = 1;
};

/// Operators whose gradient is not the derivative of their value, on purpose.
const std::map<std::string, std::string>& not_smooth() {
  static const std::map<std::string, std::string> list{
      {"nextafter", "moves by one step of the number format"},
      {"nn.functional.ctc_loss", "the gradient takes for granted that the log-probabilities of a step sum to one"},
      {"nn.functional.max_unpool1d", "samples write one place twice"},
      {"nn.functional.max_unpool2d", "samples write one place twice"},
      {"nn.functional.max_unpool3d", "samples write one place twice"}};
  return list;
}

/// Calls that change the table, scale its gradient by word counts or keep it from a row, on purpose.
bool special_embedding(const Json& c) {
  return c["kwargs"].contains("max_norm") || c["kwargs"].contains("scale_grad_by_freq") || c["kwargs"].contains("padding_idx");
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
    if (!c.contains("grad_out") || c["id"].get<std::string>().ends_with("/edge") || special_embedding(c)) continue;
    SCOPED_TRACE(c["id"].get<std::string>());
    try {
      const Case run(c, test::registry_name(op));
      if (!run.inputs.empty() && run.finite()) check(run);
    } catch (const std::exception& e) {
      ADD_FAILURE() << c["id"].get<std::string>() << ": " << e.what();
    }
  }
}

/// Runs the check with a smaller step where the first one is too coarse, next to a pole.
template <class F>
void with_steps(const F& check) {
  autograd::GradcheckOptions options;
  options.fast_mode = true;
  try {
    check(options);
  } catch (const Error&) {
    options.eps = 1e-8;
    check(options);
  }
}

class Registry : public testing::TestWithParam<std::string> {};

TEST_P(Registry, FirstDerivative) {
  manual_seed(0);
  if (not_smooth().contains(GetParam())) GTEST_SKIP() << not_smooth().at(GetParam());
  for_cases(GetParam(), [](const Case& run) {
    with_steps([&](const autograd::GradcheckOptions& options) { autograd::gradcheck(run, run.inputs, options); });
  });
}

TEST_P(Registry, SecondDerivative) {
  manual_seed(0);
  if (not_smooth().contains(GetParam())) GTEST_SKIP() << not_smooth().at(GetParam());
  if (without_second_derivative().contains(GetParam())) GTEST_SKIP() << without_second_derivative().at(GetParam());
  for_cases(GetParam(), [](const Case& run) {
    with_steps([&](const autograd::GradcheckOptions& options) { autograd::gradgradcheck(run, run.inputs, {}, options); });
  });
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
