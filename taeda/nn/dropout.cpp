// SPDX-License-Identifier: Apache-2.0
// Dropout and embedding modules.
#include "taeda/nn/dropout.h"

#include <ostream>

#include "taeda/autograd/grad_mode.h"
#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

namespace F = functional;

#define TAEDA_DEFINE_DROPOUT(Name, function)                                                                     \
  Tensor Name##Impl::forward(Tensor input) {                                                                     \
    return F::function(std::move(input),                                                                         \
                       F::Name##FuncOptions().p(noted(options).p()).training(is_training()).inplace(options.inplace())); \
  }                                                                                                              \
  void Name##Impl::reset() {                                                                                     \
    TAEDA_CHECK(options.p() >= 0 && options.p() <= 1,                                                            \
                "[" #Name "] dropout probability has to be between 0 and 1, but got ", options.p(),              \
                "; choose a probability");                                                                       \
  }                                                                                                              \
  void Name##Impl::pretty_print(std::ostream& stream) const {                                                    \
    stream << std::boolalpha << "torch::nn::" #Name "(p=" << options.p() << ", inplace=" << options.inplace() << ")"; \
  }
TAEDA_DEFINE_DROPOUT(Dropout, dropout)
TAEDA_DEFINE_DROPOUT(Dropout2d, dropout2d)
TAEDA_DEFINE_DROPOUT(Dropout3d, dropout3d)
TAEDA_DEFINE_DROPOUT(AlphaDropout, alpha_dropout)
TAEDA_DEFINE_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout)
#undef TAEDA_DEFINE_DROPOUT

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) { EmbeddingImpl::reset(); }

void EmbeddingImpl::reset() {
  if (options.padding_idx()) {
    const int64_t n = options.num_embeddings();
    int64_t& padding = *options.padding_idx();
    TAEDA_CHECK(padding >= -n && padding < n, "[Embedding] Padding_idx must be within num_embeddings: got ", padding, " of ", n,
                "; choose a row");
    if (padding < 0) padding += n;
  }
  if (options._weight().defined()) {
    TAEDA_CHECK(options._weight().sizes() == IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
                "[Embedding] Shape of _weight does not match num_embeddings and embedding_dim: got ", options._weight().sizes(),
                "; pass a table of that shape");
    weight = register_parameter("weight", options._weight());
    return;
  }
  weight = register_parameter("weight", taeda::empty({options.num_embeddings(), options.embedding_dim()}, TensorOptions()));
  reset_parameters();
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight[*options.padding_idx()].fill_(0);
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << std::boolalpha << true;
  if (options.sparse()) stream << ", sparse=" << std::boolalpha << true;
  stream << ")";
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return F::embedding(indices, weight,
                      F::EmbeddingFuncOptions()
                          .padding_idx(noted(options).padding_idx())
                          .max_norm(options.max_norm())
                          .norm_type(options.norm_type())
                          .scale_grad_by_freq(options.scale_grad_by_freq())
                          .sparse(options.sparse()));
}

}  // namespace taeda::nn
