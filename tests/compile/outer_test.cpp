// SPDX-License-Identifier: Apache-2.0
// Outer products that are added up: formed as one sum where nobody needs the parts, with the bits of the operators.
#include "taeda/compile/compile.h"

#include <gtest/gtest.h>

#include <cstring>

#include "taeda/taeda.h"

namespace {

using namespace taeda;  // NOLINT(google-build-using-namespace)

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type() && std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

/// Compares with the function as it is over several calls; returns what explain() says.
template <class F>
std::string check(const F& f) {
  const auto fast = compile(f, {.backend = CompileBackend::kDebug});
  for (int call = 0; call < 3; ++call) EXPECT_TRUE(same_bits(fast(), f())) << call;
  return fast.explain();
}

/// Vectors with zeros of both signs.
std::vector<Tensor> vectors(size_t count, IntArrayRef sizes, ScalarType dtype) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < count; ++i) {
    Tensor t = randn(sizes, dtype);
    t.flatten()[0].fill_(i % 2 ? 0.0 : -0.0);
    list.push_back(t);
  }
  return list;
}

TEST(OuterSum, EqualsProductsAndAdditions) {
  manual_seed(3);
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {64, 96}, {257, 33}, {10, 1}, {1, 40}, {128, 512}}) {
      const auto a = vectors(7, {m, 1}, dtype), b = vectors(7, {1, n}, dtype);
      const auto f = [&] {
        Tensor sum = a[0].mm(b[0]);
        for (size_t i = 1; i < a.size(); ++i) sum = i % 2 ? sum + a[i].mm(b[i]) : a[i].mm(b[i]) + sum;
        return sum;
      };
      EXPECT_NE(check(f).find("sum of 7 outer products"), std::string::npos) << m << " x " << n;
    }
  }
}

TEST(OuterSum, InPlaceAndStridedVectors) {
  manual_seed(4);
  const Tensor a = randn({6, 40}), b = randn({6, 3, 24});
  const auto f = [&] {
    Tensor sum = a[0].unsqueeze(1).mm(b[0].narrow(0, 1, 1));
    for (int64_t i = 1; i < 6; ++i) {
      const Tensor part = a.t().narrow(1, i, 1).mm(b[i].narrow(0, 2, 1));
      if (i % 2) sum.add_(part);
      else sum = part.add_(sum);
    }
    return sum.tanh();
  };
  EXPECT_NE(check(f).find("sum of 6 outer products"), std::string::npos);
}

TEST(OuterSum, SumsOverDimensionsOfSizeOne) {
  manual_seed(9);
  const auto g = vectors(5, {1, 70}, kFloat);
  const auto f = [&] {
    Tensor sum = g[0].sum(0);
    for (size_t i = 1; i < g.size(); ++i) sum.add_(g[i].sum(0));
    return sum;
  };
  EXPECT_NE(check(f).find("sum of 5 outer products"), std::string::npos);
  const auto wider = [&] { return g[0].sum(0, false, kDouble) + g[1].sum(0, false, kDouble); };
  check(wider);
}

TEST(OuterSum, ScalesThatComeLater) {
  manual_seed(5);
  const auto a = vectors(3, {8, 1}, kFloat), b = vectors(3, {1, 9}, kFloat);
  const auto f = [&](double scale) { return a[0].mm(b[0]).add(a[1].mm(b[1]), scale).add(a[2].mm(b[2]), 1.0); };
  const auto fast = compile(f, {.backend = CompileBackend::kDebug});
  for (const double scale : {1.0, 1.0, 1.0, 0.5, 1.0, -2.0}) EXPECT_TRUE(same_bits(fast(scale), f(scale))) << scale;
}

TEST(OuterSum, PartsThatOthersNeed) {
  manual_seed(6);
  const auto a = vectors(3, {8, 1}, kFloat), b = vectors(3, {1, 8}, kFloat);
  const auto kept = [&] {
    const Tensor first = a[0].mm(b[0]), second = first + a[1].mm(b[1]);
    return stack({second + a[2].mm(b[2]), first});
  };
  check(kept);
  const auto read_between = [&] {
    Tensor sum = a[0].mm(b[0]);
    sum.add_(a[1].mm(b[1]));
    const Tensor square = sum.mm(sum);
    sum.add_(a[2].mm(b[2]));
    return stack({sum, square});
  };
  check(read_between);
}

TEST(OuterSum, VectorsThatChangeBetween) {
  manual_seed(7);
  const Tensor start = randn({8, 1}), b = randn({1, 8});
  const auto f = [&] {
    Tensor a = start.clone();
    Tensor sum = a.mm(b);
    for (int i = 0; i < 3; ++i) {
      a.mul_(0.5);
      sum = sum + a.mm(b);
    }
    return sum;
  };
  check(f);
}

TEST(OuterSum, WeightGradientsOfALoopInTime) {
  manual_seed(8);
  nn::LSTMCell cell(6, 20);
  const Tensor x = randn({9, 1, 6});
  const auto f = [&] {
    for (const Tensor& p : cell->parameters()) p.mutable_grad() = Tensor();
    Tensor h = zeros({1, 20}), c = zeros({1, 20});
    for (int64_t t = 0; t < 9; ++t) std::tie(h, c) = cell(x[t], std::make_tuple(h, c));
    h.sum().backward();
    return cat({cell->weight_ih.grad().flatten(), cell->weight_hh.grad().flatten()});
  };
  EXPECT_NE(check(f).find("sum of 9 outer products"), std::string::npos);
}

}  // namespace
