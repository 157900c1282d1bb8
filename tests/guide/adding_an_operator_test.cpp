// SPDX-License-Identifier: Apache-2.0
// The test of docs/adding-an-operator.md: everything that derives from the one definition of logaddexp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/registry.h"

namespace {

using taeda::Tensor;

Tensor doubles(std::initializer_list<double> values) {
  Tensor t = taeda::empty({static_cast<int64_t>(values.size())}, taeda::kDouble);
  std::copy(values.begin(), values.end(), t.data_ptr<double>());
  return t;
}

TEST(AddingAnOperator, FormulaHoldsWhereExpOverflows) {
  const Tensor result = taeda::logaddexp(doubles({0.0, 1000.0, -1000.0}), doubles({1.0, 1000.0, 0.0}));
  EXPECT_NEAR(result.data_ptr<double>()[0], std::log(1.0 + std::exp(1.0)), 1e-15);
  EXPECT_NEAR(result.data_ptr<double>()[1], 1000.0 + std::log(2.0), 1e-12);
  EXPECT_EQ(result.data_ptr<double>()[2], 0.0);
}

TEST(AddingAnOperator, OneDefinitionGivesEveryForm) {
  const Tensor a = doubles({0.5, -1.0});
  const Tensor b = doubles({2.0, 3.0});
  const Tensor function = taeda::logaddexp(a, b);
  const Tensor method = a.logaddexp(b);
  Tensor out = taeda::empty({2}, taeda::kDouble);
  taeda::logaddexp_out(out, a, b);
  const Tensor named = taeda::call_op("logaddexp", {a}, {{"other", b}}).tensor();
  for (const Tensor& form : {method, out, named}) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(form.data_ptr<double>()[i], function.data_ptr<double>()[i]);
  }
}

TEST(AddingAnOperator, GradientsAndTheirGradientsAgreeWithDifferences) {
  const auto f = [](const taeda::autograd::variable_list& x) {
    return taeda::autograd::variable_list{taeda::logaddexp(x[0], x[1])};
  };
  const taeda::autograd::variable_list inputs = {doubles({0.5, -1.0}).requires_grad_(), doubles({2.0, 3.0}).requires_grad_()};
  EXPECT_TRUE(taeda::autograd::gradcheck(f, inputs));
  EXPECT_TRUE(taeda::autograd::gradgradcheck(f, inputs));
}

TEST(AddingAnOperator, RegistryTellsWhatTheDefinitionSays) {
  const auto found = taeda::find_ops("logaddexp");
  ASSERT_FALSE(found.empty());
  EXPECT_STREQ(found[0]->schema, "logaddexp(Tensor self, Tensor other) -> Tensor");
  EXPECT_STREQ(found[0]->gradient, "yes");
}

}  // namespace
