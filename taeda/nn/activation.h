// SPDX-License-Identifier: Apache-2.0
// Activation functions as modules.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/module.h"

namespace taeda::nn {

/// See functional::elu.
class TAEDA_API ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(const ELUOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  ELUOptions options;
};
TAEDA_MODULE(ELU);

/// See functional::selu.
class TAEDA_API SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(const SELUOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  SELUOptions options;
};
TAEDA_MODULE(SELU);

/// See functional::hardshrink.
class TAEDA_API HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(const HardshrinkOptions& options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  HardshrinkOptions options;
};
TAEDA_MODULE(Hardshrink);

/// See functional::hardtanh.
class TAEDA_API HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  HardtanhOptions options;
};
TAEDA_MODULE(Hardtanh);

/// See functional::leaky_relu.
class TAEDA_API LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  LeakyReLUOptions options;
};
TAEDA_MODULE(LeakyReLU);

/// See functional::softmax.
class TAEDA_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit SoftmaxImpl(const SoftmaxOptions& options_) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  SoftmaxOptions options;
};
TAEDA_MODULE(Softmax);

/// See functional::softmin.
class TAEDA_API SoftminImpl : public Cloneable<SoftminImpl> {
 public:
  explicit SoftminImpl(int64_t dim) : SoftminImpl(SoftminOptions(dim)) {}
  explicit SoftminImpl(const SoftminOptions& options_) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  SoftminOptions options;
};
TAEDA_MODULE(Softmin);

/// See functional::log_softmax.
class TAEDA_API LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& options_) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  LogSoftmaxOptions options;
};
TAEDA_MODULE(LogSoftmax);

/// See functional::relu.
class TAEDA_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  ReLUOptions options;
};
TAEDA_MODULE(ReLU);

/// See functional::relu6.
class TAEDA_API ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(const ReLU6Options& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  ReLU6Options options;
};
TAEDA_MODULE(ReLU6);

/// See functional::celu.
class TAEDA_API CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(const CELUOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  CELUOptions options;
};
TAEDA_MODULE(CELU);

/// See functional::glu.
class TAEDA_API GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(const GLUOptions& options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  GLUOptions options;
};
TAEDA_MODULE(GLU);

/// See functional::gelu.
class TAEDA_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(const GELUOptions& options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  GELUOptions options;
};
TAEDA_MODULE(GELU);

/// See functional::softplus.
class TAEDA_API SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(const SoftplusOptions& options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  SoftplusOptions options;
};
TAEDA_MODULE(Softplus);

/// See functional::softshrink.
class TAEDA_API SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  SoftshrinkOptions options;
};
TAEDA_MODULE(Softshrink);

/// See functional::threshold.
class TAEDA_API ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(const ThresholdOptions& options_) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  ThresholdOptions options;
};
TAEDA_MODULE(Threshold);

/// See functional::rrelu.
class TAEDA_API RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(const RReLUOptions& options_ = {}) : options(options_) {}
  Tensor forward(Tensor input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  RReLUOptions options;
};
TAEDA_MODULE(RReLU);

class TAEDA_API LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(LogSigmoid);

class TAEDA_API SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(SiLU);

class TAEDA_API MishImpl : public Cloneable<MishImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Mish);

class TAEDA_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Sigmoid);

class TAEDA_API SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Softsign);

class TAEDA_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Tanh);

class TAEDA_API TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Tanhshrink);

/// Softmax over the channels of each position of (N, C, H, W) or (C, H, W).
class TAEDA_API Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Softmax2d);

/// max(0, x) + weight · min(0, x) with a learned weight (He et al. 2015).
class TAEDA_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {});
  Tensor forward(const Tensor& input);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  PReLUOptions options;
  Tensor weight;
};
TAEDA_MODULE(PReLU);

}  // namespace taeda::nn
