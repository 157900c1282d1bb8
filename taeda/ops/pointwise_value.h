// SPDX-License-Identifier: Apache-2.0
// The value type with which a pointwise formula runs over whole tensors through public operators: gradients of
// gradients are recorded this way from the same definition that makes the kernels.
#pragma once

#include "taeda/ops/functions.h"

namespace taeda::pointwise {

class TensorValue;

/// A truth value for each element.
class TAEDA_API TensorMask {
 public:
  explicit TensorMask(Tensor t) : t_(std::move(t)) {}
  const Tensor& tensor() const { return t_; }

 private:
  Tensor t_;
};
TAEDA_API TensorMask operator&(const TensorMask& a, const TensorMask& b);
TAEDA_API TensorMask operator|(const TensorMask& a, const TensorMask& b);
TAEDA_API TensorMask operator^(const TensorMask& a, const TensorMask& b);
TAEDA_API TensorMask operator!(const TensorMask& a);

/// A tensor, or a constant spread over all elements.
class TAEDA_API TensorValue {
 public:
  using Scalar = double;
  using Mask = TensorMask;
  TensorValue() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  TensorValue(T constant) : constant_(static_cast<double>(constant)) {}
  explicit TensorValue(Tensor t) : t_(std::move(t)) {}
  bool is_constant() const { return !t_.defined(); }
  double constant() const { return constant_; }
  /// The tensor; a constant becomes a 0-dim number.
  Tensor tensor() const;
  TensorMask mask() const { return TensorMask(tensor()); }

 private:
  Tensor t_;
  double constant_ = 0;
};
template <class V>
using MaskOf = typename V::Mask;

TAEDA_API TensorValue operator+(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorValue operator-(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorValue operator*(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorValue operator/(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorValue operator-(const TensorValue& a);
TAEDA_API TensorMask operator<(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorMask operator<=(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorMask operator>(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorMask operator>=(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorMask operator==(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorMask operator!=(const TensorValue& a, const TensorValue& b);
TAEDA_API TensorValue select(const TensorMask& m, const TensorValue& a, const TensorValue& b);
inline TensorValue fma(const TensorValue& a, const TensorValue& b, const TensorValue& c) { return a * b + c; }

#include "taeda/ops/generated/pointwise_value_functions.inc"

}  // namespace taeda::pointwise
