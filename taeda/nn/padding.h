// SPDX-License-Identifier: Apache-2.0
// Padding modules. Amounts are given for the last dimension first, before and after; one number stands for all.
#pragma once

#include "taeda/nn/module.h"
#include "taeda/nn/options_shape.h"

namespace taeda::nn {

/// Pads the last D dimensions: mirrored without the edge (Reflection), with the edge repeated (Replication), or with zeros.
#define TAEDA_DECLARE_PAD_FAMILY(Name)                                                              \
  template <size_t D, class Derived>                                                                \
  class TAEDA_API Name##Impl : public Cloneable<Derived> {                                          \
   public:                                                                                          \
    Name##Impl(ExpandingArray<D * 2> padding) : Name##Impl(Name##Options<D>(padding)) {}            \
    explicit Name##Impl(const Name##Options<D>& options_) : options(options_) {}                    \
    void reset() override {}                                                                        \
    Tensor forward(const Tensor& input);                                                            \
    void pretty_print(std::ostream& stream) const override;                                         \
    Name##Options<D> options;                                                                       \
  }
TAEDA_DECLARE_PAD_FAMILY(ReflectionPad);
TAEDA_DECLARE_PAD_FAMILY(ReplicationPad);
TAEDA_DECLARE_PAD_FAMILY(ZeroPad);
#undef TAEDA_DECLARE_PAD_FAMILY

/// Pads the last D dimensions with a value.
template <size_t D, class Derived>
class TAEDA_API ConstantPadImpl : public Cloneable<Derived> {
 public:
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value) : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
  explicit ConstantPadImpl(const ConstantPadOptions<D>& options_) : options(options_) {}
  void reset() override {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  ConstantPadOptions<D> options;
};

#define TAEDA_DECLARE_PAD(Name, rank)                                                           \
  class TAEDA_API Name##rank##dImpl : public Name##Impl<rank, Name##rank##dImpl> {              \
   public:                                                                                      \
    using Name##Impl<rank, Name##rank##dImpl>::Name##Impl;                                      \
  };                                                                                            \
  TAEDA_MODULE(Name##rank##d)
#define TAEDA_DECLARE_PADS(rank)           \
  TAEDA_DECLARE_PAD(ReflectionPad, rank);  \
  TAEDA_DECLARE_PAD(ReplicationPad, rank); \
  TAEDA_DECLARE_PAD(ZeroPad, rank);        \
  TAEDA_DECLARE_PAD(ConstantPad, rank)
TAEDA_DECLARE_PADS(1);
TAEDA_DECLARE_PADS(2);
TAEDA_DECLARE_PADS(3);
#undef TAEDA_DECLARE_PADS
#undef TAEDA_DECLARE_PAD

}  // namespace taeda::nn
