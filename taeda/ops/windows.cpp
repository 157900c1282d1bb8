// SPDX-License-Identifier: Apache-2.0
// Window functions: `*_window(n, periodic)` and `signal_windows_*(M, sym)`. A periodic window of n points is the
// symmetric one of n + 1 points without its last (Harris, "On the use of windows for harmonic analysis", 1978).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

constexpr double kPi = std::numbers::pi;

/// Fills with f(k, span) for k = 0 … n - 1, where span is the number of steps of the symmetric window.
template <class F>
Tensor window(int64_t n, bool periodic, const TensorOptions& options, const char* op, const F& f) {
  const ScalarType dtype = options.dtype_opt().value_or(default_scalar_type());
  TAEDA_CHECK(n >= 0, "[", op, "] requires non-negative window length: got ", n, "; pass 0 or more");
  TAEDA_CHECK(is_floating_type(dtype), "[", op, "] expected a floating dtype: got ", dtype, "; use kFloat or kDouble");
  Tensor t = detail::empty_with(IntArrayRef(n), options.dtype(dtype), std::nullopt);
  const double span = static_cast<double>(periodic ? n : n - 1);
  dispatch_floating(dtype, op, [&]<class T>() {
    T* out = reinterpret_cast<T*>(t.impl().data());
    for (int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(static_cast<OpMath<T>>(n == 1 ? 1.0 : f(static_cast<double>(k), span)));
  });
  return t;
}

/// Σ (-1)^i a_i cos(2π i k / span).
double cosine_sum(ArrayRef<double> a, double k, double span) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double term = a[i] * std::cos(2 * kPi * static_cast<double>(i) * k / span);
    sum += i % 2 ? -term : term;
  }
  return sum;
}
Tensor cosine_window(int64_t n, bool periodic, ArrayRef<double> a, const TensorOptions& options, const char* op) {
  return window(n, periodic, options, op, [&](double k, double span) { return cosine_sum(a, k, span); });
}

/// Modified Bessel function of order 0, by its power series (all terms positive).
double bessel_i0(double x) {
  const double quarter = x * x / 4;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 500 && term > sum * 1e-18; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}
Tensor kaiser(int64_t n, bool periodic, double beta, const TensorOptions& options, const char* op) {
  const double scale = bessel_i0(beta);
  return window(n, periodic, options, op, [&](double k, double span) {
    const double x = 2 * k / span - 1;
    return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - x * x))) / scale;
  });
}
double gauss(double x) { return std::exp(-x * x / 2); }
Tensor bartlett(int64_t n, bool periodic, const TensorOptions& options, const char* op) {
  return window(n, periodic, options, op, [](double k, double span) { return 1 - std::abs(2 * k / span - 1); });
}

/// Raised cosine. Periodic.
struct HannWindow {
  static constexpr auto schema =
      "hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, const TensorOptions& options) {
    return cosine_window(window_length, true, std::array<double, 2>{0.5, 0.5}, options, "hann_window");
  }
};
/// Raised cosine.
struct HannWindowPeriodic {
  static constexpr auto schema =
      "hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, const TensorOptions& options) {
    return cosine_window(window_length, periodic, std::array<double, 2>{0.5, 0.5}, options, "hann_window");
  }
};
/// Three cosine terms. Periodic.
struct BlackmanWindow {
  static constexpr auto schema =
      "blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, const TensorOptions& options) {
    return cosine_window(window_length, true, std::array<double, 3>{0.42, 0.5, 0.08}, options, "blackman_window");
  }
};
/// Three cosine terms.
struct BlackmanWindowPeriodic {
  static constexpr auto schema =
      "blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, const TensorOptions& options) {
    return cosine_window(window_length, periodic, std::array<double, 3>{0.42, 0.5, 0.08}, options, "blackman_window");
  }
};
/// Raised cosine on a pedestal. Periodic.
struct HammingWindow {
  static constexpr auto schema =
      "hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, const TensorOptions& options) {
    return cosine_window(window_length, true, std::array<double, 2>{0.54, 0.46}, options, "hamming_window");
  }
};
/// Raised cosine on a pedestal.
struct HammingWindowPeriodic {
  static constexpr auto schema =
      "hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, const TensorOptions& options) {
    return cosine_window(window_length, periodic, std::array<double, 2>{0.54, 0.46}, options, "hamming_window");
  }
};
/// alpha - 0.46 cos.
struct HammingWindowAlpha {
  static constexpr auto schema =
      "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, double alpha, const TensorOptions& options) {
    return cosine_window(window_length, periodic, std::array<double, 2>{alpha, 0.46}, options, "hamming_window");
  }
};
/// alpha - beta cos.
struct HammingWindowAlphaBeta {
  static constexpr auto schema =
      "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, double alpha, double beta, const TensorOptions& options) {
    return cosine_window(window_length, periodic, std::array<double, 2>{alpha, beta}, options, "hamming_window");
  }
};
/// Triangle. Periodic.
struct BartlettWindow {
  static constexpr auto schema =
      "bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, const TensorOptions& options) {
    return bartlett(window_length, true, options, "bartlett_window");
  }
};
/// Triangle.
struct BartlettWindowPeriodic {
  static constexpr auto schema =
      "bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, const TensorOptions& options) {
    return bartlett(window_length, periodic, options, "bartlett_window");
  }
};
/// Bessel window with beta 12. Periodic.
struct KaiserWindow {
  static constexpr auto schema =
      "kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, const TensorOptions& options) {
    return kaiser(window_length, true, 12, options, "kaiser_window");
  }
};
/// Bessel window with beta 12.
struct KaiserWindowPeriodic {
  static constexpr auto schema =
      "kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, const TensorOptions& options) {
    return kaiser(window_length, periodic, 12, options, "kaiser_window");
  }
};
/// Bessel window (Kaiser 1974).
struct KaiserWindowBeta {
  static constexpr auto schema =
      "kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t window_length, bool periodic, double beta, const TensorOptions& options) {
    return kaiser(window_length, periodic, beta, options, "kaiser_window");
  }
};
/// Raised cosine.
struct SignalHann {
  static constexpr auto schema =
      "signal_windows_hann(int M, *, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, bool sym, const TensorOptions& options) {
    return cosine_window(M, !sym, std::array<double, 2>{0.5, 0.5}, options, "signal_windows_hann");
  }
};
/// Three cosine terms.
struct SignalBlackman {
  static constexpr auto schema =
      "signal_windows_blackman(int M, *, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, bool sym, const TensorOptions& options) {
    return cosine_window(M, !sym, std::array<double, 3>{0.42, 0.5, 0.08}, options, "signal_windows_blackman");
  }
};
/// Raised cosine on a pedestal.
struct SignalHamming {
  static constexpr auto schema =
      "signal_windows_hamming(int M, *, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, bool sym, const TensorOptions& options) {
    return cosine_window(M, !sym, std::array<double, 2>{0.54, 0.46}, options, "signal_windows_hamming");
  }
};
/// Four cosine terms (Nuttall 1981).
struct SignalNuttall {
  static constexpr auto schema =
      "signal_windows_nuttall(int M, *, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, bool sym, const TensorOptions& options) {
    return cosine_window(M, !sym, std::array<double, 4>{0.3635819, 0.4891775, 0.1365995, 0.0106411}, options, "signal_windows_nuttall");
  }
};
/// alpha - (1 - alpha) cos.
struct SignalGeneralHamming {
  static constexpr auto schema =
      "signal_windows_general_hamming(int M, *, float alpha=0.54, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, double alpha, bool sym, const TensorOptions& options) {
    return cosine_window(M, !sym, std::array<double, 2>{alpha, 1 - alpha}, options, "signal_windows_general_hamming");
  }
};
/// Sum of cosine terms with the weights a.
struct SignalGeneralCosine {
  static constexpr auto schema =
      "signal_windows_general_cosine(int M, *, float[] a, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, ArrayRef<double> a, bool sym, const TensorOptions& options) {
    TAEDA_CHECK_TYPE(!a.empty(), "[signal_windows_general_cosine] coefficients must be a non-empty list: got none; give the weights");
    return cosine_window(M, !sym, a, options, "signal_windows_general_cosine");
  }
};
/// Triangle.
struct SignalBartlett {
  static constexpr auto schema =
      "signal_windows_bartlett(int M, *, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, bool sym, const TensorOptions& options) {
    return bartlett(M, !sym, options, "signal_windows_bartlett");
  }
};
/// Bessel window (Kaiser 1974).
struct SignalKaiser {
  static constexpr auto schema =
      "signal_windows_kaiser(int M, *, float beta=12.0, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, double beta, bool sym, const TensorOptions& options) {
    TAEDA_CHECK_VALUE(beta >= 0, "[signal_windows_kaiser] beta must be non-negative: got ", beta, "; pass 0 or more");
    return kaiser(M, !sym, beta, options, "signal_windows_kaiser");
  }
};
/// Half a sine wave.
struct SignalCosine {
  static constexpr auto schema =
      "signal_windows_cosine(int M, *, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, bool sym, const TensorOptions& options) {
    return window(M, !sym, options, "signal_windows_cosine",
                  [](double k, double span) { return std::sin(kPi / (span + 1) * (k + 0.5)); });
  }
};
/// exp(-|k - center| / tau).
struct SignalExponential {
  static constexpr auto schema =
      "signal_windows_exponential(int M, *, float? center=None, float tau=1.0, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, std::optional<double> center, double tau, bool sym, const TensorOptions& options) {
    TAEDA_CHECK_VALUE(tau > 0, "[signal_windows_exponential] tau must be positive: got ", tau, "; pass more than 0");
    TAEDA_CHECK_VALUE(!sym || !center, "[signal_windows_exponential] center must be none for symmetric windows: got ", center.value_or(0),
                      "; leave it out or pass sym = false");
    return window(M, !sym, options, "signal_windows_exponential", [&](double k, double span) {
      return std::exp(-std::abs(k - center.value_or(span / 2)) / tau);
    });
  }
};
/// exp(-((k - middle) / std)² / 2).
struct SignalGaussian {
  static constexpr auto schema =
      "signal_windows_gaussian(int M, *, float std=1.0, bool sym=True, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto no_grad = "it takes no tensor";
  static constexpr auto out = false;
  static Tensor forward(int64_t M, double std, bool sym, const TensorOptions& options) {
    TAEDA_CHECK_VALUE(std > 0, "[signal_windows_gaussian] standard deviation must be positive: got ", std, "; pass more than 0");
    const double sigma = std;
    return window(M, !sym, options, "signal_windows_gaussian", [&](double k, double span) {
      const double x = (k - span / 2) / sigma;
      return gauss(x);
    });
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/windows.inc"
