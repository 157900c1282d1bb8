// SPDX-License-Identifier: Apache-2.0
// Gradient clipping and flattening of parameters.
#include "taeda/nn/utils.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/grad_mode.h"
#include "taeda/ops/functions.h"

namespace taeda::nn::utils {

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  std::vector<Tensor> grads;
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) grads.push_back(p.grad());
  }
  if (grads.empty()) return 0.0;
  double total = 0;
  for (const Tensor& g : grads) {
    const Tensor x = g.to(kFloat == g.scalar_type() || kDouble == g.scalar_type() ? g.scalar_type() : kFloat);
    if (std::isinf(norm_type)) {
      total = std::max(total, x.numel() ? x.abs().max().item<double>() : 0.0);
    } else if (norm_type == 2.0) {
      total += (x.scalar_type() == kDouble ? x.square().sum() : x.square().sum(kDouble)).item<double>();
    } else {
      total += x.abs().pow(norm_type).sum().item<double>();
    }
  }
  if (!std::isinf(norm_type)) total = std::pow(total, 1.0 / norm_type);
  TAEDA_CHECK(!error_if_nonfinite || std::isfinite(total), "[clip_grad_norm_] The total norm of order ", norm_type,
              " for gradients is non-finite, so it cannot be clipped: got ", total, "; look for the first NaN with anomaly mode");
  const double coefficient = max_norm / (total + 1e-6);
  if (coefficient < 1) {
    for (const Tensor& g : grads) g.mul_(coefficient);
  }
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) p.grad().clamp_(-clip_value, clip_value);
  }
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> parts;
  for (const Tensor& p : parameters) parts.push_back(p.reshape(IntArrayRef(int64_t{-1})));
  return taeda::cat(parts, 0);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  const NoGradGuard no_grad;
  int64_t at = 0;
  for (const Tensor& p : parameters) {
    p.copy_(vec.slice(0, at, at + p.numel()).reshape(p.sizes()));
    at += p.numel();
  }
}

}  // namespace taeda::nn::utils
