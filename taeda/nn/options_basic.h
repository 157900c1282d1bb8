// SPDX-License-Identifier: Apache-2.0
// Options of linear, dropout, embedding, shape and distance modules.
#pragma once

#include "taeda/core/arg.h"
#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"
#include "taeda/nn/expanding_array.h"

namespace taeda::nn {

struct TAEDA_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features) : in_features_(in_features), out_features_(out_features) {}
  TAEDA_ARG(int64_t, in_features);
  TAEDA_ARG(int64_t, out_features);
  TAEDA_ARG(bool, bias) = true;
};
struct TAEDA_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  TAEDA_ARG(int64_t, in1_features);
  TAEDA_ARG(int64_t, in2_features);
  TAEDA_ARG(int64_t, out_features);
  TAEDA_ARG(bool, bias) = true;
};
struct TAEDA_API FlattenOptions {
  TAEDA_ARG(int64_t, start_dim) = 1;
  TAEDA_ARG(int64_t, end_dim) = -1;
};
struct TAEDA_API UnflattenOptions {
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  TAEDA_ARG(int64_t, dim);
  TAEDA_ARG(std::vector<int64_t>, sizes);
};
struct TAEDA_API DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  TAEDA_ARG(double, p);
  TAEDA_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;
namespace functional {
struct TAEDA_API DropoutFuncOptions {
  TAEDA_ARG(double, p) = 0.5;
  TAEDA_ARG(bool, training) = true;
  TAEDA_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
struct TAEDA_API AlphaDropoutFuncOptions {
  TAEDA_ARG(double, p) = 0.5;
  TAEDA_ARG(bool, training) = false;
  TAEDA_ARG(bool, inplace) = false;
};
struct TAEDA_API FeatureAlphaDropoutFuncOptions {
  TAEDA_ARG(double, p) = 0.5;
  TAEDA_ARG(bool, training) = false;
  TAEDA_ARG(bool, inplace) = false;
};
}
struct TAEDA_API EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAEDA_ARG(int64_t, num_embeddings);
  TAEDA_ARG(int64_t, embedding_dim);
  TAEDA_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TAEDA_ARG(std::optional<double>, max_norm) = std::nullopt;
  TAEDA_ARG(double, norm_type) = 2.;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(Tensor, _weight);
};
struct TAEDA_API EmbeddingFromPretrainedOptions {
  TAEDA_ARG(bool, freeze) = true;
  TAEDA_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TAEDA_ARG(std::optional<double>, max_norm) = std::nullopt;
  TAEDA_ARG(double, norm_type) = 2.;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(bool, sparse) = false;
};
namespace functional {
struct TAEDA_API EmbeddingFuncOptions {
  TAEDA_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TAEDA_ARG(std::optional<double>, max_norm) = std::nullopt;
  TAEDA_ARG(double, norm_type) = 2.;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(bool, sparse) = false;
};
}
using EmbeddingBagMode = std::variant<enumtype::kSum, enumtype::kMean, enumtype::kMax>;
struct TAEDA_API EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAEDA_ARG(int64_t, num_embeddings);
  TAEDA_ARG(int64_t, embedding_dim);
  TAEDA_ARG(std::optional<double>, max_norm) = std::nullopt;
  TAEDA_ARG(double, norm_type) = 2.;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(EmbeddingBagMode, mode) = enumtype::kMean();
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(Tensor, _weight);
  TAEDA_ARG(bool, include_last_offset) = false;
  TAEDA_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};
struct TAEDA_API EmbeddingBagFromPretrainedOptions {
  TAEDA_ARG(bool, freeze) = true;
  TAEDA_ARG(std::optional<double>, max_norm) = std::nullopt;
  TAEDA_ARG(double, norm_type) = 2.;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(EmbeddingBagMode, mode) = enumtype::kMean();
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(bool, include_last_offset) = false;
  TAEDA_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};
namespace functional {
struct TAEDA_API EmbeddingBagFuncOptions {
  TAEDA_ARG(Tensor, offsets);
  TAEDA_ARG(std::optional<double>, max_norm) = std::nullopt;
  TAEDA_ARG(double, norm_type) = 2.;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(EmbeddingBagMode, mode) = enumtype::kMean();
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(Tensor, per_sample_weights);
  TAEDA_ARG(bool, include_last_offset) = false;
  TAEDA_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};
}
struct TAEDA_API CosineSimilarityOptions {
  TAEDA_ARG(int64_t, dim) = 1;
  TAEDA_ARG(double, eps) = 1e-8;
};
struct TAEDA_API PairwiseDistanceOptions {
  TAEDA_ARG(double, p) = 2.0;
  TAEDA_ARG(double, eps) = 1e-6;
  TAEDA_ARG(bool, keepdim) = false;
};
namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
}

}  // namespace taeda::nn
