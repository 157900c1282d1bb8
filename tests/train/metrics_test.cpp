// SPDX-License-Identifier: Apache-2.0
// Metrics against values recorded from scikit-learn 1.9.1 on the sequences made below.
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/taeda.h"
#include "taeda/train/metrics.h"

namespace taeda::train {
namespace {

/// The recorded inputs: a linear congruential sequence of numbers below 1000.
std::vector<int64_t> sequence(int64_t n, uint64_t seed) {
  std::vector<int64_t> out;
  uint64_t s = seed;
  for (int64_t i = 0; i < n; ++i) {
    s = (s * 1103515245 + 12345) % 2147483648u;
    out.push_back(static_cast<int64_t>((s >> 8) % 1000));
  }
  return out;
}

constexpr int64_t kRows = 60, kClasses = 4;

struct Inputs {
  Tensor scores, targets, binary_scores, binary_targets, predicted, wanted;
  Inputs() {
    std::vector<int64_t> t = sequence(kRows, 2);
    for (int64_t& x : t) x %= kClasses;
    const std::vector<int64_t> raw = sequence(kRows * kClasses, 1);
    std::vector<double> s;
    for (int64_t i = 0; i < kRows * kClasses; ++i) {
      s.push_back(static_cast<double>(raw[static_cast<size_t>(i)]) / 1000 + (i % kClasses == t[static_cast<size_t>(i / kClasses)] ? 0.35 : 0.0));
    }
    scores = from_vector(s).view({kRows, kClasses});
    targets = from_vector(t);
    std::vector<int64_t> b = sequence(kRows, 3);
    std::vector<double> bs, y, p;
    const auto r4 = sequence(kRows, 4), r5 = sequence(kRows, 5), r6 = sequence(kRows, 6);
    for (size_t i = 0; i < static_cast<size_t>(kRows); ++i) {
      b[i] %= 2;
      bs.push_back(static_cast<double>(r4[i] / 40) / 25 + 0.3 * static_cast<double>(b[i]));
      y.push_back(static_cast<double>(r5[i]) / 100 - 5);
      p.push_back(y.back() + static_cast<double>(r6[i] - 500) / 300);
    }
    binary_targets = from_vector(b);
    binary_scores = from_vector(bs);
    wanted = from_vector(y);
    predicted = from_vector(p);
  }
};

/// The value after everything at once, in three parts, and merged from two; all must be `want`.
template <class M>
void expect_value(const M& fresh, const Tensor& a, const Tensor& b, double want, double tolerance = 1e-12) {
  M whole(fresh), parts(fresh), left(fresh), right(fresh);
  whole.update(a, b);
  for (const auto& [from, to] : {std::pair<int64_t, int64_t>{0, 7}, {7, 40}, {40, kRows}}) parts.update(a.slice(0, from, to), b.slice(0, from, to));
  left.update(a.slice(0, 0, 25), b.slice(0, 0, 25));
  right.update(a.slice(0, 25, kRows), b.slice(0, 25, kRows));
  left.merge(right);
  M restored(fresh);
  restored.set_state(whole.state());
  EXPECT_NEAR(whole.compute(), want, tolerance);
  EXPECT_NEAR(parts.compute(), want, tolerance);
  EXPECT_NEAR(left.compute(), want, tolerance);
  EXPECT_EQ(restored.compute(), whole.compute());
  whole.reset();
  EXPECT_TRUE(std::isnan(whole.compute()) || whole.compute() == 0);
}

TEST(Metrics, Classification) {
  const Inputs in;
  expect_value(Accuracy(), in.scores, in.targets, 0.55);
  expect_value(Accuracy(2), in.scores, in.targets, 0.7833333333333333);
  expect_value(Accuracy(4), in.scores, in.targets, 1);
  expect_value(Precision(4), in.scores, in.targets, 0.5438159879336351);
  expect_value(Precision(4, Average::kMicro), in.scores, in.targets, 0.55);
  expect_value(Precision(4, Average::kWeighted), in.scores, in.targets, 0.5597184514831574);
  expect_value(Recall(4), in.scores, in.targets, 0.5579004329004329);
  expect_value(Recall(4, Average::kWeighted), in.scores, in.targets, 0.55);
  expect_value(F1(4), in.scores, in.targets, 0.5456357516248623);
  expect_value(F1(4, Average::kWeighted), in.scores, in.targets, 0.5498808175759174);
  expect_value(MeanIoU(4), in.scores, in.targets, 0.377885686438318);
  expect_value(MeanIoU(4, Average::kMicro), in.scores, in.targets, 0.3793103448275862);
  expect_value(MeanIoU(4, Average::kWeighted), in.scores, in.targets, 0.3818031189083821);
  // Classes that never occur do not count.
  expect_value(F1(6), in.scores, in.targets, 0.5456357516248623);
  ConfusionMatrix matrix(4);
  matrix.update(in.scores, in.targets);
  EXPECT_EQ(matrix.state(), (std::vector<double>{6, 3, 3, 2, 3, 11, 4, 3, 3, 0, 7, 1, 1, 3, 1, 9}));
}

TEST(Metrics, Binary) {
  const Inputs in;
  expect_value(AUROC(), in.binary_scores, in.binary_targets, 0.7366071428571428);
  expect_value(AveragePrecision(), in.binary_scores, in.binary_targets, 0.7619073975333345);
  expect_value(Precision(2, Average::kBinary), in.binary_scores, in.binary_targets, 0.6);
  expect_value(Recall(2, Average::kBinary), in.binary_scores, in.binary_targets, 0.75);
  expect_value(F1(2, Average::kBinary), in.binary_scores, in.binary_targets, 0.6666666666666666);
  AUROC one_class;
  one_class.update(ones({3}), ones({3}));
  EXPECT_TRUE(std::isnan(one_class.compute()));
}

TEST(Metrics, Regression) {
  const Inputs in;
  expect_value(MeanSquaredError(), in.predicted, in.wanted, 0.8282557407407407);
  expect_value(MeanAbsoluteError(), in.predicted, in.wanted, 0.7862777777777777);
  expect_value(R2Score(), in.predicted, in.wanted, 0.8886087829284421);
}

TEST(Metrics, Perplexity) {
  const Inputs in;
  expect_value(Perplexity(), in.scores, in.targets, 3.2602352884287797);
  Perplexity ignoring(3);
  ignoring.update(in.scores, full({kRows}, 3, kInt64));
  EXPECT_TRUE(std::isnan(ignoring.compute()));
}

TEST(Metrics, ClassNumbersOutsideAreRefused) {
  EXPECT_THROW(Accuracy().update(zeros({2, 3}), full({2}, 3, kInt64)), ValueError);
  ConfusionMatrix matrix(2);
  EXPECT_THROW(matrix.update(zeros({2, 3}), full({2}, 2, kInt64)), ValueError);
}

}  // namespace
}  // namespace taeda::train
