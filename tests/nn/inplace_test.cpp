// Activations with the option `inplace`.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "taeda/core/allocator.h"
#include "taeda/torch.h"

namespace taeda::test {
namespace {

namespace F = nn::functional;

struct Activation {
  const char* name;
  std::function<Tensor(const Tensor&, bool inplace)> call;
};
const Activation kActivations[] = {
    {"elu", [](const Tensor& x, bool in) { return F::elu(x, F::ELUFuncOptions().alpha(0.7).inplace(in)); }},
    {"selu", [](const Tensor& x, bool in) { return F::selu(x, F::SELUFuncOptions().inplace(in)); }},
    {"hardtanh", [](const Tensor& x, bool in) { return F::hardtanh(x, F::HardtanhFuncOptions().min_val(-0.5).max_val(0.8).inplace(in)); }},
    {"leaky_relu", [](const Tensor& x, bool in) { return F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.2).inplace(in)); }},
    {"relu", [](const Tensor& x, bool in) { return F::relu(x, F::ReLUFuncOptions().inplace(in)); }},
    {"relu6", [](const Tensor& x, bool in) { return F::relu6(x, F::ReLU6FuncOptions().inplace(in)); }},
    {"celu", [](const Tensor& x, bool in) { return F::celu(x, F::CELUFuncOptions().alpha(1.3).inplace(in)); }},
    {"rrelu", [](const Tensor& x, bool in) { return F::rrelu(x, F::RReLUFuncOptions().inplace(in)); }},
    {"rrelu in training",
     [](const Tensor& x, bool in) {
       manual_seed(7);
       return F::rrelu(x, F::RReLUFuncOptions().training(true).inplace(in));
     }},
    {"threshold", [](const Tensor& x, bool in) { return F::threshold(x, F::ThresholdFuncOptions(0.1, -2).inplace(in)); }},
};

TEST(InplaceActivation, WritesItsInputAndKeepsTheGradient) {
  manual_seed(1);
  for (const Activation& activation : kActivations) {
    const Tensor x = taeda::randn({5, 7}, TensorOptions(kDouble)) * 3;
    const Tensor a = x.clone().requires_grad_(), b = x.clone().requires_grad_();
    const Tensor apart = activation.call(a * 1, false);
    const Tensor input = b * 1;
    const Tensor together = activation.call(input, true);
    EXPECT_TRUE(together.is_same(input)) << activation.name;
    EXPECT_TRUE(together.equal(apart)) << activation.name;
    const Tensor g = taeda::randn({5, 7}, TensorOptions(kDouble));
    apart.backward(g);
    together.backward(g);
    EXPECT_TRUE(a.grad().equal(b.grad())) << activation.name;
  }
}

TEST(InplaceActivation, MakesNoSecondTensor) {
  const NoGradGuard no_grad;
  for (const Activation& activation : kActivations) {
    if (activation.name == std::string("rrelu in training")) continue;  // has its slopes
    const Tensor x = taeda::randn({1 << 18});
    cpu_allocator().reset_peak_stats();
    const size_t before = cpu_allocator().stats().current;
    activation.call(x, true);
    EXPECT_LT(cpu_allocator().stats().peak - before, size_t{1} << 18) << activation.name;
  }
}

}  // namespace
}  // namespace taeda::test
