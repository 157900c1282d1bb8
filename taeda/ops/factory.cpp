// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors from sizes and values.
#include "taeda/ops/factory.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {

namespace detail {

Tensor empty_with(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format) {
  TAEDA_CHECK_NOT_IMPLEMENTED(options.layout() == Layout::Strided, "[empty] only strided tensors exist: got layout ",
                              options.layout(), "; leave the layout out");
  const MemoryFormat wanted = format.value_or(MemoryFormat::Contiguous);
  if (wanted == MemoryFormat::ChannelsLast || wanted == MemoryFormat::ChannelsLast3d) {
    const size_t rank = wanted == MemoryFormat::ChannelsLast ? 4 : 5;
    TAEDA_CHECK(size.size() == rank, "[empty] required rank ", rank, " tensor to use ", wanted, " format: got sizes ", size,
                "; use another memory format");
    return make_tensor_strided(size, channels_last_strides(size), options.scalar_type(), options.device());
  }
  TAEDA_CHECK(wanted != MemoryFormat::Preserve, "[empty] the memory format must say a layout: got Preserve; use Contiguous");
  return make_tensor(size, options.scalar_type(), options.device());
}

void fill_elements(const TensorImpl& t, const Scalar& value) {
  if (t.numel == 0) return;
  Tensor source = make_tensor({}, t.dtype);
  dispatch_all(t.dtype, "fill_", [&]<class T>() {
    TAEDA_CHECK(value.fits<T>(), "[fill_] the number must fit the dtype: got ", value, " for ", t.dtype, "; use a wider dtype");
    *reinterpret_cast<T*>(source.impl().data()) = value.unchecked<T>();
  });
  if (t.contiguous || t.is_non_overlapping_and_dense()) {
    dispatch_bytes(t.dtype, "fill_", [&]<class T>() {
      const T v = *reinterpret_cast<const T*>(source.impl().data());
      T* data = reinterpret_cast<T*>(t.data());
      parallel_for(0, t.numel, 65536, [&](int64_t begin, int64_t end) { std::fill(data + begin, data + end, v); });
    });
    return;
  }
  pointwise::copy_elements(t, source.impl());
}

TensorOptions like_options(const Tensor& self, const TensorOptions& options) { return self.options().merge_in(options); }

Tensor empty_like_of(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  if (!format) format = options.memory_format_opt();
  const TensorOptions all = like_options(self, options).memory_format(std::nullopt);
  const MemoryFormat wanted = format.value_or(MemoryFormat::Preserve);
  if (wanted != MemoryFormat::Preserve) return empty_with(self.sizes(), all, wanted);
  const TensorImpl& t = self.impl();
  if (!t.contiguous && t.is_non_overlapping_and_dense()) {
    return make_tensor_strided(t.sizes(), t.strides(), all.scalar_type(), all.device());
  }
  if (t.contiguous) return empty_with(t.sizes(), all, std::nullopt);
  // Not dense: keep the order of the dimensions, without gaps.
  DimVector order;
  for (int64_t d = 0; d < t.ndim; ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int64_t sa = t.strides()[static_cast<size_t>(a)];
    const int64_t sb = t.strides()[static_cast<size_t>(b)];
    return sa != 0 && sb != 0 && sa > sb;
  });
  DimVector strides(t.ndim);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = step;
    step *= std::max<int64_t>(t.sizes()[d], 1);
  }
  return make_tensor_strided(t.sizes(), strides, all.scalar_type(), all.device());
}

}  // namespace detail

namespace ops {
namespace {

/// A tensor of uninitialised memory.
struct Empty {
  static constexpr auto schema =
      "empty(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    return detail::empty_with(size, options, memory_format ? memory_format : options.memory_format_opt());
  }
};

/// A tensor of uninitialised memory with the given strides.
struct EmptyStrided {
  static constexpr auto schema =
      "empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
    TAEDA_CHECK(size.size() == stride.size(), "[empty_strided] sizes and strides must be of equal length: got ", size, " and ",
                stride, "; give one stride for each size");
    for (const int64_t s : stride) {
      TAEDA_CHECK(s >= 0, "[empty_strided] strides must not be negative: got ", stride, "; use strides of 0 or more");
    }
    return make_tensor_strided(size, stride, options.scalar_type(), options.device());
  }
};

/// A tensor of uninitialised memory with the shape (and, by default, dtype and layout) of another.
struct EmptyLike {
  static constexpr auto schema =
      "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static constexpr auto out = false;
  static Tensor forward(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    return detail::empty_like_of(self, options, memory_format);
  }
};

/// A tensor of zeros.
struct Zeros {
  static constexpr auto schema =
      "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, const TensorOptions& options) {
    Tensor t = detail::empty_with(size, options, std::nullopt);
    detail::fill_elements(t.impl(), 0);
    return t;
  }
};

/// A tensor of ones.
struct Ones {
  static constexpr auto schema =
      "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, const TensorOptions& options) {
    Tensor t = detail::empty_with(size, options, std::nullopt);
    detail::fill_elements(t.impl(), 1);
    return t;
  }
};

/// A tensor filled with one value; its dtype follows the value unless given.
struct Full {
  static constexpr auto schema =
      "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) {
    const ScalarType by_value = fill_value.isFloatingPoint() ? default_scalar_type() : fill_value.type();
    Tensor t = detail::empty_with(size, options.dtype(options.dtype_opt().value_or(by_value)), std::nullopt);
    detail::fill_elements(t.impl(), fill_value);
    return t;
  }
};

/// Zeros with the shape of another tensor.
struct ZerosLike {
  static constexpr auto schema =
      "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    Tensor t = detail::empty_like_of(self, options, memory_format);
    detail::fill_elements(t.impl(), 0);
    return t;
  }
};

/// Ones with the shape of another tensor.
struct OnesLike {
  static constexpr auto schema =
      "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    Tensor t = detail::empty_like_of(self, options, memory_format);
    detail::fill_elements(t.impl(), 1);
    return t;
  }
};

/// One value with the shape of another tensor.
struct FullLike {
  static constexpr auto schema =
      "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, const Scalar& fill_value, const TensorOptions& options,
                        std::optional<MemoryFormat> memory_format) {
    Tensor t = detail::empty_like_of(self, options, memory_format);
    detail::fill_elements(t.impl(), fill_value);
    return t;
  }
};

/// The options of a `new_` method: dtype and device, as LibTorch passes on no more.
TensorOptions new_options(const Tensor& self, const TensorOptions& options) {
  return detail::like_options(self, options).requires_grad(std::nullopt).memory_format(std::nullopt);
}

/// A tensor of `size` with this one's dtype and device, uninitialised.
struct NewEmpty : Composite {
  static constexpr auto schema =
      "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size, const TensorOptions& options) {
    return taeda::empty(size, new_options(self, options));
  }
};
/// Zeros of `size` with this tensor's dtype and device.
struct NewZeros : Composite {
  static constexpr auto schema =
      "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size, const TensorOptions& options) {
    return taeda::zeros(size, new_options(self, options));
  }
};
/// Ones of `size` with this tensor's dtype and device.
struct NewOnes : Composite {
  static constexpr auto schema =
      "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size, const TensorOptions& options) {
    return taeda::ones(size, new_options(self, options));
  }
};
/// One value, of `size`, with this tensor's dtype and device.
struct NewFull : Composite {
  static constexpr auto schema =
      "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto variants = "method";
  static Tensor forward(const Tensor& self, IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) {
    return taeda::full(size, fill_value, new_options(self, options));
  }
};

/// A 0-dim tensor with the value `s`.
struct ScalarTensor {
  static constexpr auto schema =
      "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(const Scalar& s, const TensorOptions& options) {
    Tensor t = detail::empty_with({}, options, std::nullopt);
    detail::fill_elements(t.impl(), s);
    return t;
  }
};

Tensor arange_between(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  const bool floating = start.isFloatingPoint() || end.isFloatingPoint() || step.isFloatingPoint();
  const ScalarType dtype = options.dtype_opt().value_or(floating ? default_scalar_type() : kLong);
  const double a = start.toDouble();
  const double b = end.toDouble();
  const double s = step.toDouble();
  TAEDA_CHECK_NOT_IMPLEMENTED(options.dtype_opt() != kBool, "[arange] not implemented for Bool; choose another dtype and convert");
  TAEDA_CHECK(s > 0 || s < 0, "[arange] step must be nonzero: got ", step, "; pass a positive or negative step");
  TAEDA_CHECK(std::isfinite(a) && std::isfinite(b), "[arange] unsupported range: got ", start, " -> ", end,
              "; pass finite bounds");
  TAEDA_CHECK((s > 0 && b >= a) || (s < 0 && b <= a), "[arange] upper bound and lower bound inconsistent with step sign: got ",
              start, " -> ", end, " by ", step, "; change the sign of the step");
  int64_t n = 0;
  if (dtype == kLong || (!floating && is_integral_type(dtype, false))) {  // int64 counts in whole numbers
    int64_t distance = 0;
    const int64_t stride = step.toLong();
    TAEDA_CHECK(stride != 0, "[arange] step must be nonzero: got ", step, " for ", dtype, "; pass a whole step or a floating dtype");
    TAEDA_CHECK(!__builtin_sub_overflow(end.toLong(), start.toLong(), &distance) && std::llabs(distance / 2) + std::llabs(stride / 2) < INT64_MAX / 2,
                "[arange] invalid size: got ", start, " -> ", end, " by ", step, "; choose a smaller range");
    n = (distance + stride - (stride > 0 ? 1 : -1)) / stride;
  } else {
    const double count = std::ceil((b - a) / s);
    TAEDA_CHECK(count < 9.2e18, "[arange] invalid size: got ", count, " elements; choose a larger step");
    n = static_cast<int64_t>(count);
  }
  Tensor t = detail::empty_with(IntArrayRef(n), options.dtype(dtype), std::nullopt);
  dispatch_all(dtype, "arange", [&]<class T>() {
    T* data = reinterpret_cast<T*>(t.impl().data());
    if constexpr (is_floating<T>) {
      using M = std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<is_reduced_float<T>, float, T>>;
      for (int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(static_cast<M>(a) + static_cast<M>(s) * static_cast<M>(i));
    } else if constexpr (std::is_same_v<T, bool>) {
      for (int64_t i = 0; i < n; ++i) data[i] = a + s * static_cast<double>(i) != 0;
    } else {
      const int64_t first = start.unchecked<int64_t>();
      const int64_t stride = step.unchecked<int64_t>();
      for (int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(first + stride * i);
    }
  });
  return t;
}

/// Integers (or, from floating bounds, numbers) 0, 1, … below `end`.
struct Arange {
  static constexpr auto schema =
      "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(const Scalar& end, const TensorOptions& options) { return arange_between(0, end, 1, options); }
};
/// Numbers from `start` up to, but not including, `end`.
struct ArangeStart {
  static constexpr auto schema =
      "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(const Scalar& start, const Scalar& end, const TensorOptions& options) {
    return arange_between(start, end, 1, options);
  }
};
/// Numbers from `start` in steps of `step` up to, but not including, `end`.
struct ArangeStep {
  static constexpr auto schema =
      "arange.start_step(Scalar start, Scalar end, Scalar step, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
    return arange_between(start, end, step, options);
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/factory.inc"
