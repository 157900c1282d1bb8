// Matrix products of every shape that the tiles and their edges make different, against sums written as loops.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>

#include "taeda/torch.h"

namespace taeda::test {
namespace {

double at(const Tensor& t, int64_t i, int64_t j) { return t.index({i, j}).item<double>(); }

/// |sum - exact| for a sum of k products of numbers below 1 that was rounded at every step, with room to spare.
double rounding_bound(ScalarType dtype, int64_t k) {
  return 4 * std::sqrt(static_cast<double>(k) + 1) * (dtype == kFloat ? 6e-8 : 1.2e-16) * (1 + std::sqrt(static_cast<double>(k)));
}

/// A matrix of numbers in [-1, 1] in one of several layouts: rows, columns, a part of a larger one, every second column.
Tensor matrix(int64_t rows, int64_t columns, int layout, ScalarType dtype) {
  const auto numbers = [&](int64_t a, int64_t b) { return taeda::rand({a, b}, TensorOptions(dtype)) * 2 - 1; };
  switch (layout) {
    case 0: return numbers(rows, columns);
    case 1: return numbers(columns, rows).t();
    case 2: return numbers(rows + 2, columns + 3).narrow(0, 1, rows).narrow(1, 2, columns);
    default: return numbers(rows, 2 * columns).as_strided({rows, columns}, {2 * columns, 2});
  }
}

void expect_product(const Tensor& c, const Tensor& a, const Tensor& b, const Tensor& bias, const std::string& what) {
  const int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  ASSERT_EQ(c.sizes(), IntArrayRef({m, n})) << what;
  const Tensor x = a.to(kDouble).contiguous(), y = b.to(kDouble).t().contiguous(), z = c.to(kDouble).contiguous();
  const auto* xs = x.const_data_ptr<double>();
  const auto* ys = y.const_data_ptr<double>();
  const auto* zs = z.const_data_ptr<double>();
  double worst = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = bias.defined() ? bias[j].item<double>() : 0;
      for (int64_t p = 0; p < k; ++p) sum += xs[i * k + p] * ys[j * k + p];
      worst = std::max(worst, std::abs(sum - zs[i * n + j]));
    }
  }
  EXPECT_LE(worst, rounding_bound(c.scalar_type(), k)) << what;
}

TEST(Product, EqualsTheSumInEveryShapeAndLayout) {
  manual_seed(3);
  const int64_t lengths[] = {1, 2, 3, 4, 7, 8, 9, 12, 13, 16, 17, 24, 25, 31, 48, 49, 97};
  int layout = 0;
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const int64_t m : lengths) {
      for (const int64_t n : lengths) {
        const int64_t k = lengths[static_cast<size_t>(m * 7 + n) % std::size(lengths)];
        const Tensor a = matrix(m, k, layout % 4, dtype), b = matrix(k, n, layout / 4 % 4, dtype);
        ++layout;
        expect_product(a.mm(b), a, b, {}, str("mm of ", m, " x ", k, " x ", n, ", layouts ", (layout - 1) % 4, " and ", (layout - 1) / 4 % 4));
      }
    }
  }
}

TEST(Product, EqualsTheSumAcrossBlocksOfDepthRowsAndColumns) {
  manual_seed(4);
  const int64_t shapes[][3] = {{130, 9, 300}, {5, 1100, 270}, {260, 49, 513}, {13, 1, 1000}, {64, 17, 2048}, {257, 8, 257}, {24, 33, 1030}};
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto& [m, n, k] : shapes) {
      const Tensor a = matrix(m, k, 0, dtype), b = matrix(k, n, 1, dtype);
      expect_product(a.mm(b), a, b, {}, str("mm of ", m, " x ", k, " x ", n));
    }
  }
}

TEST(Product, AddsTheBiasOnce) {
  manual_seed(5);
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto& [rows, in, out] : {std::tuple<int64_t, int64_t, int64_t>{1, 64, 10}, {1, 64, 64}, {3, 600, 33}, {50, 700, 25}, {130, 300, 17}}) {
      const Tensor x = matrix(rows, in, 0, dtype), w = matrix(out, in, 0, dtype), b = matrix(1, out, 0, dtype)[0];
      expect_product(taeda::linear(x, w, b), x, w.t(), b, str("linear of ", rows, " x ", in, " to ", out));
    }
  }
}

TEST(Product, ScalesAndAddsToWhatIsThere) {
  manual_seed(6);
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 5, 7}, {14, 9, 300}, {30, 31, 40}, {13, 50, 513}}) {
      const Tensor a = matrix(m, k, 0, dtype), b = matrix(k, n, 1, dtype), c = matrix(m, n, 0, dtype);
      const Tensor got = taeda::addmm(c, a, b, /*beta=*/0.5, /*alpha=*/-2);
      for (int64_t i = 0; i < m; i += 5) {
        for (int64_t j = 0; j < n; j += 3) {
          double sum = 0;
          for (int64_t p = 0; p < k; ++p) sum += at(a, i, p) * at(b, p, j);
          EXPECT_NEAR(at(got, i, j), 0.5 * at(c, i, j) - 2 * sum, 4 * rounding_bound(dtype, k)) << m << " x " << k << " x " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace taeda::test
