// SPDX-License-Identifier: Apache-2.0
// Random numbers into plain memory, in memory order, with the draws and the arithmetic of PyTorch's CPU generator.
// Every function holds the generator's lock from its first draw to its last; callers must not hold it.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numbers>
#include <type_traits>

#include "taeda/core/export.h"
#include "taeda/core/generator.h"
#include "taeda/core/half.h"

namespace taeda {

namespace detail {

/// Uniforms in [0, 1): one 32-bit draw for a float, one 64-bit draw for a double. Without the lock.
TAEDA_API void draw_uniforms(float* out, int64_t n, CPUGeneratorImpl& generator);
TAEDA_API void draw_uniforms(double* out, int64_t n, CPUGeneratorImpl& generator);

template <class T>
T from_double(double value) {
  if constexpr (is_reduced_float<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// out[i] = f(u) for one double uniform u each.
template <class T, class F>
void fill_from_uniforms(T* out, int64_t n, CPUGeneratorImpl& generator, const F& f) {
  constexpr int64_t kBlock = 312;
  double uniforms[kBlock];
  std::lock_guard lock(generator.mutex_);
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = std::min(kBlock, n - done);
    draw_uniforms(uniforms, count, generator);
    for (int64_t i = 0; i < count; ++i) out[done + i] = f(uniforms[i]);
  }
}

}  // namespace detail

/// u * (to - from) + from with one rounding. 16-bit types compute in float; a result that rounds to `to` becomes `from`.
TAEDA_API void fill_uniform(float* out, int64_t n, double from, double to, CPUGeneratorImpl& generator);
TAEDA_API void fill_uniform(double* out, int64_t n, double from, double to, CPUGeneratorImpl& generator);
TAEDA_API void fill_uniform(Half* out, int64_t n, double from, double to, CPUGeneratorImpl& generator);
TAEDA_API void fill_uniform(BFloat16* out, int64_t n, double from, double to, CPUGeneratorImpl& generator);

/// Normal numbers of a contiguous tensor: from 16 elements on in blocks of 16, below element by element.
TAEDA_API void fill_normal(float* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator);
TAEDA_API void fill_normal(double* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator);
TAEDA_API void fill_normal(Half* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator);
TAEDA_API void fill_normal(BFloat16* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator);

/// Normal numbers element by element, in double precision, the kept one first: the way of a tensor that is not
/// contiguous, whatever its size.
template <class T>
void fill_normal_elementwise(T* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  std::lock_guard lock(generator.mutex_);
  for (int64_t i = 0; i < n; ++i) out[i] = detail::from_double<T>(generator.normal() * std + mean);
}

/// exp of a normal number, element by element at every size.
template <class T>
void fill_log_normal(T* out, int64_t n, double mean, double std, CPUGeneratorImpl& generator) {
  std::lock_guard lock(generator.mutex_);
  for (int64_t i = 0; i < n; ++i) out[i] = detail::from_double<T>(std::exp(generator.normal() * std + mean));
}

/// 1 with probability p, one double uniform each (`bernoulli_(p)`; dropout's mask with p = 1 - its p).
template <class T>
void fill_bernoulli(T* out, int64_t n, double p, CPUGeneratorImpl& generator) {
  detail::fill_from_uniforms(out, n, generator, [p](double u) { return T(u < p ? 1 : 0); });
}

/// 1 with the probability of the same place; one uniform of the probabilities' type each (16-bit types: a float).
template <class T, class P>
void fill_bernoulli(T* out, const P* probabilities, int64_t n, CPUGeneratorImpl& generator) {
  std::lock_guard lock(generator.mutex_);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::same_as<P, double>) {
      out[i] = T(generator.uniform_double() < probabilities[i] ? 1 : 0);
    } else {
      out[i] = T(generator.uniform_float() < static_cast<float>(probabilities[i]) ? 1 : 0);
    }
  }
}

/// Exponential distribution of rate lambda.
template <class T>
void fill_exponential(T* out, int64_t n, double lambda, CPUGeneratorImpl& generator) {
  detail::fill_from_uniforms(out, n, generator,
                             [lambda](double u) { return detail::from_double<T>(-std::log1p(-u) / lambda); });
}

template <class T>
void fill_cauchy(T* out, int64_t n, double median, double sigma, CPUGeneratorImpl& generator) {
  detail::fill_from_uniforms(out, n, generator, [median, sigma](double u) {
    return detail::from_double<T>(median + sigma * std::tan(std::numbers::pi * (u - 0.5)));
  });
}

/// Number of trials of probability p up to and including the first success.
template <class T>
void fill_geometric(T* out, int64_t n, double p, CPUGeneratorImpl& generator) {
  detail::fill_from_uniforms(out, n, generator, [p](double u) {
    return detail::from_double<T>(std::ceil(std::log(u) / std::log1p(-p)));
  });
}

/// Integers base ... base + range - 1 (`randint`, `random_(from, to)`); range 0 stands for 2^64.
template <class T>
void fill_random_range(T* out, int64_t n, int64_t base, uint64_t range, CPUGeneratorImpl& generator) {
  std::lock_guard lock(generator.mutex_);
  const auto place = [base](uint64_t offset) {
    const auto value = static_cast<int64_t>(static_cast<uint64_t>(base) + offset);
    if constexpr (is_reduced_float<T>) {
      return T(static_cast<float>(value));
    } else {
      return static_cast<T>(value);
    }
  };
  if (range != 0 && range < uint64_t{1} << 28) {
    const auto divisor = static_cast<uint32_t>(range);
    for (int64_t i = 0; i < n; ++i) out[i] = place(generator.random() % divisor);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t draw = generator.random64();
      out[i] = place(range == 0 ? draw : draw % range);
    }
  }
}

/// `random_()` without bounds: 0 ... the largest integer up to which T holds every integer (floats inclusive).
template <class T>
void fill_random(T* out, int64_t n, CPUGeneratorImpl& generator) {
  std::lock_guard lock(generator.mutex_);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::same_as<T, bool>) {
      out[i] = (generator.random() & 1u) != 0;
    } else if constexpr (std::same_as<T, double>) {
      out[i] = static_cast<double>(generator.random64() % ((uint64_t{1} << 53) + 1));
    } else if constexpr (is_floating<T>) {
      out[i] = T(static_cast<float>(generator.random() % ((1u << std::numeric_limits<T>::digits) + 1)));
    } else if constexpr (sizeof(T) == 8) {
      out[i] = static_cast<T>(generator.random64() & (~uint64_t{0} >> 1));
    } else if constexpr (sizeof(T) == 4) {
      out[i] = static_cast<T>(generator.random() & 0x7fffffffu);
    } else {
      out[i] = static_cast<T>(generator.random() % (static_cast<uint32_t>(std::numeric_limits<T>::max()) + 1u));
    }
  }
}

/// One Poisson number of the given rate (Hörmann 1993, "PTRS", from rate 10 on). Without the lock.
TAEDA_API int64_t poisson_sample(double rate, CPUGeneratorImpl& generator);

template <class T>
void fill_poisson(T* out, const T* rates, int64_t n, CPUGeneratorImpl& generator) {
  std::lock_guard lock(generator.mutex_);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = detail::from_double<T>(
        static_cast<double>(poisson_sample(static_cast<double>(rates[i]), generator)));
  }
}

/// A random permutation of 0 ... n - 1.
TAEDA_API void fill_randperm(int64_t* out, int64_t n, CPUGeneratorImpl& generator);

/// For every row of `weights` (rows, columns), non-negative with a positive sum, `samples` column numbers.
/// With replacement (one sample goes the way of those without in PyTorch; see `multinomial_by_noise`).
TAEDA_API void multinomial_with_replacement(const float* weights, int64_t rows, int64_t columns, int64_t samples,
                                            int64_t* out, CPUGeneratorImpl& generator);
TAEDA_API void multinomial_with_replacement(const double* weights, int64_t rows, int64_t columns, int64_t samples,
                                            int64_t* out, CPUGeneratorImpl& generator);
/// Without replacement: the largest of weight / exponential noise first.
TAEDA_API void multinomial_by_noise(const float* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                                    CPUGeneratorImpl& generator);
TAEDA_API void multinomial_by_noise(const double* weights, int64_t rows, int64_t columns, int64_t samples, int64_t* out,
                                    CPUGeneratorImpl& generator);

}  // namespace taeda
