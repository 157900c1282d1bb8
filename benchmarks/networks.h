// What several benchmarks share: a character GPT, ResNet-50, a training step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "benchmarks/peer.h"

namespace bench {

using torch::Tensor;
namespace nn = torch::nn;

/// A closure that computes a loss, goes backward, and takes a step.
template <class Optimizer, class Loss>
std::function<Tensor()> training(std::vector<Tensor> parameters, double lr, Loss loss) {
  const auto optimizer = std::make_shared<Optimizer>(std::move(parameters), lr);
  return [=]() mutable {
    optimizer->zero_grad();
    Tensor l = loss();
    l.backward();
    optimizer->step();
    return l;
  };
}

inline constexpr int64_t kWidth = 128, kHeads = 4, kBlock = 64, kBatch = 12, kVocabulary = 65;

/// Attention to what came before and a feed-forward network, each on a normalised input.
struct GptBlockImpl : nn::Module {
  nn::LayerNorm norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::Linear qkv = register_module("qkv", nn::Linear(kWidth, 3 * kWidth));
  nn::Linear proj = register_module("proj", nn::Linear(kWidth, kWidth));
  nn::LayerNorm norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::Linear up = register_module("up", nn::Linear(kWidth, 4 * kWidth));
  nn::Linear down = register_module("down", nn::Linear(4 * kWidth, kWidth));

  Tensor forward(Tensor x) {
    const int64_t batch = x.size(0), length = x.size(1);
    const auto parts = qkv(norm1(x)).split(kWidth, 2);
    const auto heads = [&](const Tensor& t) { return t.view({batch, length, kHeads, kWidth / kHeads}).transpose(1, 2); };
    const Tensor mixed = torch::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), {}, 0.0, true);
    x = x + proj(mixed.transpose(1, 2).reshape({batch, length, kWidth}));
    return x + down(torch::gelu(up(norm2(x))));
  }
};
TORCH_MODULE(GptBlock);

struct Gpt : nn::Module {
  nn::Embedding token = register_module("token", nn::Embedding(kVocabulary, kWidth));
  nn::Embedding position = register_module("position", nn::Embedding(kBlock, kWidth));
  std::vector<GptBlock> blocks;
  nn::LayerNorm norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::Linear head = register_module("head", nn::Linear(nn::LinearOptions(kWidth, kVocabulary).bias(false)));

  Gpt() {
    for (int i = 0; i < 4; ++i) blocks.push_back(register_module("block" + std::to_string(i), GptBlock()));
  }
  Tensor forward(const Tensor& text) {
    Tensor x = token(text) + position(torch::arange(text.size(1), torch::kLong));
    for (auto& block : blocks) x = block(x);
    return head(norm(x));
  }
};

inline nn::Conv2d convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}
inline nn::ReLU relu() { return nn::ReLU(nn::ReLUOptions().inplace(true)); }

/// 1×1, 3×3, 1×1 around which the input passes (He, Zhang, Ren, Sun 2016).
struct BottleneckImpl : nn::Module {
  nn::Sequential body, side;
  BottleneckImpl(int64_t in, int64_t width, int64_t stride)
      : body(convolution(in, width, 1, 1), nn::BatchNorm2d(width), relu(), convolution(width, width, 3, stride), nn::BatchNorm2d(width), relu(),
             convolution(width, 4 * width, 1, 1), nn::BatchNorm2d(4 * width)) {
    register_module("body", body);
    if (stride != 1 || in != 4 * width) {
      side = nn::Sequential(convolution(in, 4 * width, 1, stride), nn::BatchNorm2d(4 * width));
      register_module("side", side);
    }
  }
  Tensor forward(const Tensor& x) { return body->forward(x).add_(side->is_empty() ? x : side->forward(x)).relu_(); }
};
TORCH_MODULE(Bottleneck);

inline nn::Sequential resnet50() {
  nn::Sequential model(convolution(3, 64, 7, 2), nn::BatchNorm2d(64), relu(),
                       nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int64_t in = 64;
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t i = 0; i < blocks[stage]; ++i) {
      model->push_back(Bottleneck(in, width, i == 0 && stage > 0 ? 2 : 1));
      in = 4 * width;
    }
  }
  model->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1)));
  model->push_back(nn::Flatten());
  model->push_back(nn::Linear(in, 1000));
  model->eval();
  return model;
}

}  // namespace bench
