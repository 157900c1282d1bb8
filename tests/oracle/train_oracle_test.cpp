// SPDX-License-Identifier: Apache-2.0
// Whole training runs against recorded losses, from their seeds: the digits networks, and two small models of a text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

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

/// A network of the reference: its layers in state order, and its scores.
struct Net {
  std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> layers;
  std::function<Tensor(const Tensor&)> forward;
};

/// The two digits networks.
Net make_digits(const Json& c) {
  Net net;
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

/// One block of a transformer over characters: causal attention and a feed-forward part, each before a residual connection.
Net make_char_block(const Json& c) {
  const int64_t width = c["model_args"]["width"];
  const int64_t heads = c["model_args"]["heads"];
  const int64_t vocab = static_cast<int64_t>(c["vocab"].get<std::string>().size());
  const int64_t context = c["context"];
  nn::Embedding tok(vocab, width);
  nn::Embedding pos(context, width);
  const nn::LayerNormOptions norm({width});
  nn::LayerNorm ln1(norm);
  nn::Linear qkv(width, 3 * width);
  nn::Linear proj(width, width);
  nn::LayerNorm ln2(norm);
  nn::Linear up(width, 4 * width);
  nn::Linear down(4 * width, width);
  nn::LayerNorm lnf(norm);
  nn::Linear head(nn::LinearOptions(width, vocab).bias(false));
  Net net;
  net.layers = {{"tok", tok.ptr()}, {"pos", pos.ptr()}, {"ln1", ln1.ptr()}, {"qkv", qkv.ptr()}, {"proj", proj.ptr()},
                {"ln2", ln2.ptr()}, {"up", up.ptr()},   {"down", down.ptr()}, {"lnf", lnf.ptr()}, {"head", head.ptr()}};
  net.forward = [=](const Tensor& ids) mutable {
    Tensor x = tok(ids) + pos(taeda::arange(ids.size(1), TensorOptions(kLong)));
    const auto split = [&](const Tensor& t) { return t.view({t.size(0), t.size(1), heads, width / heads}).transpose(1, 2); };
    const std::vector<Tensor> parts = qkv(ln1(x)).chunk(3, -1);
    const Tensor attended = taeda::scaled_dot_product_attention(split(parts[0]), split(parts[1]), split(parts[2]), {}, 0.0,
                                                                /*is_causal=*/true);
    x = x + proj(attended.transpose(1, 2).reshape(x.sizes()));
    x = x + down(taeda::gelu(up(ln2(x))));
    return head(lnf(x));
  };
  return net;
}

Net make_char_lstm(const Json& c) {
  const Json& args = c["model_args"];
  const int64_t vocab = static_cast<int64_t>(c["vocab"].get<std::string>().size());
  nn::Embedding tok(vocab, args["emb"].get<int64_t>());
  nn::LSTM rnn(nn::LSTMOptions(args["emb"], args["hidden"]).num_layers(args["layers"].get<int64_t>()).batch_first(true));
  nn::Linear head(args["hidden"].get<int64_t>(), vocab);
  Net net;
  net.layers = {{"tok", tok.ptr()}, {"rnn", rnn.ptr()}, {"head", head.ptr()}};
  net.forward = [=](const Tensor& ids) mutable { return head(std::get<0>(rnn(tok(ids)))); };
  return net;
}

/// What a step needs of the data: the inputs and targets of a row of `order`, and those held out when there are some.
struct Data {
  std::function<std::pair<Tensor, Tensor>(const Tensor&)> batch;
  Tensor held_out, held_out_labels;
};

Data digits() {
  const std::string dir = TAEDA_DIGITS_DIR;
  const Tensor images = data::read_idx(dir + "/images-idx3-ubyte.gz").to(kFloat).div(16).unsqueeze(1);
  const Tensor labels = data::read_idx(dir + "/labels-idx1-ubyte.gz").to(kLong);
  const int64_t first = images.size(0) - 360;
  return {[=](const Tensor& rows) { return std::make_pair(images.index_select(0, rows), labels.index_select(0, rows)); },
          images.slice(0, first), labels.slice(0, first)};
}

/// The characters of the text as places in the vocabulary; batches of windows at the given offsets.
Data characters(const std::string& text, const Json& c) {
  const std::string vocab = c["vocab"];
  const int64_t context = c["context"];
  std::vector<int64_t> ids;
  for (const char character : text) ids.push_back(static_cast<int64_t>(vocab.find(character)));
  return {[ids, context](const Tensor& offsets) {
            std::vector<Tensor> inputs, targets;
            for (int64_t i = 0; i < offsets.numel(); ++i) {
              const auto at = ids.begin() + offsets[i].item<int64_t>();
              const auto window = [&](int64_t shift) {
                return from_vector(std::vector<int64_t>(at + shift, at + shift + context));
              };
              inputs.push_back(window(0));
              targets.push_back(window(1));
            }
            return std::make_pair(stack(inputs), stack(targets));
          },
          {}, {}};
}

/// The text of the reference's runs: the first 20,000 characters of the file that TAEDA_TEXT_FILE names or, without it, of the
/// shared folder beside the project; empty when there is none.
std::string text() {
  const char* named = std::getenv("TAEDA_TEXT_FILE");
  std::ifstream file(named ? named : std::string(TAEDA_DIGITS_DIR) + "/../../../shared/data/text/tinyshakespeare.txt");
  std::string all{std::istreambuf_iterator<char>(file), {}};
  return all.substr(0, 20000);
}

void run(const Json& c, const std::function<Net(const Json&)>& make, const Data& source) {
  const test::OracleTensors stored("train.safetensors");
  manual_seed(c["seed"].get<uint64_t>());
  Net net = make(c);
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
    const auto [inputs, targets] = source.batch(order[step]);
    const Tensor scores = net.forward(inputs);
    const Tensor loss = nn::functional::cross_entropy(scores.view({-1, scores.size(-1)}), targets.flatten());
    const auto at = static_cast<size_t>(step);
    ASSERT_LE(std::abs(loss.item<double>() - c["loss_f64"][at].get<double>()), 10 * c["tol_f32"][at].get<double>()) << "step " << step;
    loss.backward();
    if (!c["clip"].is_null()) nn::utils::clip_grad_norm_(parameters, c["clip"].get<double>());
    optimizer->step();
  }
  if (!source.held_out.defined()) return;
  const NoGradGuard no_grad;
  for (const auto& [name, layer] : net.layers) layer->eval();
  const Tensor hits = net.forward(source.held_out).argmax(1).eq(source.held_out_labels);
  EXPECT_NEAR(hits.to(kDouble).mean().item<double>(), c["accuracy_f64"].get<double>(), 0.02);
}

/// Runs the cases whose names start with `prefix`; returns their number.
int run_cases(const std::string& prefix, const std::function<void(const Json&)>& f) {
  int count = 0;
  test::for_each_oracle_case("train.json", [&](const Json& c) {
    if (!c["id"].get<std::string>().starts_with(prefix)) return;
    SCOPED_TRACE(c["id"].get<std::string>());
    ++count;
    f(c);
  });
  return count;
}

TEST(TrainOracle, DigitsRunsFollowTheRecordedLosses) {
  const Data source = digits();
  EXPECT_EQ(run_cases("digits", [&](const Json& c) { run(c, make_digits, source); }), 2);
}

TEST(TrainOracle, CharacterRunsFollowTheRecordedLosses) {
  const std::string characters_of = text();
  if (characters_of.empty()) GTEST_SKIP() << "there is no text: name tinyshakespeare.txt by TAEDA_TEXT_FILE";
  const int count = run_cases("char", [&](const Json& c) {
    run(c, c["id"] == "char_lstm" ? make_char_lstm : make_char_block, characters(characters_of, c));
  });
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace taeda
