// SPDX-License-Identifier: Apache-2.0
// Uniform and normal fills, Poisson numbers, permutations, multinomial draws.
#include "taeda/core/random_fill.h"

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taeda {

namespace detail {

void draw_uniforms(float* out, int64_t n, CPUGeneratorImpl& generator) {
  Mt19937& engine = generator.engine();
  while (n > 0) {
    if (engine.next == Mt19937::kWords) engine.refill();
    const int64_t count = std::min(n, static_cast<int64_t>(Mt19937::kWords - engine.next));
    const uint32_t* words = engine.words + engine.next;
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<float>(static_cast<int32_t>(words[i] & 0xffffffu)) * 0x1p-24f;
    }
    engine.next += static_cast<size_t>(count);
    out += count;
    n -= count;
  }
}

void draw_uniforms(double* out, int64_t n, CPUGeneratorImpl& generator) {
  for (int64_t i = 0; i < n; ++i) out[i] = generator.uniform_double();
}

}  // namespace detail

namespace {

#if defined(__x86_64__)
#define TAEDA_FMA_TARGET __attribute__((target("avx2,fma")))
bool has_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
#define TAEDA_FMA_TARGET
bool has_fma() { return false; }
#endif

/// x[i] = fma(x[i], scale, shift): in hardware, vectorised, where there is such an instruction; else by the C library.
template <class T>
TAEDA_FMA_TARGET void scale_shift_hardware(T* x, int64_t n, T scale, T shift) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::same_as<T, float>) {
      x[i] = __builtin_fmaf(x[i], scale, shift);
    } else {
      x[i] = __builtin_fma(x[i], scale, shift);
    }
  }
}

template <class T>
void scale_shift(T* x, int64_t n, T scale, T shift) {
  if (scale == T(1) && shift == T(0)) return;
  if (has_fma()) return scale_shift_hardware(x, n, scale, shift);
  for (int64_t i = 0; i < n; ++i) x[i] = std::fma(x[i], scale, shift);
}

template <class T>
void uniform(T* out, int64_t n, double from, double to, CPUGeneratorImpl& generator) {
  const T low = static_cast<T>(from);
  const T high = static_cast<T>(to);
  std::lock_guard lock(generator.mutex_);
  constexpr int64_t kBlock = 4096;  // stays in the cache between the two passes
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    detail::draw_uniforms(out + done, count, generator);
    scale_shift(out + done, count, high - low, low);
  }
}

template <class T>
void uniform_16bit(T* out, int64_t n, double from, double to, CPUGeneratorImpl& generator) {
  const T low = T(static_cast<float>(from));
  const T high = T(static_cast<float>(to));
  const float scale = static_cast<float>(high) - static_cast<float>(low);
  float block[512];
  std::lock_guard lock(generator.mutex_);
  for (int64_t done = 0; done < n; done += 512) {
    const int64_t count = std::min<int64_t>(512, n - done);
    detail::draw_uniforms(block, count, generator);
    scale_shift(block, count, scale, static_cast<float>(low));
    for (int64_t i = 0; i < count; ++i) {
      const T value(block[i]);
      out[done + i] = static_cast<float>(value) == static_cast<float>(high) ? low : value;
    }
  }
}

// Normal numbers by Box and Muller, in blocks of 16: the uniforms x[j], x[j + 8] become r cos t and r sin t.

#define TAEDA_FORCE_INLINE inline __attribute__((always_inline))

/// Natural logarithm of 0 < x <= 1, normal, within 2 ulp: x = 2^e m, m in [sqrt(1/2), sqrt(2)), and
/// log m = 2 artanh((m - 1) / (m + 1)) by its series.
TAEDA_FORCE_INLINE float log_of_unit(float x) {
  const int32_t bits = std::bit_cast<int32_t>(x);
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float m = std::bit_cast<float>(bits - exponent * (1 << 23));
  const float s = (m - 1.0f) / (m + 1.0f);
  const float z = s * s;
  const float series = 1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9)));
  const float e = static_cast<float>(exponent);
  constexpr float kLn2High = 0x1.62ep-1f;  // 12 bits, so that e * kLn2High is exact
  constexpr float kLn2Low = static_cast<float>(std::numbers::ln2 - static_cast<double>(kLn2High));
  return e * kLn2High + (2.0f * s + (2.0f * s * z * series + e * kLn2Low));
}

/// Sine and cosine of 0 <= t < 7 within about 1e-7: t minus the nearest multiple q of pi/2, then Taylor polynomials.
TAEDA_FORCE_INLINE void sine_cosine(float t, float& sine, float& cosine) {
  const auto q = static_cast<int32_t>(t * static_cast<float>(2 / std::numbers::pi) + 0.5f);
  const float multiple = static_cast<float>(q);
  constexpr float kHigh = 0x1.92p0f;  // 8 bits of pi/2, the next 9, the rest: the products are exact
  constexpr float kMiddle = 0x1.fb4p-12f;
  constexpr float kLow = static_cast<float>(std::numbers::pi / 2 - static_cast<double>(kHigh) - static_cast<double>(kMiddle));
  const float x = ((t - multiple * kHigh) - multiple * kMiddle) - multiple * kLow;
  const float z = x * x;
  const float s = x + x * z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880))));
  const float c = 1.0f + z * (-0.5f + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
  const float straight = (q & 1) != 0 ? c : s;
  const float turned = (q & 1) != 0 ? s : c;
  sine = (q & 2) != 0 ? -straight : straight;
  cosine = ((q + 1) & 2) != 0 ? -turned : turned;
}

TAEDA_FORCE_INLINE void square_roots(float* x) {
#if defined(__x86_64__)
  _mm_storeu_ps(x, _mm_sqrt_ps(_mm_loadu_ps(x)));
  _mm_storeu_ps(x + 4, _mm_sqrt_ps(_mm_loadu_ps(x + 4)));
#else
  for (int j = 0; j < 8; ++j) x[j] = std::sqrt(x[j]);
#endif
}

TAEDA_FORCE_INLINE void transform_blocks(float* x, int64_t blocks, float mean, float std) {
  constexpr float kTurn = static_cast<float>(2 * std::numbers::pi);
  for (int64_t b = 0; b < blocks; ++b, x += 16) {
    float radius[8], sine[8], cosine[8];
    for (int j = 0; j < 8; ++j) radius[j] = -2.0f * log_of_unit(1.0f - x[j]);
    square_roots(radius);
    for (int j = 0; j < 8; ++j) sine_cosine(kTurn * x[j + 8], sine[j], cosine[j]);
    for (int j = 0; j < 8; ++j) x[j] = radius[j] * cosine[j] * std + mean;
    for (int j = 0; j < 8; ++j) x[j + 8] = radius[j] * sine[j] * std + mean;
  }
}

TAEDA_FMA_TARGET void transform_blocks_wide(float* x, int64_t blocks, float mean, float std) {
  transform_blocks(x, blocks, mean, std);
}

/// The same arithmetic in wider registers where there are such.
void normal_blocks(float* x, int64_t blocks, float mean, float std) {
  has_fma() ? transform_blocks_wide(x, blocks, mean, std) : transform_blocks(x, blocks, mean, std);
}

void normal_blocks(double* x, int64_t blocks, double mean, double std) {
  for (int64_t b = 0; b < blocks; ++b, x += 16) {
    for (int j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - x[j]));
      const double angle = 2.0 * std::numbers::pi * x[j + 8];
      x[j] = radius * std::cos(angle) * std + mean;
      x[j + 8] = radius * std::sin(angle) * std + mean;
    }
  }
}

template <class T>
void normal(T* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  if (n < 16) return fill_normal_elementwise(out, n, mean, std, generator);
  const T m = static_cast<T>(mean), s = static_cast<T>(std);
  std::lock_guard lock(generator.mutex_);
  constexpr int64_t kBlock = 4096;
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    detail::draw_uniforms(out + done, count, generator);
    normal_blocks(out + done, count / 16, m, s);
  }
  if (n % 16 == 0) return;
  detail::draw_uniforms(out + n - 16, 16, generator);
  normal_blocks(out + n - 16, 1, m, s);
}

template <class T>
void normal_16bit(T* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  if (n < 16) return fill_normal_elementwise(out, n, mean, std, generator);
  std::lock_guard lock(generator.mutex_);
  float block[16];
  const auto make = [&](int64_t place) {
    detail::draw_uniforms(block, 16, generator);
    normal_blocks(block, 1, static_cast<float>(mean), static_cast<float>(std));
    for (int j = 0; j < 16; ++j) out[place + j] = T(block[j]);
  };
  for (int64_t place = 0; place + 16 <= n; place += 16) make(place);
  if (n % 16 != 0) make(n - 16);
}

}  // namespace

void fill_uniform(float* out, int64_t n, double from, double to, CPUGeneratorImpl& generator) {
  uniform(out, n, from, to, generator);
}
void fill_uniform(double* out, int64_t n, double from, double to, CPUGeneratorImpl& generator) {
  uniform(out, n, from, to, generator);
}
void fill_uniform(Half* out, int64_t n, double from, double to, CPUGeneratorImpl& generator) {
  uniform_16bit(out, n, from, to, generator);
}
void fill_uniform(BFloat16* out, int64_t n, double from, double to, CPUGeneratorImpl& generator) {
  uniform_16bit(out, n, from, to, generator);
}
void fill_normal(float* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  normal(out, n, mean, std, generator);
}
void fill_normal(double* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  normal(out, n, mean, std, generator);
}
void fill_normal(Half* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  normal_16bit(out, n, mean, std, generator);
}
void fill_normal(BFloat16* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  normal_16bit(out, n, mean, std, generator);
}

int64_t poisson_sample(double rate, CPUGeneratorImpl& generator) {
  if (!(rate > 0)) return 0;  // NaN too: no draw would ever be accepted
  if (rate > 0x1p62) return int64_t{1} << 62;
  if (rate < 10) {
    const double bound = std::exp(-rate);
    double product = 1.0;
    for (int64_t factors = 0;; ++factors) {
      product *= generator.uniform_double();
      if (product <= bound) return factors;
    }
  }
  const double root = std::sqrt(rate);
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = generator.uniform_double() - 0.5;
    const double v = generator.uniform_double();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1)) {
      return static_cast<int64_t>(k);
    }
  }
}

void fill_randperm(int64_t* out, int64_t n, CPUGeneratorImpl& generator) {
  std::iota(out, out + n, int64_t{0});
  std::lock_guard lock(generator.mutex_);
  const bool wide = n >= static_cast<int64_t>(std::numeric_limits<uint32_t>::max() / 20);
  for (int64_t i = 0; i + 1 < n; ++i) {
    const auto left = static_cast<uint64_t>(n - i);
    const uint64_t draw = wide ? generator.random64() : generator.random();
    std::swap(out[i], out[i + static_cast<int64_t>(draw % left)]);
  }
}

namespace {

template <class T>
void with_replacement(const T* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                      CPUGeneratorImpl& generator) {
  std::vector<T> sums(static_cast<size_t>(columns));
  std::lock_guard lock(generator.mutex_);
  for (int64_t row = 0; row < rows; ++row, weights += columns, out += samples) {
    std::partial_sum(weights, weights + columns, sums.begin());
    const T total = sums.back();
    for (T& sum : sums) sum /= total;
    for (int64_t i = 0; i < samples; ++i) {
      const double u = generator.uniform_double();
      const auto found = std::lower_bound(sums.begin(), sums.end(), u, [](T sum, double value) { return sum < value; });
      out[i] = std::min<int64_t>(found - sums.begin(), columns - 1);
    }
  }
}

template <class T>
void by_noise(const T* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
              CPUGeneratorImpl& generator) {
  std::vector<T> keys(static_cast<size_t>(rows * columns));
  fill_exponential(keys.data(), rows * columns, 1.0, generator);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = weights[i] / keys[i];
  std::vector<int64_t> order(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    const T* key = keys.data() + row * columns;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + samples, order.end(), [key](int64_t a, int64_t b) {
      return key[a] > key[b] || (key[a] == key[b] && a < b);
    });
    std::copy_n(order.begin(), samples, out + row * samples);
  }
}

}  // namespace

void multinomial_with_replacement(const float* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                                  CPUGeneratorImpl& generator) {
  with_replacement(weights, rows, columns, samples, out, generator);
}
void multinomial_with_replacement(const double* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                                  CPUGeneratorImpl& generator) {
  with_replacement(weights, rows, columns, samples, out, generator);
}
void multinomial_by_noise(const float* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                          CPUGeneratorImpl& generator) {
  by_noise(weights, rows, columns, samples, out, generator);
}
void multinomial_by_noise(const double* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                          CPUGeneratorImpl& generator) {
  by_noise(weights, rows, columns, samples, out, generator);
}

}  // namespace taeda
