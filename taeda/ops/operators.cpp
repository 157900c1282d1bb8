// SPDX-License-Identifier: Apache-2.0
// The operators of the language for tensors: arithmetic, comparison, bits, updates, assignment through an index.
#include "taeda/ops/operators.h"

#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_engine.h"

namespace taeda {

namespace {
/// A number as a tensor that takes part in promotion as a number.
Tensor wrapped(const Scalar& value) {
  Tensor t = taeda::scalar_tensor(value, TensorOptions(value.isFloatingPoint() ? kDouble : value.isBoolean() ? kBool : kLong));
  t.mutable_impl().flags |= kFlagWrappedNumber;
  return t;
}
}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) { return taeda::add(a, b); }
Tensor operator+(const Tensor& a, const Scalar& b) { return taeda::add(a, b); }
Tensor operator+(const Scalar& a, const Tensor& b) { return taeda::add(b, a); }
Tensor operator-(const Tensor& a, const Tensor& b) { return taeda::sub(a, b); }
Tensor operator-(const Tensor& a, const Scalar& b) { return taeda::sub(a, b); }
Tensor operator-(const Scalar& a, const Tensor& b) { return taeda::rsub(b, a); }
Tensor operator*(const Tensor& a, const Tensor& b) { return taeda::mul(a, b); }
Tensor operator*(const Tensor& a, const Scalar& b) { return taeda::mul(a, b); }
Tensor operator*(const Scalar& a, const Tensor& b) { return taeda::mul(b, a); }
Tensor operator/(const Tensor& a, const Tensor& b) { return taeda::div(a, b); }
Tensor operator/(const Tensor& a, const Scalar& b) { return taeda::div(a, b); }
Tensor operator/(const Scalar& a, const Tensor& b) { return taeda::div(wrapped(a), b); }
Tensor operator%(const Tensor& a, const Tensor& b) { return taeda::remainder(a, b); }
Tensor operator%(const Tensor& a, const Scalar& b) { return taeda::remainder(a, b); }
Tensor operator%(const Scalar& a, const Tensor& b) { return taeda::remainder(wrapped(a), b); }
Tensor operator==(const Tensor& a, const Tensor& b) { return taeda::eq(a, b); }
Tensor operator==(const Tensor& a, const Scalar& b) { return taeda::eq(a, b); }
Tensor operator==(const Scalar& a, const Tensor& b) { return taeda::eq(b, a); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return taeda::ne(a, b); }
Tensor operator!=(const Tensor& a, const Scalar& b) { return taeda::ne(a, b); }
Tensor operator!=(const Scalar& a, const Tensor& b) { return taeda::ne(b, a); }
Tensor operator<(const Tensor& a, const Tensor& b) { return taeda::lt(a, b); }
Tensor operator<(const Tensor& a, const Scalar& b) { return taeda::lt(a, b); }
Tensor operator<(const Scalar& a, const Tensor& b) { return taeda::gt(b, a); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return taeda::le(a, b); }
Tensor operator<=(const Tensor& a, const Scalar& b) { return taeda::le(a, b); }
Tensor operator<=(const Scalar& a, const Tensor& b) { return taeda::ge(b, a); }
Tensor operator>(const Tensor& a, const Tensor& b) { return taeda::gt(a, b); }
Tensor operator>(const Tensor& a, const Scalar& b) { return taeda::gt(a, b); }
Tensor operator>(const Scalar& a, const Tensor& b) { return taeda::lt(b, a); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return taeda::ge(a, b); }
Tensor operator>=(const Tensor& a, const Scalar& b) { return taeda::ge(a, b); }
Tensor operator>=(const Scalar& a, const Tensor& b) { return taeda::le(b, a); }
Tensor operator&(const Tensor& a, const Tensor& b) { return taeda::bitwise_and(a, b); }
Tensor operator&(const Tensor& a, const Scalar& b) { return taeda::bitwise_and(a, b); }
Tensor operator&(const Scalar& a, const Tensor& b) { return taeda::bitwise_and(b, a); }
Tensor operator|(const Tensor& a, const Tensor& b) { return taeda::bitwise_or(a, b); }
Tensor operator|(const Tensor& a, const Scalar& b) { return taeda::bitwise_or(a, b); }
Tensor operator|(const Scalar& a, const Tensor& b) { return taeda::bitwise_or(b, a); }
Tensor operator^(const Tensor& a, const Tensor& b) { return taeda::bitwise_xor(a, b); }
Tensor operator^(const Tensor& a, const Scalar& b) { return taeda::bitwise_xor(a, b); }
Tensor operator^(const Scalar& a, const Tensor& b) { return taeda::bitwise_xor(b, a); }
Tensor operator<<(const Tensor& a, const Tensor& b) { return taeda::bitwise_left_shift(a, b); }
Tensor operator<<(const Tensor& a, const Scalar& b) { return taeda::bitwise_left_shift(a, b); }
Tensor operator>>(const Tensor& a, const Tensor& b) { return taeda::bitwise_right_shift(a, b); }
Tensor operator>>(const Tensor& a, const Scalar& b) { return taeda::bitwise_right_shift(a, b); }
Tensor operator!(const Tensor& a) { return taeda::logical_not(a); }

Tensor Tensor::operator~() const { return scalar_type() == kBool ? taeda::logical_not(*this) : taeda::_bitwise_not(*this); }
Tensor Tensor::operator-() const { return taeda::neg(*this); }
Tensor& Tensor::operator+=(const Tensor& other) { return taeda::add_(*this, other); }
Tensor& Tensor::operator+=(const Scalar& other) { return taeda::add_(*this, other); }
Tensor& Tensor::operator-=(const Tensor& other) { return taeda::sub_(*this, other); }
Tensor& Tensor::operator-=(const Scalar& other) { return taeda::sub_(*this, other); }
Tensor& Tensor::operator*=(const Tensor& other) { return taeda::mul_(*this, other); }
Tensor& Tensor::operator*=(const Scalar& other) { return taeda::mul_(*this, other); }
Tensor& Tensor::operator/=(const Tensor& other) { return taeda::div_(*this, other); }
Tensor& Tensor::operator/=(const Scalar& other) { return taeda::div_(*this, other); }
Tensor& Tensor::operator&=(const Tensor& other) { return taeda::bitwise_and_(*this, other); }
Tensor& Tensor::operator|=(const Tensor& other) { return taeda::bitwise_or_(*this, other); }
Tensor& Tensor::operator^=(const Tensor& other) { return taeda::bitwise_xor_(*this, other); }

Tensor& Tensor::operator=(const Tensor& other) && {
  copy_(other);
  return *this;
}
Tensor& Tensor::operator=(Tensor&& other) && {
  copy_(other);
  return *this;
}
Tensor& Tensor::operator=(const Scalar& value) && {
  fill_(value);
  return *this;
}

Tensor Tensor::operator[](int64_t index) const { return select(0, index); }
Tensor Tensor::operator[](const Scalar& index) const {
  TAEDA_CHECK_INDEX(index.isIntegral(false), "[index] can only index tensors with integral scalars: got ", index,
                    "; pass an integer");
  return select(0, index.to<int64_t>());
}
Tensor Tensor::operator[](const Tensor& index) const {
  TAEDA_CHECK_INDEX(index.defined(), "[index] can only index with tensors that are defined; make the index first");
  TAEDA_CHECK_INDEX(index.dim() == 0, "[index] can only index with tensors that are scalars (zero-dim): got ", index.sizes(),
                    "; use index({...})");
  return (*this)[index.item()];
}

}  // namespace taeda
