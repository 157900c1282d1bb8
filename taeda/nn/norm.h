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

}  // namespace taeda::nn
