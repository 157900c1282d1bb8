// SPDX-License-Identifier: Apache-2.0
// Networks by name.
#include "taeda/cli/models.h"

#include <cmath>

#include "taeda/nn/nn.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::cli {

namespace {

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

/// A chain of modules.
struct Chain final : Network {
  explicit Chain(nn::Sequential chain) : Network("Chain"), body(register_module("body", chain)) {}
  Tensor forward(const Tensor& input) override { return body->forward(input); }
  std::shared_ptr<nn::SequentialImpl> body;
};

nn::Sequential make_mlp(int64_t in, int64_t out, int64_t width, int64_t depth, double dropout) {
  nn::Sequential chain;
  chain->push_back(nn::Flatten());
  for (int64_t i = 0; i < depth; ++i) {
    chain->push_back(nn::Linear(i == 0 ? in : width, width));
    chain->push_back(nn::ReLU());
    if (dropout > 0) chain->push_back(nn::Dropout(dropout));
  }
  chain->push_back(nn::Linear(depth == 0 ? in : width, out));
  return chain;
}

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).groups(groups).bias(false));
}

nn::Sequential make_cnn(IntArrayRef shape, int64_t out, int64_t width, double dropout) {
  const int64_t channels = shape[0];
  nn::Sequential chain;
  chain->push_back(nn::Conv2d(nn::Conv2dOptions(channels, width, 3).padding(1)));
  chain->push_back(nn::BatchNorm2d(width));
  chain->push_back(nn::ReLU());
  chain->push_back(nn::MaxPool2d(2));
  chain->push_back(nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 3).padding(1)));
  chain->push_back(nn::BatchNorm2d(2 * width));
  chain->push_back(nn::ReLU());
  chain->push_back(nn::MaxPool2d(2));
  chain->push_back(nn::Flatten());
  chain->push_back(nn::Linear(2 * width * (shape[1] / 4) * (shape[2] / 4), 128));
  chain->push_back(nn::ReLU());
  if (dropout > 0) chain->push_back(nn::Dropout(dropout));
  chain->push_back(nn::Linear(128, out));
  return chain;
}

/// Two 3×3 convolutions, or 1×1, 3×3, 1×1, around which the input passes (He, Zhang, Ren, Sun 2016).
struct ResidualImpl : nn::Cloneable<ResidualImpl> {
  ResidualImpl(int64_t in, int64_t width, int64_t stride, bool bottleneck) : in_(in), width_(width), stride_(stride), deep_(bottleneck) {
    reset();
  }
  void reset() override {
    const int64_t out = deep_ ? 4 * width_ : width_;
    conv1 = register_module("conv1", deep_ ? conv(in_, width_, 1) : conv(in_, width_, 3, stride_));
    bn1 = register_module("bn1", nn::BatchNorm2d(width_));
    conv2 = register_module("conv2", deep_ ? conv(width_, width_, 3, stride_) : conv(width_, width_, 3));
    bn2 = register_module("bn2", nn::BatchNorm2d(width_));
    if (deep_) {
      conv3 = register_module("conv3", conv(width_, out, 1));
      bn3 = register_module("bn3", nn::BatchNorm2d(out));
    }
    if (stride_ != 1 || in_ != out) {
      downsample = register_module("downsample", nn::Sequential(conv(in_, out, 1, stride_), nn::BatchNorm2d(out)));
    }
  }
  Tensor forward(const Tensor& x) {
    Tensor y = bn2(conv2(bn1(conv1(x)).relu_()));
    if (deep_) y = bn3(conv3(y.relu_()));
    return (y + (downsample.is_empty() ? x : downsample->forward(x))).relu_();
  }
  nn::Conv2d conv1 = nullptr, conv2 = nullptr, conv3 = nullptr;
  nn::BatchNorm2d bn1 = nullptr, bn2 = nullptr, bn3 = nullptr;
  nn::Sequential downsample = nullptr;
  int64_t in_, width_, stride_;
  bool deep_;
};
TAEDA_MODULE_IMPL(Residual, ResidualImpl);

nn::Sequential make_resnet(IntArrayRef shape, int64_t out, std::vector<int64_t> blocks, int64_t width, bool deep) {
  nn::Sequential chain;
  const bool small = shape[1] <= 64;
  if (small) {
    chain->push_back("conv1", conv(shape[0], width, 3));
  } else {
    chain->push_back("conv1", conv(shape[0], width, 7, 2));
  }
  chain->push_back("bn1", nn::BatchNorm2d(width));
  chain->push_back("relu", nn::ReLU());
  if (!small) chain->push_back("maxpool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int64_t in = width;
  for (size_t stage = 0; stage < blocks.size(); ++stage) {
    const int64_t w = width << stage;
    for (int64_t b = 0; b < blocks[stage]; ++b) {
      chain->push_back(str("layer", stage + 1, "_", b), Residual(in, w, b == 0 && stage > 0 ? 2 : 1, deep));
      in = deep ? 4 * w : w;
    }
  }
  chain->push_back("avgpool", nn::AdaptiveAvgPool2d(1));
  chain->push_back("flatten", nn::Flatten());
  chain->push_back("fc", nn::Linear(in, out));
  return chain;
}

/// An inverted residual block: widen, filter each channel, narrow (Sandler et al. 2018).
struct InvertedResidualImpl : nn::Cloneable<InvertedResidualImpl> {
  InvertedResidualImpl(int64_t in, int64_t out, int64_t stride, int64_t expand) : in_(in), out_(out), stride_(stride), expand_(expand) {
    reset();
  }
  void reset() override {
    body = nn::Sequential();
    const int64_t hidden = in_ * expand_;
    if (expand_ != 1) {
      body->push_back(conv(in_, hidden, 1));
      body->push_back(nn::BatchNorm2d(hidden));
      body->push_back(nn::ReLU6());
    }
    body->push_back(conv(hidden, hidden, 3, stride_, hidden));
    body->push_back(nn::BatchNorm2d(hidden));
    body->push_back(nn::ReLU6());
    body->push_back(conv(hidden, out_, 1));
    body->push_back(nn::BatchNorm2d(out_));
    register_module("conv", body);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = body->forward(x);
    return stride_ == 1 && in_ == out_ ? x + y : y;
  }
  nn::Sequential body = nullptr;
  int64_t in_, out_, stride_, expand_;
};
TAEDA_MODULE_IMPL(InvertedResidual, InvertedResidualImpl);

nn::Sequential make_mobilenet_v2(IntArrayRef shape, int64_t out, double dropout) {
  nn::Sequential chain;
  chain->push_back(conv(shape[0], 32, 3, shape[1] > 64 ? 2 : 1));
  chain->push_back(nn::BatchNorm2d(32));
  chain->push_back(nn::ReLU6());
  int64_t in = 32;
  // Expansion, channels, blocks, stride of the first block: table 2 of the paper.
  const int64_t plan[7][4] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (const auto& [expand, channels, blocks, stride] : plan) {
    for (int64_t b = 0; b < blocks; ++b) {
      chain->push_back(InvertedResidual(in, channels, b == 0 ? stride : 1, expand));
      in = channels;
    }
  }
  chain->push_back(conv(in, 1280, 1));
  chain->push_back(nn::BatchNorm2d(1280));
  chain->push_back(nn::ReLU6());
  chain->push_back(nn::AdaptiveAvgPool2d(1));
  chain->push_back(nn::Flatten());
  chain->push_back(nn::Dropout(dropout));
  chain->push_back(nn::Linear(1280, out));
  return chain;
}

/// Characters in, scores of the next character out.
struct CharLstm final : Network {
  CharLstm(int64_t vocabulary, int64_t width, int64_t layers, double dropout)
      : Network("CharLstm"),
        embed(register_module("embed", nn::Embedding(vocabulary, width))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(width, width).num_layers(layers).batch_first(true).dropout(dropout)))),
        head(register_module("head", nn::Linear(width, vocabulary))) {}
  Tensor forward(const Tensor& input) override { return head(std::get<0>(lstm->forward(embed(input)))); }
  nn::Embedding embed;
  nn::LSTM lstm;
  nn::Linear head;
};

/// One block of a GPT: attention to what came before, and a feed-forward network, each on a normalised input.
struct GptBlockImpl : nn::Cloneable<GptBlockImpl> {
  GptBlockImpl(int64_t width, int64_t heads, double dropout) : width_(width), heads_(heads), dropout_(dropout) { reset(); }
  void reset() override {
    ln1 = register_module("ln1", nn::LayerNorm(nn::LayerNormOptions({width_})));
    qkv = register_module("qkv", nn::Linear(width_, 3 * width_));
    proj = register_module("proj", nn::Linear(width_, width_));
    ln2 = register_module("ln2", nn::LayerNorm(nn::LayerNormOptions({width_})));
    up = register_module("up", nn::Linear(width_, 4 * width_));
    down = register_module("down", nn::Linear(4 * width_, width_));
    drop = register_module("drop", nn::Dropout(dropout_));
  }
  Tensor forward(const Tensor& input) {
    const int64_t batch = input.size(0);
    const int64_t length = input.size(1);
    const auto parts = qkv(ln1(input)).split(width_, -1);
    const auto heads = [&](const Tensor& t) { return t.reshape({batch, length, heads_, width_ / heads_}).transpose(1, 2); };
    const Tensor mixed = taeda::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), std::nullopt,
                                                             is_training() ? dropout_ : 0.0, /*is_causal=*/true);
    const Tensor x = input + drop(proj(mixed.transpose(1, 2).reshape({batch, length, width_})));
    return x + drop(down(taeda::gelu(up(ln2(x)))));
  }
  nn::LayerNorm ln1 = nullptr, ln2 = nullptr;
  nn::Linear qkv = nullptr, proj = nullptr, up = nullptr, down = nullptr;
  nn::Dropout drop = nullptr;
  int64_t width_, heads_;
  double dropout_;
};
TAEDA_MODULE_IMPL(GptBlock, GptBlockImpl);

/// A character GPT (Radford et al. 2019 in structure).
struct Gpt final : Network {
  Gpt(int64_t vocabulary, int64_t block, int64_t width, int64_t layers, int64_t heads, double dropout)
      : Network("Gpt"),
        token(register_module("token", nn::Embedding(vocabulary, width))),
        position(register_module("position", nn::Embedding(block, width))),
        blocks(register_module("blocks", nn::ModuleList())),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})))),
        head(register_module("head", nn::Linear(nn::LinearOptions(width, vocabulary).bias(false)))) {
    for (int64_t i = 0; i < layers; ++i) blocks->push_back(GptBlock(width, heads, dropout));
    for (auto& item : named_parameters()) {
      if (item.value().dim() < 2) {
        if (item.key().ends_with("bias")) nn::init::zeros_(item.value());
        continue;
      }
      const bool residual = item.key().ends_with("proj.weight") || item.key().ends_with("down.weight");
      nn::init::normal_(item.value(), 0, residual ? 0.02 / std::sqrt(2.0 * static_cast<double>(layers)) : 0.02);
    }
  }
  Tensor forward(const Tensor& input) override {
    Tensor x = token(input) + position(taeda::arange(input.size(1), TensorOptions(kLong)));
    for (const auto& block : *blocks) x = block->as<GptBlockImpl>()->forward(x);
    return head(norm(x));
  }
  nn::Embedding token, position;
  nn::ModuleList blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};

}  // namespace

std::shared_ptr<Network> make_network(const RunConfig& c, const DataInfo& data) {
  const IntArrayRef shape = data.input_shape;
  const auto chain = [](nn::Sequential body) { return std::make_shared<Chain>(std::move(body)); };
  const std::string& m = c.model;
  if (m == "lstm" || m == "gpt") {
    TAEDA_CHECK_VALUE(data.task == Task::kLanguage, "[--model] ", m, " reads text: got ", c.data, "; use ", data.is_image() ? "cnn" : "mlp",
                      ", or --data text:FILE");
    if (m == "lstm") return std::make_shared<CharLstm>(data.outputs, c.width, c.depth, c.dropout);
    TAEDA_CHECK_VALUE(c.width % c.heads == 0, "[--heads] the width must be divisible by the heads: got ", c.width, " and ", c.heads,
                      "; change --width or --heads");
    return std::make_shared<Gpt>(data.outputs, c.block, c.width, c.depth, c.heads, c.dropout);
  }
  TAEDA_CHECK_VALUE(data.task != Task::kLanguage, "[--model] ", m, " does not read text: got ", c.data, "; use lstm or gpt");
  if (m == "linear") return chain(make_mlp(product(shape), data.outputs, 0, 0, 0));
  if (m == "mlp") return chain(make_mlp(product(shape), data.outputs, c.width, c.depth, c.dropout));
  TAEDA_CHECK_VALUE(data.is_image(), "[--model] ", m, " reads images: got ", c.data, "; use linear or mlp");
  if (m == "cnn") {
    TAEDA_CHECK_VALUE(shape[1] >= 4 && shape[2] >= 4, "[--model] cnn needs images of 4 x 4 pixels at least: got ", shape[1], " x ", shape[2],
                      "; use mlp");
    return chain(make_cnn(shape, data.outputs, c.width, c.dropout));
  }
  if (m == "resnet8") return chain(make_resnet(shape, data.outputs, {1, 1, 1}, c.width, false));
  if (m == "resnet18") return chain(make_resnet(shape, data.outputs, {2, 2, 2, 2}, c.width, false));
  if (m == "resnet50") return chain(make_resnet(shape, data.outputs, {3, 4, 6, 3}, c.width, true));
  return chain(make_mobilenet_v2(shape, data.outputs, c.dropout));
}

}  // namespace taeda::cli
