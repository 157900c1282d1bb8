// SPDX-License-Identifier: Apache-2.0
// Initialisers, drawing as PyTorch draws: equal seeds give equal numbers.
#include "taeda/nn/init.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/grad_mode.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn::init {

namespace {
double kaiming_gain_over_fan(const Tensor& tensor, double a, const FanModeType& mode, const NonlinearityType& nonlinearity) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const double gain = calculate_gain(nonlinearity, a);
  const int64_t fan = std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out;
  return gain / std::sqrt(static_cast<double>(fan));
}
}  // namespace

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  TAEDA_CHECK(tensor.dim() >= 2, "[init] Fan in and fan out can not be computed for tensor with fewer than 2 dimensions: got ",
              tensor.sizes(), "; use uniform_ or normal_");
  int64_t receptive = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) receptive *= tensor.size(d);
  return {tensor.size(1) * receptive, tensor.size(0) * receptive};
}

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

Tensor constant_(Tensor tensor, Scalar value) {
  const NoGradGuard guard;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor normal_(const Tensor& tensor, double mean, double std) {
  const NoGradGuard guard;
  return tensor.normal_(mean, std);
}
Tensor uniform_(const Tensor& tensor, double low, double high) {
  const NoGradGuard guard;
  return tensor.uniform_(low, high);
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  const NoGradGuard guard;
  TAEDA_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5, "[dirac_] Only tensors with 3, 4, or 5 dimensions are supported: got ",
              tensor.sizes(), "; use eye_ for matrices");
  tensor.zero_();
  TAEDA_CHECK(groups > 0 && tensor.size(0) % groups == 0, "[dirac_] output channels must be divisible by groups: got ",
              tensor.size(0), " and ", groups, "; change one of them");
  const int64_t each = tensor.size(0) / groups;
  const int64_t channels = std::min(each, tensor.size(1));
  for (int64_t i = 0; i < groups * channels; ++i) {
    const int64_t c = i % channels;
    Tensor center = tensor.select(0, i / channels * each + c).select(0, c);
    while (center.dim() > 0) center = center.select(0, center.size(0) / 2);
    center.fill_(1);
  }
  return tensor;
}

Tensor eye_(Tensor matrix) {
  const NoGradGuard guard;
  TAEDA_CHECK(matrix.dim() == 2, "[eye_] Only tensors with 2 dimensions are supported: got ", matrix.sizes(), "; pass a matrix");
  matrix.zero_();
  matrix.diagonal().fill_(1);
  return matrix;
}

Tensor orthogonal_(Tensor tensor, double gain) {
  const NoGradGuard guard;
  TAEDA_CHECK(tensor.dim() >= 2, "[orthogonal_] Only tensors with 2 or more dimensions are supported: got ", tensor.sizes(),
              "; use normal_");
  TAEDA_CHECK(tensor.is_floating_point(), "[orthogonal_] the tensor must be floating: got ", tensor.scalar_type(), "; convert it");
  if (tensor.numel() == 0) return tensor;
  const int64_t rows = tensor.size(0);
  const int64_t columns = tensor.numel() / rows;
  Tensor work = taeda::randn({rows, columns});  // in the default dtype whatever the tensor's: the numbers drawn are LibTorch's
  if (rows < columns) work = work.t();
  // Householder QR by Gram-Schmidt would lose orthogonality; reflect columns instead (Golub, Van Loan, alg. 5.2.1).
  Tensor r = work.to(kDouble).contiguous();
  const int64_t m = r.size(0);
  const int64_t n = r.size(1);
  std::vector<Tensor> reflectors;
  for (int64_t k = 0; k < n; ++k) {
    Tensor v = r.slice(0, k, m).select(1, k).clone();
    const double alpha = v[0].item<double>();
    const double length = (v * v).sum().sqrt().item<double>();
    v[0] = alpha + (alpha >= 0 ? length : -length);
    const double square = (v * v).sum().item<double>();
    if (square > 0) {
      Tensor block = r.slice(0, k, m);
      block.sub_(v.unsqueeze(1) * (v.unsqueeze(1) * block).sum(0, true) * (2 / square));
      v = v * std::sqrt(2 / square);
    }
    reflectors.push_back(v);
  }
  Tensor q = taeda::zeros({m, n}, TensorOptions(kDouble));
  q.diagonal().fill_(1);
  for (int64_t k = n; k-- > 0;) {
    const Tensor& v = reflectors[static_cast<size_t>(k)];
    Tensor block = q.slice(0, k, m);
    block.sub_(v.unsqueeze(1) * (v.unsqueeze(1) * block).sum(0, true));
  }
  q = q * r.slice(0, 0, n).diagonal().sign();
  if (rows < columns) q = q.t();
  tensor.view_as(tensor).copy_(q.to(tensor.scalar_type()).reshape(tensor.sizes()));
  return tensor.mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  const NoGradGuard guard;
  TAEDA_CHECK(tensor.dim() == 2, "[sparse_] Only tensors with 2 dimensions are supported: got ", tensor.sizes(), "; pass a matrix");
  const int64_t rows = tensor.size(0);
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < tensor.size(1); ++column) {
    const Tensor order = taeda::randperm(rows, TensorOptions(kLong)).slice(0, 0, zeros);
    tensor.select(1, column).index_fill_(0, order, 0);
  }
  return tensor;
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const double bound = std::sqrt(3.0) * kaiming_gain_over_fan(tensor, a, mode, nonlinearity);
  return init::uniform_(std::move(tensor), -bound, bound);
}
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const double std = kaiming_gain_over_fan(tensor, a, mode, nonlinearity);
  return init::normal_(std::move(tensor), 0, std);
}
Tensor xavier_normal_(Tensor tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return init::normal_(std::move(tensor), 0, gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out)));
}
Tensor xavier_uniform_(Tensor tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const double bound = std::sqrt(3.0) * gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
  return init::uniform_(std::move(tensor), -bound, bound);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  const NoGradGuard guard;
  TAEDA_CHECK(a < b, "[trunc_normal_] the bounds must be ordered: got ", a, " and ", b, "; pass a below b");
  const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double mass = cdf((b - mean) / std) - cdf((a - mean) / std);
  if (mass > 0.3) {
    tensor.normal_(mean, std);
    for (;;) {
      const Tensor outside = tensor.lt(a).logical_or(tensor.gt(b));
      if (!outside.any().item<bool>()) return tensor;
      const Tensor fresh = taeda::empty_like(tensor).normal_(mean, std);
      tensor.copy_(taeda::where(outside, fresh, tensor));
    }
  }
  // Rejection from a uniform proposal: the density inside the bounds relative to its peak there.
  const double peak = std::min(std::max(mean, a), b);
  const double best = -0.5 * (peak - mean) * (peak - mean) / (std * std);
  Tensor settled = taeda::zeros_like(tensor, TensorOptions(kBool));
  while (!settled.all().item<bool>()) {
    const Tensor proposal = taeda::empty_like(tensor).uniform_(a, b);
    const Tensor level = taeda::empty_like(tensor).uniform_().log();
    const Tensor z = (proposal - mean) / std;
    const Tensor accept = level.le(z * z * -0.5 - best).logical_and(settled.logical_not());
    tensor.copy_(taeda::where(accept, proposal, tensor));
    settled = settled.logical_or(accept);
  }
  return tensor;
}

}  // namespace taeda::nn::init
