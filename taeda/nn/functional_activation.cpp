// SPDX-License-Identifier: Apache-2.0
// Activation functions with options.
#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn::functional {

Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return options.inplace() ? taeda::elu_(input, options.alpha()) : taeda::elu(input, options.alpha());
}
Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return options.inplace() ? taeda::selu_(input) : taeda::selu(input);
}
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return taeda::hardshrink(input, options.lambda());
}
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  return options.inplace() ? taeda::hardtanh_(input, options.min_val(), options.max_val())
                           : taeda::hardtanh(input, options.min_val(), options.max_val());
}
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  return options.inplace() ? taeda::leaky_relu_(input, options.negative_slope())
                           : taeda::leaky_relu(input, options.negative_slope());
}
Tensor logsigmoid(const Tensor& input) { return taeda::log_sigmoid(input); }
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options) {
  const int64_t dim = options.dim();
  Tensor gumbels = -taeda::empty_like(logits).exponential_().log();
  gumbels = (logits + gumbels) / options.tau();
  const Tensor y_soft = gumbels.softmax(dim);
  if (!options.hard()) return y_soft;
  const Tensor index = std::get<1>(y_soft.max(dim, /*keepdim=*/true));
  const Tensor y_hard = taeda::zeros_like(logits).scatter_(dim, index, 1.0);
  return y_hard - y_soft.detach() + y_soft;
}
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return taeda::softmax(input, options.dim(), options.dtype());
}
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return taeda::softmax(-input, options.dim(), options.dtype());
}
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return taeda::log_softmax(input, options.dim(), options.dtype());
}
Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  TAEDA_CHECK(input.dim() != 0, "[glu] glu does not support scalars because halving size must be even; pass one dimension");
  return taeda::glu(input, options.dim());
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& options) { return taeda::gelu(input, options.approximate()); }
Tensor silu(const Tensor& input) { return taeda::silu(input); }
Tensor mish(const Tensor& input) { return taeda::mish(input); }
Tensor prelu(const Tensor& input, const Tensor& weight) { return taeda::prelu(input, weight); }
Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? taeda::relu_(input) : taeda::relu(input);
}
Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return options.inplace() ? taeda::hardtanh_(input, 0, 6) : taeda::hardtanh(input, 0, 6);
}
Tensor rrelu(Tensor input, const RReLUFuncOptions& options) {
  return options.inplace() ? taeda::rrelu_(input, options.lower(), options.upper(), options.training())
                           : taeda::rrelu(input, options.lower(), options.upper(), options.training());
}
Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return options.inplace() ? taeda::celu_(input, options.alpha()) : taeda::celu(input, options.alpha());
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return taeda::softplus(input, options.beta(), options.threshold());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return taeda::softshrink(input, options.lambda());
}
Tensor softsign(const Tensor& input) { return input / (input.abs() + 1); }
Tensor tanhshrink(const Tensor& input) { return input - input.tanh(); }
Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  return options.inplace() ? taeda::threshold_(input, options.threshold(), options.value())
                           : taeda::threshold(input, options.threshold(), options.value());
}

}  // namespace taeda::nn::functional
