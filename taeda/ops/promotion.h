// SPDX-License-Identifier: Apache-2.0
// Type promotion between tensors with dimensions, 0-dim tensors, and numbers.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::detail {

/// Collects the inputs of an operation. Tensors with dimensions decide; 0-dim tensors and numbers raise the result only
/// when they are of a higher category (bool < integer < floating).
class TAEDA_API Promotion {
 public:
  void add(const TensorImpl& t);
  void add(const Scalar& s);
  ScalarType result() const;

 private:
  ScalarType dims_ = ScalarType::Undefined;
  ScalarType zero_dim_ = ScalarType::Undefined;
  ScalarType number_ = ScalarType::Undefined;
};

}  // namespace taeda::detail
