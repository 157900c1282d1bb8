// SPDX-License-Identifier: Apache-2.0
// Metrics from counts and sums.
#include "taeda/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "taeda/core/error.h"
#include "taeda/nn/functional.h"
#include "taeda/ops/functions.h"

namespace taeda::train {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Tensor plain(const Tensor& t, ScalarType type) { return t.detach().to(type).contiguous(); }

}  // namespace

void Accuracy::update(const Tensor& scores, const Tensor& targets) {
  TAEDA_CHECK_VALUE(scores.dim() == 2 && targets.dim() == 1 && scores.size(0) == targets.size(0),
                    "[Accuracy] scores must be (rows, classes) and targets (rows): got ", scores.sizes(), " and ", targets.sizes(),
                    "; flatten further dimensions into rows");
  const Tensor s = plain(scores, kFloat64), t = plain(targets, kInt64);
  const int64_t rows = s.size(0), classes = s.size(1);
  const double* score = s.data_ptr<double>();
  const int64_t* target = t.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; ++i, score += classes) {
    TAEDA_CHECK_VALUE(target[i] >= 0 && target[i] < classes, "[Accuracy] targets must be class numbers below ", classes, ": got ",
                      target[i], "; give the model as many outputs as there are classes");
    const double own = score[target[i]];
    int64_t before = 0;
    for (int64_t c = 0; c < classes; ++c) before += score[c] > own || (score[c] == own && c < target[i]);
    correct_ += before < k_ && !std::isnan(own);
  }
  total_ += static_cast<double>(rows);
}
double Accuracy::compute() const { return total_ > 0 ? correct_ / total_ : kNone; }

void ConfusionMatrix::update(const Tensor& predictions, const Tensor& targets) {
  Tensor classes = predictions.detach();
  if (classes.dim() == targets.dim() + 1) classes = classes.argmax(1);
  else if (classes.is_floating_point()) classes = classes.gt(0.5);
  TAEDA_CHECK_VALUE(classes.sizes() == targets.sizes(), "[ConfusionMatrix] predictions and targets must have equal shapes, or scores one dimension more: got ",
                    predictions.sizes(), " and ", targets.sizes(), "; put the classes in dimension 1");
  const Tensor p = plain(classes, kInt64), t = plain(targets, kInt64);
  const int64_t* prediction = p.data_ptr<int64_t>();
  const int64_t* target = t.data_ptr<int64_t>();
  for (int64_t i = 0; i < p.numel(); ++i) {
    TAEDA_CHECK_VALUE(target[i] >= 0 && target[i] < classes_ && prediction[i] >= 0 && prediction[i] < classes_,
                      "[ConfusionMatrix] class numbers must be below ", classes_, ": got target ", target[i], " and prediction ", prediction[i],
                      "; make the metric for as many classes as there are");
    ++counts_[static_cast<size_t>(target[i] * classes_ + prediction[i])];
  }
}

double ConfusionMatrix::compute() const {
  double right = 0;
  for (int64_t c = 0; c < classes_; ++c) right += at(c, c);
  const double all = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  return all > 0 ? right / all : kNone;
}
void ConfusionMatrix::set_state(const std::vector<double>& state) {
  TAEDA_CHECK_VALUE(state.size() == counts_.size(), "[ConfusionMatrix] the state must be of ", classes_, " classes: got ", state.size(),
                    " numbers; make the metric for as many classes");
  counts_ = state;
}
void ConfusionMatrix::merge_state(const std::vector<double>& state) {
  TAEDA_CHECK_VALUE(state.size() == counts_.size(), "[ConfusionMatrix] the state must be of ", classes_, " classes: got ", state.size(),
                    " numbers; merge metrics of as many classes");
  for (size_t i = 0; i < state.size(); ++i) counts_[i] += state[i];
}

double ConfusionMatrix::ratio(Ratio which, Average average) const {
  const auto value = [&](double tp, double fp, double fn) {
    double up = tp, down = 0;
    switch (which) {
      case Ratio::kPrecision: down = tp + fp; break;
      case Ratio::kRecall: down = tp + fn; break;
      case Ratio::kF1: up = 2 * tp, down = 2 * tp + fp + fn; break;
      case Ratio::kIoU: down = tp + fp + fn; break;
    }
    return down > 0 ? up / down : 0.0;
  };
  double sum = 0, weights = 0, tps = 0, fps = 0, fns = 0;
  for (int64_t c = 0; c < classes_; ++c) {
    const double tp = at(c, c);
    double row = 0, column = 0;
    for (int64_t k = 0; k < classes_; ++k) row += at(c, k), column += at(k, c);
    const double fp = column - tp, fn = row - tp;
    if (average == Average::kBinary && c == 1) return value(tp, fp, fn);
    tps += tp, fps += fp, fns += fn;
    if (row + column == 0 && average == Average::kMacro) continue;  // a class that occurs nowhere
    const double weight = average == Average::kWeighted ? row : 1;
    sum += weight * value(tp, fp, fn);
    weights += weight;
  }
  if (average == Average::kMicro) return value(tps, fps, fns);
  return weights > 0 ? sum / weights : kNone;
}

void RankedScores::update(const Tensor& scores, const Tensor& targets) {
  TAEDA_CHECK_VALUE(scores.numel() == targets.numel(), "[AUROC] there must be a score for each target: got ", scores.sizes(), " and ",
                    targets.sizes(), "; give the score of class 1 alone");
  const Tensor s = plain(scores, kFloat64), t = plain(targets, kInt64);
  for (int64_t i = 0; i < s.numel(); ++i) {
    const int64_t target = t.data_ptr<int64_t>()[i];
    TAEDA_CHECK_VALUE(target == 0 || target == 1, "[AUROC] targets must be 0 or 1: got ", target, "; compare one class with the rest");
    pairs_.push_back(s.data_ptr<double>()[i]);
    pairs_.push_back(static_cast<double>(target));
  }
}

std::vector<RankedScores::Step> RankedScores::steps() const {
  std::vector<size_t> order(pairs_.size() / 2);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return pairs_[2 * a] > pairs_[2 * b]; });
  std::vector<Step> out;
  Step now{0, 0};
  for (size_t i = 0; i < order.size(); ++i) {
    (pairs_[2 * order[i] + 1] > 0 ? now.positives : now.negatives) += 1;
    if (i + 1 == order.size() || pairs_[2 * order[i + 1]] != pairs_[2 * order[i]]) out.push_back(now);
  }
  return out;
}

double AUROC::compute() const {
  const std::vector<Step> all = steps();
  if (all.empty() || all.back().positives == 0 || all.back().negatives == 0) return kNone;
  double area = 0;
  Step before{0, 0};
  for (const Step& s : all) {
    area += (s.negatives - before.negatives) * (s.positives + before.positives) / 2;
    before = s;
  }
  return area / (all.back().positives * all.back().negatives);
}

double AveragePrecision::compute() const {
  const std::vector<Step> all = steps();
  if (all.empty() || all.back().positives == 0) return kNone;
  double sum = 0, before = 0;
  for (const Step& s : all) {
    sum += (s.positives - before) / all.back().positives * (s.positives / (s.positives + s.negatives));
    before = s.positives;
  }
  return sum;
}

void RegressionMetric::update(const Tensor& predictions, const Tensor& targets) {
  TAEDA_CHECK_VALUE(predictions.numel() == targets.numel(), "[metrics] there must be a prediction for each target: got ",
                    predictions.sizes(), " and ", targets.sizes(), "; give tensors of one shape");
  const Tensor p = plain(predictions, kFloat64), t = plain(targets, kFloat64);
  const double* x = p.data_ptr<double>();
  const double* y = t.data_ptr<double>();
  for (int64_t i = 0; i < p.numel(); ++i) {
    squared_ += (x[i] - y[i]) * (x[i] - y[i]);
    absolute_ += std::abs(x[i] - y[i]);
    ++n_;
    const double from = y[i] - mean_;
    mean_ += from / n_;
    spread_ += from * (y[i] - mean_);
  }
}
void RegressionMetric::set_state(const std::vector<double>& s) {
  n_ = s.at(0), squared_ = s.at(1), absolute_ = s.at(2), mean_ = s.at(3), spread_ = s.at(4);
}
void RegressionMetric::merge_state(const std::vector<double>& s) {
  const double n = s.at(0), apart = s.at(3) - mean_, both = n_ + n;
  squared_ += s.at(1);
  absolute_ += s.at(2);
  if (both > 0) {
    spread_ += s.at(4) + apart * apart * n_ * n / both;
    mean_ += apart * n / both;
  }
  n_ = both;
}
double MeanSquaredError::compute() const { return n_ > 0 ? squared_ / n_ : kNone; }
double MeanAbsoluteError::compute() const { return n_ > 0 ? absolute_ / n_ : kNone; }
double R2Score::compute() const { return spread_ > 0 ? 1 - squared_ / spread_ : kNone; }

void Perplexity::update(const Tensor& scores, const Tensor& targets) {
  const double tokens = targets.detach().ne(ignore_index_).sum().item<double>();
  if (tokens == 0) return;
  const Tensor loss = nn::functional::cross_entropy(scores.detach().to(kFloat64), targets,
                                                    nn::functional::CrossEntropyFuncOptions().ignore_index(ignore_index_));
  update(loss.item<double>(), tokens);
}
void Perplexity::update(double mean_loss, double tokens) {
  sum_ += mean_loss * tokens;
  tokens_ += tokens;
}
double Perplexity::compute() const { return tokens_ > 0 ? std::exp(sum_ / tokens_) : kNone; }

}  // namespace taeda::train
