// SPDX-License-Identifier: Apache-2.0
// Linear maps and modules that change shapes.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/module.h"

namespace taeda::nn {

/// Passes its input through.
class TAEDA_API IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  Tensor forward(const Tensor& input) { return input; }
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
};
TAEDA_MODULE(Identity);

/// y = x Wᵀ + b over the last dimension. weight (out_features, in_features), bias (out_features).
class TAEDA_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features) : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
TAEDA_MODULE(Linear);

/// y_o = x1ᵀ W_o x2 + b_o. weight (out, in1, in2), bias (out).
class TAEDA_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);
  BilinearOptions options;
  Tensor weight;
  Tensor bias;
};
TAEDA_MODULE(Bilinear);

/// Merges the dimensions from start_dim to end_dim.
class TAEDA_API FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  FlattenOptions options;
};
TAEDA_MODULE(Flatten);

/// Splits one dimension into several.
class TAEDA_API UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes) : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions options_) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  UnflattenOptions options;
};
TAEDA_MODULE(Unflatten);

}  // namespace taeda::nn
