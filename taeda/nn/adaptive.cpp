// SPDX-License-Identifier: Apache-2.0
// Softmax over very many classes, the rare ones in clusters.
#include "taeda/nn/adaptive.h"

#include <cmath>
#include <ostream>

#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::nn {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  cutoffs = options.cutoffs();
  int64_t previous = 0;
  for (const int64_t cutoff : cutoffs) {
    TAEDA_CHECK(cutoff > previous && cutoff < options.n_classes(),
                "[AdaptiveLogSoftmaxWithLoss] cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1: got ", IntArrayRef(cutoffs), " for ", options.n_classes(),
                " classes; sort them");
    previous = cutoff;
  }
  TAEDA_CHECK(!cutoffs.empty(), "[AdaptiveLogSoftmaxWithLoss] there must be at least one cutoff: got none; use LogSoftmax instead");
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs.front();
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  head = register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const double narrower = std::pow(options.div_value(), static_cast<double>(i + 1));
    const auto width = static_cast<int64_t>(std::floor(static_cast<double>(options.in_features()) / narrower));
    const int64_t classes = cutoffs[static_cast<size_t>(i) + 1] - cutoffs[static_cast<size_t>(i)];
    tail->push_back(Sequential(Linear(LinearOptions(options.in_features(), width).bias(false)),
                               Linear(LinearOptions(width, classes).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i) {
    for (const auto& layer : tail[i]->children()) layer->as<Linear>()->reset_parameters();
  }
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

Tensor AdaptiveLogSoftmaxWithLossImpl::cluster_log_prob(int64_t cluster, const Tensor& input) {
  return taeda::log_softmax(tail[static_cast<size_t>(cluster)]->as<Sequential>()->forward(input), 1);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input_, const Tensor& target_) {
  TAEDA_CHECK((input_.dim() == 2 && target_.dim() == 1) || (input_.dim() == 1 && target_.dim() == 0),
              "[AdaptiveLogSoftmaxWithLoss] input and target must be (N, in_features) and (N), or one sample: got ",
              input_.sizes(), " and ", target_.sizes(), "; reshape them");
  const bool batched = input_.dim() == 2;
  const Tensor input = batched ? input_ : input_.unsqueeze(0);
  const Tensor target = batched ? target_ : target_.unsqueeze(0);
  TAEDA_CHECK(input.size(0) == target.size(0),
              "[AdaptiveLogSoftmaxWithLoss] Input and target should have the same size in the batch dimension: got ",
              input.size(0), " and ", target.size(0), "; pass one target for each row");
  TAEDA_CHECK_INDEX(target.numel() == 0 ||
                        (target.min().item<int64_t>() >= 0 && target.max().item<int64_t>() < options.n_classes()),
                    "[AdaptiveLogSoftmaxWithLoss] Target values should be in [0, ", options.n_classes() - 1,
                    "]; check the labels");
  const Tensor head_log = taeda::log_softmax(head(input), 1);
  Tensor head_index = target.clone();  // the class itself, or its cluster
  Tensor output = taeda::zeros({input.size(0)}, input.options());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const int64_t low = cutoffs[static_cast<size_t>(i)];
    const int64_t high = cutoffs[static_cast<size_t>(i) + 1];
    const Tensor rows = target.ge(low).logical_and(target.lt(high)).nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    const Tensor relative = target.index_select(0, rows) - low;
    const Tensor log_prob = cluster_log_prob(i, input.index_select(0, rows)).gather(1, relative.unsqueeze(1)).squeeze(1);
    output = output.index_add(0, rows, log_prob);
    head_index.index_fill_(0, rows, shortlist_size + i);
  }
  output = output + head_log.gather(1, head_index.unsqueeze(1)).squeeze(1);
  const double loss = (-output).mean().item<double>();
  return {batched ? output : output.squeeze(0), loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  const Tensor head_log = taeda::log_softmax(head(input), 1);
  std::vector<Tensor> parts{head_log.slice(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    parts.push_back(cluster_log_prob(i, input) + head_log.slice(1, shortlist_size + i, shortlist_size + i + 1));
  }
  return taeda::cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor best = head(input).argmax(1);
  const Tensor rows = best.ge(shortlist_size).nonzero().squeeze(1);
  if (rows.numel() == 0) return best;
  return best.index_copy(0, rows, log_prob(input.index_select(0, rows)).argmax(1));
}

}  // namespace taeda::nn
