// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/size_fit.h"

#include <algorithm>
#include <cstdlib>

namespace taeda::graph {

namespace {

constexpr int64_t kMostDivisor = 64, kMostFactor = 4;
constexpr size_t kMostProducts = 24;  ///< formulas that products of three are made of

using Seen = std::vector<int64_t>;

std::optional<Seen> product(const Seen& x, const Seen& y) {
  Seen result(x.size());
  for (size_t p = 0; p < x.size(); ++p) {
    if (__builtin_mul_overflow(x[p], y[p], &result[p])) return {};
  }
  return result;
}

}  // namespace

SizeFit::SizeFit(const std::vector<std::string>& symbols, const std::vector<std::vector<int64_t>>& points) : symbols_(symbols.size()) {
  for (size_t i = 0; i < symbols.size(); ++i) {
    Seen seen;
    for (const std::vector<int64_t>& point : points) seen.push_back(point[i]);
    know(Size::symbol(symbols[i]), seen);
  }
}

void SizeFit::know(const Size& size, const Seen& seen) {
  if (found_.emplace(seen, size).second && !size.is_number()) known_.push_back({size, seen});
}

std::optional<Size> SizeFit::find(const Seen& seen) {
  if (const auto at = found_.find(seen); at != found_.end()) return at->second;
  std::optional<Size> size = search(seen);
  if (size) know(*size, seen);
  return size;
}

std::optional<Size> SizeFit::search(const Seen& seen) const {
  if (std::all_of(seen.begin(), seen.end(), [&](int64_t n) { return n == seen[0]; })) return Size(seen[0]);
  for (const Known& x : known_) {
    if (auto size = scaled(x.size, x.seen, seen)) return size;
  }
  for (size_t i = 0; i < known_.size(); ++i) {
    for (size_t k = i; k < known_.size(); ++k) {
      const std::optional<Seen> xy = product(known_[i].seen, known_[k].seen);
      if (!xy) continue;
      if (auto size = scaled(known_[i].size * known_[k].size, *xy, seen)) return size;
    }
  }
  const size_t most = std::min(kMostProducts, known_.size());
  for (size_t i = 0; i < most; ++i) {
    for (size_t k = i; k < most; ++k) {
      for (size_t n = k; n < most; ++n) {
        const std::optional<Seen> xy = product(known_[i].seen, known_[k].seen), xyz = xy ? product(*xy, known_[n].seen) : xy;
        if (!xyz) continue;
        if (auto size = scaled(known_[i].size * known_[k].size * known_[n].size, *xyz, seen)) return size;
      }
    }
  }
  for (size_t i = 0; i < most; ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (auto size = sum(known_[k], known_[i], seen)) return size;
    }
  }
  for (const Known& x : known_) {
    if (auto size = quotient(x, seen)) return size;
  }
  return {};
}

/// a*x + b
std::optional<Size> SizeFit::scaled(const Size& size, const Seen& x, const Seen& seen) const {
  size_t p = 1;
  while (p < x.size() && x[p] == x[0]) ++p;
  if (p == x.size() || (seen[p] - seen[0]) % (x[p] - x[0]) != 0) return {};
  const int64_t a = (seen[p] - seen[0]) / (x[p] - x[0]);
  int64_t ax = 0, b = 0, again = 0;
  if (a == 0 || __builtin_mul_overflow(a, x[0], &ax) || __builtin_sub_overflow(seen[0], ax, &b)) return {};
  for (size_t q = 0; q < x.size(); ++q) {
    if (__builtin_mul_overflow(a, x[q], &ax) || __builtin_add_overflow(ax, b, &again) || again != seen[q]) return {};
  }
  return size * Size(a) + Size(b);
}

/// a*x + b*y + c, by Cramer's rule on three looks that are not in one line.
std::optional<Size> SizeFit::sum(const Known& x, const Known& y, const Seen& seen) const {
  const auto from_first = [&](const Seen& s, size_t p) { return static_cast<__int128>(s[p]) - s[0]; };
  for (size_t p = 1; p < seen.size(); ++p) {
    for (size_t q = p + 1; q < seen.size(); ++q) {
      const __int128 whole = from_first(x.seen, p) * from_first(y.seen, q) - from_first(x.seen, q) * from_first(y.seen, p);
      if (whole == 0) continue;
      const __int128 a = from_first(seen, p) * from_first(y.seen, q) - from_first(seen, q) * from_first(y.seen, p);
      const __int128 b = from_first(x.seen, p) * from_first(seen, q) - from_first(x.seen, q) * from_first(seen, p);
      if (a % whole != 0 || b % whole != 0) return {};
      const __int128 fa = a / whole, fb = b / whole, c = seen[0] - fa * x.seen[0] - fb * y.seen[0];
      for (const __int128 n : {fa, fb, c}) {
        if (n != static_cast<int64_t>(n)) return {};
      }
      for (size_t r = 0; r < seen.size(); ++r) {
        if (fa * x.seen[r] + fb * y.seen[r] + c != seen[r]) return {};
      }
      return x.size * Size(static_cast<int64_t>(fa)) + y.size * Size(static_cast<int64_t>(fb)) + Size(static_cast<int64_t>(c));
    }
  }
  return {};
}

/// (a*x + b) // d, where only one b fits.
std::optional<Size> SizeFit::quotient(const Known& x, const Seen& seen) const {
  constexpr int64_t kFar = int64_t{1} << 40;
  for (size_t p = 0; p < seen.size(); ++p) {
    if (std::abs(x.seen[p]) > kFar || std::abs(seen[p]) > kFar) return {};
  }
  for (int64_t d = 2; d <= kMostDivisor; ++d) {
    for (int64_t a = 1; a <= std::min(kMostFactor, d - 1); ++a) {
      // d*s <= a*x + b < d*s + d
      int64_t least = -kFar * kMostDivisor * 4, most = -least;
      for (size_t p = 0; p < seen.size(); ++p) {
        least = std::max(least, d * seen[p] - a * x.seen[p]);
        most = std::min(most, d * seen[p] + d - 1 - a * x.seen[p]);
      }
      if (least > most) continue;
      if (least < most) return {};  // more looks are needed
      return floor_divide(x.size * Size(a) + Size(least), d);
    }
  }
  return {};
}

}  // namespace taeda::graph
