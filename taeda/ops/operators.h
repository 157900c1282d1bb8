// SPDX-License-Identifier: Apache-2.0
// The operators of the language for tensors and numbers, in all combinations.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda {

#define TAEDA_BINARY_OPERATOR(op)                                       \
  TAEDA_API Tensor operator op(const Tensor& a, const Tensor& b);       \
  TAEDA_API Tensor operator op(const Tensor& a, const Scalar& b);       \
  TAEDA_API Tensor operator op(const Scalar& a, const Tensor& b);

TAEDA_BINARY_OPERATOR(+)
TAEDA_BINARY_OPERATOR(-)
TAEDA_BINARY_OPERATOR(*)
TAEDA_BINARY_OPERATOR(/)
TAEDA_BINARY_OPERATOR(%)
TAEDA_BINARY_OPERATOR(==)
TAEDA_BINARY_OPERATOR(!=)
TAEDA_BINARY_OPERATOR(<)
TAEDA_BINARY_OPERATOR(<=)
TAEDA_BINARY_OPERATOR(>)
TAEDA_BINARY_OPERATOR(>=)
TAEDA_BINARY_OPERATOR(&)
TAEDA_BINARY_OPERATOR(|)
TAEDA_BINARY_OPERATOR(^)
#undef TAEDA_BINARY_OPERATOR
TAEDA_API Tensor operator<<(const Tensor& a, const Tensor& b);
TAEDA_API Tensor operator<<(const Tensor& a, const Scalar& b);
TAEDA_API Tensor operator>>(const Tensor& a, const Tensor& b);
TAEDA_API Tensor operator>>(const Tensor& a, const Scalar& b);
TAEDA_API Tensor operator!(const Tensor& a);

}  // namespace taeda
