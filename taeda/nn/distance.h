// SPDX-License-Identifier: Apache-2.0
// Distances between batches of vectors.
#pragma once

#include "taeda/nn/module.h"
#include "taeda/nn/options_basic.h"

namespace taeda::nn {

/// x1 · x2 / (|x1| |x2|) along `dim`.
class TAEDA_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);
  CosineSimilarityOptions options;
};
TAEDA_MODULE(CosineSimilarity);

/// The p-norm of x1 - x2 + eps over the last dimension.
class TAEDA_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);
  PairwiseDistanceOptions options;
};
TAEDA_MODULE(PairwiseDistance);

}  // namespace taeda::nn
