// SPDX-License-Identifier: Apache-2.0
// A radix sort from the most significant digit: the first digit splits the data into pieces that fit the cache, the next
// ones split the pieces, small pieces are sorted by insertion. Stable, since every split keeps the order.
#include "taeda/cpu/sort_keys.h"

#include <algorithm>
#include <vector>

namespace taeda::cpu {
namespace {

constexpr int64_t kInsertion = 24;

void insertion_sort(KeyedPlace* a, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const KeyedPlace x = a[i];
    int64_t j = i;
    for (; j > 0 && a[j - 1].key > x.key; --j) a[j] = a[j - 1];
    a[j] = x;
  }
}

// Keys agree above bit `bits`. The result goes to `a`, or to `other` when `into_other`.
void sort_digits(KeyedPlace* a, KeyedPlace* other, int64_t n, int bits, bool into_other) {
  if (n <= kInsertion) {
    insertion_sort(a, n);
    if (into_other) std::copy(a, a + n, other);
    return;
  }
  uint64_t varying = 0;  // bits in which the keys differ
  for (int64_t i = 1; i < n; ++i) varying |= a[i].key ^ a[0].key;
  bits = std::min(bits, static_cast<int>(std::bit_width(varying)));
  if (bits == 0) {
    if (into_other) std::copy(a, a + n, other);
    return;
  }
  const int width = std::min(bits, n > 16384 ? 11 : n > 128 ? 8 : 5);
  const int shift = bits - width;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  constexpr int kMaxBuckets = 1 << 11;
  uint32_t small_counts[257];
  std::vector<int64_t> big_counts;
  const auto split = [&](auto* ends) {
    // ends[d]: where bucket d begins, then, after the scatter, where it ends.
    for (int64_t i = 0; i < n; ++i) ++ends[((a[i].key >> shift) & mask) + 1];
    for (uint64_t d = 1; d <= mask; ++d) ends[d] += ends[d - 1];
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t d = (a[i].key >> shift) & mask;
      other[ends[d]++] = a[i];
    }
    int64_t begin = 0;
    for (uint64_t d = 0; d <= mask; ++d) {
      const auto end = static_cast<int64_t>(ends[d]);
      if (end > begin) sort_digits(other + begin, a + begin, end - begin, shift, !into_other);
      begin = end;
    }
  };
  if (width <= 8) {
    std::fill(small_counts, small_counts + mask + 2, 0u);
    split(small_counts);
  } else {
    big_counts.assign(kMaxBuckets + 1, 0);
    split(big_counts.data());
  }
}

}  // namespace

void sort_pairs(KeyedPlace* a, KeyedPlace* scratch, int64_t n) { sort_digits(a, scratch, n, 64, false); }

}  // namespace taeda::cpu
