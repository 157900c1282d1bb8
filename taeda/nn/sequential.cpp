// SPDX-License-Identifier: Apache-2.0
// Printing of Sequential.
#include "taeda/nn/sequential.h"

#include <ostream>

namespace taeda::nn {

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

}  // namespace taeda::nn
