// SPDX-License-Identifier: Apache-2.0
// Sums, means and maxima of embeddings.
#pragma once

#include "taeda/nn/any.h"
#include "taeda/nn/options_basic.h"

namespace taeda::nn {

/// The sum, mean or maximum of the rows of each bag, without the rows themselves in memory. weight (num_embeddings, embedding_dim).
/// Input (bags, length), or a vector of indices with the offsets at which bags start.
class TAEDA_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});
  EmbeddingBagOptions options;
  Tensor weight;
  TAEDA_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

class TAEDA_API EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  /// Bags over the given table, frozen unless the options say otherwise.
  static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace taeda::nn
