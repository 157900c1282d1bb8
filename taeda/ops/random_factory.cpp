// SPDX-License-Identifier: Apache-2.0
// Tensors made of random numbers.
#include <algorithm>
#include <bit>
#include <limits>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/random_fill_tensor.h"

namespace taeda {

namespace detail {

DimVector memory_order(const Tensor& self) {
  DimVector order;
  for (int64_t d = 0; d < self.dim(); ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return self.strides()[static_cast<size_t>(a)] > self.strides()[static_cast<size_t>(b)];
  });
  return order;
}
Tensor in_memory_order(const Tensor& self) {
  DimVector sizes, strides;
  for (const int64_t d : memory_order(self)) {
    sizes.push_back(self.sizes()[static_cast<size_t>(d)]);
    strides.push_back(self.strides()[static_cast<size_t>(d)]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}
void fill_normal_tensor(const Tensor& self, double mean, double std, const std::optional<Generator>& generator) {
  TAEDA_CHECK(std >= 0, "[normal_] normal expects std >= 0.0, but found std ", std, "; pass 0 or more");
  dispatch_floating(self.scalar_type(), "normal_", [&]<class T>() {
    fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool contiguous) {
      if (contiguous) fill_normal(out, n, mean, std, cpu_generator(generator));
      else fill_normal_elementwise(out, n, mean, std, cpu_generator(generator));
    });
  });
}
void fill_uniform_tensor(const Tensor& self, double from, double to, const std::optional<Generator>& generator) {
  dispatch_floating(self.scalar_type(), "uniform_", [&]<class T>() {
    fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_uniform(out, n, from, to, cpu_generator(generator)); });
  });
}
int64_t largest_exact(ScalarType dtype) {
  return dispatch_all(dtype, "random_", [&]<class T>() -> int64_t {
    if constexpr (is_floating<T>) return int64_t{1} << std::numeric_limits<T>::digits;
    else return static_cast<int64_t>(std::numeric_limits<T>::max());
  });
}
/// The integer after rounding to T.
template <class T>
int64_t rounded(int64_t x) {
  if constexpr (is_reduced_float<T>) return static_cast<int64_t>(static_cast<float>(T(static_cast<float>(x))));
  else return static_cast<int64_t>(static_cast<T>(x));
}
/// The distance between neighbouring numbers of T above |x|.
template <class T>
int64_t spacing(int64_t x) {
  const int bits = std::bit_width(static_cast<uint64_t>(x < 0 ? -x : x));
  return int64_t{1} << (bits - std::numeric_limits<T>::digits);
}
/// Moves the bounds base and base + range of integers inwards where rounding the first or the last to T would leave them.
template <class T>
void round_bounds(int64_t& base, uint64_t& range) {
  int64_t end = static_cast<int64_t>(static_cast<uint64_t>(base) + range);
  constexpr auto kMost = std::numeric_limits<T>::max();
  const auto most = is_reduced_float<T> ? static_cast<double>(static_cast<float>(kMost)) : std::numeric_limits<double>::max();
  TAEDA_CHECK(static_cast<double>(base) >= -most && static_cast<double>(end - 1) <= most, "[random_] the bounds must fit the dtype: got ", base,
              " to ", end - 1, "; use another dtype or bounds");
  if (const int64_t r = rounded<T>(base + 1); r < base) base = r + spacing<T>(base + 1);
  if (const int64_t r = rounded<T>(end - 1); r >= end) end = r - spacing<T>(end - 1);
  TAEDA_CHECK(base < end, "[random_] 'from' rounded to the dtype must be less than 'to': got ", base, " and ", end, "; use another dtype or bounds");
  range = static_cast<uint64_t>(end) - static_cast<uint64_t>(base);
}
void fill_range_tensor(const Tensor& self, int64_t base, uint64_t range, const std::optional<Generator>& generator) {
  const ScalarType dtype = self.scalar_type();
  if (is_floating_type(dtype) && range != 0) dispatch_floating(dtype, "random_", [&]<class T>() { round_bounds<T>(base, range); });
  if (is_integral_type(dtype, true) && range != 0) {
    const int64_t last = static_cast<int64_t>(static_cast<uint64_t>(base) + range - 1);
    dispatch_all(dtype, "random_", [&]<class T>() {
      if constexpr (!is_floating<T>) {
        TAEDA_CHECK(base >= static_cast<int64_t>(std::numeric_limits<T>::lowest()) && last <= static_cast<int64_t>(std::numeric_limits<T>::max()),
                    "[random_] the bounds must fit the dtype: got ", base, " to ", last, " for ", dtype, "; use another dtype or bounds");
      }
    });
  }
  dispatch_all(dtype, "random_", [&]<class T>() {
    fill_in_memory_order<T>(self, [&](T* out, int64_t n, bool) { fill_random_range(out, n, base, range, cpu_generator(generator)); });
  });
}

}  // namespace detail

namespace ops {
namespace {

using OptGenerator = std::optional<Generator>;

Tensor uniform_filled(Tensor t, const OptGenerator& generator) {
  detail::fill_uniform_tensor(t, 0, 1, generator);
  return t;
}
Tensor normal_filled(Tensor t, const OptGenerator& generator, double mean = 0, double std = 1) {
  detail::fill_normal_tensor(t, mean, std, generator);
  return t;
}
Tensor range_filled(Tensor t, int64_t low, int64_t high, const OptGenerator& generator) {
  TAEDA_CHECK(low < high, "[randint] random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", high, "; swap them");
  detail::fill_range_tensor(t, low, static_cast<uint64_t>(high) - static_cast<uint64_t>(low), generator);
  return t;
}
Tensor permutation(int64_t n, const TensorOptions& options, const OptGenerator& generator) {
  const ScalarType dtype = options.dtype_opt().value_or(kLong);
  TAEDA_CHECK(n >= 0, "[randperm] n must be non-negative: got ", n, "; pass 0 or more");
  TAEDA_CHECK_NOT_IMPLEMENTED(dtype != kBool, "[randperm] not implemented for Bool; choose another dtype");
  const int64_t most = detail::largest_exact(dtype);
  TAEDA_CHECK(n - 1 <= most, "[randperm] n is too large for the dtype: got ", n, " for ", dtype, "; use a wider dtype");
  Tensor t = make_tensor(n, kLong);
  fill_randperm(reinterpret_cast<int64_t*>(t.impl().data()), n, cpu_generator(generator));
  return t.to(dtype);
}

/// Uniform numbers in [0, 1).
struct Rand {
  static constexpr auto schema =
      "rand(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, const TensorOptions& options) {
    return uniform_filled(detail::empty_with(size, options, std::nullopt), std::nullopt);
  }
};
/// Uniform numbers in [0, 1) of a given generator.
struct RandGenerator {
  static constexpr auto schema =
      "rand.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, OptGenerator generator, const TensorOptions& options) {
    return uniform_filled(detail::empty_with(size, options, std::nullopt), generator);
  }
};
/// Uniform numbers in [0, 1) in the shape of another tensor.
struct RandLike {
  static constexpr auto schema =
      "rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    return uniform_filled(detail::empty_like_of(self, options, memory_format), std::nullopt);
  }
};
/// Standard normal numbers.
struct Randn {
  static constexpr auto schema =
      "randn(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, const TensorOptions& options) {
    return normal_filled(detail::empty_with(size, options, std::nullopt), std::nullopt);
  }
};
/// Standard normal numbers of a given generator.
struct RandnGenerator {
  static constexpr auto schema =
      "randn.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(IntArrayRef size, OptGenerator generator, const TensorOptions& options) {
    return normal_filled(detail::empty_with(size, options, std::nullopt), generator);
  }
};
/// Standard normal numbers in the shape of another tensor.
struct RandnLike {
  static constexpr auto schema =
      "randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    return normal_filled(detail::empty_like_of(self, options, memory_format), std::nullopt);
  }
};
/// Normal numbers of the given mean and standard deviation.
struct NormalFloatFloat {
  static constexpr auto schema =
      "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(double mean, double std, IntArrayRef size, OptGenerator generator, const TensorOptions& options) {
    return normal_filled(detail::empty_with(size, options, std::nullopt), generator, mean, std);
  }
};
void check_std(const Tensor& std) {
  TAEDA_CHECK(std.numel() == 0 || !taeda::any(std.detach().lt(0)).item<bool>(), "[normal] expects all elements of std >= 0.0; pass 0 or more");
}
/// A standard normal number for each place, times std plus mean.
Tensor normal_from(const Tensor& shape_of, const Tensor& mean, const Tensor& std, const OptGenerator& generator) {
  const Tensor t = normal_filled(make_tensor(shape_of.sizes(), shape_of.scalar_type()), generator);
  return t.mul(std).add(mean);
}
/// Normal numbers whose means are given place by place.
struct NormalTensorFloat {
  static constexpr auto schema = "normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor";
  static constexpr auto out_apart = "mean";
  static Tensor forward(const Tensor& mean, double std, OptGenerator generator) {
    return normal_filled(make_tensor(mean.sizes(), mean.scalar_type()), generator, 0, std).add(mean);
  }
  static Tensor grad_mean(const Tensor& grad) { return taeda::zeros_like(grad); }
};
/// Normal numbers whose standard deviations are given place by place.
struct NormalFloatTensor {
  static constexpr auto schema = "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor";
  static constexpr auto out_apart = "std";
  static Tensor forward(double mean, const Tensor& std, OptGenerator generator) {
    check_std(std);
    return normal_filled(make_tensor(std.sizes(), std.scalar_type()), generator).mul(std).add(mean);
  }
  static Tensor grad_std(const Tensor& grad) { return taeda::zeros_like(grad); }
};
/// Normal numbers whose means and standard deviations are given place by place.
struct NormalTensorTensor {
  static constexpr auto schema = "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor";
  static constexpr auto out_apart = "mean std";
  static Tensor forward(const Tensor& mean, const Tensor& std, OptGenerator generator) {
    check_std(std);
    return normal_from(taeda::empty_like(mean.expand(broadcast_shape(mean, std))), mean, std, generator);
  }
  static DimVector broadcast_shape(const Tensor& a, const Tensor& b) { return DimVector(a.detach().add(b.detach()).sizes()); }
  static Tensor grad_mean(const Tensor& grad, IntArrayRef mean_sizes) { return taeda::zeros(mean_sizes, grad.options()); }
  static Tensor grad_std(const Tensor& grad, IntArrayRef std_sizes) { return taeda::zeros(std_sizes, grad.options()); }
};

/// Integers from 0 to high - 1.
struct Randint {
  static constexpr auto schema =
      "randint(int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t high, IntArrayRef size, const TensorOptions& options) {
    return range_filled(detail::empty_with(size, options, std::nullopt), 0, high, std::nullopt);
  }
};
/// Integers from 0 to high - 1 of a given generator.
struct RandintGenerator {
  static constexpr auto schema =
      "randint.generator(int high, int[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t high, IntArrayRef size, OptGenerator generator, const TensorOptions& options) {
    return range_filled(detail::empty_with(size, options, std::nullopt), 0, high, generator);
  }
};
/// Integers from low to high - 1.
struct RandintLow {
  static constexpr auto schema =
      "randint.low(int low, int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
    return range_filled(detail::empty_with(size, options, std::nullopt), low, high, std::nullopt);
  }
};
/// Integers from low to high - 1 of a given generator.
struct RandintLowGenerator {
  static constexpr auto schema =
      "randint.low_generator(int low, int high, int[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t low, int64_t high, IntArrayRef size, OptGenerator generator, const TensorOptions& options) {
    return range_filled(detail::empty_with(size, options, std::nullopt), low, high, generator);
  }
};
/// Integers from 0 to high - 1 in the shape of another tensor.
struct RandintLike {
  static constexpr auto schema =
      "randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
      "MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, int64_t high, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    return range_filled(detail::empty_like_of(self, options, memory_format), 0, high, std::nullopt);
  }
};
/// Integers from low to high - 1 in the shape of another tensor.
struct RandintLikeLow {
  static constexpr auto schema =
      "randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the result does not depend on the values";
  static Tensor forward(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
    return range_filled(detail::empty_like_of(self, options, memory_format), low, high, std::nullopt);
  }
};
/// A random permutation of 0 ... n - 1.
struct Randperm {
  static constexpr auto schema =
      "randperm(int n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t n, const TensorOptions& options) { return permutation(n, options, std::nullopt); }
};
/// A random permutation of 0 ... n - 1 of a given generator.
struct RandpermGenerator {
  static constexpr auto schema =
      "randperm.generator(int n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t n, OptGenerator generator, const TensorOptions& options) { return permutation(n, options, generator); }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/random_factory.inc"
