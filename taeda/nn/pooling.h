// SPDX-License-Identifier: Apache-2.0
// Pooling modules.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/module.h"

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
    void reset() override {}                                                                                  \
    void pretty_print(std::ostream& stream) const override;                                                   \
    AdaptiveMaxPool##rank##dOptions options;                                                                  \
  };                                                                                                          \
  TAEDA_MODULE(AdaptiveMaxPool##rank##d)
TAEDA_DECLARE_POOLS(1, ExpandingArray<1>);
TAEDA_DECLARE_POOLS(2, ExpandingArrayWithOptionalElem<2>);
TAEDA_DECLARE_POOLS(3, ExpandingArrayWithOptionalElem<3>);
#undef TAEDA_DECLARE_POOLS

}  // namespace taeda::nn
