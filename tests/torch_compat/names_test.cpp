// SPDX-License-Identifier: Apache-2.0
// Names of LibTorch's frontend: options with their setters, getters and defaults, modules and optimizers with their members,
// functions of nn. It is a test of compiling; what runs checks the defaults.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

namespace {

/// A field of an options type: a setter that returns the object, a getter of the same name.
#define FIELD(Type, field) static_assert(requires(Type& o) { { o.field(o.field()) } -> std::same_as<Type&>; });

FIELD(torch::nn::ELUOptions, alpha) FIELD(torch::nn::ELUOptions, inplace) FIELD(torch::nn::SELUOptions, inplace)
FIELD(torch::nn::GLUOptions, dim) FIELD(torch::nn::GELUOptions, approximate) FIELD(torch::nn::HardshrinkOptions, lambda)
FIELD(torch::nn::HardtanhOptions, min_val) FIELD(torch::nn::HardtanhOptions, max_val) FIELD(torch::nn::HardtanhOptions, inplace)
FIELD(torch::nn::LeakyReLUOptions, negative_slope) FIELD(torch::nn::LeakyReLUOptions, inplace)
FIELD(torch::nn::SoftmaxOptions, dim) FIELD(torch::nn::functional::SoftmaxFuncOptions, dim)
FIELD(torch::nn::functional::SoftmaxFuncOptions, dtype) FIELD(torch::nn::SoftminOptions, dim)
FIELD(torch::nn::functional::SoftminFuncOptions, dim) FIELD(torch::nn::functional::SoftminFuncOptions, dtype)
FIELD(torch::nn::LogSoftmaxOptions, dim) FIELD(torch::nn::functional::LogSoftmaxFuncOptions, dim)
FIELD(torch::nn::functional::LogSoftmaxFuncOptions, dtype) FIELD(torch::nn::PReLUOptions, num_parameters)
FIELD(torch::nn::PReLUOptions, init) FIELD(torch::nn::ReLUOptions, inplace) FIELD(torch::nn::ReLU6Options, inplace)
FIELD(torch::nn::RReLUOptions, lower) FIELD(torch::nn::RReLUOptions, upper) FIELD(torch::nn::RReLUOptions, inplace)
FIELD(torch::nn::functional::RReLUFuncOptions, lower) FIELD(torch::nn::functional::RReLUFuncOptions, upper)
FIELD(torch::nn::functional::RReLUFuncOptions, training) FIELD(torch::nn::functional::RReLUFuncOptions, inplace)
FIELD(torch::nn::CELUOptions, alpha) FIELD(torch::nn::CELUOptions, inplace) FIELD(torch::nn::SoftplusOptions, beta)
FIELD(torch::nn::SoftplusOptions, threshold) FIELD(torch::nn::SoftshrinkOptions, lambda)
FIELD(torch::nn::ThresholdOptions, threshold) FIELD(torch::nn::ThresholdOptions, value)
FIELD(torch::nn::ThresholdOptions, inplace) FIELD(torch::nn::functional::GumbelSoftmaxFuncOptions, tau)
FIELD(torch::nn::functional::GumbelSoftmaxFuncOptions, hard) FIELD(torch::nn::functional::GumbelSoftmaxFuncOptions, dim)
FIELD(torch::nn::MultiheadAttentionOptions, embed_dim) FIELD(torch::nn::MultiheadAttentionOptions, num_heads)
FIELD(torch::nn::MultiheadAttentionOptions, dropout) FIELD(torch::nn::MultiheadAttentionOptions, bias)
FIELD(torch::nn::MultiheadAttentionOptions, add_bias_kv) FIELD(torch::nn::MultiheadAttentionOptions, add_zero_attn)
FIELD(torch::nn::MultiheadAttentionOptions, kdim) FIELD(torch::nn::MultiheadAttentionOptions, vdim)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, embed_dim_to_check)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, num_heads)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, in_proj_weight)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, in_proj_bias)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, bias_k)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, bias_v)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, add_zero_attn)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, dropout_p)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, out_proj_weight)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, out_proj_bias)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, training)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, key_padding_mask)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, need_weights)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, attn_mask)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, use_separate_proj_weight)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, q_proj_weight)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, k_proj_weight)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, v_proj_weight)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, static_k)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, static_v)
FIELD(torch::nn::functional::MultiheadAttentionForwardFuncOptions, average_attn_weights)
FIELD(torch::nn::AdaptiveLogSoftmaxWithLossOptions, in_features) FIELD(torch::nn::AdaptiveLogSoftmaxWithLossOptions, n_classes)
FIELD(torch::nn::AdaptiveLogSoftmaxWithLossOptions, cutoffs) FIELD(torch::nn::AdaptiveLogSoftmaxWithLossOptions, div_value)
FIELD(torch::nn::AdaptiveLogSoftmaxWithLossOptions, head_bias) FIELD(torch::nn::BatchNormOptions, num_features)
FIELD(torch::nn::BatchNormOptions, eps) FIELD(torch::nn::BatchNormOptions, momentum) FIELD(torch::nn::BatchNormOptions, affine)
FIELD(torch::nn::BatchNormOptions, track_running_stats) FIELD(torch::nn::functional::BatchNormFuncOptions, weight)
FIELD(torch::nn::functional::BatchNormFuncOptions, bias) FIELD(torch::nn::functional::BatchNormFuncOptions, training)
FIELD(torch::nn::functional::BatchNormFuncOptions, momentum) FIELD(torch::nn::functional::BatchNormFuncOptions, eps)
FIELD(torch::nn::ConvOptions<2>, in_channels) FIELD(torch::nn::ConvOptions<2>, out_channels)
FIELD(torch::nn::ConvOptions<2>, kernel_size) FIELD(torch::nn::ConvOptions<2>, stride) FIELD(torch::nn::ConvOptions<2>, padding)
FIELD(torch::nn::ConvOptions<2>, dilation) FIELD(torch::nn::ConvOptions<2>, groups) FIELD(torch::nn::ConvOptions<2>, bias)
FIELD(torch::nn::ConvOptions<2>, padding_mode) FIELD(torch::nn::functional::ConvFuncOptions<2>, bias)
FIELD(torch::nn::functional::ConvFuncOptions<2>, stride) FIELD(torch::nn::functional::ConvFuncOptions<2>, padding)
FIELD(torch::nn::functional::ConvFuncOptions<2>, dilation) FIELD(torch::nn::functional::ConvFuncOptions<2>, groups)
FIELD(torch::nn::ConvTransposeOptions<2>, in_channels) FIELD(torch::nn::ConvTransposeOptions<2>, out_channels)
FIELD(torch::nn::ConvTransposeOptions<2>, kernel_size) FIELD(torch::nn::ConvTransposeOptions<2>, stride)
FIELD(torch::nn::ConvTransposeOptions<2>, padding) FIELD(torch::nn::ConvTransposeOptions<2>, output_padding)
FIELD(torch::nn::ConvTransposeOptions<2>, groups) FIELD(torch::nn::ConvTransposeOptions<2>, bias)
FIELD(torch::nn::ConvTransposeOptions<2>, dilation) FIELD(torch::nn::ConvTransposeOptions<2>, padding_mode)
FIELD(torch::nn::functional::ConvTransposeFuncOptions<2>, bias)
FIELD(torch::nn::functional::ConvTransposeFuncOptions<2>, stride)
FIELD(torch::nn::functional::ConvTransposeFuncOptions<2>, padding)
FIELD(torch::nn::functional::ConvTransposeFuncOptions<2>, output_padding)
FIELD(torch::nn::functional::ConvTransposeFuncOptions<2>, groups)
FIELD(torch::nn::functional::ConvTransposeFuncOptions<2>, dilation) FIELD(torch::nn::CosineSimilarityOptions, dim)
FIELD(torch::nn::CosineSimilarityOptions, eps) FIELD(torch::nn::PairwiseDistanceOptions, p)
FIELD(torch::nn::PairwiseDistanceOptions, eps) FIELD(torch::nn::PairwiseDistanceOptions, keepdim)
FIELD(torch::nn::DropoutOptions, p) FIELD(torch::nn::DropoutOptions, inplace)
FIELD(torch::nn::functional::DropoutFuncOptions, p) FIELD(torch::nn::functional::DropoutFuncOptions, training)
FIELD(torch::nn::functional::DropoutFuncOptions, inplace) FIELD(torch::nn::functional::AlphaDropoutFuncOptions, p)
FIELD(torch::nn::functional::AlphaDropoutFuncOptions, training) FIELD(torch::nn::functional::AlphaDropoutFuncOptions, inplace)
FIELD(torch::nn::functional::FeatureAlphaDropoutFuncOptions, p)
FIELD(torch::nn::functional::FeatureAlphaDropoutFuncOptions, training)
FIELD(torch::nn::functional::FeatureAlphaDropoutFuncOptions, inplace) FIELD(torch::nn::EmbeddingOptions, num_embeddings)
FIELD(torch::nn::EmbeddingOptions, embedding_dim) FIELD(torch::nn::EmbeddingOptions, padding_idx)
FIELD(torch::nn::EmbeddingOptions, max_norm) FIELD(torch::nn::EmbeddingOptions, norm_type)
FIELD(torch::nn::EmbeddingOptions, scale_grad_by_freq) FIELD(torch::nn::EmbeddingOptions, sparse)
FIELD(torch::nn::EmbeddingOptions, _weight) FIELD(torch::nn::EmbeddingFromPretrainedOptions, freeze)
FIELD(torch::nn::EmbeddingFromPretrainedOptions, padding_idx) FIELD(torch::nn::EmbeddingFromPretrainedOptions, max_norm)
FIELD(torch::nn::EmbeddingFromPretrainedOptions, norm_type) FIELD(torch::nn::EmbeddingFromPretrainedOptions, scale_grad_by_freq)
FIELD(torch::nn::EmbeddingFromPretrainedOptions, sparse) FIELD(torch::nn::functional::EmbeddingFuncOptions, padding_idx)
FIELD(torch::nn::functional::EmbeddingFuncOptions, max_norm) FIELD(torch::nn::functional::EmbeddingFuncOptions, norm_type)
FIELD(torch::nn::functional::EmbeddingFuncOptions, scale_grad_by_freq)
FIELD(torch::nn::functional::EmbeddingFuncOptions, sparse) FIELD(torch::nn::EmbeddingBagOptions, num_embeddings)
FIELD(torch::nn::EmbeddingBagOptions, embedding_dim) FIELD(torch::nn::EmbeddingBagOptions, max_norm)
FIELD(torch::nn::EmbeddingBagOptions, norm_type) FIELD(torch::nn::EmbeddingBagOptions, scale_grad_by_freq)
FIELD(torch::nn::EmbeddingBagOptions, mode) FIELD(torch::nn::EmbeddingBagOptions, sparse)
FIELD(torch::nn::EmbeddingBagOptions, _weight) FIELD(torch::nn::EmbeddingBagOptions, include_last_offset)
FIELD(torch::nn::EmbeddingBagOptions, padding_idx) FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, freeze)
FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, max_norm) FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, norm_type)
FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, scale_grad_by_freq)
FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, mode) FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, sparse)
FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, include_last_offset)
FIELD(torch::nn::EmbeddingBagFromPretrainedOptions, padding_idx) FIELD(torch::nn::functional::EmbeddingBagFuncOptions, offsets)
FIELD(torch::nn::functional::EmbeddingBagFuncOptions, max_norm) FIELD(torch::nn::functional::EmbeddingBagFuncOptions, norm_type)
FIELD(torch::nn::functional::EmbeddingBagFuncOptions, scale_grad_by_freq)
FIELD(torch::nn::functional::EmbeddingBagFuncOptions, mode) FIELD(torch::nn::functional::EmbeddingBagFuncOptions, sparse)
FIELD(torch::nn::functional::EmbeddingBagFuncOptions, per_sample_weights)
FIELD(torch::nn::functional::EmbeddingBagFuncOptions, include_last_offset)
FIELD(torch::nn::functional::EmbeddingBagFuncOptions, padding_idx) FIELD(torch::nn::FoldOptions, output_size)
FIELD(torch::nn::FoldOptions, kernel_size) FIELD(torch::nn::FoldOptions, dilation) FIELD(torch::nn::FoldOptions, padding)
FIELD(torch::nn::FoldOptions, stride) FIELD(torch::nn::UnfoldOptions, kernel_size) FIELD(torch::nn::UnfoldOptions, dilation)
FIELD(torch::nn::UnfoldOptions, padding) FIELD(torch::nn::UnfoldOptions, stride)
FIELD(torch::nn::InstanceNormOptions, num_features) FIELD(torch::nn::InstanceNormOptions, eps)
FIELD(torch::nn::InstanceNormOptions, momentum) FIELD(torch::nn::InstanceNormOptions, affine)
FIELD(torch::nn::InstanceNormOptions, track_running_stats) FIELD(torch::nn::functional::InstanceNormFuncOptions, running_mean)
FIELD(torch::nn::functional::InstanceNormFuncOptions, running_var) FIELD(torch::nn::functional::InstanceNormFuncOptions, weight)
FIELD(torch::nn::functional::InstanceNormFuncOptions, bias)
FIELD(torch::nn::functional::InstanceNormFuncOptions, use_input_stats)
FIELD(torch::nn::functional::InstanceNormFuncOptions, momentum) FIELD(torch::nn::functional::InstanceNormFuncOptions, eps)
FIELD(torch::nn::LinearOptions, in_features) FIELD(torch::nn::LinearOptions, out_features) FIELD(torch::nn::LinearOptions, bias)
FIELD(torch::nn::FlattenOptions, start_dim) FIELD(torch::nn::FlattenOptions, end_dim) FIELD(torch::nn::UnflattenOptions, dim)
FIELD(torch::nn::UnflattenOptions, sizes) FIELD(torch::nn::BilinearOptions, in1_features)
FIELD(torch::nn::BilinearOptions, in2_features) FIELD(torch::nn::BilinearOptions, out_features)
FIELD(torch::nn::BilinearOptions, bias) FIELD(torch::nn::KLDivLossOptions, log_target) FIELD(torch::nn::BCELossOptions, weight)
FIELD(torch::nn::BCELossOptions, reduction) FIELD(torch::nn::HingeEmbeddingLossOptions, margin)
FIELD(torch::nn::HingeEmbeddingLossOptions, reduction) FIELD(torch::nn::MultiMarginLossOptions, p)
FIELD(torch::nn::MultiMarginLossOptions, margin) FIELD(torch::nn::MultiMarginLossOptions, weight)
FIELD(torch::nn::MultiMarginLossOptions, reduction) FIELD(torch::nn::CosineEmbeddingLossOptions, margin)
FIELD(torch::nn::CosineEmbeddingLossOptions, reduction) FIELD(torch::nn::MultiLabelSoftMarginLossOptions, weight)
FIELD(torch::nn::MultiLabelSoftMarginLossOptions, reduction) FIELD(torch::nn::TripletMarginLossOptions, margin)
FIELD(torch::nn::TripletMarginLossOptions, p) FIELD(torch::nn::TripletMarginLossOptions, eps)
FIELD(torch::nn::TripletMarginLossOptions, swap) FIELD(torch::nn::TripletMarginLossOptions, reduction)
FIELD(torch::nn::TripletMarginWithDistanceLossOptions, distance_function)
FIELD(torch::nn::TripletMarginWithDistanceLossOptions, margin) FIELD(torch::nn::TripletMarginWithDistanceLossOptions, swap)
FIELD(torch::nn::TripletMarginWithDistanceLossOptions, reduction) FIELD(torch::nn::CTCLossOptions, blank)
FIELD(torch::nn::CTCLossOptions, reduction) FIELD(torch::nn::CTCLossOptions, zero_infinity)
FIELD(torch::nn::SmoothL1LossOptions, beta) FIELD(torch::nn::HuberLossOptions, delta)
FIELD(torch::nn::PoissonNLLLossOptions, log_input) FIELD(torch::nn::PoissonNLLLossOptions, full)
FIELD(torch::nn::PoissonNLLLossOptions, eps) FIELD(torch::nn::PoissonNLLLossOptions, reduction)
FIELD(torch::nn::MarginRankingLossOptions, margin) FIELD(torch::nn::MarginRankingLossOptions, reduction)
FIELD(torch::nn::NLLLossOptions, weight) FIELD(torch::nn::NLLLossOptions, ignore_index)
FIELD(torch::nn::NLLLossOptions, reduction) FIELD(torch::nn::CrossEntropyLossOptions, weight)
FIELD(torch::nn::CrossEntropyLossOptions, ignore_index) FIELD(torch::nn::CrossEntropyLossOptions, reduction)
FIELD(torch::nn::CrossEntropyLossOptions, label_smoothing) FIELD(torch::nn::BCEWithLogitsLossOptions, weight)
FIELD(torch::nn::BCEWithLogitsLossOptions, reduction) FIELD(torch::nn::BCEWithLogitsLossOptions, pos_weight)
FIELD(torch::nn::LayerNormOptions, normalized_shape) FIELD(torch::nn::LayerNormOptions, eps)
FIELD(torch::nn::LayerNormOptions, elementwise_affine) FIELD(torch::nn::functional::LayerNormFuncOptions, normalized_shape)
FIELD(torch::nn::functional::LayerNormFuncOptions, weight) FIELD(torch::nn::functional::LayerNormFuncOptions, bias)
FIELD(torch::nn::functional::LayerNormFuncOptions, eps) FIELD(torch::nn::LocalResponseNormOptions, size)
FIELD(torch::nn::LocalResponseNormOptions, alpha) FIELD(torch::nn::LocalResponseNormOptions, beta)
FIELD(torch::nn::LocalResponseNormOptions, k) FIELD(torch::nn::CrossMapLRN2dOptions, size)
FIELD(torch::nn::CrossMapLRN2dOptions, alpha) FIELD(torch::nn::CrossMapLRN2dOptions, beta)
FIELD(torch::nn::CrossMapLRN2dOptions, k) FIELD(torch::nn::functional::NormalizeFuncOptions, p)
FIELD(torch::nn::functional::NormalizeFuncOptions, dim) FIELD(torch::nn::functional::NormalizeFuncOptions, eps)
FIELD(torch::nn::functional::NormalizeFuncOptions, out) FIELD(torch::nn::GroupNormOptions, num_groups)
FIELD(torch::nn::GroupNormOptions, num_channels) FIELD(torch::nn::GroupNormOptions, eps)
FIELD(torch::nn::GroupNormOptions, affine) FIELD(torch::nn::functional::GroupNormFuncOptions, num_groups)
FIELD(torch::nn::functional::GroupNormFuncOptions, weight) FIELD(torch::nn::functional::GroupNormFuncOptions, bias)
FIELD(torch::nn::functional::GroupNormFuncOptions, eps) FIELD(torch::nn::ReflectionPadOptions<2>, padding)
FIELD(torch::nn::ReplicationPadOptions<2>, padding) FIELD(torch::nn::ZeroPadOptions<2>, padding)
FIELD(torch::nn::ConstantPadOptions<2>, padding) FIELD(torch::nn::ConstantPadOptions<2>, value)
FIELD(torch::nn::functional::PadFuncOptions, pad) FIELD(torch::nn::functional::PadFuncOptions, mode)
FIELD(torch::nn::functional::PadFuncOptions, value) FIELD(torch::nn::PixelShuffleOptions, upscale_factor)
FIELD(torch::nn::PixelUnshuffleOptions, downscale_factor) FIELD(torch::nn::AvgPoolOptions<2>, kernel_size)
FIELD(torch::nn::AvgPoolOptions<2>, stride) FIELD(torch::nn::AvgPoolOptions<2>, padding)
FIELD(torch::nn::AvgPoolOptions<2>, ceil_mode) FIELD(torch::nn::AvgPoolOptions<2>, count_include_pad)
FIELD(torch::nn::AvgPoolOptions<2>, divisor_override) FIELD(torch::nn::MaxPoolOptions<2>, kernel_size)
FIELD(torch::nn::MaxPoolOptions<2>, stride) FIELD(torch::nn::MaxPoolOptions<2>, padding)
FIELD(torch::nn::MaxPoolOptions<2>, dilation) FIELD(torch::nn::MaxPoolOptions<2>, ceil_mode)
FIELD(torch::nn::AdaptiveMaxPoolOptions<torch::ExpandingArray<2>>, output_size)
FIELD(torch::nn::AdaptiveAvgPoolOptions<torch::ExpandingArray<2>>, output_size)
FIELD(torch::nn::MaxUnpoolOptions<2>, kernel_size) FIELD(torch::nn::MaxUnpoolOptions<2>, stride)
FIELD(torch::nn::MaxUnpoolOptions<2>, padding) FIELD(torch::nn::functional::MaxUnpoolFuncOptions<2>, kernel_size)
FIELD(torch::nn::functional::MaxUnpoolFuncOptions<2>, stride) FIELD(torch::nn::functional::MaxUnpoolFuncOptions<2>, padding)
FIELD(torch::nn::functional::MaxUnpoolFuncOptions<2>, output_size) FIELD(torch::nn::FractionalMaxPoolOptions<2>, kernel_size)
FIELD(torch::nn::FractionalMaxPoolOptions<2>, output_size) FIELD(torch::nn::FractionalMaxPoolOptions<2>, output_ratio)
FIELD(torch::nn::FractionalMaxPoolOptions<2>, _random_samples) FIELD(torch::nn::LPPoolOptions<2>, norm_type)
FIELD(torch::nn::LPPoolOptions<2>, kernel_size) FIELD(torch::nn::LPPoolOptions<2>, stride)
FIELD(torch::nn::LPPoolOptions<2>, ceil_mode) FIELD(torch::nn::detail::RNNOptionsBase, mode)
FIELD(torch::nn::detail::RNNOptionsBase, input_size) FIELD(torch::nn::detail::RNNOptionsBase, hidden_size)
FIELD(torch::nn::detail::RNNOptionsBase, num_layers) FIELD(torch::nn::detail::RNNOptionsBase, bias)
FIELD(torch::nn::detail::RNNOptionsBase, batch_first) FIELD(torch::nn::detail::RNNOptionsBase, dropout)
FIELD(torch::nn::detail::RNNOptionsBase, bidirectional) FIELD(torch::nn::detail::RNNOptionsBase, proj_size)
FIELD(torch::nn::RNNOptions, input_size) FIELD(torch::nn::RNNOptions, hidden_size) FIELD(torch::nn::RNNOptions, num_layers)
FIELD(torch::nn::RNNOptions, nonlinearity) FIELD(torch::nn::RNNOptions, bias) FIELD(torch::nn::RNNOptions, batch_first)
FIELD(torch::nn::RNNOptions, dropout) FIELD(torch::nn::RNNOptions, bidirectional) FIELD(torch::nn::LSTMOptions, input_size)
FIELD(torch::nn::LSTMOptions, hidden_size) FIELD(torch::nn::LSTMOptions, num_layers) FIELD(torch::nn::LSTMOptions, bias)
FIELD(torch::nn::LSTMOptions, batch_first) FIELD(torch::nn::LSTMOptions, dropout) FIELD(torch::nn::LSTMOptions, bidirectional)
FIELD(torch::nn::LSTMOptions, proj_size) FIELD(torch::nn::GRUOptions, input_size) FIELD(torch::nn::GRUOptions, hidden_size)
FIELD(torch::nn::GRUOptions, num_layers) FIELD(torch::nn::GRUOptions, bias) FIELD(torch::nn::GRUOptions, batch_first)
FIELD(torch::nn::GRUOptions, dropout) FIELD(torch::nn::GRUOptions, bidirectional)
FIELD(torch::nn::detail::RNNCellOptionsBase, input_size) FIELD(torch::nn::detail::RNNCellOptionsBase, hidden_size)
FIELD(torch::nn::detail::RNNCellOptionsBase, bias) FIELD(torch::nn::detail::RNNCellOptionsBase, num_chunks)
FIELD(torch::nn::RNNCellOptions, input_size) FIELD(torch::nn::RNNCellOptions, hidden_size)
FIELD(torch::nn::RNNCellOptions, bias) FIELD(torch::nn::RNNCellOptions, nonlinearity)
FIELD(torch::nn::LSTMCellOptions, input_size) FIELD(torch::nn::LSTMCellOptions, hidden_size)
FIELD(torch::nn::LSTMCellOptions, bias) FIELD(torch::nn::GRUCellOptions, input_size)
FIELD(torch::nn::GRUCellOptions, hidden_size) FIELD(torch::nn::GRUCellOptions, bias)
FIELD(torch::nn::TransformerOptions, d_model) FIELD(torch::nn::TransformerOptions, nhead)
FIELD(torch::nn::TransformerOptions, num_encoder_layers) FIELD(torch::nn::TransformerOptions, num_decoder_layers)
FIELD(torch::nn::TransformerOptions, dim_feedforward) FIELD(torch::nn::TransformerOptions, dropout)
FIELD(torch::nn::TransformerOptions, activation) FIELD(torch::nn::TransformerOptions, custom_encoder)
FIELD(torch::nn::TransformerOptions, custom_decoder) FIELD(torch::nn::TransformerEncoderOptions, encoder_layer)
FIELD(torch::nn::TransformerEncoderOptions, num_layers) FIELD(torch::nn::TransformerEncoderOptions, norm)
FIELD(torch::nn::TransformerDecoderOptions, decoder_layer) FIELD(torch::nn::TransformerDecoderOptions, num_layers)
FIELD(torch::nn::TransformerDecoderOptions, norm) FIELD(torch::nn::TransformerEncoderLayerOptions, d_model)
FIELD(torch::nn::TransformerEncoderLayerOptions, nhead) FIELD(torch::nn::TransformerEncoderLayerOptions, dim_feedforward)
FIELD(torch::nn::TransformerEncoderLayerOptions, dropout) FIELD(torch::nn::TransformerEncoderLayerOptions, activation)
FIELD(torch::nn::TransformerDecoderLayerOptions, d_model) FIELD(torch::nn::TransformerDecoderLayerOptions, nhead)
FIELD(torch::nn::TransformerDecoderLayerOptions, dim_feedforward) FIELD(torch::nn::TransformerDecoderLayerOptions, dropout)
FIELD(torch::nn::TransformerDecoderLayerOptions, activation) FIELD(torch::nn::UpsampleOptions, size)
FIELD(torch::nn::UpsampleOptions, scale_factor) FIELD(torch::nn::UpsampleOptions, mode)
FIELD(torch::nn::UpsampleOptions, align_corners) FIELD(torch::nn::functional::InterpolateFuncOptions, size)
FIELD(torch::nn::functional::InterpolateFuncOptions, scale_factor) FIELD(torch::nn::functional::InterpolateFuncOptions, mode)
FIELD(torch::nn::functional::InterpolateFuncOptions, align_corners)
FIELD(torch::nn::functional::InterpolateFuncOptions, recompute_scale_factor)
FIELD(torch::nn::functional::InterpolateFuncOptions, antialias) FIELD(torch::nn::functional::GridSampleFuncOptions, mode)
FIELD(torch::nn::functional::GridSampleFuncOptions, padding_mode)
FIELD(torch::nn::functional::GridSampleFuncOptions, align_corners) FIELD(torch::optim::AdagradOptions, lr)
FIELD(torch::optim::AdagradOptions, lr_decay) FIELD(torch::optim::AdagradOptions, weight_decay)
FIELD(torch::optim::AdagradOptions, initial_accumulator_value) FIELD(torch::optim::AdagradOptions, eps)
FIELD(torch::optim::AdagradParamState, sum) FIELD(torch::optim::AdagradParamState, step) FIELD(torch::optim::AdamOptions, lr)
FIELD(torch::optim::AdamOptions, betas) FIELD(torch::optim::AdamOptions, eps) FIELD(torch::optim::AdamOptions, weight_decay)
FIELD(torch::optim::AdamOptions, amsgrad) FIELD(torch::optim::AdamParamState, step) FIELD(torch::optim::AdamParamState, exp_avg)
FIELD(torch::optim::AdamParamState, exp_avg_sq) FIELD(torch::optim::AdamParamState, max_exp_avg_sq)
FIELD(torch::optim::AdamWOptions, lr) FIELD(torch::optim::AdamWOptions, betas) FIELD(torch::optim::AdamWOptions, eps)
FIELD(torch::optim::AdamWOptions, weight_decay) FIELD(torch::optim::AdamWOptions, amsgrad)
FIELD(torch::optim::AdamWParamState, step) FIELD(torch::optim::AdamWParamState, exp_avg)
FIELD(torch::optim::AdamWParamState, exp_avg_sq) FIELD(torch::optim::AdamWParamState, max_exp_avg_sq)
FIELD(torch::optim::LBFGSOptions, lr) FIELD(torch::optim::LBFGSOptions, max_iter) FIELD(torch::optim::LBFGSOptions, max_eval)
FIELD(torch::optim::LBFGSOptions, tolerance_grad) FIELD(torch::optim::LBFGSOptions, tolerance_change)
FIELD(torch::optim::LBFGSOptions, history_size) FIELD(torch::optim::LBFGSOptions, line_search_fn)
FIELD(torch::optim::LBFGSParamState, func_evals) FIELD(torch::optim::LBFGSParamState, n_iter)
FIELD(torch::optim::LBFGSParamState, t) FIELD(torch::optim::LBFGSParamState, prev_loss) FIELD(torch::optim::LBFGSParamState, d)
FIELD(torch::optim::LBFGSParamState, H_diag) FIELD(torch::optim::LBFGSParamState, prev_flat_grad)
FIELD(torch::optim::LBFGSParamState, old_dirs) FIELD(torch::optim::LBFGSParamState, old_stps)
FIELD(torch::optim::LBFGSParamState, ro) FIELD(torch::optim::LBFGSParamState, al) FIELD(torch::optim::RMSpropOptions, lr)
FIELD(torch::optim::RMSpropOptions, alpha) FIELD(torch::optim::RMSpropOptions, eps)
FIELD(torch::optim::RMSpropOptions, weight_decay) FIELD(torch::optim::RMSpropOptions, momentum)
FIELD(torch::optim::RMSpropOptions, centered) FIELD(torch::optim::RMSpropParamState, step)
FIELD(torch::optim::RMSpropParamState, square_avg) FIELD(torch::optim::RMSpropParamState, momentum_buffer)
FIELD(torch::optim::RMSpropParamState, grad_avg) FIELD(torch::optim::SGDOptions, lr) FIELD(torch::optim::SGDOptions, momentum)
FIELD(torch::optim::SGDOptions, dampening) FIELD(torch::optim::SGDOptions, weight_decay)
FIELD(torch::optim::SGDOptions, nesterov) FIELD(torch::optim::SGDParamState, momentum_buffer)
FIELD(torch::data::DataLoaderOptions, batch_size) FIELD(torch::data::DataLoaderOptions, workers)
FIELD(torch::data::DataLoaderOptions, max_jobs) FIELD(torch::data::DataLoaderOptions, timeout)
FIELD(torch::data::DataLoaderOptions, enforce_ordering) FIELD(torch::data::DataLoaderOptions, drop_last)
FIELD(torch::data::datasets::ChunkDatasetOptions, preloader_count) FIELD(torch::data::datasets::ChunkDatasetOptions, batch_size)
FIELD(torch::data::datasets::ChunkDatasetOptions, cache_size)
FIELD(torch::data::datasets::ChunkDatasetOptions, cross_chunk_shuffle_count)
#undef FIELD

// Members that a class must have: naming them in a derived class finds overloads and templates as well.
struct Members1 : torch::nn::ELUImpl { using torch::nn::ELUImpl::options; using torch::nn::ELUImpl::forward;
using torch::nn::ELUImpl::reset; using torch::nn::ELUImpl::pretty_print; };
struct Members2 : torch::nn::SELUImpl { using torch::nn::SELUImpl::options; using torch::nn::SELUImpl::forward;
using torch::nn::SELUImpl::reset; using torch::nn::SELUImpl::pretty_print; };
struct Members3 : torch::nn::HardshrinkImpl { using torch::nn::HardshrinkImpl::options;
using torch::nn::HardshrinkImpl::forward; using torch::nn::HardshrinkImpl::reset; using torch::nn::HardshrinkImpl::pretty_print;
};
struct Members4 : torch::nn::HardtanhImpl { using torch::nn::HardtanhImpl::options; using torch::nn::HardtanhImpl::forward;
using torch::nn::HardtanhImpl::reset; using torch::nn::HardtanhImpl::pretty_print; };
struct Members5 : torch::nn::LeakyReLUImpl { using torch::nn::LeakyReLUImpl::options; using torch::nn::LeakyReLUImpl::forward;
using torch::nn::LeakyReLUImpl::reset; using torch::nn::LeakyReLUImpl::pretty_print; };
struct Members6 : torch::nn::LogSigmoidImpl { using torch::nn::LogSigmoidImpl::forward; using torch::nn::LogSigmoidImpl::reset;
using torch::nn::LogSigmoidImpl::pretty_print; };
struct Members7 : torch::nn::SoftmaxImpl { using torch::nn::SoftmaxImpl::options; using torch::nn::SoftmaxImpl::forward;
using torch::nn::SoftmaxImpl::reset; using torch::nn::SoftmaxImpl::pretty_print; };
struct Members8 : torch::nn::SoftminImpl { using torch::nn::SoftminImpl::options; using torch::nn::SoftminImpl::forward;
using torch::nn::SoftminImpl::reset; using torch::nn::SoftminImpl::pretty_print; };
struct Members9 : torch::nn::LogSoftmaxImpl { using torch::nn::LogSoftmaxImpl::options;
using torch::nn::LogSoftmaxImpl::forward; using torch::nn::LogSoftmaxImpl::reset; using torch::nn::LogSoftmaxImpl::pretty_print;
};
struct Members10 : torch::nn::Softmax2dImpl { using torch::nn::Softmax2dImpl::forward; using torch::nn::Softmax2dImpl::reset;
using torch::nn::Softmax2dImpl::pretty_print; };
struct Members11 : torch::nn::PReLUImpl { using torch::nn::PReLUImpl::options; using torch::nn::PReLUImpl::weight;
using torch::nn::PReLUImpl::forward; using torch::nn::PReLUImpl::reset; using torch::nn::PReLUImpl::pretty_print; };
struct Members12 : torch::nn::ReLUImpl { using torch::nn::ReLUImpl::options; using torch::nn::ReLUImpl::forward;
using torch::nn::ReLUImpl::reset; using torch::nn::ReLUImpl::pretty_print; };
struct Members13 : torch::nn::ReLU6Impl { using torch::nn::ReLU6Impl::options; using torch::nn::ReLU6Impl::forward;
using torch::nn::ReLU6Impl::reset; using torch::nn::ReLU6Impl::pretty_print; };
struct Members14 : torch::nn::RReLUImpl { using torch::nn::RReLUImpl::options; using torch::nn::RReLUImpl::forward;
using torch::nn::RReLUImpl::reset; using torch::nn::RReLUImpl::pretty_print; };
struct Members15 : torch::nn::CELUImpl { using torch::nn::CELUImpl::options; using torch::nn::CELUImpl::forward;
using torch::nn::CELUImpl::reset; using torch::nn::CELUImpl::pretty_print; };
struct Members16 : torch::nn::GLUImpl { using torch::nn::GLUImpl::options; using torch::nn::GLUImpl::forward;
using torch::nn::GLUImpl::reset; using torch::nn::GLUImpl::pretty_print; };
struct Members17 : torch::nn::GELUImpl { using torch::nn::GELUImpl::options; using torch::nn::GELUImpl::forward;
using torch::nn::GELUImpl::reset; using torch::nn::GELUImpl::pretty_print; };
struct Members18 : torch::nn::SiLUImpl { using torch::nn::SiLUImpl::forward; using torch::nn::SiLUImpl::reset;
using torch::nn::SiLUImpl::pretty_print; };
struct Members19 : torch::nn::MishImpl { using torch::nn::MishImpl::forward; using torch::nn::MishImpl::reset;
using torch::nn::MishImpl::pretty_print; };
struct Members20 : torch::nn::SigmoidImpl { using torch::nn::SigmoidImpl::forward; using torch::nn::SigmoidImpl::reset;
using torch::nn::SigmoidImpl::pretty_print; };
struct Members21 : torch::nn::SoftplusImpl { using torch::nn::SoftplusImpl::options; using torch::nn::SoftplusImpl::forward;
using torch::nn::SoftplusImpl::reset; using torch::nn::SoftplusImpl::pretty_print; };
struct Members22 : torch::nn::SoftshrinkImpl { using torch::nn::SoftshrinkImpl::options;
using torch::nn::SoftshrinkImpl::forward; using torch::nn::SoftshrinkImpl::reset; using torch::nn::SoftshrinkImpl::pretty_print;
};
struct Members23 : torch::nn::SoftsignImpl { using torch::nn::SoftsignImpl::forward; using torch::nn::SoftsignImpl::reset;
using torch::nn::SoftsignImpl::pretty_print; };
struct Members24 : torch::nn::TanhImpl { using torch::nn::TanhImpl::forward; using torch::nn::TanhImpl::reset;
using torch::nn::TanhImpl::pretty_print; };
struct Members25 : torch::nn::TanhshrinkImpl { using torch::nn::TanhshrinkImpl::forward; using torch::nn::TanhshrinkImpl::reset;
using torch::nn::TanhshrinkImpl::pretty_print; };
struct Members26 : torch::nn::ThresholdImpl { using torch::nn::ThresholdImpl::options; using torch::nn::ThresholdImpl::forward;
using torch::nn::ThresholdImpl::reset; using torch::nn::ThresholdImpl::pretty_print; };
struct Members27 : torch::nn::MultiheadAttentionImpl { using torch::nn::MultiheadAttentionImpl::forward; };
struct Members28 : torch::nn::ASMoutput { using torch::nn::ASMoutput::output; using torch::nn::ASMoutput::loss; };
struct Members29 : torch::nn::AdaptiveLogSoftmaxWithLossImpl { using torch::nn::AdaptiveLogSoftmaxWithLossImpl::options;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::cutoffs; using torch::nn::AdaptiveLogSoftmaxWithLossImpl::shortlist_size;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::n_clusters; using torch::nn::AdaptiveLogSoftmaxWithLossImpl::head_size;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::head; using torch::nn::AdaptiveLogSoftmaxWithLossImpl::tail;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::forward; using torch::nn::AdaptiveLogSoftmaxWithLossImpl::reset;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::reset_parameters;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::pretty_print; using torch::nn::AdaptiveLogSoftmaxWithLossImpl::log_prob;
using torch::nn::AdaptiveLogSoftmaxWithLossImpl::predict; };
struct Members30 : torch::nn::Conv1dImpl { using torch::nn::Conv1dImpl::forward; };
struct Members31 : torch::nn::Conv2dImpl { using torch::nn::Conv2dImpl::forward; };
struct Members32 : torch::nn::Conv3dImpl { using torch::nn::Conv3dImpl::forward; };
struct Members33 : torch::nn::ConvTranspose1dImpl { using torch::nn::ConvTranspose1dImpl::forward; };
struct Members34 : torch::nn::ConvTranspose2dImpl { using torch::nn::ConvTranspose2dImpl::forward; };
struct Members35 : torch::nn::ConvTranspose3dImpl { using torch::nn::ConvTranspose3dImpl::forward; };
struct Members36 : torch::nn::CosineSimilarityImpl { using torch::nn::CosineSimilarityImpl::options;
using torch::nn::CosineSimilarityImpl::reset; using torch::nn::CosineSimilarityImpl::pretty_print;
using torch::nn::CosineSimilarityImpl::forward; };
struct Members37 : torch::nn::PairwiseDistanceImpl { using torch::nn::PairwiseDistanceImpl::options;
using torch::nn::PairwiseDistanceImpl::reset; using torch::nn::PairwiseDistanceImpl::pretty_print;
using torch::nn::PairwiseDistanceImpl::forward; };
struct Members38 : torch::nn::DropoutImpl { using torch::nn::DropoutImpl::forward; using torch::nn::DropoutImpl::pretty_print;
};
struct Members39 : torch::nn::Dropout2dImpl { using torch::nn::Dropout2dImpl::forward;
using torch::nn::Dropout2dImpl::pretty_print; };
struct Members40 : torch::nn::Dropout3dImpl { using torch::nn::Dropout3dImpl::forward;
using torch::nn::Dropout3dImpl::pretty_print; };
struct Members41 : torch::nn::AlphaDropoutImpl { using torch::nn::AlphaDropoutImpl::forward;
using torch::nn::AlphaDropoutImpl::pretty_print; };
struct Members42 : torch::nn::FeatureAlphaDropoutImpl { using torch::nn::FeatureAlphaDropoutImpl::forward;
using torch::nn::FeatureAlphaDropoutImpl::pretty_print; };
struct Members43 : torch::nn::EmbeddingImpl { using torch::nn::EmbeddingImpl::options; using torch::nn::EmbeddingImpl::weight;
using torch::nn::EmbeddingImpl::reset; using torch::nn::EmbeddingImpl::reset_parameters;
using torch::nn::EmbeddingImpl::pretty_print; using torch::nn::EmbeddingImpl::forward; };
struct Members44 : torch::nn::Embedding { using torch::nn::Embedding::from_pretrained; };
struct Members45 : torch::nn::EmbeddingBagImpl { using torch::nn::EmbeddingBagImpl::options;
using torch::nn::EmbeddingBagImpl::weight; using torch::nn::EmbeddingBagImpl::reset;
using torch::nn::EmbeddingBagImpl::reset_parameters; using torch::nn::EmbeddingBagImpl::pretty_print;
using torch::nn::EmbeddingBagImpl::forward; };
struct Members46 : torch::nn::EmbeddingBag { using torch::nn::EmbeddingBag::from_pretrained; };
struct Members47 : torch::nn::FoldImpl { using torch::nn::FoldImpl::options; using torch::nn::FoldImpl::reset;
using torch::nn::FoldImpl::pretty_print; using torch::nn::FoldImpl::forward; };
struct Members48 : torch::nn::UnfoldImpl { using torch::nn::UnfoldImpl::options; using torch::nn::UnfoldImpl::reset;
using torch::nn::UnfoldImpl::pretty_print; using torch::nn::UnfoldImpl::forward; };
struct Members49 : torch::nn::IdentityImpl { using torch::nn::IdentityImpl::reset; using torch::nn::IdentityImpl::pretty_print;
using torch::nn::IdentityImpl::forward; };
struct Members50 : torch::nn::LinearImpl { using torch::nn::LinearImpl::options; using torch::nn::LinearImpl::weight;
using torch::nn::LinearImpl::bias; using torch::nn::LinearImpl::reset; using torch::nn::LinearImpl::reset_parameters;
using torch::nn::LinearImpl::pretty_print; using torch::nn::LinearImpl::forward; };
struct Members51 : torch::nn::FlattenImpl { using torch::nn::FlattenImpl::options; using torch::nn::FlattenImpl::reset;
using torch::nn::FlattenImpl::pretty_print; using torch::nn::FlattenImpl::forward; };
struct Members52 : torch::nn::UnflattenImpl { using torch::nn::UnflattenImpl::options; using torch::nn::UnflattenImpl::reset;
using torch::nn::UnflattenImpl::pretty_print; using torch::nn::UnflattenImpl::forward; };
struct Members53 : torch::nn::BilinearImpl { using torch::nn::BilinearImpl::options; using torch::nn::BilinearImpl::weight;
using torch::nn::BilinearImpl::bias; using torch::nn::BilinearImpl::reset; using torch::nn::BilinearImpl::reset_parameters;
using torch::nn::BilinearImpl::pretty_print; using torch::nn::BilinearImpl::forward; };
struct Members54 : torch::nn::L1LossImpl { using torch::nn::L1LossImpl::options; using torch::nn::L1LossImpl::reset;
using torch::nn::L1LossImpl::pretty_print; using torch::nn::L1LossImpl::forward; };
struct Members55 : torch::nn::KLDivLossImpl { using torch::nn::KLDivLossImpl::options; using torch::nn::KLDivLossImpl::reset;
using torch::nn::KLDivLossImpl::pretty_print; using torch::nn::KLDivLossImpl::forward; };
struct Members56 : torch::nn::MSELossImpl { using torch::nn::MSELossImpl::options; using torch::nn::MSELossImpl::reset;
using torch::nn::MSELossImpl::pretty_print; using torch::nn::MSELossImpl::forward; };
struct Members57 : torch::nn::BCELossImpl { using torch::nn::BCELossImpl::options; using torch::nn::BCELossImpl::reset;
using torch::nn::BCELossImpl::pretty_print; using torch::nn::BCELossImpl::forward; };
struct Members58 : torch::nn::HingeEmbeddingLossImpl { using torch::nn::HingeEmbeddingLossImpl::options;
using torch::nn::HingeEmbeddingLossImpl::reset; using torch::nn::HingeEmbeddingLossImpl::pretty_print;
using torch::nn::HingeEmbeddingLossImpl::forward; };
struct Members59 : torch::nn::MultiMarginLossImpl { using torch::nn::MultiMarginLossImpl::options;
using torch::nn::MultiMarginLossImpl::reset; using torch::nn::MultiMarginLossImpl::pretty_print;
using torch::nn::MultiMarginLossImpl::forward; };
struct Members60 : torch::nn::CosineEmbeddingLossImpl { using torch::nn::CosineEmbeddingLossImpl::options;
using torch::nn::CosineEmbeddingLossImpl::reset; using torch::nn::CosineEmbeddingLossImpl::pretty_print;
using torch::nn::CosineEmbeddingLossImpl::forward; };
struct Members61 : torch::nn::SmoothL1LossImpl { using torch::nn::SmoothL1LossImpl::options;
using torch::nn::SmoothL1LossImpl::reset; using torch::nn::SmoothL1LossImpl::pretty_print;
using torch::nn::SmoothL1LossImpl::forward; };
struct Members62 : torch::nn::HuberLossImpl { using torch::nn::HuberLossImpl::options; using torch::nn::HuberLossImpl::reset;
using torch::nn::HuberLossImpl::pretty_print; using torch::nn::HuberLossImpl::forward; };
struct Members63 : torch::nn::MultiLabelMarginLossImpl { using torch::nn::MultiLabelMarginLossImpl::options;
using torch::nn::MultiLabelMarginLossImpl::reset; using torch::nn::MultiLabelMarginLossImpl::pretty_print;
using torch::nn::MultiLabelMarginLossImpl::forward; };
struct Members64 : torch::nn::SoftMarginLossImpl { using torch::nn::SoftMarginLossImpl::options;
using torch::nn::SoftMarginLossImpl::pretty_print; using torch::nn::SoftMarginLossImpl::reset;
using torch::nn::SoftMarginLossImpl::forward; };
struct Members65 : torch::nn::MultiLabelSoftMarginLossImpl { using torch::nn::MultiLabelSoftMarginLossImpl::options;
using torch::nn::MultiLabelSoftMarginLossImpl::pretty_print; using torch::nn::MultiLabelSoftMarginLossImpl::reset;
using torch::nn::MultiLabelSoftMarginLossImpl::forward; };
struct Members66 : torch::nn::TripletMarginLossImpl { using torch::nn::TripletMarginLossImpl::options;
using torch::nn::TripletMarginLossImpl::reset; using torch::nn::TripletMarginLossImpl::pretty_print;
using torch::nn::TripletMarginLossImpl::forward; };
struct Members67 : torch::nn::TripletMarginWithDistanceLossImpl { using torch::nn::TripletMarginWithDistanceLossImpl::options;
using torch::nn::TripletMarginWithDistanceLossImpl::reset; using torch::nn::TripletMarginWithDistanceLossImpl::pretty_print;
using torch::nn::TripletMarginWithDistanceLossImpl::forward; };
struct Members68 : torch::nn::CTCLossImpl { using torch::nn::CTCLossImpl::options; using torch::nn::CTCLossImpl::reset;
using torch::nn::CTCLossImpl::pretty_print; using torch::nn::CTCLossImpl::forward; };
struct Members69 : torch::nn::PoissonNLLLossImpl { using torch::nn::PoissonNLLLossImpl::options;
using torch::nn::PoissonNLLLossImpl::reset; using torch::nn::PoissonNLLLossImpl::pretty_print;
using torch::nn::PoissonNLLLossImpl::forward; };
struct Members70 : torch::nn::MarginRankingLossImpl { using torch::nn::MarginRankingLossImpl::options;
using torch::nn::MarginRankingLossImpl::reset; using torch::nn::MarginRankingLossImpl::pretty_print;
using torch::nn::MarginRankingLossImpl::forward; };
struct Members71 : torch::nn::NLLLossImpl { using torch::nn::NLLLossImpl::options; using torch::nn::NLLLossImpl::weight;
using torch::nn::NLLLossImpl::pretty_print; using torch::nn::NLLLossImpl::reset; using torch::nn::NLLLossImpl::forward; };
struct Members72 : torch::nn::CrossEntropyLossImpl { using torch::nn::CrossEntropyLossImpl::options;
using torch::nn::CrossEntropyLossImpl::weight; using torch::nn::CrossEntropyLossImpl::reset;
using torch::nn::CrossEntropyLossImpl::pretty_print; using torch::nn::CrossEntropyLossImpl::forward; };
struct Members73 : torch::nn::BCEWithLogitsLossImpl { using torch::nn::BCEWithLogitsLossImpl::options;
using torch::nn::BCEWithLogitsLossImpl::weight; using torch::nn::BCEWithLogitsLossImpl::pos_weight;
using torch::nn::BCEWithLogitsLossImpl::reset; using torch::nn::BCEWithLogitsLossImpl::pretty_print;
using torch::nn::BCEWithLogitsLossImpl::forward; };
struct Members74 : torch::nn::LayerNormImpl { using torch::nn::LayerNormImpl::options; using torch::nn::LayerNormImpl::weight;
using torch::nn::LayerNormImpl::bias; using torch::nn::LayerNormImpl::reset; using torch::nn::LayerNormImpl::reset_parameters;
using torch::nn::LayerNormImpl::pretty_print; using torch::nn::LayerNormImpl::forward; };
struct Members75 : torch::nn::LocalResponseNormImpl { using torch::nn::LocalResponseNormImpl::options;
using torch::nn::LocalResponseNormImpl::forward; using torch::nn::LocalResponseNormImpl::reset;
using torch::nn::LocalResponseNormImpl::pretty_print; };
struct Members76 : torch::nn::CrossMapLRN2dImpl { using torch::nn::CrossMapLRN2dImpl::options;
using torch::nn::CrossMapLRN2dImpl::reset; using torch::nn::CrossMapLRN2dImpl::pretty_print;
using torch::nn::CrossMapLRN2dImpl::forward; };
struct Members77 : torch::nn::GroupNormImpl { using torch::nn::GroupNormImpl::options; using torch::nn::GroupNormImpl::weight;
using torch::nn::GroupNormImpl::bias; using torch::nn::GroupNormImpl::reset; using torch::nn::GroupNormImpl::reset_parameters;
using torch::nn::GroupNormImpl::pretty_print; using torch::nn::GroupNormImpl::forward; };
struct Members78 : torch::nn::PixelShuffleImpl { using torch::nn::PixelShuffleImpl::options;
using torch::nn::PixelShuffleImpl::pretty_print; using torch::nn::PixelShuffleImpl::forward;
using torch::nn::PixelShuffleImpl::reset; };
struct Members79 : torch::nn::PixelUnshuffleImpl { using torch::nn::PixelUnshuffleImpl::options;
using torch::nn::PixelUnshuffleImpl::pretty_print; using torch::nn::PixelUnshuffleImpl::forward;
using torch::nn::PixelUnshuffleImpl::reset; };
struct Members80 : torch::nn::AvgPool1dImpl { using torch::nn::AvgPool1dImpl::forward; };
struct Members81 : torch::nn::AvgPool2dImpl { using torch::nn::AvgPool2dImpl::forward; };
struct Members82 : torch::nn::AvgPool3dImpl { using torch::nn::AvgPool3dImpl::forward; };
struct Members83 : torch::nn::MaxPool1dImpl { using torch::nn::MaxPool1dImpl::forward;
using torch::nn::MaxPool1dImpl::forward_with_indices; };
struct Members84 : torch::nn::MaxPool2dImpl { using torch::nn::MaxPool2dImpl::forward;
using torch::nn::MaxPool2dImpl::forward_with_indices; };
struct Members85 : torch::nn::MaxPool3dImpl { using torch::nn::MaxPool3dImpl::forward;
using torch::nn::MaxPool3dImpl::forward_with_indices; };
struct Members86 : torch::nn::AdaptiveMaxPool1dImpl { using torch::nn::AdaptiveMaxPool1dImpl::forward;
using torch::nn::AdaptiveMaxPool1dImpl::forward_with_indices; };
struct Members87 : torch::nn::AdaptiveMaxPool2dImpl { using torch::nn::AdaptiveMaxPool2dImpl::forward;
using torch::nn::AdaptiveMaxPool2dImpl::forward_with_indices; };
struct Members88 : torch::nn::AdaptiveMaxPool3dImpl { using torch::nn::AdaptiveMaxPool3dImpl::forward;
using torch::nn::AdaptiveMaxPool3dImpl::forward_with_indices; };
struct Members89 : torch::nn::AdaptiveAvgPool1dImpl { using torch::nn::AdaptiveAvgPool1dImpl::forward; };
struct Members90 : torch::nn::AdaptiveAvgPool2dImpl { using torch::nn::AdaptiveAvgPool2dImpl::forward; };
struct Members91 : torch::nn::AdaptiveAvgPool3dImpl { using torch::nn::AdaptiveAvgPool3dImpl::forward; };
struct Members92 : torch::nn::MaxUnpool1dImpl { using torch::nn::MaxUnpool1dImpl::forward; };
struct Members93 : torch::nn::MaxUnpool2dImpl { using torch::nn::MaxUnpool2dImpl::forward; };
struct Members94 : torch::nn::MaxUnpool3dImpl { using torch::nn::MaxUnpool3dImpl::forward; };
struct Members95 : torch::nn::FractionalMaxPool2dImpl { using torch::nn::FractionalMaxPool2dImpl::options;
using torch::nn::FractionalMaxPool2dImpl::_random_samples; using torch::nn::FractionalMaxPool2dImpl::reset;
using torch::nn::FractionalMaxPool2dImpl::pretty_print; using torch::nn::FractionalMaxPool2dImpl::forward;
using torch::nn::FractionalMaxPool2dImpl::forward_with_indices; };
struct Members96 : torch::nn::FractionalMaxPool3dImpl { using torch::nn::FractionalMaxPool3dImpl::options;
using torch::nn::FractionalMaxPool3dImpl::_random_samples; using torch::nn::FractionalMaxPool3dImpl::reset;
using torch::nn::FractionalMaxPool3dImpl::pretty_print; using torch::nn::FractionalMaxPool3dImpl::forward;
using torch::nn::FractionalMaxPool3dImpl::forward_with_indices; };
struct Members97 : torch::nn::LPPool1dImpl { using torch::nn::LPPool1dImpl::forward; };
struct Members98 : torch::nn::LPPool2dImpl { using torch::nn::LPPool2dImpl::forward; };
struct Members99 : torch::nn::LPPool3dImpl { using torch::nn::LPPool3dImpl::forward; };
struct Members100 : torch::nn::RNNImpl { using torch::nn::RNNImpl::forward; };
struct Members101 : torch::nn::LSTMImpl { using torch::nn::LSTMImpl::forward; };
struct Members102 : torch::nn::GRUImpl { using torch::nn::GRUImpl::forward; };
struct Members103 : torch::nn::RNNCellImpl { using torch::nn::RNNCellImpl::forward; };
struct Members104 : torch::nn::LSTMCellImpl { using torch::nn::LSTMCellImpl::forward; };
struct Members105 : torch::nn::GRUCellImpl { using torch::nn::GRUCellImpl::forward; };
struct Members106 : torch::nn::TransformerImpl { using torch::nn::TransformerImpl::forward;
using torch::nn::TransformerImpl::reset; using torch::nn::TransformerImpl::reset_parameters;
using torch::nn::TransformerImpl::generate_square_subsequent_mask; };
struct Members107 : torch::nn::TransformerEncoderImpl { using torch::nn::TransformerEncoderImpl::forward;
using torch::nn::TransformerEncoderImpl::reset; using torch::nn::TransformerEncoderImpl::reset_parameters; };
struct Members108 : torch::nn::TransformerDecoderImpl { using torch::nn::TransformerDecoderImpl::options;
using torch::nn::TransformerDecoderImpl::layers; using torch::nn::TransformerDecoderImpl::norm;
using torch::nn::TransformerDecoderImpl::reset; using torch::nn::TransformerDecoderImpl::reset_parameters;
using torch::nn::TransformerDecoderImpl::forward; };
struct Members109 : torch::nn::TransformerEncoderLayerImpl { using torch::nn::TransformerEncoderLayerImpl::forward;
using torch::nn::TransformerEncoderLayerImpl::reset; using torch::nn::TransformerEncoderLayerImpl::reset_parameters; };
struct Members110 : torch::nn::TransformerDecoderLayerImpl { using torch::nn::TransformerDecoderLayerImpl::options;
using torch::nn::TransformerDecoderLayerImpl::self_attn; using torch::nn::TransformerDecoderLayerImpl::dropout1;
using torch::nn::TransformerDecoderLayerImpl::norm1; using torch::nn::TransformerDecoderLayerImpl::multihead_attn;
using torch::nn::TransformerDecoderLayerImpl::dropout2; using torch::nn::TransformerDecoderLayerImpl::norm2;
using torch::nn::TransformerDecoderLayerImpl::linear1; using torch::nn::TransformerDecoderLayerImpl::dropout;
using torch::nn::TransformerDecoderLayerImpl::linear2; using torch::nn::TransformerDecoderLayerImpl::dropout3;
using torch::nn::TransformerDecoderLayerImpl::norm3; using torch::nn::TransformerDecoderLayerImpl::reset;
using torch::nn::TransformerDecoderLayerImpl::reset_parameters; using torch::nn::TransformerDecoderLayerImpl::forward; };
struct Members111 : torch::nn::UpsampleImpl { using torch::nn::UpsampleImpl::options; using torch::nn::UpsampleImpl::reset;
using torch::nn::UpsampleImpl::pretty_print; using torch::nn::UpsampleImpl::forward; };
struct Members112 : torch::nn::AnyModule { using torch::nn::AnyModule::clone; using torch::nn::AnyModule::any_forward;
using torch::nn::AnyModule::forward; using torch::nn::AnyModule::get; using torch::nn::AnyModule::ptr;
using torch::nn::AnyModule::type_info; using torch::nn::AnyModule::is_empty; };
struct Members113 : torch::nn::AnyValue { using torch::nn::AnyValue::try_get; using torch::nn::AnyValue::get;
using torch::nn::AnyValue::type_info; };
struct Members114 : torch::nn::FunctionalImpl { using torch::nn::FunctionalImpl::reset;
using torch::nn::FunctionalImpl::pretty_print; using torch::nn::FunctionalImpl::forward;
using torch::nn::FunctionalImpl::is_serializable; };
struct Members115 : torch::nn::ModuleDictImpl { using torch::nn::ModuleDictImpl::items; using torch::nn::ModuleDictImpl::keys;
using torch::nn::ModuleDictImpl::values; using torch::nn::ModuleDictImpl::begin; using torch::nn::ModuleDictImpl::end;
using torch::nn::ModuleDictImpl::size; using torch::nn::ModuleDictImpl::empty; using torch::nn::ModuleDictImpl::contains;
using torch::nn::ModuleDictImpl::clear; using torch::nn::ModuleDictImpl::clone; using torch::nn::ModuleDictImpl::reset;
using torch::nn::ModuleDictImpl::pretty_print; using torch::nn::ModuleDictImpl::at; using torch::nn::ModuleDictImpl::pop;
using torch::nn::ModuleDictImpl::update; };
struct Members116 : torch::nn::ModuleListImpl { using torch::nn::ModuleListImpl::clone; using torch::nn::ModuleListImpl::reset;
using torch::nn::ModuleListImpl::pretty_print; using torch::nn::ModuleListImpl::push_back;
using torch::nn::ModuleListImpl::extend; using torch::nn::ModuleListImpl::begin; using torch::nn::ModuleListImpl::end;
using torch::nn::ModuleListImpl::at; using torch::nn::ModuleListImpl::ptr; using torch::nn::ModuleListImpl::size;
using torch::nn::ModuleListImpl::is_empty; using torch::nn::ModuleListImpl::insert; };
struct Members117 : torch::nn::NamedAnyModule { using torch::nn::NamedAnyModule::name; using torch::nn::NamedAnyModule::module;
};
struct Members118 : torch::nn::ParameterDictImpl { using torch::nn::ParameterDictImpl::reset;
using torch::nn::ParameterDictImpl::pretty_print; using torch::nn::ParameterDictImpl::insert;
using torch::nn::ParameterDictImpl::pop; using torch::nn::ParameterDictImpl::keys; using torch::nn::ParameterDictImpl::values;
using torch::nn::ParameterDictImpl::begin; using torch::nn::ParameterDictImpl::end; using torch::nn::ParameterDictImpl::size;
using torch::nn::ParameterDictImpl::empty; using torch::nn::ParameterDictImpl::update;
using torch::nn::ParameterDictImpl::clear; using torch::nn::ParameterDictImpl::contains;
using torch::nn::ParameterDictImpl::get; };
struct Members119 : torch::nn::ParameterListImpl { using torch::nn::ParameterListImpl::reset;
using torch::nn::ParameterListImpl::pretty_print; using torch::nn::ParameterListImpl::append;
using torch::nn::ParameterListImpl::extend; using torch::nn::ParameterListImpl::begin; using torch::nn::ParameterListImpl::end;
using torch::nn::ParameterListImpl::at; using torch::nn::ParameterListImpl::size; using torch::nn::ParameterListImpl::is_empty;
};
struct Members120 : torch::nn::SequentialImpl { using torch::nn::SequentialImpl::clone; using torch::nn::SequentialImpl::reset;
using torch::nn::SequentialImpl::pretty_print; using torch::nn::SequentialImpl::forward;
using torch::nn::SequentialImpl::push_back; using torch::nn::SequentialImpl::extend; using torch::nn::SequentialImpl::begin;
using torch::nn::SequentialImpl::end; using torch::nn::SequentialImpl::at; using torch::nn::SequentialImpl::ptr;
using torch::nn::SequentialImpl::size; using torch::nn::SequentialImpl::is_empty; };
struct Members121 : torch::nn::Module { using torch::nn::Module::name; using torch::nn::Module::clone;
using torch::nn::Module::apply; using torch::nn::Module::parameters; using torch::nn::Module::named_parameters;
using torch::nn::Module::buffers; using torch::nn::Module::named_buffers; using torch::nn::Module::modules;
using torch::nn::Module::named_modules; using torch::nn::Module::children; using torch::nn::Module::named_children;
using torch::nn::Module::train; using torch::nn::Module::eval; using torch::nn::Module::is_training;
using torch::nn::Module::to; using torch::nn::Module::zero_grad; using torch::nn::Module::as;
using torch::nn::Module::pretty_print; using torch::nn::Module::is_serializable; using torch::nn::Module::register_parameter;
using torch::nn::Module::register_buffer; using torch::nn::Module::register_module; using torch::nn::Module::replace_module;
using torch::nn::Module::unregister_module; };
struct Members122 : torch::nn::utils::rnn::PackedSequence { using torch::nn::utils::rnn::PackedSequence::data;
using torch::nn::utils::rnn::PackedSequence::batch_sizes; using torch::nn::utils::rnn::PackedSequence::sorted_indices;
using torch::nn::utils::rnn::PackedSequence::unsorted_indices; using torch::nn::utils::rnn::PackedSequence::pin_memory;
using torch::nn::utils::rnn::PackedSequence::to; using torch::nn::utils::rnn::PackedSequence::cuda;
using torch::nn::utils::rnn::PackedSequence::cpu; using torch::nn::utils::rnn::PackedSequence::is_cuda;
using torch::nn::utils::rnn::PackedSequence::is_pinned; };
struct Members123 : torch::optim::AdagradOptions { using torch::optim::AdagradOptions::get_lr;
using torch::optim::AdagradOptions::set_lr; };
struct Members124 : torch::optim::Adagrad { using torch::optim::Adagrad::step; };
struct Members125 : torch::optim::AdamOptions { using torch::optim::AdamOptions::get_lr;
using torch::optim::AdamOptions::set_lr; };
struct Members126 : torch::optim::Adam { using torch::optim::Adam::step; };
struct Members127 : torch::optim::AdamWOptions { using torch::optim::AdamWOptions::get_lr;
using torch::optim::AdamWOptions::set_lr; };
struct Members128 : torch::optim::AdamW { using torch::optim::AdamW::step; };
struct Members129 : torch::optim::LBFGSOptions { using torch::optim::LBFGSOptions::get_lr;
using torch::optim::LBFGSOptions::set_lr; };
struct Members130 : torch::optim::LBFGS { using torch::optim::LBFGS::step; };
struct Members131 : torch::optim::OptimizerParamState { using torch::optim::OptimizerParamState::clone; };
struct Members132 : torch::optim::OptimizerOptions { using torch::optim::OptimizerOptions::clone;
using torch::optim::OptimizerOptions::get_lr; using torch::optim::OptimizerOptions::set_lr; };
struct Members133 : torch::optim::OptimizerParamGroup { using torch::optim::OptimizerParamGroup::has_options;
using torch::optim::OptimizerParamGroup::options; using torch::optim::OptimizerParamGroup::set_options;
using torch::optim::OptimizerParamGroup::params; };
struct Members134 : torch::optim::Optimizer { using torch::optim::Optimizer::add_param_group;
using torch::optim::Optimizer::step; using torch::optim::Optimizer::add_parameters; using torch::optim::Optimizer::zero_grad;
using torch::optim::Optimizer::parameters; using torch::optim::Optimizer::size; using torch::optim::Optimizer::defaults;
using torch::optim::Optimizer::param_groups; using torch::optim::Optimizer::state; };
struct Members135 : torch::optim::RMSpropOptions { using torch::optim::RMSpropOptions::get_lr;
using torch::optim::RMSpropOptions::set_lr; };
struct Members136 : torch::optim::RMSprop { using torch::optim::RMSprop::step; };
struct Members137 : torch::optim::SGDOptions { using torch::optim::SGDOptions::get_lr; using torch::optim::SGDOptions::set_lr;
};
struct Members138 : torch::optim::SGD { using torch::optim::SGD::step; };
struct Members139 : torch::optim::LRScheduler { using torch::optim::LRScheduler::step; };
struct Members140 : torch::optim::ReduceLROnPlateauScheduler { using torch::optim::ReduceLROnPlateauScheduler::step; };

namespace functions141 { using torch::nn::BatchNorm1dOptions; using torch::nn::BatchNorm2dOptions;
using torch::nn::BatchNorm3dOptions; using torch::nn::Conv1dOptions; using torch::nn::Conv2dOptions;
using torch::nn::Conv3dOptions; using torch::nn::ConvTranspose1dOptions; using torch::nn::ConvTranspose2dOptions;
using torch::nn::ConvTranspose3dOptions; using torch::nn::Dropout2dOptions; using torch::nn::Dropout3dOptions;
using torch::nn::AlphaDropoutOptions; using torch::nn::FeatureAlphaDropoutOptions; using torch::nn::EmbeddingBagMode;
using torch::nn::InstanceNorm1dOptions; using torch::nn::InstanceNorm2dOptions; using torch::nn::InstanceNorm3dOptions;
using torch::nn::ReflectionPad1dOptions; using torch::nn::ReflectionPad2dOptions; using torch::nn::ReflectionPad3dOptions;
using torch::nn::ReplicationPad1dOptions; using torch::nn::ReplicationPad2dOptions; using torch::nn::ReplicationPad3dOptions;
using torch::nn::ZeroPad1dOptions; using torch::nn::ZeroPad2dOptions; using torch::nn::ZeroPad3dOptions;
using torch::nn::ConstantPad1dOptions; using torch::nn::ConstantPad2dOptions; using torch::nn::ConstantPad3dOptions;
using torch::nn::AvgPool1dOptions; using torch::nn::AvgPool2dOptions; using torch::nn::AvgPool3dOptions;
using torch::nn::MaxPool1dOptions; using torch::nn::MaxPool2dOptions; using torch::nn::MaxPool3dOptions;
using torch::nn::AdaptiveMaxPool1dOptions; using torch::nn::AdaptiveMaxPool2dOptions; using torch::nn::AdaptiveMaxPool3dOptions;
using torch::nn::AdaptiveAvgPool1dOptions; using torch::nn::AdaptiveAvgPool2dOptions; using torch::nn::AdaptiveAvgPool3dOptions;
using torch::nn::MaxUnpool1dOptions; using torch::nn::MaxUnpool2dOptions; using torch::nn::MaxUnpool3dOptions;
using torch::nn::FractionalMaxPool2dOptions; using torch::nn::FractionalMaxPool3dOptions; using torch::nn::LPPool1dOptions;
using torch::nn::LPPool2dOptions; using torch::nn::LPPool3dOptions; using torch::nn::activation_t; }
namespace functions142 { using torch::nn::functional::ELUFuncOptions; using torch::nn::functional::SELUFuncOptions;
using torch::nn::functional::GLUFuncOptions; using torch::nn::functional::GELUFuncOptions;
using torch::nn::functional::HardshrinkFuncOptions; using torch::nn::functional::HardtanhFuncOptions;
using torch::nn::functional::LeakyReLUFuncOptions; using torch::nn::functional::ReLUFuncOptions;
using torch::nn::functional::ReLU6FuncOptions; using torch::nn::functional::CELUFuncOptions;
using torch::nn::functional::SoftplusFuncOptions; using torch::nn::functional::SoftshrinkFuncOptions;
using torch::nn::functional::ThresholdFuncOptions; using torch::nn::functional::Conv1dFuncOptions;
using torch::nn::functional::Conv2dFuncOptions; using torch::nn::functional::Conv3dFuncOptions;
using torch::nn::functional::ConvTranspose1dFuncOptions; using torch::nn::functional::ConvTranspose2dFuncOptions;
using torch::nn::functional::ConvTranspose3dFuncOptions; using torch::nn::functional::CosineSimilarityFuncOptions;
using torch::nn::functional::PairwiseDistanceFuncOptions; using torch::nn::functional::Dropout2dFuncOptions;
using torch::nn::functional::Dropout3dFuncOptions; using torch::nn::functional::FoldFuncOptions;
using torch::nn::functional::UnfoldFuncOptions; using torch::nn::functional::L1LossFuncOptions;
using torch::nn::functional::KLDivFuncOptions; using torch::nn::functional::MSELossFuncOptions;
using torch::nn::functional::BinaryCrossEntropyFuncOptions; using torch::nn::functional::HingeEmbeddingLossFuncOptions;
using torch::nn::functional::MultiMarginLossFuncOptions; using torch::nn::functional::CosineEmbeddingLossFuncOptions;
using torch::nn::functional::MultilabelMarginLossFuncOptions; using torch::nn::functional::SoftMarginLossFuncOptions;
using torch::nn::functional::MultilabelSoftMarginLossFuncOptions; using torch::nn::functional::TripletMarginLossFuncOptions;
using torch::nn::functional::TripletMarginWithDistanceLossFuncOptions; using torch::nn::functional::CTCLossFuncOptions;
using torch::nn::functional::SmoothL1LossFuncOptions; using torch::nn::functional::HuberLossFuncOptions;
using torch::nn::functional::PoissonNLLLossFuncOptions; using torch::nn::functional::MarginRankingLossFuncOptions;
using torch::nn::functional::NLLLossFuncOptions; using torch::nn::functional::CrossEntropyFuncOptions;
using torch::nn::functional::BinaryCrossEntropyWithLogitsFuncOptions; using torch::nn::functional::LocalResponseNormFuncOptions;
using torch::nn::functional::PixelShuffleFuncOptions; using torch::nn::functional::PixelUnshuffleFuncOptions;
using torch::nn::functional::AvgPool1dFuncOptions; using torch::nn::functional::AvgPool2dFuncOptions;
using torch::nn::functional::AvgPool3dFuncOptions; using torch::nn::functional::MaxPool1dFuncOptions;
using torch::nn::functional::MaxPool2dFuncOptions; using torch::nn::functional::MaxPool3dFuncOptions;
using torch::nn::functional::AdaptiveMaxPool1dFuncOptions; using torch::nn::functional::AdaptiveMaxPool2dFuncOptions;
using torch::nn::functional::AdaptiveMaxPool3dFuncOptions; using torch::nn::functional::AdaptiveAvgPool1dFuncOptions;
using torch::nn::functional::AdaptiveAvgPool2dFuncOptions; using torch::nn::functional::AdaptiveAvgPool3dFuncOptions;
using torch::nn::functional::MaxUnpool1dFuncOptions; using torch::nn::functional::MaxUnpool2dFuncOptions;
using torch::nn::functional::MaxUnpool3dFuncOptions; using torch::nn::functional::FractionalMaxPool2dFuncOptions;
using torch::nn::functional::FractionalMaxPool3dFuncOptions; using torch::nn::functional::LPPool1dFuncOptions;
using torch::nn::functional::LPPool2dFuncOptions; using torch::nn::functional::LPPool3dFuncOptions;
using torch::nn::functional::elu; using torch::nn::functional::selu; using torch::nn::functional::hardshrink;
using torch::nn::functional::hardtanh; using torch::nn::functional::leaky_relu; using torch::nn::functional::logsigmoid;
using torch::nn::functional::gumbel_softmax; using torch::nn::functional::softmax; using torch::nn::functional::softmin;
using torch::nn::functional::log_softmax; using torch::nn::functional::glu; using torch::nn::functional::gelu;
using torch::nn::functional::silu; using torch::nn::functional::mish; using torch::nn::functional::prelu;
using torch::nn::functional::relu; using torch::nn::functional::relu6; using torch::nn::functional::rrelu;
using torch::nn::functional::celu; using torch::nn::functional::softplus; using torch::nn::functional::softshrink;
using torch::nn::functional::softsign; using torch::nn::functional::tanhshrink; using torch::nn::functional::threshold;
using torch::nn::functional::multi_head_attention_forward; using torch::nn::functional::batch_norm;
using torch::nn::functional::conv1d; using torch::nn::functional::conv2d; using torch::nn::functional::conv3d;
using torch::nn::functional::conv_transpose1d; using torch::nn::functional::conv_transpose2d;
using torch::nn::functional::conv_transpose3d; using torch::nn::functional::cosine_similarity;
using torch::nn::functional::pairwise_distance; using torch::nn::functional::pdist; using torch::nn::functional::dropout;
using torch::nn::functional::dropout2d; using torch::nn::functional::dropout3d; using torch::nn::functional::alpha_dropout;
using torch::nn::functional::feature_alpha_dropout; using torch::nn::functional::one_hot;
using torch::nn::functional::embedding; using torch::nn::functional::embedding_bag; using torch::nn::functional::fold;
using torch::nn::functional::unfold; using torch::nn::functional::instance_norm; using torch::nn::functional::bilinear;
using torch::nn::functional::linear; using torch::nn::functional::l1_loss; using torch::nn::functional::kl_div;
using torch::nn::functional::mse_loss; using torch::nn::functional::binary_cross_entropy;
using torch::nn::functional::hinge_embedding_loss; using torch::nn::functional::multi_margin_loss;
using torch::nn::functional::cosine_embedding_loss; using torch::nn::functional::smooth_l1_loss;
using torch::nn::functional::huber_loss; using torch::nn::functional::multilabel_margin_loss;
using torch::nn::functional::soft_margin_loss; using torch::nn::functional::multilabel_soft_margin_loss;
using torch::nn::functional::triplet_margin_loss; using torch::nn::functional::triplet_margin_with_distance_loss;
using torch::nn::functional::ctc_loss; using torch::nn::functional::poisson_nll_loss;
using torch::nn::functional::margin_ranking_loss; using torch::nn::functional::nll_loss;
using torch::nn::functional::cross_entropy; using torch::nn::functional::binary_cross_entropy_with_logits;
using torch::nn::functional::normalize; using torch::nn::functional::layer_norm;
using torch::nn::functional::local_response_norm; using torch::nn::functional::group_norm; using torch::nn::functional::pad;
using torch::nn::functional::pixel_shuffle; using torch::nn::functional::pixel_unshuffle;
using torch::nn::functional::avg_pool1d; using torch::nn::functional::avg_pool2d; using torch::nn::functional::avg_pool3d;
using torch::nn::functional::max_pool1d; using torch::nn::functional::max_pool1d_with_indices;
using torch::nn::functional::max_pool2d; using torch::nn::functional::max_pool2d_with_indices;
using torch::nn::functional::max_pool3d; using torch::nn::functional::max_pool3d_with_indices;
using torch::nn::functional::adaptive_max_pool1d_with_indices; using torch::nn::functional::adaptive_max_pool1d;
using torch::nn::functional::adaptive_max_pool2d_with_indices; using torch::nn::functional::adaptive_max_pool2d;
using torch::nn::functional::adaptive_max_pool3d_with_indices; using torch::nn::functional::adaptive_max_pool3d;
using torch::nn::functional::adaptive_avg_pool1d; using torch::nn::functional::adaptive_avg_pool2d;
using torch::nn::functional::adaptive_avg_pool3d; using torch::nn::functional::max_unpool1d;
using torch::nn::functional::max_unpool2d; using torch::nn::functional::max_unpool3d;
using torch::nn::functional::fractional_max_pool2d_with_indices; using torch::nn::functional::fractional_max_pool2d;
using torch::nn::functional::fractional_max_pool3d_with_indices; using torch::nn::functional::fractional_max_pool3d;
using torch::nn::functional::lp_pool1d; using torch::nn::functional::lp_pool2d; using torch::nn::functional::lp_pool3d;
using torch::nn::functional::interpolate; using torch::nn::functional::affine_grid; using torch::nn::functional::grid_sample; }
namespace functions143 { using torch::nn::init::NonlinearityType; using torch::nn::init::FanModeType;
using torch::nn::init::calculate_gain; using torch::nn::init::constant_; using torch::nn::init::dirac_;
using torch::nn::init::eye_; using torch::nn::init::normal_; using torch::nn::init::ones_; using torch::nn::init::orthogonal_;
using torch::nn::init::sparse_; using torch::nn::init::uniform_; using torch::nn::init::kaiming_normal_;
using torch::nn::init::kaiming_uniform_; using torch::nn::init::xavier_normal_; using torch::nn::init::xavier_uniform_;
using torch::nn::init::zeros_; }
namespace functions144 { using torch::nn::utils::clip_grad_norm_; using torch::nn::utils::clip_grad_value_;
using torch::nn::utils::parameters_to_vector; using torch::nn::utils::vector_to_parameters; }
namespace functions145 { using torch::nn::utils::rnn::invert_permutation; using torch::nn::utils::rnn::pack_padded_sequence;
using torch::nn::utils::rnn::pad_packed_sequence; using torch::nn::utils::rnn::pad_sequence;
using torch::nn::utils::rnn::pack_sequence; }
TEST(TorchNames, AreThere) {
  // What this file names was found when it was compiled.
  EXPECT_TRUE((std::is_base_of_v<torch::nn::Module, torch::nn::TransformerImpl>));
  EXPECT_TRUE((std::is_base_of_v<torch::optim::Optimizer, torch::optim::LBFGS>));
}

}  // namespace
