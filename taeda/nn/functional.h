// SPDX-License-Identifier: Apache-2.0
// The functions behind the modules, with options structs (`torch::nn::functional`).
#pragma once

#include "taeda/nn/options_activation.h"
#include "taeda/nn/options_basic.h"
#include "taeda/nn/options_conv.h"
#include "taeda/nn/options_loss.h"
#include "taeda/nn/options_norm.h"
#include "taeda/nn/options_sequence.h"
#include "taeda/nn/options_shape.h"

namespace taeda::nn::functional {

// Activations. With `inplace` the input itself is changed and returned.
TAEDA_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
TAEDA_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
TAEDA_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
TAEDA_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
TAEDA_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
TAEDA_API Tensor logsigmoid(const Tensor& input);
TAEDA_API Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});
TAEDA_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
TAEDA_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
TAEDA_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
TAEDA_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
TAEDA_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
TAEDA_API Tensor silu(const Tensor& input);
TAEDA_API Tensor mish(const Tensor& input);
TAEDA_API Tensor prelu(const Tensor& input, const Tensor& weight);
TAEDA_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
TAEDA_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
TAEDA_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});
TAEDA_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
TAEDA_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
TAEDA_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
TAEDA_API Tensor softsign(const Tensor& input);
TAEDA_API Tensor tanhshrink(const Tensor& input);
TAEDA_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);

// Linear maps, convolution, pooling.
TAEDA_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
TAEDA_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = Tensor());
TAEDA_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
TAEDA_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
TAEDA_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});
TAEDA_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options = {});
TAEDA_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options = {});
TAEDA_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options = {});
TAEDA_API Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options);
TAEDA_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
TAEDA_API Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, const MaxPool1dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, const MaxPool2dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, const MaxPool3dFuncOptions& options);
TAEDA_API Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options);
TAEDA_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
TAEDA_API Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options);
TAEDA_API Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options);
TAEDA_API Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options);
TAEDA_API Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options);
TAEDA_API Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
TAEDA_API Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
TAEDA_API Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& input,
                                                                      const AdaptiveMaxPool1dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& input,
                                                                      const AdaptiveMaxPool2dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& input,
                                                                      const AdaptiveMaxPool3dFuncOptions& options);
TAEDA_API Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& options);
TAEDA_API Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& options);
TAEDA_API Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& options);
TAEDA_API Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
TAEDA_API Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input,
                                                                        const FractionalMaxPool2dFuncOptions& options);
TAEDA_API std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input,
                                                                        const FractionalMaxPool3dFuncOptions& options);
TAEDA_API Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options);
TAEDA_API Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options);
TAEDA_API Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options);

// Padding, resampling, windows.
TAEDA_API Tensor pad(const Tensor& input, const PadFuncOptions& options);
TAEDA_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
TAEDA_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);
TAEDA_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
TAEDA_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);
TAEDA_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});
TAEDA_API Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners = false);
TAEDA_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});

// Normalisation, dropout, embedding, distances.
TAEDA_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                            const BatchNormFuncOptions& options = {});
TAEDA_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});
TAEDA_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
TAEDA_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
TAEDA_API Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
TAEDA_API Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {});
TAEDA_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
TAEDA_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
TAEDA_API Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
TAEDA_API Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
TAEDA_API Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});
TAEDA_API Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});
TAEDA_API Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {});
TAEDA_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);
TAEDA_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {});
TAEDA_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {});
TAEDA_API Tensor pdist(const Tensor& input, double p = 2.0);

/// Multi-head attention with the weights as options. Returns the output and, when asked for, the attention weights.
TAEDA_API std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                                  const MultiheadAttentionForwardFuncOptions& options);

// Losses.
TAEDA_API Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {});
TAEDA_API Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
TAEDA_API Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {});
TAEDA_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                      const BinaryCrossEntropyFuncOptions& options = {});
TAEDA_API Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                  const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
TAEDA_API Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                      const HingeEmbeddingLossFuncOptions& options = {});
TAEDA_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                     const MarginRankingLossFuncOptions& options = {});
TAEDA_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options = {});
TAEDA_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {});
TAEDA_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta);
TAEDA_API Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {});
TAEDA_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options = {});
TAEDA_API Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {});
TAEDA_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {});
TAEDA_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options = {});
TAEDA_API Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                        const MultilabelMarginLossFuncOptions& options = {});
TAEDA_API Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                             const MultilabelSoftMarginLossFuncOptions& options = {});
TAEDA_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                       const CosineEmbeddingLossFuncOptions& options = {});
TAEDA_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                     const TripletMarginLossFuncOptions& options = {});
TAEDA_API Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                                   const TripletMarginWithDistanceLossFuncOptions& options = {});
TAEDA_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                          const Tensor& target_lengths, const CTCLossFuncOptions& options = {});

}  // namespace taeda::nn::functional
