// SPDX-License-Identifier: Apache-2.0
// Padding modules.
#include "taeda/nn/padding.h"

#include <ostream>

#include "taeda/ops/functions.h"

namespace taeda::nn {

#define TAEDA_DEFINE_PAD_FAMILY(Name, ...)                                               \
  template <size_t D, class Derived>                                                     \
  Tensor Name##Impl<D, Derived>::forward(const Tensor& input) {                          \
    return taeda::pad(input, IntArrayRef(*this->noted(options).padding()), __VA_ARGS__); \
  }
TAEDA_DEFINE_PAD_FAMILY(ReflectionPad, "reflect")
TAEDA_DEFINE_PAD_FAMILY(ReplicationPad, "replicate")
TAEDA_DEFINE_PAD_FAMILY(ZeroPad, "constant", 0)
TAEDA_DEFINE_PAD_FAMILY(ConstantPad, "constant", options.value())
#undef TAEDA_DEFINE_PAD_FAMILY

#define TAEDA_PRINT_PAD_FAMILY(Name)                                                                  \
  template <size_t D, class Derived>                                                                  \
  void Name##Impl<D, Derived>::pretty_print(std::ostream& stream) const {                             \
    stream << "torch::nn::" #Name << D << "d(padding=" << options.padding() << ")";                   \
  }
TAEDA_PRINT_PAD_FAMILY(ReflectionPad)
TAEDA_PRINT_PAD_FAMILY(ReplicationPad)
TAEDA_PRINT_PAD_FAMILY(ZeroPad)
#undef TAEDA_PRINT_PAD_FAMILY
template <size_t D, class Derived>
void ConstantPadImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ConstantPad" << D << "d(padding=" << options.padding() << ", value=" << options.value() << ")";
}

#define TAEDA_INSTANTIATE_PADS(rank)                          \
  template class ReflectionPadImpl<rank, ReflectionPad##rank##dImpl>;   \
  template class ReplicationPadImpl<rank, ReplicationPad##rank##dImpl>; \
  template class ZeroPadImpl<rank, ZeroPad##rank##dImpl>;               \
  template class ConstantPadImpl<rank, ConstantPad##rank##dImpl>;
TAEDA_INSTANTIATE_PADS(1)
TAEDA_INSTANTIATE_PADS(2)
TAEDA_INSTANTIATE_PADS(3)
#undef TAEDA_INSTANTIATE_PADS

}  // namespace taeda::nn
