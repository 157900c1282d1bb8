// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors from a rule: evenly spaced numbers, identity, triangle positions, powers, index arithmetic.
#include <algorithm>
#include <cmath>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"

namespace taeda {
namespace ops {
namespace {

ScalarType range_dtype(const TensorOptions& options) { return options.dtype_opt().value_or(default_scalar_type()); }

ScalarType frequency_dtype(const TensorOptions& options, const char* op) {
  const ScalarType dtype = range_dtype(options);
  TAEDA_CHECK(is_floating_type(dtype), "[", op, "] requires a floating point dtype: got ", dtype, "; choose one");
  return dtype;
}

/// Fills with f(i), computed in double (integers: truncated).
template <class F>
Tensor generate(int64_t n, ScalarType dtype, const TensorOptions& options, const F& f) {
  Tensor t = detail::empty_with(IntArrayRef(n), options.dtype(dtype), std::nullopt);
  dispatch_all(dtype, "linspace", [&]<class T>() {
    T* out = reinterpret_cast<T*>(t.impl().data());
    for (int64_t i = 0; i < n; ++i) {
      const double v = f(i);
      if constexpr (is_floating<T>) out[i] = static_cast<T>(static_cast<OpMath<T>>(v));
      else if constexpr (std::is_same_v<T, bool>) out[i] = v != 0;
      else out[i] = static_cast<T>(static_cast<int64_t>(v));
    }
  });
  return t;
}

/// The number at step i of `steps` from a to b: measured from the nearer end, so that both ends are exact.
double spaced(double a, double b, int64_t i, int64_t steps) {
  if (steps == 1) return a;
  const double step = (b - a) / static_cast<double>(steps - 1);
  return i < steps / 2 ? a + step * static_cast<double>(i) : b - step * static_cast<double>(steps - 1 - i);
}

/// A bound as an element of the dtype: truncated, and refused where it does not fit.
double bound_of(const Scalar& s, ScalarType dtype, const char* op) {
  return dispatch_all(dtype, op, [&]<class T>() {
    TAEDA_CHECK(s.fits<T>(), "[", op, "] start and end must fit the dtype: got ", s, " for ", dtype, "; use a wider dtype");
    return is_floating<T> ? s.toDouble() : static_cast<double>(s.unchecked<T>());
  });
}
Tensor spaced_between(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options, const char* op,
                      std::optional<double> base = std::nullopt) {
  TAEDA_CHECK(steps >= 0, "[", op, "] number of steps must be non-negative: got ", steps, "; pass 0 or more");
  const ScalarType dtype = range_dtype(options);
  TAEDA_CHECK_NOT_IMPLEMENTED(dtype != kBool || steps <= 1, "[", op, "] not implemented for Bool; choose another dtype and convert");
  const bool checked = !base || is_integral_type(dtype, true);
  const double a = checked ? bound_of(start, dtype, op) : start.toDouble(), b = checked ? bound_of(end, dtype, op) : end.toDouble();
  return generate(steps, dtype, options, [&](int64_t i) { return base ? std::pow(*base, spaced(a, b, i, steps)) : spaced(a, b, i, steps); });
}
Scalar bound(const Tensor& t, const char* op) {
  TAEDA_CHECK(t.dim() == 0, "[", op, "] only supports 0-dimensional start and end tensors, but got ", t.dim(),
              " dimensions; pass numbers");
  return t.item();
}

/// `steps` numbers evenly spaced from start to end, both included.
struct Linspace {
  static constexpr auto schema =
      "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
    return spaced_between(start, end, steps, options, "linspace");
  }
};
/// linspace between 0-dim tensors.
struct LinspaceTensors {
  static constexpr auto schema =
      "linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "the bounds are read as numbers";
  static Tensor forward(const Tensor& start, const Tensor& end, int64_t steps, const TensorOptions& options) {
    return spaced_between(bound(start, "linspace"), bound(end, "linspace"), steps, options, "linspace");
  }
};
/// linspace from a 0-dim tensor to a number.
struct LinspaceTensorStart {
  static constexpr auto schema =
      "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "the bounds are read as numbers";
  static Tensor forward(const Tensor& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
    return spaced_between(bound(start, "linspace"), end, steps, options, "linspace");
  }
};
/// linspace from a number to a 0-dim tensor.
struct LinspaceTensorEnd {
  static constexpr auto schema =
      "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "the bounds are read as numbers";
  static Tensor forward(const Scalar& start, const Tensor& end, int64_t steps, const TensorOptions& options) {
    return spaced_between(start, bound(end, "linspace"), steps, options, "linspace");
  }
};
/// base to the power of `steps` numbers evenly spaced from start to end.
struct Logspace {
  static constexpr auto schema =
      "logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) {
    return spaced_between(start, end, steps, options, "logspace", base);
  }
};
/// logspace between 0-dim tensors.
struct LogspaceTensors {
  static constexpr auto schema =
      "logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "the bounds are read as numbers";
  static Tensor forward(const Tensor& start, const Tensor& end, int64_t steps, double base, const TensorOptions& options) {
    return spaced_between(bound(start, "logspace"), bound(end, "logspace"), steps, options, "logspace", base);
  }
};
/// logspace from a 0-dim tensor to a number.
struct LogspaceTensorStart {
  static constexpr auto schema =
      "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "the bounds are read as numbers";
  static Tensor forward(const Tensor& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) {
    return spaced_between(bound(start, "logspace"), end, steps, options, "logspace", base);
  }
};
/// logspace from a number to a 0-dim tensor.
struct LogspaceTensorEnd {
  static constexpr auto schema =
      "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "the bounds are read as numbers";
  static Tensor forward(const Scalar& start, const Tensor& end, int64_t steps, double base, const TensorOptions& options) {
    return spaced_between(start, bound(end, "logspace"), steps, options, "logspace", base);
  }
};

/// Numbers from start to end, both included, in steps (deprecated in favour of arange).
struct Range {
  static constexpr auto schema =
      "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
    TAEDA_CHECK_NOT_IMPLEMENTED(range_dtype(options) != kBool, "[range] not implemented for Bool; choose another dtype");
    const double a = start.toDouble();
    const double b = end.toDouble();
    const double s = step.toDouble();
    TAEDA_CHECK(s > 0 || s < 0, "[range] step must be nonzero: got ", step, "; pass a positive or negative step");
    TAEDA_CHECK(s > 0 ? b >= a : b <= a, "[range] upper bound and lower bound inconsistent with step sign: got ", start, " -> ",
                end, " by ", step, "; change the sign of the step");
    const auto n = static_cast<int64_t>((b - a) / s + 1);
    return generate(n, range_dtype(options), options, [&](int64_t i) { return a + s * static_cast<double>(i); });
  }
};

Tensor eye_of(int64_t n, int64_t m, const TensorOptions& options) {
  TAEDA_CHECK(n >= 0, "[eye] n must be greater or equal to 0, got ", n, "; pass 0 or more");
  TAEDA_CHECK(m >= 0, "[eye] m must be greater or equal to 0, got ", m, "; pass 0 or more");
  Tensor result = detail::empty_with({n, m}, options, std::nullopt);
  detail::fill_elements(result.impl(), 0);
  detail::fill_elements(make_view(result, {std::min(n, m)}, {m + 1}, 0).impl(), 1);
  return result;
}
/// The identity matrix.
struct Eye {
  static constexpr auto schema =
      "eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t n, const TensorOptions& options) { return eye_of(n, n, options); }
};
/// Ones on the main diagonal of an (n, m) matrix, zeros elsewhere.
struct EyeRectangular {
  static constexpr auto schema =
      "eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t n, int64_t m, const TensorOptions& options) { return eye_of(n, m, options); }
};

/// The elements of `rows` rows, the narrowest `narrowest` wide, each next one wider by one up to `col`.
template <class Number>
Number stair_count(Number rows, Number narrowest, Number col) {
  const Number growing = std::min(rows, col - narrowest);
  return growing * narrowest + growing * (growing - 1) / 2 + (rows - growing) * col;
}
Tensor triangle_indices(int64_t row, int64_t col, int64_t offset, bool upper, const TensorOptions& options, const char* op) {
  TAEDA_CHECK(row >= 0 && col >= 0, "[", op, "] row and col must be non-negative: got ", row, " and ", col, "; pass 0 or more");
  const ScalarType dtype = options.dtype_opt().value_or(kLong);
  TAEDA_CHECK_NOT_IMPLEMENTED(dtype == kLong || dtype == kInt, "[", op, "] not implemented for ", dtype, "; choose Long or Int");
  offset = std::clamp(offset, -row, col);
  const int64_t first = upper || col == 0 ? 0 : std::max<int64_t>(0, -offset);
  const int64_t last = col == 0 ? 0 : upper && col - row < offset ? col - offset : row;  // rows first ... last - 1 hold elements
  const auto cut = [&](int64_t i) { return std::clamp<int64_t>(i + offset + (upper ? 0 : 1), 0, col); };
  const int64_t narrowest = first >= last ? 0 : upper ? col - cut(last - 1) : cut(first);
  const auto estimate = stair_count(static_cast<double>(last - first), static_cast<double>(narrowest), static_cast<double>(col));
  TAEDA_CHECK(estimate < 0x1p58, "[", op, "] the result must be below 2^63 bytes: got row ", row, " and col ", col, "; use less");
  const int64_t n = stair_count(last - first, narrowest, col);
  Tensor result = make_tensor({2, n}, kLong);
  auto* rows = reinterpret_cast<int64_t*>(result.impl().data());
  auto* columns = rows + n;
  for (int64_t i = first; i < last; ++i) {
    for (int64_t j = upper ? cut(i) : 0; j < (upper ? col : cut(i)); ++j) {
      *rows++ = i;
      *columns++ = j;
    }
  }
  return dtype == kLong ? result : result.to(dtype);
}
/// Row and column numbers of the lower triangle, (2, count).
struct TrilIndices {
  static constexpr auto schema =
      "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "positions are integers";
  static Tensor forward(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
    return triangle_indices(row, col, offset, false, options, "tril_indices");
  }
};
/// Row and column numbers of the upper triangle, (2, count).
struct TriuIndices {
  static constexpr auto schema =
      "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "positions are integers";
  static Tensor forward(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
    return triangle_indices(row, col, offset, true, options, "triu_indices");
  }
};

Tensor powers(const Tensor& x, int64_t n, bool increasing, ScalarType dtype) {
  DimVector sizes(x.sizes());
  sizes.push_back(1);
  if (n == 0) {
    sizes.back() = 0;
    return taeda::empty(sizes, x.options().dtype(dtype));
  }
  const Tensor ones = taeda::ones(sizes, x.options().dtype(dtype));
  sizes.back() = n - 1;
  const Tensor rest = x.to(dtype).unsqueeze(-1).expand(sizes).cumprod(-1);
  const Tensor result = taeda::cat({ones, rest}, -1);
  return increasing ? result : result.flip({-1});
}
/// Powers of the elements of a vector as columns, the highest first unless `increasing`.
struct Vander : Composite {
  static constexpr auto schema = "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor";
  static Tensor forward(const Tensor& x, std::optional<int64_t> N, bool increasing) {
    TAEDA_CHECK(x.dim() == 1, "[vander] x must be a one-dimensional tensor: got ", x.sizes(), "; flatten it");
    const int64_t n = N.value_or(x.size(0));
    TAEDA_CHECK(n >= 0, "[vander] N must be non-negative: got ", n, "; pass 0 or more");
    return powers(x, n, increasing, is_integral_type(x.scalar_type(), true) ? kLong : x.scalar_type());
  }
};
/// Powers x^0 … x^(N-1) of the elements, as a new last dimension's rows.
struct LinalgVander : Composite {
  static constexpr auto schema = "linalg_vander(Tensor x, *, int? N=None) -> Tensor";
  static Tensor forward(const Tensor& x, std::optional<int64_t> N) {
    TAEDA_CHECK(x.scalar_type() != kBool, "[linalg_vander] bool is not supported: got dtype Bool; convert x");
    const Tensor vector = taeda::atleast_1d(x);
    const int64_t n = N.value_or(vector.size(-1));
    TAEDA_CHECK(x.scalar_type() != kHalf && x.scalar_type() != kBFloat16, "[linalg_vander] 16-bit floats are not supported: got ", x.scalar_type(),
                "; convert x");
    TAEDA_CHECK(n > 1, "[linalg_vander] N must be greater than 1: got ", n, "; pass 2 or more");
    return powers(vector, n, true, is_integral_type(x.scalar_type(), true) ? kLong : x.scalar_type());
  }
};

/// Flat positions as coordinates in `shape`: one tensor for each dimension.
struct UnravelIndex : Composite {
  static constexpr auto schema = "unravel_index(Tensor indices, int[] shape) -> Tensor[]";
  static std::vector<Tensor> forward(const Tensor& indices, IntArrayRef shape) {
    TAEDA_CHECK_TYPE(is_integral_type(indices.scalar_type(), false), "[unravel_index] expected 'indices' to be integer dtype: got ",
                     indices.scalar_type(), "; convert them");
    for (const int64_t s : shape) {
      TAEDA_CHECK_VALUE(s >= 0, "[unravel_index] 'shape' cannot have negative values: got ", shape, "; use 0 or more");
    }
    std::vector<Tensor> out(shape.size());
    Tensor rest = indices;
    for (size_t d = shape.size(); d-- > 0;) {
      out[d] = rest.remainder(shape[d]);
      rest = rest.floor_divide(shape[d]);
    }
    return out;
  }
};

void check_isin(ScalarType type) { TAEDA_CHECK(type != kBool, "[isin] unsupported input type: got Bool; convert it"); }
/// For each element whether it occurs in test_elements.
struct Isin {
  static constexpr auto schema =
      "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor";
  static constexpr auto no_grad = "the result is bool";
  static Tensor forward(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert) {
    check_isin(elements.scalar_type());
    check_isin(test_elements.scalar_type());
    const ScalarType common = promote_types(elements.scalar_type(), test_elements.scalar_type());
    const Tensor a = elements.to(common).contiguous();
    const Tensor b = detail::contiguous_copy(test_elements.to(common));
    Tensor result = make_tensor(elements.sizes(), kBool, elements.device());
    auto* out = reinterpret_cast<bool*>(result.impl().data());
    dispatch_all(common, "isin", [&]<class T>() {
      using M = OpMath<T>;
      const T* from = reinterpret_cast<const T*>(a.impl().data());
      T* set = reinterpret_cast<T*>(b.impl().data());
      const auto less = [](T x, T y) { return static_cast<M>(x) < static_cast<M>(y); };
      // NaN equals nothing.
      T* end = std::partition(set, set + b.numel(), [](T v) { return static_cast<M>(v) == static_cast<M>(v); });
      std::sort(set, end, less);
      for (int64_t i = 0; i < a.numel(); ++i) {
        const bool nan = !(static_cast<M>(from[i]) == static_cast<M>(from[i]));
        out[i] = (!nan && std::binary_search(set, end, from[i], less)) != invert;
      }
    });
    return result;
  }
};
/// isin for a number among the tests.
struct IsinScalarTest : Composite {
  static constexpr auto schema =
      "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor";
  static Tensor forward(const Tensor& elements, const Scalar& test_element, bool /*assume_unique*/, bool invert) {
    check_isin(elements.scalar_type());
    check_isin(test_element.type());
    return invert ? elements.ne(test_element) : elements.eq(test_element);
  }
};
/// isin for a number.
struct IsinScalarElement : Composite {
  static constexpr auto schema =
      "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor";
  static Tensor forward(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
    check_isin(element.type());
    const TensorOptions options(element.isFloatingPoint() ? kDouble : kLong);
    return taeda::isin(taeda::scalar_tensor(element, options), test_elements, assume_unique, invert);
  }
};

/// Moves the zero frequency to the middle of the given (by default all) dimensions.
struct FftShift : Composite {
  static constexpr auto schema = "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim) { return shift(self, dim, false); }
  static Tensor shift(const Tensor& self, OptionalIntArrayRef dim, bool inverse) {
    DimVector dims;
    DimVector shifts;
    if (dim.has_value()) {
      for (const int64_t d : *dim) dims.push_back(maybe_wrap_dim(d, self.dim(), "fft_fftshift"));
    } else {
      for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
    }
    if (dims.empty()) return self.clone();
    for (const int64_t d : dims) shifts.push_back(inverse ? (self.size(d) + 1) / 2 : self.size(d) / 2);
    return self.roll(shifts, dims);
  }
};
/// Undoes fftshift.
struct FftInverseShift : Composite {
  static constexpr auto schema = "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor";
  static constexpr auto variants = "function";
  static Tensor forward(const Tensor& self, OptionalIntArrayRef dim) { return FftShift::shift(self, dim, true); }
};
/// Sample frequencies of a Fourier transform of n points at distance d.
struct FftFreq {
  static constexpr auto schema =
      "fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t n, double d, const TensorOptions& options) {
    const double unit = 1.0 / (static_cast<double>(n) * d);
    return generate(n, frequency_dtype(options, "fftfreq"), options, [&](int64_t i) {
      return static_cast<double>(i < (n + 1) / 2 ? i : i - n) * unit;
    });
  }
};
/// The nonnegative sample frequencies.
struct FftRealFreq {
  static constexpr auto schema =
      "fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static Tensor forward(int64_t n, double d, const TensorOptions& options) {
    const double unit = 1.0 / (static_cast<double>(n) * d);
    return generate(n / 2 + 1, frequency_dtype(options, "rfftfreq"), options, [&](int64_t i) { return static_cast<double>(i) * unit; });
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/ranges.inc"
