// Pointwise operators: comparisons, extrema, selection, clamping. How these files are written: arithmetic.h.
// SPDX-License-Identifier: Apache-2.0

/// self == other.
struct Eq : Compare {
  static constexpr auto schema = "eq(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return self == other; }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"Equal", 13};
};
/// self != other.
struct Ne : Compare {
  static constexpr auto aliases = "not_equal";
  static constexpr auto schema = "ne(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return self != other; }
  static constexpr auto no_grad = "a truth value";
};
/// self < other.
struct Lt : Compare {
  static constexpr auto aliases = "less";
  static constexpr auto schema = "lt(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return self < other; }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"Less", 13};
};
/// self <= other.
struct Le : Compare {
  static constexpr auto aliases = "less_equal";
  static constexpr auto schema = "le(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return self <= other; }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"LessOrEqual", 16};
};
/// self > other.
struct Gt : Compare {
  static constexpr auto aliases = "greater";
  static constexpr auto schema = "gt(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return self > other; }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"Greater", 13};
};
/// self >= other.
struct Ge : Compare {
  static constexpr auto aliases = "greater_equal";
  static constexpr auto schema = "ge(Tensor self, Tensor other) -> Tensor";
  template <class V> static auto apply(V self, V other) { return self >= other; }
  static constexpr auto no_grad = "a truth value";
  static constexpr Onnx onnx{"GreaterOrEqual", 16};
};

/// The larger of self and other, nan if either is nan. Equal values share the gradient.
struct Maximum : BinaryArith {
  static constexpr bool selects = true;
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "maximum(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return maximum(self, other); }
  template <class V> static V grad_self(V self, V other) { return select(self == other, V(0.5), select(self < other, V(0.0), V(1.0))); }
  template <class V> static V grad_other(V self, V other) { return select(self == other, V(0.5), select(self > other, V(0.0), V(1.0))); }
  static constexpr Onnx onnx{"Max", 13};
};
/// The smaller of self and other, nan if either is nan. Equal values share the gradient.
struct Minimum : BinaryArith {
  static constexpr bool selects = true;
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "minimum(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return minimum(self, other); }
  template <class V> static V grad_self(V self, V other) { return select(self == other, V(0.5), select(self > other, V(0.0), V(1.0))); }
  template <class V> static V grad_other(V self, V other) { return select(self == other, V(0.5), select(self < other, V(0.0), V(1.0))); }
  static constexpr Onnx onnx{"Min", 13};
};
/// The larger of self and other, the other one where one is nan.
struct Fmax : BinaryArith {
  static constexpr bool selects = true;
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "fmax(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return fmax(self, other); }
  template <class V> static V grad_self(V self, V other) { return select((self >= other) | (other != other), V(1.0), V(0.0)); }
  template <class V> static V grad_other(V self, V other) { return select((self >= other) | (other != other), V(0.0), V(1.0)); }
};
/// The smaller of self and other, the other one where one is nan.
struct Fmin : BinaryArith {
  static constexpr bool selects = true;
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto schema = "fmin(Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(V self, V other) { return fmin(self, other); }
  template <class V> static V grad_self(V self, V other) { return select((self <= other) | (other != other), V(1.0), V(0.0)); }
  template <class V> static V grad_other(V self, V other) { return select((self <= other) | (other != other), V(0.0), V(1.0)); }
};

/// self limited to [min, max]; max wins where min > max; nan stays. The gradient is 1 inside, bounds included.
struct ClampBoth : UnarySame {
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_clamp(Tensor self, Scalar min, Scalar max) -> Tensor";
  template <class V> static V apply(V self, V min, V max) { return minimum(maximum(self, min), max); }
  template <class V> static V grad_self(V self, V min, V max) { return select((self >= min) & (self <= max), V(1.0), V(0.0)); }
  static constexpr Onnx onnx{"Clip", 13};
};
/// self limited from below by min; nan stays. The gradient goes to self where self >= min, to min elsewhere.
struct ClampMin : BinaryArith {
  static constexpr NumberRule numbers = NumberRule::kFit;
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr auto scalar_overloads = "min";
  static constexpr auto schema = "clamp_min(Tensor self, Tensor min) -> Tensor";
  template <class V> static V apply(V self, V min) { return maximum(self, min); }
  template <class V> static V grad_self(V self, V min) { return select(self >= min, V(1.0), V(0.0)); }
  template <class V> static V grad_min(V self, V min) { return select(self < min, V(1.0), V(0.0)); }
};
/// self limited from above by max; nan stays. The gradient goes to self where self <= max, to max elsewhere.
struct ClampMax : BinaryArith {
  static constexpr NumberRule numbers = NumberRule::kFit;
  static constexpr bool narrow_numbers = true;
  static constexpr bool selects = true;
  static constexpr auto scalar_overloads = "max";
  static constexpr auto schema = "clamp_max(Tensor self, Tensor max) -> Tensor";
  template <class V> static V apply(V self, V max) { return minimum(self, max); }
  template <class V> static V grad_self(V self, V max) { return select(self <= max, V(1.0), V(0.0)); }
  template <class V> static V grad_max(V self, V max) { return select(self > max, V(1.0), V(0.0)); }
};
/// self limited to [min, max], each a tensor; max wins where min > max; nan stays.
struct ClampTensor : Ternary {
  static constexpr bool selects = true;
  static constexpr bool bools = false;
  static constexpr auto variants = "function";
  static constexpr auto schema = "_clamp_tensor(Tensor self, Tensor min, Tensor max) -> Tensor";
  template <class V> static V apply(V self, V min, V max) { return minimum(maximum(self, min), max); }
  template <class V> static V grad_self(V self, V min, V max) { return select((self >= min) & (self <= max), V(1.0), V(0.0)); }
  template <class V> static V grad_min(V self, V min, V max) { return select((min < max) & (self < min), V(1.0), V(0.0)); }
  template <class V> static V grad_max(V self, V min, V max) { return select((self > max) | (max < min), V(1.0), V(0.0)); }
};

/// self where condition, other elsewhere.
struct Where : Ternary {
  static constexpr NumberRule numbers = NumberRule::kFit;
  static constexpr bool selects = true;
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "self other";
  static constexpr auto schema = "where(Tensor condition, Tensor self, Tensor other) -> Tensor";
  template <class V> static V apply(MaskOf<V> condition, V self, V other) { return select(condition, self, other); }
  template <class V> static V grad_self(MaskOf<V> condition) { return select(condition, V(1.0), V(0.0)); }
  template <class V> static V grad_other(MaskOf<V> condition) { return select(condition, V(0.0), V(1.0)); }
  static constexpr Onnx onnx{"Where", 16};
};

/// grad * derivative, 0 wherever grad is 0: the product in every gradient, so that a nan or infinite derivative on a dead
/// branch does not leak.
struct MaskedProduct : BinaryArith {
  static constexpr bool inplace = false;
  static constexpr auto scalar_overloads = "";
  static constexpr auto variants = "function";
  static constexpr auto schema = "masked_product(Tensor grad, Tensor derivative) -> Tensor";
  template <class V> static V apply(V grad, V derivative) { return masked_product(grad, derivative); }
  template <class V> static V grad_grad(V derivative) { return derivative; }
  template <class V> static V grad_derivative(V grad) { return grad; }
};
