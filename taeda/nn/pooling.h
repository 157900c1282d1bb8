// SPDX-License-Identifier: Apache-2.0
// Pooling modules.
#pragma once

#include "taeda/nn/any.h"
#include "taeda/nn/options_conv.h"

namespace taeda::nn {

#define TAEDA_DECLARE_POOLS(rank, adaptive_size)                                                              \
  class TAEDA_API MaxPool##rank##dImpl : public Cloneable<MaxPool##rank##dImpl> {                             \
   public:                                                                                                    \
    MaxPool##rank##dImpl(ExpandingArray<rank> kernel_size) : options(kernel_size) {}                          \
    explicit MaxPool##rank##dImpl(const MaxPool##rank##dOptions& options_) : options(options_) {}             \
    Tensor forward(const Tensor& input);                                                                      \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                                     \
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    MaxPool##rank##dOptions options;                                                                          \
  };                                                                                                          \
  TAEDA_MODULE(MaxPool##rank##d);                                                                             \
  class TAEDA_API AvgPool##rank##dImpl : public Cloneable<AvgPool##rank##dImpl> {                             \
   public:                                                                                                    \
    AvgPool##rank##dImpl(ExpandingArray<rank> kernel_size) : options(kernel_size) {}                          \
    explicit AvgPool##rank##dImpl(const AvgPool##rank##dOptions& options_) : options(options_) {}             \
    Tensor forward(const Tensor& input);                                                                      \
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    AvgPool##rank##dOptions options;                                                                          \
  };                                                                                                          \
  TAEDA_MODULE(AvgPool##rank##d);                                                                             \
  class TAEDA_API AdaptiveAvgPool##rank##dImpl : public Cloneable<AdaptiveAvgPool##rank##dImpl> {             \
   public:                                                                                                    \
    AdaptiveAvgPool##rank##dImpl(adaptive_size output_size) : options(output_size) {}                         \
    explicit AdaptiveAvgPool##rank##dImpl(const AdaptiveAvgPool##rank##dOptions& options_) : options(options_) {} \
    Tensor forward(const Tensor& input);                                                                      \
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    AdaptiveAvgPool##rank##dOptions options;                                                                  \
  };                                                                                                          \
  TAEDA_MODULE(AdaptiveAvgPool##rank##d);                                                                     \
  class TAEDA_API AdaptiveMaxPool##rank##dImpl : public Cloneable<AdaptiveMaxPool##rank##dImpl> {             \
   public:                                                                                                    \
    AdaptiveMaxPool##rank##dImpl(adaptive_size output_size) : options(output_size) {}                         \
    explicit AdaptiveMaxPool##rank##dImpl(const AdaptiveMaxPool##rank##dOptions& options_) : options(options_) {} \
    Tensor forward(const Tensor& input);                                                                      \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                                     \
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    AdaptiveMaxPool##rank##dOptions options;                                                                  \
  };                                                                                                          \
  TAEDA_MODULE(AdaptiveMaxPool##rank##d)
TAEDA_DECLARE_POOLS(1, ExpandingArray<1>);
TAEDA_DECLARE_POOLS(2, ExpandingArrayWithOptionalElem<2>);
TAEDA_DECLARE_POOLS(3, ExpandingArrayWithOptionalElem<3>);
#undef TAEDA_DECLARE_POOLS

/// MaxUnpool puts the values of a max pooling back where the indices say. LPPool is the p-norm of each window.
#define TAEDA_DECLARE_MORE_POOLS(rank)                                                                        \
  class TAEDA_API MaxUnpool##rank##dImpl : public Cloneable<MaxUnpool##rank##dImpl> {                         \
   public:                                                                                                    \
    MaxUnpool##rank##dImpl(ExpandingArray<rank> kernel_size) : options(kernel_size) {}                        \
    explicit MaxUnpool##rank##dImpl(const MaxUnpool##rank##dOptions& options_) : options(options_) {}         \
    Tensor forward(const Tensor& input, const Tensor& indices,                                                \
                   const std::optional<std::vector<int64_t>>& output_size = std::nullopt);                    \
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    MaxUnpool##rank##dOptions options;                                                                        \
    TAEDA_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())})                      \
  };                                                                                                          \
  TAEDA_MODULE(MaxUnpool##rank##d);                                                                           \
  class TAEDA_API LPPool##rank##dImpl : public Cloneable<LPPool##rank##dImpl> {                               \
   public:                                                                                                    \
    LPPool##rank##dImpl(double norm_type, ExpandingArray<rank> kernel_size) : options(norm_type, kernel_size) {} \
    explicit LPPool##rank##dImpl(const LPPool##rank##dOptions& options_) : options(options_) {}               \
    Tensor forward(const Tensor& input);                                                                      \
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    LPPool##rank##dOptions options;                                                                           \
  };                                                                                                          \
  TAEDA_MODULE(LPPool##rank##d)
TAEDA_DECLARE_MORE_POOLS(1);
TAEDA_DECLARE_MORE_POOLS(2);
TAEDA_DECLARE_MORE_POOLS(3);
#undef TAEDA_DECLARE_MORE_POOLS

/// Fractional max pooling (Graham 2014): windows at random places that give the output size or ratio asked for.
#define TAEDA_DECLARE_FRACTIONAL_POOL(rank)                                                                   \
  class TAEDA_API FractionalMaxPool##rank##dImpl : public Cloneable<FractionalMaxPool##rank##dImpl> {         \
   public:                                                                                                    \
    FractionalMaxPool##rank##dImpl(ExpandingArray<rank> kernel_size)                                          \
        : FractionalMaxPool##rank##dImpl(FractionalMaxPool##rank##dOptions(kernel_size)) {}                   \
    explicit FractionalMaxPool##rank##dImpl(FractionalMaxPool##rank##dOptions options_);                      \
    Tensor forward(const Tensor& input);                                                                      \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                                     \
    void reset() override;                                                                                    \
    void pretty_print(std::ostream& stream) const override;                                                   \
    FractionalMaxPool##rank##dOptions options;                                                                \
    Tensor _random_samples;                                                                                   \
  };                                                                                                          \
  TAEDA_MODULE(FractionalMaxPool##rank##d)
TAEDA_DECLARE_FRACTIONAL_POOL(2);
TAEDA_DECLARE_FRACTIONAL_POOL(3);
#undef TAEDA_DECLARE_FRACTIONAL_POOL

}  // namespace taeda::nn
