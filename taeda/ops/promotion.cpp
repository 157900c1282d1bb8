// SPDX-License-Identifier: Apache-2.0
// Result dtypes and broadcast shapes.
#include "taeda/ops/promotion.h"

#include <algorithm>

#include "taeda/ops/pointwise_engine.h"

namespace taeda {

namespace detail {

namespace {
/// The promotion category: bool, integer, floating. A higher category of lower priority still raises the dtype.
int category(ScalarType t) { return t == kBool ? 0 : is_floating_type(t) ? 2 : 1; }
ScalarType combine(ScalarType higher, ScalarType lower) {
  if (higher == ScalarType::Undefined) return lower;
  if (lower == ScalarType::Undefined || category(lower) <= category(higher)) return higher;
  return promote_types(higher, lower);
}
void raise(ScalarType& current, ScalarType t) { current = current == ScalarType::Undefined ? t : promote_types(current, t); }
}  // namespace

void Promotion::add(const TensorImpl& t) {
  if (t.flags & kFlagWrappedNumber) {
    // A number of default precision: only its category counts.
    raise(number_, is_floating_type(t.dtype) ? default_scalar_type() : t.dtype);
  } else {
    raise(t.ndim > 0 ? dims_ : zero_dim_, t.dtype);
  }
}
void Promotion::add(const Scalar& s) {
  raise(number_, s.isFloatingPoint() ? default_scalar_type() : s.type());
}
ScalarType Promotion::result() const { return combine(combine(dims_, zero_dim_), number_); }

}  // namespace detail

ScalarType result_type(const Tensor& a, const Tensor& b) {
  detail::Promotion p;
  p.add(a.impl());
  p.add(b.impl());
  return p.result();
}
ScalarType result_type(const Tensor& a, const Scalar& b) {
  detail::Promotion p;
  p.add(a.impl());
  p.add(b);
  return p.result();
}
ScalarType result_type(const Scalar& a, const Tensor& b) { return result_type(b, a); }
ScalarType result_type(TensorList tensors) {
  detail::Promotion p;
  for (const Tensor& t : tensors) p.add(t.impl());
  return p.result();
}

DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b, const char* op) {
  const size_t n = std::max(a.size(), b.size());
  DimVector out(n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t sa = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t sb = i < b.size() ? b[b.size() - 1 - i] : 1;
    TAEDA_CHECK(sa == sb || sa == 1 || sb == 1, "[", op, "] The size of tensor a (", sa,
                ") must match the size of tensor b (", sb, ") at non-singleton dimension ", n - 1 - i, ": got shapes ", a,
                " and ", b, "; make the sizes equal or 1");
    out[n - 1 - i] = sa == 1 ? sb : sa;
  }
  return out;
}

}  // namespace taeda
