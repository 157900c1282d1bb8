// SPDX-License-Identifier: Apache-2.0
// Normalisation modules.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/module.h"

namespace taeda::nn {

/// What batch and instance normalisation share: affine parameters and running statistics.
template <size_t D, class Derived, class DerivedOptions>
class TAEDA_API NormImplBase : public Cloneable<Derived> {
 public:
  explicit NormImplBase(DerivedOptions options_) : options(std::move(options_)) { NormImplBase::reset(); }
  void reset() override;
  void reset_running_stats();
  void reset_parameters();
  DerivedOptions options;
  Tensor weight, bias;
  Tensor running_mean, running_var;
  Tensor num_batches_tracked;

 protected:
  void print_options(std::ostream& stream, const char* name, std::optional<double> momentum) const;
};

/// Batch normalisation (Ioffe, Szegedy 2015) over (N, C, …): statistics of the batch in training (which also update the
/// running ones), running statistics in evaluation.
#define TAEDA_DECLARE_NORMS(rank)                                                                                     \
  class TAEDA_API BatchNorm##rank##dImpl : public NormImplBase<rank, BatchNorm##rank##dImpl, BatchNormOptions> {      \
   public:                                                                                                            \
    explicit BatchNorm##rank##dImpl(BatchNormOptions options_) : NormImplBase(std::move(options_)) {}                 \
    Tensor forward(const Tensor& input);                                                                              \
    void pretty_print(std::ostream& stream) const override;                                                           \
  };                                                                                                                  \
  TAEDA_MODULE(BatchNorm##rank##d);                                                                                   \
  class TAEDA_API InstanceNorm##rank##dImpl                                                                           \
      : public NormImplBase<rank, InstanceNorm##rank##dImpl, InstanceNormOptions> {                                   \
   public:                                                                                                            \
    explicit InstanceNorm##rank##dImpl(InstanceNormOptions options_) : NormImplBase(std::move(options_)) {}           \
    Tensor forward(const Tensor& input);                                                                              \
    void pretty_print(std::ostream& stream) const override;                                                           \
  };                                                                                                                  \
  TAEDA_MODULE(InstanceNorm##rank##d)
TAEDA_DECLARE_NORMS(1);
TAEDA_DECLARE_NORMS(2);
TAEDA_DECLARE_NORMS(3);
#undef TAEDA_DECLARE_NORMS

/// Layer normalisation over the last dimensions (Ba, Kiros, Hinton 2016).
class TAEDA_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape) : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  LayerNormOptions options;
  Tensor weight, bias;
};
TAEDA_MODULE(LayerNorm);

/// Group normalisation (Wu, He 2018).
class TAEDA_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels) : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  GroupNormOptions options;
  Tensor weight, bias;
};
TAEDA_MODULE(GroupNorm);

/// Divides by a power of the mean square over neighbouring channels (Krizhevsky, Sutskever, Hinton 2012).
class TAEDA_API LocalResponseNormImpl : public Cloneable<LocalResponseNormImpl> {
 public:
  LocalResponseNormImpl(int64_t size) : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options_) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  LocalResponseNormOptions options;
};
TAEDA_MODULE(LocalResponseNorm);

/// Local response normalisation over (N, C, H, W) with windows that end at the first and last channel. LibTorch's own sums keep the
/// first channels beyond their windows, and its gradients weigh the windows one channel off; here both are what the formula says.
class TAEDA_API CrossMapLRN2dImpl : public Cloneable<CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options_) : options(options_) {}
  Tensor forward(const Tensor& input);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  CrossMapLRN2dOptions options;
};
TAEDA_MODULE(CrossMapLRN2d);

}  // namespace taeda::nn
