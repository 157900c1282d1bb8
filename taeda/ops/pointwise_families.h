// SPDX-License-Identifier: Apache-2.0
// Families of pointwise operators: what dtypes they take and give. An operator's struct derives from one of them and
// may override any flag.
#pragma once

#include <cstdint>

namespace taeda {

/// How a pointwise operator's result dtype follows from the promoted dtype of its inputs.
enum class ResultRule : uint8_t {
  kPromoted,  ///< the promoted dtype
  kFloat,     ///< integers and bool become the default floating dtype; computed in the result dtype
  kBool,      ///< bool; computed in the promoted dtype
};

/// What becomes of a number that stands in place of a tensor other than the first.
enum class NumberRule : uint8_t {
  kWrap,      ///< whole numbers wrap to an integer dtype, as those of tensors do
  kFit,       ///< must fit the dtype
  kExponent,  ///< must fit an integer or 16-bit dtype; negative ones are refused by integers
};

/// ONNX operator with equal meaning, and the operator-set version from which on.
struct Onnx {
  const char* name = nullptr;
  int since = 0;
};

struct Pointwise {
  static constexpr ResultRule rule = ResultRule::kPromoted;
  static constexpr bool bools = true;    ///< accepts bool inputs (after promotion)
  static constexpr bool ints = true;     ///< accepts integer inputs (after promotion)
  static constexpr bool floats = true;   ///< accepts floating inputs (after promotion)
  static constexpr bool halves = true;   ///< of these, also 16-bit ones, whose loops compute in float32
  static constexpr bool inplace = true;  ///< has the `name_` form
  /// Space-separated names of tensor arguments that also come as a number (overloads `.Scalar`).
  static constexpr auto scalar_overloads = "";
  /// Space-separated further names of the operator; those that begin with special_ are free functions only.
  static constexpr auto aliases = "";
  /// "function method", or one of the two.
  static constexpr auto variants = "function method";
  static constexpr bool int_divisor = false;  ///< of integers, a zero in the last tensor is an error that the caller looks for
  static constexpr NumberRule numbers = NumberRule::kWrap;
  static constexpr bool narrow_numbers = false;  ///< numbers and attributes must fit a 16-bit dtype itself, not only float32
  static constexpr bool adds_scaled = false;     ///< the attribute scales a tensor: bool of bool only, whole of integers
  static constexpr bool iterative = false;    ///< plain functions lane by lane: tens of nanoseconds an element
  /// Chooses between its inputs: where a derivative is exactly 0, that input was not taken, and no cotangent (not even nan) reaches it.
  static constexpr bool selects = false;
  static constexpr Onnx onnx{};
};
struct UnaryFloat : Pointwise { static constexpr ResultRule rule = ResultRule::kFloat; };
struct UnarySame : Pointwise {};
struct UnaryBool : Pointwise {
  static constexpr ResultRule rule = ResultRule::kBool;
  static constexpr bool inplace = false;
};
struct BinaryArith : Pointwise { static constexpr auto scalar_overloads = "other"; };
struct BinaryFloat : Pointwise { static constexpr ResultRule rule = ResultRule::kFloat; };
struct Compare : Pointwise {
  static constexpr ResultRule rule = ResultRule::kBool;
  static constexpr auto scalar_overloads = "other";
};
struct Bitwise : Pointwise {
  static constexpr bool floats = false;
  static constexpr auto scalar_overloads = "other";
};
struct Ternary : Pointwise {};

}  // namespace taeda
