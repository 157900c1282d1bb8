// SPDX-License-Identifier: Apache-2.0
// Elements as unsigned keys of equal order, and a stable radix sort of (key, place) pairs.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "taeda/core/half.h"

namespace taeda::cpu {

struct KeyedPlace {
  uint64_t key;
  int64_t place;
};

/// Order-preserving: a < b exactly when the keys are. NaN comes last, whatever its sign; -0 and 0 are equal.
template <class T>
inline uint64_t sort_key(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? 1 : 0;
  } else if constexpr (is_reduced_float<T>) {
    return sort_key(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (x != x) return std::numeric_limits<U>::max();
    const U bits = std::bit_cast<U>(x + T(0));  // -0 + 0 is 0
    constexpr U kSign = U(1) << (sizeof(U) * 8 - 1);
    return static_cast<uint64_t>(bits & kSign ? static_cast<U>(~bits) : static_cast<U>(bits | kSign));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(x)) ^ (uint64_t{1} << 63);
  } else {
    return static_cast<uint64_t>(x);
  }
}

/// Sorts `a` of n pairs by key, stably; `scratch` has room for n more. The result lies in `a`.
void sort_pairs(KeyedPlace* a, KeyedPlace* scratch, int64_t n);

}  // namespace taeda::cpu
