// A fixed set of 30 small functions: none may be slower compiled than as it is, and the interpreter alone must pay.
// no peer
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <vector>

#include "benchmarks/backends.h"
#include "benchmarks/networks.h"

namespace {

using namespace taeda;  // NOLINT(google-build-using-namespace)
using bench::training;
using Call = std::function<Tensor()>;

/// A closure that does not record gradients.
template <class F>
Call plain(F f) {
  return [f]() mutable {
    const NoGradGuard off;
    return Tensor(f());
  };
}
Tensor parameter(IntArrayRef sizes) { return randn(sizes).mul_(0.1).requires_grad_(true); }

struct Function {
  const char* name;
  Call (*make)();
};

// Activations and arithmetic.
Call gelu_formula() {
  return plain([x = randn({64, 1024})] { return x * 0.5 * (tanh((x + x.pow(3) * 0.044715) * 0.7978845608) + 1); });
}
Call gated_swish() {
  return plain([x = randn({64, 1024}), y = randn({64, 1024})] { return x * sigmoid(x) * y; });
}
Call mish_formula() {
  return plain([x = randn({16384})] { return x * tanh(log1p(exp(x))); });
}
Call polynomial() {
  return plain([x = rand({262144})] { return (((x * 0.2 + 0.3) * x - 0.7) * x + 1.1) * x - 0.5; });
}
Call logistic_map() {
  return plain([x = rand({4096})] {
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = y * 3.7 * (1 - y);
    return y;
  });
}
Call mandelbrot() {
  return plain([re = linspace(-2, 1, 96).repeat({96, 1}), im = linspace(-1, 1, 96).unsqueeze(1).repeat({1, 96})] {
    Tensor a = zeros_like(re), b = zeros_like(re), inside = zeros_like(re);
    for (int i = 0; i < 12; ++i) {
      const Tensor next = a * a - b * b + re;
      b = a * b * 2 + im;
      a = next;
      inside = inside + (a * a + b * b < 4).to(kFloat);
    }
    return inside;
  });
}
Call gamma_image() {
  return plain([x = rand({3, 96, 96})] { return (x.clamp(0.01, 1).pow(1 / 2.2) * 255).round().clamp(0, 255); });
}
Call moving_average() {
  return plain([x = randn({16384}), m = zeros({16384}), v = ones({16384})]() mutable {
    m.mul_(0.9).add_(x, 0.1);
    v.mul_(0.999).addcmul_(x, x, 0.001);
    return m / (v.sqrt() + 1e-8);
  });
}
Call heat_step() {
  return plain([u = rand({130, 130})] {
    const auto part = [&](int64_t i, int64_t j) { return u.narrow(0, i, 128).narrow(1, j, 128); };
    return part(1, 1) + (part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2) - part(1, 1) * 4) * 0.1;
  });
}
Call rotate_pairs() {
  return plain([q = randn({4, 64, 64}), c = randn({64, 32}), s = randn({64, 32})] {
    const Tensor a = q.narrow(2, 0, 32), b = q.narrow(2, 32, 32);
    return cat({a * c - b * s, b * c + a * s}, 2);
  });
}
Call quaternions() {
  return plain([p = randn({4, 8192}), q = randn({4, 8192})] {
    const Tensor a = p[0], b = p[1], c = p[2], d = p[3], e = q[0], f = q[1], g = q[2], h = q[3];
    return stack({a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e});
  });
}
Call wave_encoding() {
  return plain([t = arange(128, kFloat).unsqueeze(1), w = arange(32, kFloat)] {
    const Tensor angle = t * exp(w * -0.29);
    return cat({sin(angle), cos(angle)}, 1);
  });
}

// Rows: norms, softmax, distances, losses.
Call rms_norm_formula() {
  return plain([x = randn({64, 512}), w = randn({512})] { return x * rsqrt((x * x).mean(-1, true) + 1e-6) * w; });
}
Call layer_norm_formula() {
  return plain([x = randn({64, 512}), w = randn({512}), b = randn({512})] {
    const Tensor d = x - x.mean(-1, true);
    return d * rsqrt((d * d).mean(-1, true) + 1e-5) * w + b;
  });
}
Call cool_softmax() {
  return plain([x = randn({64, 512}), bias = randn({512})] { return softmax((x + bias) / 0.7, -1); });
}
Call standardize() {
  return plain([x = randn({65536})] {
    const Tensor d = x - x.mean();
    return d / ((d * d).mean().sqrt() + 1e-6);
  });
}
Call cosine_rows() {
  return plain([x = randn({256, 128}), y = randn({256, 128})] {
    return (x * y).sum(-1) * rsqrt((x * x).sum(-1) + 1e-8) * rsqrt((y * y).sum(-1) + 1e-8);
  });
}
Call distance_rows() {
  return plain([x = randn({256, 128}), y = randn({256, 128})] { return (x - y).pow(2).sum(-1).sqrt(); });
}
Call huber_loss_formula() {
  return plain([x = randn({65536}), y = randn({65536})] {
    const Tensor d = (x - y).abs();
    return where(d < 1, d * d * 0.5, d - 0.5).mean();
  });
}
Call logits_loss() {
  return plain([x = randn({32768}), y = rand({32768})] { return (x.clamp_min(0) - x * y + log1p(exp(-x.abs()))).mean(); });
}
Call divergence() {
  return plain([x = randn({64, 512}), y = randn({64, 512})] {
    const Tensor p = log_softmax(x, -1);
    return (exp(p) * (p - log_softmax(y, -1))).sum(-1).mean();
  });
}
Call clip_norm() {
  return plain([g = std::vector<Tensor>{randn({64, 64}), randn({64}), randn({64, 64}), randn({64})}]() mutable {
    Tensor total = (g[0] * g[0]).sum();
    for (size_t i = 1; i < g.size(); ++i) total = total + (g[i] * g[i]).sum();
    const Tensor scale = (1.0 / (total.sqrt() + 1e-6)).clamp_max(1);
    for (Tensor& t : g) t.mul_(scale);
    return total;
  });
}

// Networks.
Call perceptron_inference() {
  nn::Sequential model(nn::Linear(64, 128), nn::GELU(), nn::Linear(128, 128), nn::GELU(), nn::Linear(128, 10));
  return plain([model, x = randn({32, 64})]() mutable { return softmax(model->forward(x), -1); });
}
Call small_attention() {
  return plain([q = randn({4, 32, 32}), k = randn({4, 32, 32}), v = randn({4, 32, 32})] {
    return softmax(q.bmm(k.transpose(1, 2)) * 0.17677669, -1).bmm(v);
  });
}
Call convolution_block() {
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(8, 16, 3).padding(1)), nn::BatchNorm2d(16), nn::ReLU());
  model->eval();
  return plain([model, x = randn({1, 8, 24, 24})]() mutable { return model->forward(x); });
}
Call logistic_regression() {
  const Tensor w = parameter({64}), b = parameter({1}), x = randn({128, 64}), y = rand({128}).round();
  return training<optim::SGD>({w, b}, 0.1, [=] {
    const Tensor z = x.mv(w) + b;
    return (z.clamp_min(0) - z * y + log1p(exp(-z.abs()))).mean();
  });
}
Call perceptron_training() {
  nn::Sequential model(nn::Linear(32, 64), nn::Tanh(), nn::Linear(64, 1));
  return training<optim::Adam>(model->parameters(), 1e-3, [model, x = randn({64, 32}), y = randn({64, 1})]() mutable {
    return (model->forward(x) - y).pow(2).mean();
  });
}
Call normalised_training() {
  nn::Sequential model(nn::LayerNorm(nn::LayerNormOptions({64})), nn::Linear(64, 128), nn::GELU(), nn::Linear(128, 64));
  return training<optim::AdamW>(model->parameters(), 1e-3, [model, x = randn({32, 64})]() mutable {
    return (x + model->forward(x)).pow(2).mean();
  });
}
Call recurrent_training() {
  const Tensor w = parameter({32, 64}), u = parameter({64, 64}), b = parameter({64}), x = randn({10, 16, 32});
  return training<optim::SGD>({w, u, b}, 0.01, [=] {
    Tensor h = zeros({16, 64});
    for (int64_t t = 0; t < 10; ++t) {
      const Tensor z = sigmoid(x[t].mm(w) + h.mm(u) + b);
      h = z * h + (1 - z) * tanh(x[t].mm(w));
    }
    return h.pow(2).mean();
  });
}
Call focal_training() {
  const Tensor w = parameter({32, 10}), x = randn({128, 32}), y = randint(0, 10, {128}, kLong);
  return training<optim::SGD>({w}, 0.1, [=] {
    const Tensor p = log_softmax(x.mm(w), -1).gather(1, y.unsqueeze(1));
    return -((1 - exp(p)).pow(2) * p).mean();
  });
}

constexpr Function kFunctions[] = {
    {"gelu_formula", gelu_formula},
    {"gated_swish", gated_swish},
    {"mish_formula", mish_formula},
    {"polynomial", polynomial},
    {"logistic_map", logistic_map},
    {"mandelbrot", mandelbrot},
    {"gamma_image", gamma_image},
    {"moving_average", moving_average},
    {"heat_step", heat_step},
    {"rotate_pairs", rotate_pairs},
    {"quaternions", quaternions},
    {"wave_encoding", wave_encoding},
    {"rms_norm_formula", rms_norm_formula},
    {"layer_norm_formula", layer_norm_formula},
    {"cool_softmax", cool_softmax},
    {"standardize", standardize},
    {"cosine_rows", cosine_rows},
    {"distance_rows", distance_rows},
    {"huber_loss_formula", huber_loss_formula},
    {"logits_loss", logits_loss},
    {"divergence", divergence},
    {"clip_norm", clip_norm},
    {"perceptron_inference", perceptron_inference},
    {"small_attention", small_attention},
    {"convolution_block", convolution_block},
    {"logistic_regression", logistic_regression},
    {"perceptron_training", perceptron_training},
    {"normalised_training", normalised_training},
    {"recurrent_training", recurrent_training},
    {"focal_training", focal_training},
};
static_assert(std::size(kFunctions) == 30);

}  // namespace

int main(int argc, char** argv) {
  for (const Function& f : kFunctions) bench::every_backend(f.name, f.make, "mean_");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
