// SPDX-License-Identifier: Apache-2.0
// Every case of the reference values, compiled: recorded once, then matched with the same and with other values.
#include <gtest/gtest.h>

#include <cstring>

#include "taeda/taeda.h"
#include "tests/support/oracle_call.h"

namespace taeda {
namespace {

using test::Call;
using test::Json;

/// The tensors of one call: results, gradients, arguments afterwards; or the error's kind.
struct Outcome {
  std::vector<Tensor> tensors;
  bool failed = false;
};

/// Equal bits, where NaN equals NaN.
bool same(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes() || a.strides() != b.strides()) return false;
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  if (x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0) return true;
  return x.is_floating_point() && x.isnan().equal(y.isnan()) && x.nan_to_num().equal(y.nan_to_num());
}

class Case {
 public:
  Case(const Json& c, std::string name) : case_(c), name_(std::move(name)) {}

  /// Fresh arguments; `other`: the same elements in another order.
  Call arguments(bool other) const {
    Call call;
    for (size_t i = 0; i < case_["args"].size(); ++i) call.args.push_back(call.value(case_["args"][i], {"args", i}));
    for (const auto& [key, v] : case_["kwargs"].items()) call.kwargs.emplace_back(key, call.value(v, {"kwargs", key}));
    if (other) {
      const NoGradGuard off;
      for (const auto& [path, t] : call.tensors) {
        if (t.numel() > 1) t.copy_(t.clone().flatten().roll(1).view(t.sizes()));
      }
    }
    // The raw pointers through which the arguments were filled are gone.
    for (const auto& [path, t] : call.tensors) t.mutable_impl().storage->pointer_escaped.store(false);
    test::adapt_python(case_["op"], call.args, call.kwargs);
    return call;
  }

  Outcome run(Call& call) const {
    Outcome outcome;
    try {
      std::vector<Value> args = call.args;
      if (name_.ends_with("_") && args.at(0).is_tensor()) args[0] = Value(args[0].tensor().clone());
      std::vector<Value> results;
      test::flatten(call_op(name_, args, call.kwargs), results);
      Tensor loss;
      for (const Value& r : results) {
        if (!r.is_tensor() || !r.tensor().defined()) continue;
        outcome.tensors.push_back(r.tensor());
        if (!r.tensor().requires_grad()) continue;
        const Tensor part = r.tensor().to(kDouble).mul(0.75).sum();
        loss = loss.defined() ? loss.add(part) : part;
      }
      if (loss.defined()) loss.backward();
      for (const auto& [path, t] : call.tensors) {
        outcome.tensors.push_back(t);
        if (t.grad().defined()) outcome.tensors.push_back(t.grad());
      }
    } catch (const std::exception&) {
      outcome.failed = true;
    }
    return outcome;
  }

 private:
  const Json& case_;
  std::string name_;
};

class CompiledOperators : public testing::TestWithParam<std::string> {};

TEST_P(CompiledOperators, EqualEager) {
  const std::string op = GetParam();
  const std::string name = test::registry_name(op);
  if (test::is_special(op) || name.empty() || op == "nonzero") {
    GTEST_SKIP() << "called otherwise than by name";
  }
  for (const Json& c : test::operator_cases().at(op)) {
    const Case one(c, name);
    const auto fast = compile([&](Call& call) { return one.run(call); }, {.step_aside = false});
    for (const bool other : {false, false, true, true, false}) {
      Call a = one.arguments(other), b = one.arguments(other);
      manual_seed(11);
      const Outcome want = one.run(a);
      const Tensor state = default_generator().get_state();
      manual_seed(11);
      Outcome got;
      try {
        got = fast(b);
      } catch (const std::exception&) {  // an error of values may come at the end of the call
        got.failed = true;
      }
      ASSERT_EQ(got.failed, want.failed) << c["id"];
      if (want.failed) continue;
      ASSERT_EQ(got.tensors.size(), want.tensors.size()) << c["id"];
      for (size_t i = 0; i < want.tensors.size(); ++i) {
        ASSERT_TRUE(same(got.tensors[i], want.tensors[i])) << c["id"] << " value " << i << (other ? " (other order)\n" : "\n") << got.tensors[i]
                                                           << '\n' << want.tensors[i] << '\n' << fast.explain();
      }
      ASSERT_TRUE(default_generator().get_state().equal(state)) << c["id"];
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Registry, CompiledOperators, testing::ValuesIn(test::operator_names()), test_name);

}  // namespace
}  // namespace taeda
