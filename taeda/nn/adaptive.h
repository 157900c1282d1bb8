// SPDX-License-Identifier: Apache-2.0
// Softmax over very many classes, the rare ones in clusters.
#pragma once

#include "taeda/nn/linear.h"
#include "taeda/nn/module_list.h"
#include "taeda/nn/sequential.h"

namespace taeda::nn {

struct TAEDA_API AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  TAEDA_ARG(int64_t, in_features);
  TAEDA_ARG(int64_t, n_classes);
  TAEDA_ARG(std::vector<int64_t>, cutoffs);
  TAEDA_ARG(double, div_value) = 4.;
  TAEDA_ARG(bool, head_bias) = false;
};

/// The log probability of each target, and minus its mean.
struct TAEDA_API ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;
  double loss;
};

/// Adaptive softmax (Grave et al. 2017). Classes sorted by frequency; `cutoffs` says where clusters begin. The head scores the
/// frequent classes and the clusters, each cluster's own projection is narrower by div_value than the one before.
class TAEDA_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);
  /// input (N, in_features), target (N): or one sample without N.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// (N, n_classes)
  Tensor log_prob(const Tensor& input);
  /// The most probable class of each row.
  Tensor predict(const Tensor& input);

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0;
  int64_t n_clusters = 0;
  int64_t head_size = 0;
  Linear head = nullptr;
  ModuleList tail;

 private:
  Tensor cluster_log_prob(int64_t cluster, const Tensor& input);
};
TAEDA_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace taeda::nn
