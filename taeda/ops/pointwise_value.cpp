// SPDX-License-Identifier: Apache-2.0
// Arithmetic of TensorValue through public operators.
#include "taeda/ops/pointwise_value.h"

namespace taeda::pointwise {

TensorMask operator&(const TensorMask& a, const TensorMask& b) { return TensorMask(logical_and(a.tensor(), b.tensor())); }
TensorMask operator|(const TensorMask& a, const TensorMask& b) { return TensorMask(logical_or(a.tensor(), b.tensor())); }
TensorMask operator^(const TensorMask& a, const TensorMask& b) { return TensorMask(logical_xor(a.tensor(), b.tensor())); }
TensorMask operator!(const TensorMask& a) { return TensorMask(logical_not(a.tensor())); }

Tensor TensorValue::tensor() const {
  if (t_.defined()) return t_;
  Tensor t = make_tensor({}, kDouble);
  *static_cast<double*>(t.mutable_impl().storage->data) = constant_;
  t.mutable_impl().flags |= kFlagWrappedNumber;
  return t;
}

// Constants stay constants; a tensor and a constant use the operator's form for a number.
#define TAEDA_ARITHMETIC(sign, name, reversed)                                                \
  TensorValue operator sign(const TensorValue& a, const TensorValue& b) {                     \
    if (a.is_constant() && b.is_constant()) return TensorValue(a.constant() sign b.constant()); \
    if (b.is_constant()) return TensorValue(taeda::name(a.tensor(), taeda::Scalar(b.constant())));   \
    if (a.is_constant()) return reversed;                                                     \
    return TensorValue(taeda::name(a.tensor(), b.tensor()));                                  \
  }
TAEDA_ARITHMETIC(+, add, TensorValue(taeda::add(b.tensor(), taeda::Scalar(a.constant()))))
TAEDA_ARITHMETIC(-, sub, TensorValue(taeda::rsub(b.tensor(), taeda::Scalar(a.constant()))))
TAEDA_ARITHMETIC(*, mul, TensorValue(taeda::mul(b.tensor(), taeda::Scalar(a.constant()))))
TAEDA_ARITHMETIC(/, div, TensorValue(taeda::div(a.tensor(), b.tensor())))
#undef TAEDA_ARITHMETIC
TensorValue operator-(const TensorValue& a) {
  return a.is_constant() ? TensorValue(-a.constant()) : TensorValue(neg(a.tensor()));
}

#define TAEDA_COMPARISON(sign, name)                                                                     \
  TensorMask operator sign(const TensorValue& a, const TensorValue& b) {                                 \
    if (b.is_constant()) return TensorMask(taeda::name(a.tensor(), taeda::Scalar(b.constant())));        \
    return TensorMask(taeda::name(a.tensor(), b.tensor()));                                              \
  }
TAEDA_COMPARISON(<, lt)
TAEDA_COMPARISON(<=, le)
TAEDA_COMPARISON(>, gt)
TAEDA_COMPARISON(>=, ge)
TAEDA_COMPARISON(==, eq)
TAEDA_COMPARISON(!=, ne)
#undef TAEDA_COMPARISON

TensorValue select(const TensorMask& m, const TensorValue& a, const TensorValue& b) {
  return TensorValue(where(m.tensor(), a.tensor(), b.tensor()));
}

}  // namespace taeda::pointwise
