// SPDX-License-Identifier: Apache-2.0
// Runs pointwise operators: promotion, broadcasting, layout, recording of gradients. Data-driven: one constant `Op`
// describes an operator, its loops come from the kernel table.
#pragma once

#include "taeda/ops/door.h"

namespace taeda::pointwise {

class TensorValue;

/// One local derivative: a fused kernel, and the same formula over tensors for gradients of gradients.
struct Gradient {
  int kernel = -1;  ///< -1: not differentiable in this input; -2: the cotangent passes unchanged
  uint8_t count = 0;
  /// Parameters in order: input number, 16 + attribute number, 32 for the result.
  int8_t codes[8] = {};
  TensorValue (*formula)(const TensorValue* params) = nullptr;
};
inline constexpr int kAttributeCode = 16, kResultCode = 32;

inline constexpr int kMaxInputs = 3, kMaxAttributes = 4;

struct Op {
  const char* name;
  const char* node_name;
  int kernel;
  ResultRule rule;
  bool bools, ints, floats, halves;
  uint8_t inputs, attributes;
  Gradient gradients[kMaxInputs];
  bool int_divisor = false;  ///< a zero in the last input is an error when it computes in integers
  bool selects = false;      ///< a derivative of exactly 0 stops even a nan cotangent
  NumberRule numbers = NumberRule::kWrap;
  bool narrow_numbers = false, adds_scaled = false;
  uint8_t scalar_attributes = 0;  ///< by bit, those that must fit the dtype
};

/// An input: a tensor, or a number in its place.
class Operand {
 public:
  Operand() = default;
  Operand(const Tensor& tensor) : tensor_(&tensor) {}
  Operand(const Scalar& scalar) : scalar_(scalar) {}
  bool is_tensor() const { return tensor_ != nullptr; }
  const Tensor& tensor() const { return *tensor_; }
  const TensorImpl& impl() const { return tensor_->impl(); }
  const Scalar& scalar() const { return scalar_; }
  Value value() const { return tensor_ ? Value(*tensor_) : Value(scalar_); }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
};

/// `attrs` has op.attributes numbers (null when there are none).
TAEDA_API Tensor run(const Op& op, const OpInfo& info, const Operand* in, const Scalar* attrs);
TAEDA_API Tensor& run_inplace(const Op& op, const OpInfo& info, const Tensor& self, const Operand* in, const Scalar* attrs);
TAEDA_API Tensor& run_out(const Op& op, const OpInfo& info, Tensor& out, const Operand* in, const Scalar* attrs);

}  // namespace taeda::pointwise

namespace taeda {
namespace detail {
/// Throws Error when two dense tensors share some of their memory and are not the same elements: what one writes the other would read.
TAEDA_API void check_no_partial_overlap(const Tensor& written, const Tensor& read, const char* op);
}  // namespace detail
/// The shape of two shapes broadcast together. Throws Error when they do not fit.
TAEDA_API DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b, const char* op);
/// Converts a gradient to the shape of what was broadcast: sums over the expanded dimensions.
TAEDA_API Tensor sum_to(const Tensor& tensor, IntArrayRef sizes);
}  // namespace taeda
