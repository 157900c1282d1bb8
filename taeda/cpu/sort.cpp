// SPDX-License-Identifier: Apache-2.0
// Sorting and selection along lines.
#include "taeda/ops/kernels/sort.h"

#include <algorithm>
#include <vector>

#include "taeda/core/parallel.h"
#include "taeda/cpu/scratch.h"
#include "taeda/cpu/sort_keys.h"

namespace taeda {
namespace cpu {
namespace {

int64_t line_grain(int64_t n) { return std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)); }

// Calls body(first, line) for every line, with `make()` as scratch of each chunk; `first` is the offset of its start.
template <class A, class Body>
void each_line(const A& a, const Body& body) {
  parallel_for(0, a.outer * a.inner, line_grain(a.n), [&](int64_t b, int64_t e) {
    std::vector<KeyedPlace> pairs;
    for (int64_t i = b; i < e; ++i) body(i / a.inner * a.n * a.inner + i % a.inner, i, pairs);
  });
}

template <class T>
void fill_pairs(KeyedPlace* pairs, const T* x, int64_t stride, int64_t n, uint64_t flip) {
  for (int64_t k = 0; k < n; ++k) pairs[k] = {sort_key(x[k * stride]) ^ flip, k};
}

template <class T>
void sort_lines(const SortArgs& a) {
  const T* in = static_cast<const T*>(a.in);
  T* values = static_cast<T*>(a.values);
  const uint64_t flip = a.descending ? ~uint64_t{0} : 0;
  // Working memory of the allocator: a vector would clear it, and its pages would be new to the process at every call.
  parallel_for(0, a.outer * a.inner, line_grain(a.n), [&](int64_t b, int64_t e) {
    const Scratch<KeyedPlace> pairs(2 * a.n);
    for (int64_t i = b; i < e; ++i) {
      const int64_t first = i / a.inner * a.n * a.inner + i % a.inner;
      fill_pairs(pairs.data(), in + first, a.inner, a.n, flip);
      sort_pairs(pairs.data(), pairs.data() + a.n, a.n);
      for (int64_t k = 0; k < a.n; ++k) {
        const int64_t place = pairs[k].place;
        if constexpr (std::is_same_v<T, int64_t>) {  // the key gives the value back without a jump through memory
          values[first + k * a.inner] = static_cast<int64_t>(pairs[k].key ^ flip ^ (uint64_t{1} << 63));
        } else {
          values[first + k * a.inner] = in[first + place * a.inner];
        }
        if (a.indices) a.indices[first + k * a.inner] = place;
      }
    }
  });
}

bool before(const KeyedPlace& x, const KeyedPlace& y) { return x.key < y.key || (x.key == y.key && x.place < y.place); }

// The k smallest pairs of the line, sorted, to the front of `pairs`.
template <class T>
void smallest(std::vector<KeyedPlace>& pairs, const T* x, int64_t stride, int64_t n, int64_t k, uint64_t flip) {
  if (k == 0) return;
  if (k <= 512 && k * 8 <= n) {  // a heap of the best so far; nearly every element is refused by one comparison
    pairs.resize(static_cast<size_t>(k));
    fill_pairs(pairs.data(), x, stride, k, flip);
    std::make_heap(pairs.begin(), pairs.end(), before);
    uint64_t worst = pairs.front().key;
    for (int64_t i = k; i < n; ++i) {
      const uint64_t key = sort_key(x[i * stride]) ^ flip;
      if (key >= worst) continue;
      std::pop_heap(pairs.begin(), pairs.end(), before);
      pairs.back() = {key, i};
      std::push_heap(pairs.begin(), pairs.end(), before);
      worst = pairs.front().key;
    }
    std::sort_heap(pairs.begin(), pairs.end(), before);
    return;
  }
  pairs.resize(static_cast<size_t>(2 * n));
  fill_pairs(pairs.data(), x, stride, n, flip);
  if (k < n) std::nth_element(pairs.begin(), pairs.begin() + k - 1, pairs.begin() + n, before);
  if (k < 64) std::sort(pairs.begin(), pairs.begin() + k, before);
  else {
    std::sort(pairs.begin(), pairs.begin() + k, [](const KeyedPlace& p, const KeyedPlace& q) { return p.place < q.place; });
    sort_pairs(pairs.data(), pairs.data() + n, k);
  }
}

template <class T>
void topk_lines(const TopkArgs& a) {
  const T* in = static_cast<const T*>(a.in);
  T* values = static_cast<T*>(a.values);
  const uint64_t flip = a.largest ? ~uint64_t{0} : 0;
  each_line(a, [&](int64_t first, int64_t line, std::vector<KeyedPlace>& pairs) {
    smallest(pairs, in + first, a.inner, a.n, a.k, flip);
    const int64_t out = line / a.inner * a.k * a.inner + line % a.inner;
    for (int64_t j = 0; j < a.k; ++j) {
      const int64_t place = pairs[static_cast<size_t>(j)].place;
      values[out + j * a.inner] = in[first + place * a.inner];
      a.indices[out + j * a.inner] = place;
    }
  });
}

template <class T>
bool is_nan(T x) {
  if constexpr (is_floating<T>) return static_cast<float>(x) != static_cast<float>(x);
  else return false;
}

int64_t most_frequent(std::vector<KeyedPlace>& pairs, int64_t n) {
  sort_pairs(pairs.data(), pairs.data() + n, n);
  int64_t best = 0, best_length = 0;
  for (int64_t begin = 0; begin < n;) {
    int64_t end = begin + 1;
    while (end < n && pairs[static_cast<size_t>(end)].key == pairs[static_cast<size_t>(begin)].key) ++end;
    if (end - begin > best_length) {
      best_length = end - begin;
      best = pairs[static_cast<size_t>(end - 1)].place;
    }
    begin = end;
  }
  return best;
}

template <class T>
void pick_lines(const PickArgs& a) {
  const T* in = static_cast<const T*>(a.in);
  T* values = static_cast<T*>(a.values);
  each_line(a, [&](int64_t first, int64_t line, std::vector<KeyedPlace>& pairs) {
    const T* x = in + first;
    pairs.resize(static_cast<size_t>(a.kind == PickKind::kMode ? 2 * a.n : a.n));
    fill_pairs(pairs.data(), x, a.inner, a.n, 0);
    int64_t place = -1;
    int64_t rank = a.k - 1;
    if (a.kind == PickKind::kMode) {
      place = most_frequent(pairs, a.n);
    } else if (a.kind != PickKind::kKth) {
      int64_t nans = 0, first_nan = -1;
      for (int64_t k = 0; k < a.n; ++k) {
        if (!is_nan(x[k * a.inner])) continue;
        if (nans++ == 0) first_nan = k;
      }
      if (nans > 0 && (a.kind == PickKind::kMedian || nans == a.n)) place = first_nan;
      rank = (a.n - nans - 1) / 2;
    }
    if (place < 0) {
      std::nth_element(pairs.begin(), pairs.begin() + rank, pairs.end(), before);
      place = pairs[static_cast<size_t>(rank)].place;
    }
    values[line] = x[place * a.inner];
    a.indices[line] = place;
  });
}

template <class T>
void search_rows(const SearchArgs& a) {
  const T* edges = static_cast<const T*>(a.edges);
  const T* values = static_cast<const T*>(a.values);
  parallel_for(0, a.rows * a.count, 2048, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t row = a.shared_edges ? 0 : i / a.count;
      const T* line = edges + row * a.n;
      const int64_t* order = a.sorter ? a.sorter + row * a.n : nullptr;
      const T x = values[i];
      int64_t low = 0, high = a.n;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const T edge = line[order ? order[middle] : middle];
        if (a.right ? !(edge > x) : !(edge >= x)) low = middle + 1;
        else high = middle;
      }
      a.out[i] = low;
    }
  });
}

void sort_cpu(const KernelContext&, const SortArgs& a) {
  dispatch_all(a.dtype, "sort", [&]<class T>() { sort_lines<T>(a); });
}
void topk_cpu(const KernelContext&, const TopkArgs& a) {
  dispatch_all(a.dtype, "topk", [&]<class T>() { topk_lines<T>(a); });
}
void pick_cpu(const KernelContext&, const PickArgs& a) {
  dispatch_all(a.dtype, "median", [&]<class T>() { pick_lines<T>(a); });
}
void search_cpu(const KernelContext&, const SearchArgs& a) {
  a.dtype == kDouble ? search_rows<double>(a) : search_rows<int64_t>(a);
}

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const SortArgs&)> sort_kernel{&cpu::sort_cpu};
constinit DeviceKernel<void(const TopkArgs&)> topk_kernel{&cpu::topk_cpu};
constinit DeviceKernel<void(const PickArgs&)> pick_kernel{&cpu::pick_cpu};
constinit DeviceKernel<void(const SearchArgs&)> search_kernel{&cpu::search_cpu};

}  // namespace taeda
