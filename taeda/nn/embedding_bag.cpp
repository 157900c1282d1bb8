// SPDX-License-Identifier: Apache-2.0
// Sums, means and maxima of embeddings.
#include "taeda/nn/embedding_bag.h"

#include <ostream>

#include "taeda/autograd/grad_mode.h"
#include "taeda/nn/functional.h"
#include "taeda/nn/init.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) { EmbeddingBagImpl::reset(); }

void EmbeddingBagImpl::reset() {
  if (options.padding_idx()) {
    const int64_t n = options.num_embeddings();
    int64_t& padding = *options.padding_idx();
    TAEDA_CHECK(padding >= -n && padding < n, "[EmbeddingBag] Padding_idx must be within num_embeddings: got ", padding, " of ",
                n, "; choose a row");
    if (padding < 0) padding += n;
  }
  if (options._weight().defined()) {
    TAEDA_CHECK(options._weight().sizes() == IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
                "[EmbeddingBag] Shape of _weight does not match num_embeddings and embedding_dim: got ",
                options._weight().sizes(), "; pass a table of that shape");
    weight = register_parameter("weight", options._weight());
    return;
  }
  weight = register_parameter("weight", taeda::empty({options.num_embeddings(), options.embedding_dim()}, TensorOptions()));
  reset_parameters();
}

void EmbeddingBagImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight[*options.padding_idx()].fill_(0);
}

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << std::boolalpha << true;
  if (options.sparse()) stream << ", sparse=" << std::boolalpha << true;
  if (!std::holds_alternative<enumtype::kMean>(options.mode())) {
    stream << ", mode=" << enumtype::get_enum_name(options.mode());
  }
  if (options.include_last_offset()) stream << ", include_last_offset=" << std::boolalpha << true;
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  return functional::embedding_bag(input, weight,
                                   functional::EmbeddingBagFuncOptions()
                                       .offsets(offsets)
                                       .max_norm(noted(options).max_norm())
                                       .norm_type(options.norm_type())
                                       .scale_grad_by_freq(options.scale_grad_by_freq())
                                       .mode(options.mode())
                                       .sparse(options.sparse())
                                       .per_sample_weights(per_sample_weights)
                                       .include_last_offset(options.include_last_offset())
                                       .padding_idx(options.padding_idx()));
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options) {
  TAEDA_CHECK(embeddings.dim() == 2, "[EmbeddingBag] Embeddings parameter is expected to be 2-dimensional: got ",
              embeddings.sizes(), "; pass (num_embeddings, embedding_dim)");
  EmbeddingBag bag(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                       ._weight(embeddings)
                       .max_norm(options.max_norm())
                       .norm_type(options.norm_type())
                       .scale_grad_by_freq(options.scale_grad_by_freq())
                       .mode(options.mode())
                       .sparse(options.sparse())
                       .include_last_offset(options.include_last_offset())
                       .padding_idx(options.padding_idx()));
  bag->weight.set_requires_grad(!options.freeze());
  return bag;
}

}  // namespace taeda::nn
