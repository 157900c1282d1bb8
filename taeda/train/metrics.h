// SPDX-License-Identifier: Apache-2.0
// Metrics: streaming, mergeable, with the definitions (and values) of scikit-learn.
#pragma once

#include <cstdint>
#include <vector>

#include "taeda/train/metric.h"

namespace taeda::train {

/// Rows whose target is among the `k` highest scores. scores (rows, classes), targets (rows) of class numbers. Ties count against the
/// target only where the other class comes first.
class TAEDA_API Accuracy : public Metric {
 public:
  explicit Accuracy(int64_t k = 1) : k_(k) {}
  void update(const Tensor& scores, const Tensor& targets);
  double compute() const override;
  void reset() override { correct_ = total_ = 0; }
  std::vector<double> state() const override { return {correct_, total_}; }
  void set_state(const std::vector<double>& s) override { correct_ = s.at(0), total_ = s.at(1); }
  void merge_state(const std::vector<double>& s) override { correct_ += s.at(0), total_ += s.at(1); }

 private:
  int64_t k_;
  double correct_ = 0, total_ = 0;
};

/// How values of classes become one: their mean, pooled counts, or the mean weighted by how often each class occurs; kBinary: class 1 alone.
enum class Average { kMacro, kMicro, kWeighted, kBinary };

/// Counts by (target, prediction). `compute` is the accuracy.
class TAEDA_API ConfusionMatrix : public Metric {
 public:
  explicit ConfusionMatrix(int64_t classes) : classes_(classes), counts_(static_cast<size_t>(classes * classes), 0.0) {}
  /// predictions: scores (rows, classes, …) with the classes in dimension 1, class numbers, or probabilities of class 1 (floating, of the
  /// targets' shape). Throws ValueError for class numbers outside.
  void update(const Tensor& predictions, const Tensor& targets);
  double at(int64_t target, int64_t prediction) const { return counts_[static_cast<size_t>(target * classes_ + prediction)]; }
  int64_t classes() const { return classes_; }
  double compute() const override;
  void reset() override { counts_.assign(counts_.size(), 0.0); }
  std::vector<double> state() const override { return counts_; }
  void set_state(const std::vector<double>& state) override;
  void merge_state(const std::vector<double>& state) override;

 protected:
  enum class Ratio { kPrecision, kRecall, kF1, kIoU };
  /// The average of a ratio of true positives, false positives and false negatives; 0 where it is 0 / 0.
  double ratio(Ratio which, Average average) const;

 private:
  int64_t classes_;
  std::vector<double> counts_;
};

class TAEDA_API Precision : public ConfusionMatrix {
 public:
  explicit Precision(int64_t classes, Average average = Average::kMacro) : ConfusionMatrix(classes), average_(average) {}
  double compute() const override { return ratio(Ratio::kPrecision, average_); }

 private:
  Average average_;
};

class TAEDA_API Recall : public ConfusionMatrix {
 public:
  explicit Recall(int64_t classes, Average average = Average::kMacro) : ConfusionMatrix(classes), average_(average) {}
  double compute() const override { return ratio(Ratio::kRecall, average_); }

 private:
  Average average_;
};

class TAEDA_API F1 : public ConfusionMatrix {
 public:
  explicit F1(int64_t classes, Average average = Average::kMacro) : ConfusionMatrix(classes), average_(average) {}
  double compute() const override { return ratio(Ratio::kF1, average_); }

 private:
  Average average_;
};

/// Intersection over union (the Jaccard index), averaged over classes: of segmentations (rows, classes, height, width) and (rows, height, width).
class TAEDA_API MeanIoU : public ConfusionMatrix {
 public:
  explicit MeanIoU(int64_t classes, Average average = Average::kMacro) : ConfusionMatrix(classes), average_(average) {}
  double compute() const override { return ratio(Ratio::kIoU, average_); }

 private:
  Average average_;
};

/// Base of metrics that need all scores: pairs of a score and whether the target is 1.
class TAEDA_API RankedScores : public Metric {
 public:
  /// scores, targets: (rows); targets are 0 or 1.
  void update(const Tensor& scores, const Tensor& targets);
  void reset() override { pairs_.clear(); }
  std::vector<double> state() const override { return pairs_; }
  void set_state(const std::vector<double>& state) override { pairs_ = state; }
  void merge_state(const std::vector<double>& state) override { pairs_.insert(pairs_.end(), state.begin(), state.end()); }

 protected:
  struct Step {
    double positives, negatives;  ///< with scores at least as high
  };
  /// Counts at each distinct score, from the highest.
  std::vector<Step> steps() const;
  std::vector<double> pairs_;
};

/// Area under the receiver operating characteristic by the trapezoid rule. NaN unless both classes occur.
class TAEDA_API AUROC : public RankedScores {
 public:
  double compute() const override;
};

/// Σ (recall_n - recall_{n-1}) precision_n over distinct scores.
class TAEDA_API AveragePrecision : public RankedScores {
 public:
  double compute() const override;
};

/// Base of metrics of predictions and targets of one shape.
class TAEDA_API RegressionMetric : public Metric {
 public:
  void update(const Tensor& predictions, const Tensor& targets);
  void reset() override { n_ = squared_ = absolute_ = mean_ = spread_ = 0; }
  std::vector<double> state() const override { return {n_, squared_, absolute_, mean_, spread_}; }
  void set_state(const std::vector<double>& state) override;
  void merge_state(const std::vector<double>& state) override;

 protected:
  double n_ = 0, squared_ = 0, absolute_ = 0;
  double mean_ = 0, spread_ = 0;  ///< of the targets: their mean, and the sum of squared distances from it (Chan et al. 1983)
};

class TAEDA_API MeanSquaredError : public RegressionMetric {
 public:
  double compute() const override;
};
class TAEDA_API MeanAbsoluteError : public RegressionMetric {
 public:
  double compute() const override;
};
/// The coefficient of determination.
class TAEDA_API R2Score : public RegressionMetric {
 public:
  double compute() const override;
};

/// exp of the mean negative log-likelihood. scores (rows, classes, …) before softmax, targets (rows, …); `ignore_index` targets do not count.
class TAEDA_API Perplexity : public Metric {
 public:
  explicit Perplexity(int64_t ignore_index = -100) : ignore_index_(ignore_index) {}
  void update(const Tensor& scores, const Tensor& targets);
  /// From a mean loss over `tokens`.
  void update(double mean_loss, double tokens);
  double compute() const override;
  void reset() override { sum_ = tokens_ = 0; }
  std::vector<double> state() const override { return {sum_, tokens_}; }
  void set_state(const std::vector<double>& s) override { sum_ = s.at(0), tokens_ = s.at(1); }
  void merge_state(const std::vector<double>& s) override { sum_ += s.at(0), tokens_ += s.at(1); }

 private:
  int64_t ignore_index_;
  double sum_ = 0, tokens_ = 0;
};

}  // namespace taeda::train
