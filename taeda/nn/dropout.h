// SPDX-License-Identifier: Apache-2.0
// Dropout and embedding modules.
#pragma once

#include "taeda/nn/functional.h"
#include "taeda/nn/module.h"

namespace taeda::nn {

/// Zeroes elements (Dropout) or whole channels (the others) with probability p in training (Srivastava et al. 2014).
#define TAEDA_DECLARE_DROPOUT(Name)                                                        \
  class TAEDA_API Name##Impl : public Cloneable<Name##Impl> {                              \
   public:                                                                                 \
    explicit Name##Impl(double p) : Name##Impl(DropoutOptions(p)) {}                       \
    explicit Name##Impl(const DropoutOptions& options_ = {}) : options(options_) {         \
      Name##Impl::reset();                                                                 \
    }                                                                                      \
    Tensor forward(Tensor input);                                                          \
    void reset() override;                                                                 \
    void pretty_print(std::ostream& stream) const override;                                \
    DropoutOptions options;                                                                \
  };                                                                                       \
  TAEDA_MODULE(Name)
TAEDA_DECLARE_DROPOUT(Dropout);
TAEDA_DECLARE_DROPOUT(Dropout2d);
TAEDA_DECLARE_DROPOUT(Dropout3d);
TAEDA_DECLARE_DROPOUT(AlphaDropout);
TAEDA_DECLARE_DROPOUT(FeatureAlphaDropout);
#undef TAEDA_DECLARE_DROPOUT

/// Rows of a table by index. weight (num_embeddings, embedding_dim).
class TAEDA_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim) : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);
  EmbeddingOptions options;
  Tensor weight;
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  /// An embedding with the given table, frozen unless the options say otherwise.
  static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {}) {
    TAEDA_CHECK(embeddings.dim() == 2, "[Embedding] Embeddings parameter is expected to be 2-dimensional: got ",
                embeddings.sizes(), "; pass (num_embeddings, embedding_dim)");
    Embedding embedding(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                            ._weight(embeddings)
                            .padding_idx(options.padding_idx())
                            .max_norm(options.max_norm())
                            .norm_type(options.norm_type())
                            .scale_grad_by_freq(options.scale_grad_by_freq())
                            .sparse(options.sparse()));
    embedding->weight.set_requires_grad(!options.freeze());
    return embedding;
  }
};

}  // namespace taeda::nn
