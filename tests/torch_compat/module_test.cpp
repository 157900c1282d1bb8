// SPDX-License-Identifier: Apache-2.0
// A model as a LibTorch user writes it: TORCH_MODULE, TORCH_ARG, default arguments inside Sequential.
#include <gtest/gtest.h>

#include "taeda/torch.h"

namespace {

struct NetOptions {
  NetOptions(int64_t hidden) : hidden_(hidden) {}
  TORCH_ARG(int64_t, hidden);
  TORCH_ARG(double, scale) = 2.0;
};

struct NetImpl : torch::nn::Module {
  explicit NetImpl(NetOptions options_)
      : options(options_), first(register_module("first", torch::nn::Linear(4, options.hidden()))),
        second(register_module("second", torch::nn::Linear(options.hidden(), 2))) {}
  torch::Tensor forward(torch::Tensor x, bool twice = false) {
    const torch::Tensor y = second(torch::relu(first(x))) * options.scale();
    return twice ? y * 2 : y;
  }
  NetOptions options;
  torch::nn::Linear first, second;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(false)})
};
TORCH_MODULE(Net);

TEST(TorchCompat, UserModulesTrainAndGoIntoSequential) {
  torch::manual_seed(1);
  Net net(NetOptions(8).scale(1.0));
  EXPECT_EQ(net->options.hidden(), 8);
  EXPECT_EQ(net->parameters().size(), 4u);
  const torch::Tensor x = torch::randn({16, 4});
  const torch::Tensor y = torch::randint(0, 2, {16}, torch::kLong);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.5).momentum(0.9));
  double first = 0;
  double last = 0;
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(net(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, 0.5 * first);
  torch::nn::Sequential chain(net, torch::nn::ReLU());
  EXPECT_TRUE(torch::equal(chain->forward(x), torch::relu(net(x))));
}

}  // namespace
