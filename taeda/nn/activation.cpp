// SPDX-License-Identifier: Apache-2.0
// Activation modules: calls and printing.
#include "taeda/nn/activation.h"

#include <ostream>

#include "taeda/ops/functions.h"

namespace taeda::nn {

namespace F = functional;

namespace {
/// "inplace=true" after the other options, only when it is set. As elsewhere here, `std::boolalpha` stays where LibTorch leaves it:
/// what a program prints after a module looks the same.
void print_inplace(std::ostream& stream, bool inplace, bool first) {
  if (inplace) stream << (first ? "" : ", ") << "inplace=" << std::boolalpha << true;
  stream << ")";
}
}  // namespace

Tensor ELUImpl::forward(Tensor input) { return F::elu(input, noted(options)); }
void ELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ELU(alpha=" << options.alpha();
  print_inplace(stream, options.inplace(), false);
}
Tensor SELUImpl::forward(Tensor input) { return F::selu(input, noted(options)); }
void SELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SELU(";
  print_inplace(stream, options.inplace(), true);
}
Tensor HardshrinkImpl::forward(const Tensor& input) { return F::hardshrink(input, noted(options)); }
void HardshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardshrink(" << options.lambda() << ")";
}
Tensor HardtanhImpl::forward(Tensor input) { return F::hardtanh(input, noted(options)); }
void HardtanhImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardtanh(min_val=" << options.min_val() << ", max_val=" << options.max_val();
  print_inplace(stream, options.inplace(), false);
}
Tensor LeakyReLUImpl::forward(Tensor input) { return F::leaky_relu(input, noted(options)); }
void LeakyReLUImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LeakyReLU(negative_slope=" << options.negative_slope();
  print_inplace(stream, options.inplace(), false);
}
Tensor SoftmaxImpl::forward(const Tensor& input) { return F::softmax(input, F::SoftmaxFuncOptions(noted(options).dim())); }
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmax(dim=" << options.dim() << ")";
}
Tensor SoftminImpl::forward(const Tensor& input) { return F::softmin(input, F::SoftminFuncOptions(noted(options).dim())); }
void SoftminImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmin(dim=" << options.dim() << ")";
}
Tensor LogSoftmaxImpl::forward(const Tensor& input) {
  return F::log_softmax(input, F::LogSoftmaxFuncOptions(noted(options).dim()));
}
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSoftmax(dim=" << options.dim() << ")";
}
Tensor ReLUImpl::forward(Tensor input) { return F::relu(input, noted(options)); }
void ReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ReLU(";
  print_inplace(stream, options.inplace(), true);
}
Tensor ReLU6Impl::forward(Tensor input) { return F::relu6(input, noted(options)); }
void ReLU6Impl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ReLU6(";
  print_inplace(stream, options.inplace(), true);
}
Tensor CELUImpl::forward(Tensor input) { return F::celu(input, noted(options)); }
void CELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CELU(alpha=" << options.alpha();
  print_inplace(stream, options.inplace(), false);
}
Tensor GLUImpl::forward(const Tensor& input) { return F::glu(input, noted(options)); }
void GLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::GLU(dim=" << options.dim() << ")";
}
Tensor GELUImpl::forward(const Tensor& input) { return F::gelu(input, noted(options)); }
void GELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::GELU(" << ")";
}
Tensor SoftplusImpl::forward(const Tensor& input) { return F::softplus(input, noted(options)); }
void SoftplusImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softplus(beta=" << options.beta() << ", threshold=" << options.threshold() << ")";
}
Tensor SoftshrinkImpl::forward(const Tensor& input) { return F::softshrink(input, noted(options)); }
void SoftshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softshrink(" << options.lambda() << ")";
}
Tensor ThresholdImpl::forward(Tensor input) { return F::threshold(input, noted(options)); }
void ThresholdImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Threshold(threshold=" << options.threshold() << ", value=" << options.value();
  print_inplace(stream, options.inplace(), false);
}
Tensor RReLUImpl::forward(Tensor input) { return F::rrelu(input, F::RReLUFuncOptions().lower(noted(options).lower()).upper(options.upper()).training(is_training()).inplace(options.inplace())); }
void RReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::RReLU(lower=" << options.lower() << ", upper=" << options.upper();
  print_inplace(stream, options.inplace(), false);
}
Tensor LogSigmoidImpl::forward(const Tensor& input) { return F::logsigmoid(input); }
void LogSigmoidImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::LogSigmoid()"; }
Tensor SiLUImpl::forward(const Tensor& input) { return F::silu(input); }
void SiLUImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::SiLU()"; }
Tensor MishImpl::forward(const Tensor& input) { return F::mish(input); }
void MishImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Mish()"; }
Tensor SigmoidImpl::forward(const Tensor& input) { return taeda::sigmoid(input); }
void SigmoidImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sigmoid()"; }
Tensor SoftsignImpl::forward(const Tensor& input) { return F::softsign(input); }
void SoftsignImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Softsign()"; }
Tensor TanhImpl::forward(const Tensor& input) { return taeda::tanh(input); }
void TanhImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Tanh()"; }
Tensor TanhshrinkImpl::forward(const Tensor& input) { return F::tanhshrink(input); }
void TanhshrinkImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Tanhshrink()"; }

Tensor Softmax2dImpl::forward(const Tensor& input) {
  TAEDA_CHECK(input.dim() == 4 || input.dim() == 3, "[Softmax2d] requires a 3D or 4D tensor as input: got ", input.sizes(),
              "; add dimensions");
  return taeda::softmax(input, -3);
}
void Softmax2dImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Softmax2d()"; }

PReLUImpl::PReLUImpl(const PReLUOptions& options_) : options(options_) { PReLUImpl::reset(); }
Tensor PReLUImpl::forward(const Tensor& input) { return F::prelu(input, weight); }
void PReLUImpl::reset() {
  weight = register_parameter("weight", taeda::full(IntArrayRef(options.num_parameters()), options.init(), TensorOptions()));
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
}

}  // namespace taeda::nn
