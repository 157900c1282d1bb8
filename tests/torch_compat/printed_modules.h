// SPDX-License-Identifier: Apache-2.0
// Modules of every class with options, and how they print. The expected text next to this file was printed by LibTorch 2.13 from
// this very function.
#pragma once

#include <torch/torch.h>

#include <ostream>

namespace printed {

struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl() : fc(register_module("fc", torch::nn::Linear(4, 3))), act(register_module("act", torch::nn::ReLU())) {}
  torch::nn::Linear fc;
  torch::nn::ReLU act;
};
TORCH_MODULE(TwoLayers);

inline void activations(std::ostream& out) {
  using namespace torch::nn;
  out << ELU() << '\n' << ELU(ELUOptions().alpha(42.42).inplace(true)) << '\n' << SELU() << '\n' << SELU(SELUOptions().inplace(true)) << '\n';
  out << Hardshrink() << '\n' << Hardshrink(HardshrinkOptions(42.42)) << '\n' << Hardtanh() << '\n';
  out << Hardtanh(HardtanhOptions().min_val(-42.42).max_val(0.5).inplace(true)) << '\n';
  out << LeakyReLU() << '\n' << LeakyReLU(LeakyReLUOptions().negative_slope(0.42).inplace(true)) << '\n' << LogSigmoid() << '\n';
  out << Softmax(1) << '\n' << Softmin(1) << '\n' << LogSoftmax(-1) << '\n' << Softmax2d() << '\n';
  out << PReLU() << '\n' << PReLU(PReLUOptions().num_parameters(42)) << '\n' << ReLU() << '\n' << ReLU(true) << '\n';
  out << ReLU6() << '\n' << ReLU6(ReLU6Options().inplace(true)) << '\n' << RReLU() << '\n';
  out << RReLU(RReLUOptions().lower(0.24).upper(0.42).inplace(true)) << '\n' << CELU() << '\n' << CELU(CELUOptions().alpha(42.42).inplace(true)) << '\n';
  out << GLU() << '\n' << GLU(1) << '\n' << GELU() << '\n' << GELU(GELUOptions().approximate("tanh")) << '\n' << SiLU() << '\n' << Mish() << '\n';
  out << Sigmoid() << '\n' << Softplus() << '\n' << Softplus(SoftplusOptions().beta(0.24).threshold(42.42)) << '\n';
  out << Softshrink() << '\n' << Softshrink(SoftshrinkOptions(42.42)) << '\n' << Softsign() << '\n' << Tanh() << '\n' << Tanhshrink() << '\n';
  out << Threshold(24.24, 42.42) << '\n' << Threshold(ThresholdOptions(42.42, 24.24).inplace(true)) << '\n';
}

inline void linear_and_shapes(std::ostream& out) {
  using namespace torch::nn;
  out << Identity() << '\n' << Linear(3, 4) << '\n' << Linear(LinearOptions(3, 4).bias(false)) << '\n' << Flatten() << '\n';
  out << Flatten(FlattenOptions().start_dim(2).end_dim(4)) << '\n' << Unflatten(1, std::vector<int64_t>{2, 3}) << '\n' << Bilinear(2, 3, 4) << '\n';
  out << Bilinear(BilinearOptions(2, 3, 4).bias(false)) << '\n' << PixelShuffle(5) << '\n' << PixelUnshuffle(5) << '\n';
  out << Fold(FoldOptions({2, 2}, {5, 5})) << '\n' << Fold(FoldOptions({3, 2}, {4, 5}).dilation(2).padding(3).stride(4)) << '\n';
  out << Unfold(UnfoldOptions({2, 4})) << '\n' << Unfold(UnfoldOptions({2, 4}).dilation(2).padding(3).stride(4)) << '\n';
  out << Upsample(UpsampleOptions().size(std::vector<int64_t>{4, 5}).mode(torch::kBilinear).align_corners(false)) << '\n';
  out << Upsample(UpsampleOptions().scale_factor(std::vector<double>{2, 1.5}).mode(torch::kBicubic)) << '\n';
  out << Upsample(UpsampleOptions().size(std::vector<int64_t>{4}).mode(torch::kLinear)) << '\n';
  out << Upsample(UpsampleOptions().size(std::vector<int64_t>{4, 4, 4}).mode(torch::kTrilinear)) << '\n';
  out << CosineSimilarity() << '\n' << CosineSimilarity(CosineSimilarityOptions().dim(0).eps(0.5)) << '\n';
  out << PairwiseDistance() << '\n' << PairwiseDistance(PairwiseDistanceOptions().p(3).eps(0.5).keepdim(true)) << '\n';
  out << Dropout() << '\n' << Dropout(0.42) << '\n' << Dropout(DropoutOptions().p(0.42).inplace(true)) << '\n' << Dropout2d(0.2) << '\n';
  out << Dropout3d() << '\n' << AlphaDropout(0.3) << '\n' << FeatureAlphaDropout(DropoutOptions(0.1).inplace(true)) << '\n';
}

inline void padding(std::ostream& out) {
  using namespace torch::nn;
  out << ReflectionPad1d(2) << '\n' << ReflectionPad1d(ReflectionPad1dOptions({3, 1})) << '\n' << ReflectionPad2d(2) << '\n';
  out << ReflectionPad2d(ReflectionPad2dOptions({1, 1, 2, 0})) << '\n' << ReflectionPad3d(1) << '\n' << ReplicationPad1d(2) << '\n';
  out << ReplicationPad2d(ReplicationPad2dOptions({1, 1, 2, 0})) << '\n' << ReplicationPad3d(1) << '\n' << ZeroPad1d(1) << '\n' << ZeroPad2d(2) << '\n';
  out << ZeroPad2d(ZeroPad2dOptions({1, 1, 2, 0})) << '\n' << ZeroPad3d(1) << '\n' << ConstantPad1d(2, 3.5) << '\n';
  out << ConstantPad1d(ConstantPad1dOptions({3, 1}, 3.5)) << '\n' << ConstantPad2d(2, 3.5) << '\n' << ConstantPad3d(1, 3.5) << '\n';
}

inline void pooling(std::ostream& out) {
  using namespace torch::nn;
  out << MaxPool1d(5) << '\n' << MaxPool1d(MaxPool1dOptions(5).stride(2).padding(1).dilation(2).ceil_mode(true)) << '\n' << MaxPool2d(5) << '\n';
  out << MaxPool2d(MaxPool2dOptions({5, 6}).stride({1, 2})) << '\n' << MaxPool3d(MaxPool3dOptions(5).stride(2)) << '\n' << AvgPool1d(5) << '\n';
  out << AvgPool1d(AvgPool1dOptions(5).stride(2).count_include_pad(false)) << '\n' << AvgPool2d(5) << '\n';
  out << AvgPool2d(AvgPool2dOptions({5, 6}).stride({1, 2}).padding({1, 1}).ceil_mode(true)) << '\n' << AvgPool3d(5) << '\n';
  out << AdaptiveAvgPool1d(5) << '\n' << AdaptiveAvgPool2d(5) << '\n' << AdaptiveAvgPool2d(std::vector<int64_t>{5, 6}) << '\n';
  out << AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({c10::nullopt, 7})) << '\n' << AdaptiveAvgPool3d(5) << '\n';
  out << AdaptiveMaxPool1d(5) << '\n' << AdaptiveMaxPool2d(5) << '\n' << AdaptiveMaxPool2d(torch::nn::AdaptiveMaxPool2dOptions({5, c10::nullopt})) << '\n';
  out << AdaptiveMaxPool3d(std::vector<int64_t>{5, 6, 7}) << '\n' << MaxUnpool1d(5) << '\n';
  out << MaxUnpool1d(MaxUnpool1dOptions(5).stride(1).padding(2)) << '\n' << MaxUnpool2d(5) << '\n';
  out << MaxUnpool2d(MaxUnpool2dOptions({5, 6}).stride({5, 6}).padding({1, 2})) << '\n' << MaxUnpool3d(5) << '\n';
  out << FractionalMaxPool2d(FractionalMaxPool2dOptions(5).output_size(1)) << '\n';
  out << FractionalMaxPool3d(FractionalMaxPool3dOptions(5).output_ratio(torch::ExpandingArray<3, double>(0.5))) << '\n';
  out << LPPool1d(2, 5) << '\n' << LPPool1d(LPPool1dOptions(1, 2).stride(5).ceil_mode(true)) << '\n';
  out << LPPool2d(2, std::vector<int64_t>({1, 2})) << '\n' << LPPool3d(LPPool3dOptions(1, {3, 4, 5}).stride({5, 6, 7}).ceil_mode(true)) << '\n';
}

inline void convolutions_and_norms(std::ostream& out) {
  using namespace torch::nn;
  out << Conv1d(3, 4, 5) << '\n' << Conv1d(Conv1dOptions(4, 4, 5).padding(2).dilation(2).groups(2).bias(false).padding_mode(torch::kCircular)) << '\n';
  out << Conv2d(3, 4, 5) << '\n' << Conv2d(Conv2dOptions(4, 4, 5).stride(2)) << '\n';
  out << Conv2d(Conv2dOptions(4, 4, std::vector<int64_t>{5, 6}).stride({1, 2}).padding({0, 1}).padding_mode(torch::kReflect)) << '\n';
  out << Conv2d(Conv2dOptions(4, 4, 3).padding(torch::kSame)) << '\n' << Conv2d(Conv2dOptions(4, 4, 3).padding(torch::kValid)) << '\n';
  out << Conv3d(4, 4, std::vector<int64_t>{5, 6, 7}) << '\n' << ConvTranspose1d(3, 4, 5) << '\n' << ConvTranspose2d(3, 4, 5) << '\n';
  out << ConvTranspose2d(ConvTranspose2dOptions(4, 4, std::vector<int64_t>{5, 6}).stride(2).padding(1).output_padding(1).dilation(2).groups(2).bias(false)) << '\n';
  out << ConvTranspose3d(4, 4, std::vector<int64_t>{5, 6, 7}) << '\n';
  out << BatchNorm1d(4) << '\n' << BatchNorm1d(BatchNorm1dOptions(4).eps(0.5).momentum(0.1).affine(false).track_running_stats(true)) << '\n';
  out << BatchNorm2d(BatchNorm2dOptions(4).momentum(c10::nullopt)) << '\n' << BatchNorm3d(4) << '\n' << InstanceNorm1d(4) << '\n';
  out << InstanceNorm2d(InstanceNorm2dOptions(4).eps(0.5).momentum(0.1).affine(false).track_running_stats(true)) << '\n' << InstanceNorm3d(4) << '\n';
  out << LayerNorm(LayerNormOptions({2, 2})) << '\n' << LayerNorm(LayerNormOptions({1}).elementwise_affine(false).eps(2e-5)) << '\n';
  out << GroupNorm(2, 2) << '\n' << GroupNorm(GroupNormOptions(2, 2).eps(2e-5).affine(false)) << '\n' << LocalResponseNorm(4) << '\n';
  out << LocalResponseNorm(LocalResponseNormOptions(4).alpha(0.5).beta(0.25).k(2)) << '\n' << CrossMapLRN2d(4) << '\n';
  out << CrossMapLRN2d(CrossMapLRN2dOptions(4).alpha(1e-5).beta(0.1).k(10)) << '\n';
}

inline void losses(std::ostream& out) {
  using namespace torch::nn;
  out << L1Loss() << '\n' << MSELoss() << '\n' << KLDivLoss() << '\n' << BCELoss() << '\n' << BCEWithLogitsLoss() << '\n' << HingeEmbeddingLoss() << '\n';
  out << HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(4)) << '\n' << MultiMarginLoss() << '\n';
  out << MultiMarginLoss(MultiMarginLossOptions().p(2).margin(0.5).weight(torch::ones({3})).reduction(torch::kSum)) << '\n';
  out << CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(0.25)) << '\n' << SmoothL1Loss() << '\n' << HuberLoss() << '\n';
  out << HuberLoss(HuberLossOptions().delta(0.5)) << '\n' << MultiLabelMarginLoss() << '\n' << SoftMarginLoss() << '\n' << MultiLabelSoftMarginLoss() << '\n';
  out << TripletMarginLoss() << '\n' << TripletMarginLoss(TripletMarginLossOptions().margin(3).p(2).eps(1e-06).swap(true)) << '\n';
  out << TripletMarginWithDistanceLoss() << '\n' << CTCLoss() << '\n' << PoissonNLLLoss() << '\n' << MarginRankingLoss() << '\n';
  out << MarginRankingLoss(MarginRankingLossOptions().margin(0.5)) << '\n' << NLLLoss() << '\n' << CrossEntropyLoss() << '\n';
  out << AdaptiveLogSoftmaxWithLoss(AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 8}).div_value(2.).head_bias(true)) << '\n';
}

inline void sequences(std::ostream& out) {
  using namespace torch::nn;
  out << Embedding(10, 2) << '\n' << Embedding(EmbeddingOptions(10, 2).padding_idx(3).max_norm(2).norm_type(2.5).scale_grad_by_freq(true).sparse(true)) << '\n';
  out << EmbeddingBag(10, 2) << '\n' << EmbeddingBag(EmbeddingBagOptions(10, 2).max_norm(2).norm_type(2.5).scale_grad_by_freq(true).mode(torch::kSum)) << '\n';
  out << EmbeddingBag(EmbeddingBagOptions(10, 2).sparse(true).mode(torch::kMean).padding_idx(5)) << '\n';
  out << EmbeddingBag(EmbeddingBagOptions(10, 2).include_last_offset(true)) << '\n';
  out << RNN(128, 64) << '\n' << RNN(RNNOptions(128, 64).num_layers(3).dropout(0.2).nonlinearity(torch::kTanh)) << '\n';
  out << RNN(RNNOptions(3, 4).nonlinearity(torch::kReLU).bidirectional(true).bias(false)) << '\n' << LSTM(128, 64) << '\n';
  out << LSTM(LSTMOptions(128, 64).num_layers(3).dropout(0.2).batch_first(true)) << '\n' << LSTM(LSTMOptions(128, 64).num_layers(3).proj_size(32)) << '\n';
  out << GRU(128, 64) << '\n' << GRU(GRUOptions(128, 64).num_layers(3).dropout(0.5)) << '\n' << RNNCell(20, 10) << '\n';
  out << RNNCell(RNNCellOptions(20, 10).bias(false)) << '\n' << RNNCell(RNNCellOptions(20, 10).nonlinearity(torch::kReLU)) << '\n';
  out << LSTMCell(10, 20) << '\n' << LSTMCell(LSTMCellOptions(10, 20).bias(false)) << '\n' << GRUCell(20, 10) << '\n';
  out << MultiheadAttention(20, 10) << '\n' << MultiheadAttention(MultiheadAttentionOptions(20, 10).bias(false)) << '\n';
  out << TransformerEncoderLayer(4, 2) << '\n' << TransformerDecoderLayer(4, 2) << '\n';
  out << TransformerEncoder(TransformerEncoderOptions(TransformerEncoderLayerOptions(4, 2), 2)) << '\n';
  out << TransformerDecoder(TransformerDecoderOptions(TransformerDecoderLayerOptions(4, 2), 1).norm(AnyModule(LayerNorm(LayerNormOptions({4}))))) << '\n';
  out << Transformer(TransformerOptions(4, 2, 1, 1).dim_feedforward(6)) << '\n';
}

inline void containers(std::ostream& out) {
  using namespace torch::nn;
  out << Sequential(Linear(10, 3), Conv2d(1, 2, 3), Dropout(0.5), BatchNorm2d(5), Embedding(4, 10), LSTM(4, 5)) << '\n';
  out << Sequential({{"linear", Linear(10, 3)}, {"act", Tanh()}}) << '\n' << Sequential(Linear(1, 2), Functional(torch::relu)) << '\n';
  out << Functional(torch::sigmoid) << '\n' << ModuleList(Linear(10, 3), ReLU(), Sequential(Linear(1, 1))) << '\n';
  torch::OrderedDict<std::string, std::shared_ptr<Module>> parts = {{"linear", Linear(10, 3).ptr()}, {"conv", Conv2d(1, 2, 3).ptr()}};
  out << ModuleDict(parts) << '\n';
  ParameterDict parameters;
  parameters->insert("A", torch::tensor({1.0}));
  parameters->insert("B", torch::ones({2, 3}));
  out << parameters << '\n' << ParameterList(torch::randn({10, 3}), torch::randn({4})) << '\n' << TwoLayers() << '\n' << Sequential() << '\n' << ModuleList() << '\n';
}

inline void all_modules(std::ostream& out) {
  activations(out);
  linear_and_shapes(out);
  padding(out);
  pooling(out);
  convolutions_and_norms(out);
  losses(out);
  sequences(out);
  containers(out);
}

}  // namespace printed
