// SPDX-License-Identifier: Apache-2.0
// Whole training runs against recorded losses: the digits networks, from their seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>

#include "taeda/data/idx.h"
#include "taeda/taeda.h"
#include "tests/support/oracle.h"

namespace taeda {
namespace {

using Json = nlohmann::json;

Tensor as_tensor(const test::OracleTensor& t, ScalarType dtype) {
  const std::vector<double> values = t.as_double();
  Tensor wide = make_tensor(IntArrayRef(t.shape), kDouble);
  std::copy(values.begin(), values.end(), wide.data_ptr<double>());
  return wide.to(dtype);
}

/// The two digits networks of the reference, built as it says.
struct DigitsNet {
  std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> layers;
  std::function<Tensor(const Tensor&)> forward;
};

DigitsNet make(const Json& c) {
  DigitsNet net;
  const Json& args = c["model_args"];
  if (c["id"] == "digits_mlp") {
    const int64_t hidden = args["hidden"];
    nn::Linear fc1(64, hidden);
    nn::Linear fc2(hidden, 10);
    net.layers = {{"fc1", fc1.ptr()}, {"fc2", fc2.ptr()}};
    net.forward = [fc1, fc2](const Tensor& x) mutable { return fc2(taeda::relu(fc1(x.flatten(1)))); };
    return net;
  }
  const int64_t c1 = args["c1"];
  const int64_t c2 = args["c2"];
  nn::Conv2d conv1(nn::Conv2dOptions(1, c1, 3).padding(1));
  nn::Conv2d conv2(nn::Conv2dOptions(c1, c2, 3).padding(1));
  nn::Linear fc(16 * c2, 10);
  net.layers = {{"conv1", conv1.ptr()}, {"conv2", conv2.ptr()}, {"fc", fc.ptr()}};
  nn::BatchNorm2d bn = nullptr;
  if (args.value("bn", false)) {
    bn = nn::BatchNorm2d(c2);
    net.layers.emplace_back("bn", bn.ptr());
  }
  net.forward = [conv1, conv2, fc, bn](const Tensor& x) mutable {
    Tensor y = conv2(taeda::max_pool2d(taeda::relu(conv1(x)), {2}));
    if (!bn.is_empty()) y = bn(y);
    return fc(taeda::relu(y).flatten(1));
  };
  return net;
}

void run(const Json& c) {
  const test::OracleTensors stored("train.safetensors");
  const std::string dir = TAEDA_DIGITS_DIR;
  const Tensor images = data::read_idx(dir + "/images-idx3-ubyte.gz").to(kFloat).div(16).unsqueeze(1);
  const Tensor labels = data::read_idx(dir + "/labels-idx1-ubyte.gz").to(kLong);
  manual_seed(c["seed"].get<uint64_t>());
  DigitsNet net = make(c);
  OrderedDict<std::string, Tensor> state;
  std::vector<Tensor> parameters;
  for (const auto& [name, layer] : net.layers) {
    for (const auto& item : layer->state_dict()) state.insert(name + "." + item.key(), item.value());
    for (const Tensor& p : layer->parameters()) parameters.push_back(p);
  }
  for (const Json& entry : c["init"]) {
    const std::string name = entry[0];
    ASSERT_TRUE(state.contains(name)) << name;
    const Tensor want = as_tensor(stored.of(entry[1]), kDouble);
    ASSERT_LE((state[name].detach().to(kDouble) - want).abs().max().item<double>(), 1e-6) << "initial " << name;
    const NoGradGuard no_grad;
    state[name].copy_(want);
  }
  const Json& options = c["optimizer_args"];
  std::unique_ptr<optim::Optimizer> optimizer;
  const std::string kind = c["optimizer"];
  if (kind == "SGD") {
    optimizer = std::make_unique<optim::SGD>(parameters, optim::SGDOptions(options["lr"].get<double>())
                                                             .momentum(options.value("momentum", 0.0))
                                                             .weight_decay(options.value("weight_decay", 0.0)));
  } else if (kind == "Adam") {
    optimizer = std::make_unique<optim::Adam>(
        parameters, optim::AdamOptions(options["lr"].get<double>()).weight_decay(options.value("weight_decay", 0.0)));
  } else {
    ASSERT_EQ(kind, "AdamW");
    optimizer = std::make_unique<optim::AdamW>(
        parameters, optim::AdamWOptions(options["lr"].get<double>()).weight_decay(options.value("weight_decay", 0.01)));
  }
  const Tensor order = as_tensor(stored.of(c["order"]), kLong);
  for (int64_t step = 0; step < order.size(0); ++step) {
    optimizer->zero_grad();
    const Tensor scores = net.forward(images.index_select(0, order[step]));
    const Tensor loss = nn::functional::cross_entropy(scores, labels.index_select(0, order[step]));
    const auto at = static_cast<size_t>(step);
    ASSERT_LE(std::abs(loss.item<double>() - c["loss_f64"][at].get<double>()), 10 * c["tol_f32"][at].get<double>()) << "step " << step;
    loss.backward();
    if (!c["clip"].is_null()) nn::utils::clip_grad_norm_(parameters, c["clip"].get<double>());
    optimizer->step();
  }
}

TEST(TrainOracle, DigitsRunsFollowTheRecordedLosses) {
  int count = 0;
  std::string missing;
  test::for_each_oracle_case("train.json", [&](const Json& c) {
    const std::string id = c["id"];
    if (!id.starts_with("digits")) {
      missing += " " + id;
      return;
    }
    SCOPED_TRACE(id);
    run(c);
    ++count;
  });
  std::cout << "not covered here:" << missing << std::endl;
  EXPECT_GE(count, 2);
}

}  // namespace
}  // namespace taeda
