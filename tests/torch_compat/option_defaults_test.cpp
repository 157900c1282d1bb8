// SPDX-License-Identifier: Apache-2.0
// Default values of every option of LibTorch's frontend.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(TorchNames, OptionsHaveTheirDefaults) {
  { const torch::nn::ELUOptions o; EXPECT_EQ(o.alpha(), 1.0); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::GELUOptions o; EXPECT_EQ(o.approximate(), "none"); }
  { const torch::nn::HardtanhOptions o; EXPECT_EQ(o.min_val(), -1.0); EXPECT_EQ(o.max_val(), 1.0); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::LeakyReLUOptions o; EXPECT_EQ(o.negative_slope(), 1e-2); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::functional::SoftmaxFuncOptions o(2); EXPECT_FALSE(o.dtype().has_value()); }
  { const torch::nn::functional::SoftminFuncOptions o(2); EXPECT_FALSE(o.dtype().has_value()); }
  { const torch::nn::functional::LogSoftmaxFuncOptions o(2); EXPECT_FALSE(o.dtype().has_value()); }
  { const torch::nn::PReLUOptions o; EXPECT_EQ(o.num_parameters(), 1); EXPECT_EQ(o.init(), 0.25); }
  { const torch::nn::RReLUOptions o; EXPECT_EQ(o.lower(), 1.0 / 8.0); EXPECT_EQ(o.upper(), 1.0 / 3.0);
    EXPECT_FALSE(o.inplace()); }
  { const torch::nn::functional::RReLUFuncOptions o; EXPECT_EQ(o.lower(), 1.0 / 8.0); EXPECT_EQ(o.upper(), 1.0 / 3.0);
    EXPECT_FALSE(o.training()); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::CELUOptions o; EXPECT_EQ(o.alpha(), 1.0); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::SoftplusOptions o; EXPECT_EQ(o.beta(), 1.0); EXPECT_EQ(o.threshold(), 20.0); }
  { const torch::nn::ThresholdOptions o(0.5, 0.5); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::functional::GumbelSoftmaxFuncOptions o; EXPECT_EQ(o.tau(), 1.0); EXPECT_FALSE(o.hard());
    EXPECT_EQ(o.dim(), -1); }
  { const torch::nn::MultiheadAttentionOptions o(2, 2); EXPECT_EQ(o.dropout(), 0.0); EXPECT_TRUE(o.bias());
    EXPECT_FALSE(o.add_bias_kv()); EXPECT_FALSE(o.add_zero_attn()); }
  {
    const torch::nn::functional::MultiheadAttentionForwardFuncOptions o(2, 2, torch::Tensor(), torch::Tensor(), torch::Tensor(), torch::Tensor(), false, 0.5, torch::Tensor(), torch::Tensor());
    EXPECT_TRUE(o.training()); EXPECT_TRUE(o.need_weights()); EXPECT_FALSE(o.use_separate_proj_weight());
    EXPECT_TRUE(o.average_attn_weights()); }
  { const torch::nn::AdaptiveLogSoftmaxWithLossOptions o(2, 2, std::vector<int64_t>{2}); EXPECT_EQ(o.div_value(), 4.);
    EXPECT_FALSE(o.head_bias()); }
  { const torch::nn::BatchNormOptions o(2); EXPECT_EQ(o.eps(), 1e-5); EXPECT_EQ(o.momentum(), 0.1); EXPECT_TRUE(o.affine());
    EXPECT_TRUE(o.track_running_stats()); }
  { const torch::nn::functional::BatchNormFuncOptions o; EXPECT_FALSE(o.training()); EXPECT_EQ(o.momentum(), 0.1);
    EXPECT_EQ(o.eps(), 1e-5); }
  { const torch::nn::ConvOptions<2> o(2, 2, 2); EXPECT_EQ((*o.stride())[0], 1); EXPECT_EQ((*o.dilation())[0], 1);
    EXPECT_EQ(o.groups(), 1); EXPECT_TRUE(o.bias());
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.padding_mode()).c_str(), "kZeros"); }
  { const torch::nn::functional::ConvFuncOptions<2> o; EXPECT_EQ((*o.stride())[0], 1); EXPECT_EQ((*o.dilation())[0], 1);
    EXPECT_EQ(o.groups(), 1); }
  { const torch::nn::ConvTransposeOptions<2> o(2, 2, 2); EXPECT_EQ((*o.stride())[0], 1); EXPECT_EQ((*o.padding())[0], 0);
    EXPECT_EQ((*o.output_padding())[0], 0); EXPECT_EQ(o.groups(), 1); EXPECT_TRUE(o.bias()); EXPECT_EQ((*o.dilation())[0], 1);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.padding_mode()).c_str(), "kZeros"); }
  { const torch::nn::functional::ConvTransposeFuncOptions<2> o; EXPECT_EQ((*o.stride())[0], 1); EXPECT_EQ((*o.padding())[0], 0);
    EXPECT_EQ((*o.output_padding())[0], 0); EXPECT_EQ(o.groups(), 1); EXPECT_EQ((*o.dilation())[0], 1); }
  { const torch::nn::CosineSimilarityOptions o; EXPECT_EQ(o.dim(), 1); EXPECT_EQ(o.eps(), 1e-8); }
  { const torch::nn::PairwiseDistanceOptions o; EXPECT_EQ(o.p(), 2.0); EXPECT_EQ(o.eps(), 1e-6); EXPECT_FALSE(o.keepdim()); }
  { const torch::nn::DropoutOptions o; EXPECT_EQ(o.p(), 0.5); EXPECT_FALSE(o.inplace()); }
  { const torch::nn::functional::DropoutFuncOptions o; EXPECT_EQ(o.p(), 0.5); EXPECT_TRUE(o.training());
    EXPECT_FALSE(o.inplace()); }
  { const torch::nn::functional::AlphaDropoutFuncOptions o; EXPECT_EQ(o.p(), 0.5); EXPECT_FALSE(o.training());
    EXPECT_FALSE(o.inplace()); }
  { const torch::nn::functional::FeatureAlphaDropoutFuncOptions o; EXPECT_EQ(o.p(), 0.5); EXPECT_FALSE(o.training());
    EXPECT_FALSE(o.inplace()); }
  { const torch::nn::EmbeddingOptions o(2, 2); EXPECT_FALSE(o.padding_idx().has_value());
    EXPECT_FALSE(o.max_norm().has_value()); EXPECT_EQ(o.norm_type(), 2.); EXPECT_FALSE(o.scale_grad_by_freq());
    EXPECT_FALSE(o.sparse()); }
  { const torch::nn::EmbeddingFromPretrainedOptions o; EXPECT_TRUE(o.freeze()); EXPECT_FALSE(o.padding_idx().has_value());
    EXPECT_FALSE(o.max_norm().has_value()); EXPECT_EQ(o.norm_type(), 2.); EXPECT_FALSE(o.scale_grad_by_freq());
    EXPECT_FALSE(o.sparse()); }
  { const torch::nn::functional::EmbeddingFuncOptions o; EXPECT_FALSE(o.padding_idx().has_value());
    EXPECT_FALSE(o.max_norm().has_value()); EXPECT_EQ(o.norm_type(), 2.); EXPECT_FALSE(o.scale_grad_by_freq());
    EXPECT_FALSE(o.sparse()); }
  { const torch::nn::EmbeddingBagOptions o(2, 2); EXPECT_FALSE(o.max_norm().has_value()); EXPECT_EQ(o.norm_type(), 2.);
    EXPECT_FALSE(o.scale_grad_by_freq()); EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kMean");
    EXPECT_FALSE(o.sparse()); EXPECT_FALSE(o.include_last_offset()); EXPECT_FALSE(o.padding_idx().has_value()); }
  { const torch::nn::EmbeddingBagFromPretrainedOptions o; EXPECT_TRUE(o.freeze()); EXPECT_FALSE(o.max_norm().has_value());
    EXPECT_EQ(o.norm_type(), 2.); EXPECT_FALSE(o.scale_grad_by_freq());
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kMean"); EXPECT_FALSE(o.sparse());
    EXPECT_FALSE(o.include_last_offset()); EXPECT_FALSE(o.padding_idx().has_value()); }
  { const torch::nn::functional::EmbeddingBagFuncOptions o; EXPECT_FALSE(o.max_norm().has_value());
    EXPECT_EQ(o.norm_type(), 2.); EXPECT_FALSE(o.scale_grad_by_freq());
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kMean"); EXPECT_FALSE(o.sparse());
    EXPECT_FALSE(o.include_last_offset()); EXPECT_FALSE(o.padding_idx().has_value()); }
  { const torch::nn::FoldOptions o(2, 2); EXPECT_EQ((*o.dilation())[0], 1); EXPECT_EQ((*o.padding())[0], 0);
    EXPECT_EQ((*o.stride())[0], 1); }
  { const torch::nn::UnfoldOptions o(2); EXPECT_EQ((*o.dilation())[0], 1); EXPECT_EQ((*o.padding())[0], 0);
    EXPECT_EQ((*o.stride())[0], 1); }
  { const torch::nn::InstanceNormOptions o(2); EXPECT_EQ(o.eps(), 1e-5); EXPECT_EQ(o.momentum(), 0.1); EXPECT_FALSE(o.affine());
    EXPECT_FALSE(o.track_running_stats()); }
  { const torch::nn::functional::InstanceNormFuncOptions o; EXPECT_TRUE(o.use_input_stats()); EXPECT_EQ(o.momentum(), 0.1);
    EXPECT_EQ(o.eps(), 1e-5); }
  { const torch::nn::LinearOptions o(2, 2); EXPECT_TRUE(o.bias()); }
  { const torch::nn::FlattenOptions o; EXPECT_EQ(o.start_dim(), 1); EXPECT_EQ(o.end_dim(), -1); }
  { const torch::nn::BilinearOptions o(2, 2, 2); EXPECT_TRUE(o.bias()); }
  { const torch::nn::KLDivLossOptions o; EXPECT_FALSE(o.log_target()); }
  { const torch::nn::BCELossOptions o; EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::HingeEmbeddingLossOptions o; EXPECT_EQ(o.margin(), 1.0);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::MultiMarginLossOptions o; EXPECT_EQ(o.p(), 1); EXPECT_EQ(o.margin(), 1.0);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::CosineEmbeddingLossOptions o; EXPECT_EQ(o.margin(), 0.0);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::MultiLabelSoftMarginLossOptions o;
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::TripletMarginLossOptions o; EXPECT_EQ(o.margin(), 1.0); EXPECT_EQ(o.p(), 2.0); EXPECT_EQ(o.eps(), 1e-6);
    EXPECT_FALSE(o.swap()); EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::TripletMarginWithDistanceLossOptions o; EXPECT_FALSE(o.distance_function().has_value());
    EXPECT_EQ(o.margin(), 1.0); EXPECT_FALSE(o.swap());
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::CTCLossOptions o; EXPECT_EQ(o.blank(), 0);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); EXPECT_FALSE(o.zero_infinity()); }
  { const torch::nn::SmoothL1LossOptions o; EXPECT_FALSE(o.beta().has_value()); }
  { const torch::nn::HuberLossOptions o; EXPECT_EQ(o.delta(), 1.0); }
  { const torch::nn::PoissonNLLLossOptions o; EXPECT_TRUE(o.log_input()); EXPECT_FALSE(o.full()); EXPECT_EQ(o.eps(), 1e-8);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::MarginRankingLossOptions o; EXPECT_EQ(o.margin(), 0);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::NLLLossOptions o; EXPECT_EQ(o.ignore_index(), -100);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::CrossEntropyLossOptions o; EXPECT_EQ(o.ignore_index(), -100);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); EXPECT_EQ(o.label_smoothing(), 0.0); }
  { const torch::nn::BCEWithLogitsLossOptions o; EXPECT_STREQ(torch::enumtype::get_enum_name(o.reduction()).c_str(), "kMean"); }
  { const torch::nn::LayerNormOptions o(std::vector<int64_t>{2}); EXPECT_EQ(o.eps(), 1e-5); EXPECT_TRUE(o.elementwise_affine());
}
  { const torch::nn::functional::LayerNormFuncOptions o(std::vector<int64_t>{2}); EXPECT_EQ(o.eps(), 1e-5); }
  { const torch::nn::LocalResponseNormOptions o(2); EXPECT_EQ(o.alpha(), 1e-4); EXPECT_EQ(o.beta(), 0.75); EXPECT_EQ(o.k(), 1.);
}
  { const torch::nn::CrossMapLRN2dOptions o(2); EXPECT_EQ(o.alpha(), 1e-4); EXPECT_EQ(o.beta(), 0.75); EXPECT_EQ(o.k(), 1); }
  { const torch::nn::functional::NormalizeFuncOptions o; EXPECT_EQ(o.p(), 2.0); EXPECT_EQ(o.dim(), 1);
    EXPECT_EQ(o.eps(), 1e-12); EXPECT_FALSE(o.out().has_value()); }
  { const torch::nn::GroupNormOptions o(2, 2); EXPECT_EQ(o.eps(), 1e-5); EXPECT_TRUE(o.affine()); }
  { const torch::nn::functional::GroupNormFuncOptions o(2); EXPECT_EQ(o.eps(), 1e-5); }
  { const torch::nn::functional::PadFuncOptions o(std::vector<int64_t>{2});
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kConstant"); EXPECT_EQ(o.value(), 0); }
  { const torch::nn::AvgPoolOptions<2> o(2); EXPECT_EQ((*o.padding())[0], 0); EXPECT_FALSE(o.ceil_mode());
    EXPECT_TRUE(o.count_include_pad()); EXPECT_FALSE(o.divisor_override().has_value()); }
  { const torch::nn::MaxPoolOptions<2> o(2); EXPECT_EQ((*o.padding())[0], 0); EXPECT_EQ((*o.dilation())[0], 1);
    EXPECT_FALSE(o.ceil_mode()); }
  { const torch::nn::MaxUnpoolOptions<2> o(2); EXPECT_EQ((*o.padding())[0], 0); }
  { const torch::nn::functional::MaxUnpoolFuncOptions<2> o(2); EXPECT_EQ((*o.padding())[0], 0);
    EXPECT_FALSE(o.output_size().has_value()); }
  { const torch::nn::FractionalMaxPoolOptions<2> o(2); EXPECT_FALSE(o.output_size().has_value());
    EXPECT_FALSE(o.output_ratio().has_value()); }
  { const torch::nn::LPPoolOptions<2> o(0.5, 2); EXPECT_FALSE(o.ceil_mode()); }
  { const torch::nn::RNNOptions o(2, 2); EXPECT_EQ(o.num_layers(), 1);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.nonlinearity()).c_str(), "kTanh"); EXPECT_TRUE(o.bias());
    EXPECT_FALSE(o.batch_first()); EXPECT_EQ(o.dropout(), 0.0); EXPECT_FALSE(o.bidirectional()); }
  { const torch::nn::LSTMOptions o(2, 2); EXPECT_EQ(o.num_layers(), 1); EXPECT_TRUE(o.bias()); EXPECT_FALSE(o.batch_first());
    EXPECT_EQ(o.dropout(), 0.0); EXPECT_FALSE(o.bidirectional()); EXPECT_EQ(o.proj_size(), 0); }
  { const torch::nn::GRUOptions o(2, 2); EXPECT_EQ(o.num_layers(), 1); EXPECT_TRUE(o.bias()); EXPECT_FALSE(o.batch_first());
    EXPECT_EQ(o.dropout(), 0.0); EXPECT_FALSE(o.bidirectional()); }
  { const torch::nn::RNNCellOptions o(2, 2); EXPECT_TRUE(o.bias());
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.nonlinearity()).c_str(), "kTanh"); }
  { const torch::nn::LSTMCellOptions o(2, 2); EXPECT_TRUE(o.bias()); }
  { const torch::nn::GRUCellOptions o(2, 2); EXPECT_TRUE(o.bias()); }
  { const torch::nn::TransformerOptions o; EXPECT_EQ(o.d_model(), 512); EXPECT_EQ(o.nhead(), 8);
    EXPECT_EQ(o.num_encoder_layers(), 6); EXPECT_EQ(o.num_decoder_layers(), 6); EXPECT_EQ(o.dim_feedforward(), 2048);
    EXPECT_EQ(o.dropout(), 0.1); EXPECT_STREQ(torch::enumtype::get_enum_name(o.activation()).c_str(), "kReLU"); }
  { const torch::nn::TransformerEncoderLayerOptions o(2, 2); EXPECT_EQ(o.dim_feedforward(), 2048); EXPECT_EQ(o.dropout(), 0.1);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.activation()).c_str(), "kReLU"); }
  { const torch::nn::TransformerDecoderLayerOptions o(2, 2); EXPECT_EQ(o.dim_feedforward(), 2048); EXPECT_EQ(o.dropout(), 0.1);
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.activation()).c_str(), "kReLU"); }
  { const torch::nn::UpsampleOptions o; EXPECT_FALSE(o.size().has_value()); EXPECT_FALSE(o.scale_factor().has_value());
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kNearest"); EXPECT_FALSE(o.align_corners().has_value()); }
  { const torch::nn::functional::InterpolateFuncOptions o; EXPECT_FALSE(o.size().has_value());
    EXPECT_FALSE(o.scale_factor().has_value()); EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kNearest");
    EXPECT_FALSE(o.align_corners().has_value()); EXPECT_FALSE(o.recompute_scale_factor().has_value()); EXPECT_FALSE(o.antialias());
}
  { const torch::nn::functional::GridSampleFuncOptions o;
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.mode()).c_str(), "kBilinear");
    EXPECT_STREQ(torch::enumtype::get_enum_name(o.padding_mode()).c_str(), "kZeros"); EXPECT_FALSE(o.align_corners().has_value()); }
  { const torch::optim::AdagradOptions o; EXPECT_EQ(o.lr(), 1e-2); EXPECT_EQ(o.lr_decay(), 0); EXPECT_EQ(o.weight_decay(), 0);
    EXPECT_EQ(o.initial_accumulator_value(), 0); EXPECT_EQ(o.eps(), 1e-10); }
  { const torch::optim::AdagradParamState o; EXPECT_EQ(o.step(), 0); }
  { const torch::optim::AdamOptions o; EXPECT_EQ(o.lr(), 1e-3); EXPECT_EQ(o.eps(), 1e-8); EXPECT_EQ(o.weight_decay(), 0);
    EXPECT_FALSE(o.amsgrad()); }
  { const torch::optim::AdamParamState o; EXPECT_EQ(o.step(), 0); }
  { const torch::optim::AdamWOptions o; EXPECT_EQ(o.lr(), 1e-3); EXPECT_EQ(o.eps(), 1e-8); EXPECT_EQ(o.weight_decay(), 1e-2);
    EXPECT_FALSE(o.amsgrad()); }
  { const torch::optim::AdamWParamState o; EXPECT_EQ(o.step(), 0); }
  { const torch::optim::LBFGSOptions o; EXPECT_EQ(o.lr(), 1); EXPECT_EQ(o.max_iter(), 20);
    EXPECT_FALSE(o.max_eval().has_value()); EXPECT_EQ(o.tolerance_grad(), 1e-7); EXPECT_EQ(o.tolerance_change(), 1e-9);
    EXPECT_EQ(o.history_size(), 100); EXPECT_FALSE(o.line_search_fn().has_value()); }
  { const torch::optim::LBFGSParamState o; EXPECT_EQ(o.func_evals(), 0); EXPECT_EQ(o.n_iter(), 0); EXPECT_EQ(o.t(), 0);
    EXPECT_EQ(o.prev_loss(), 0); EXPECT_FALSE(o.al().has_value()); }
  { const torch::optim::RMSpropOptions o; EXPECT_EQ(o.lr(), 1e-2); EXPECT_EQ(o.alpha(), 0.99); EXPECT_EQ(o.eps(), 1e-8);
    EXPECT_EQ(o.weight_decay(), 0); EXPECT_EQ(o.momentum(), 0); EXPECT_FALSE(o.centered()); }
  { const torch::optim::RMSpropParamState o; EXPECT_EQ(o.step(), 0); }
  { const torch::optim::SGDOptions o(0.5); EXPECT_EQ(o.momentum(), 0); EXPECT_EQ(o.dampening(), 0);
    EXPECT_EQ(o.weight_decay(), 0); EXPECT_FALSE(o.nesterov()); }
  { const torch::data::DataLoaderOptions o; EXPECT_TRUE(o.enforce_ordering()); EXPECT_FALSE(o.drop_last()); }
}

}  // namespace
