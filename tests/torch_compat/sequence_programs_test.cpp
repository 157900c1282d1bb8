// SPDX-License-Identifier: Apache-2.0
// Programs as users of LibTorch write them, over sequences: a transformer language model, packed sequences, attention; and the
// optimizers and containers around them.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

namespace {

namespace F = torch::nn::functional;

struct PositionalEncodingImpl : torch::nn::Module {
  PositionalEncodingImpl(int64_t d_model, double dropout, int64_t max_len = 64) : dropout(dropout) {
    register_module("dropout", this->dropout);
    torch::Tensor position = torch::arange(0, max_len, torch::kFloat).unsqueeze(1);
    torch::Tensor div_term = torch::exp(torch::arange(0, d_model, 2, torch::kFloat) * (-std::log(10000.0) / static_cast<double>(d_model)));
    torch::Tensor table = torch::zeros({max_len, 1, d_model});
    using namespace torch::indexing;
    table.index_put_({Slice(), 0, Slice(0, None, 2)}, torch::sin(position * div_term));
    table.index_put_({Slice(), 0, Slice(1, None, 2)}, torch::cos(position * div_term));
    pe = register_buffer("pe", table);
  }
  torch::Tensor forward(torch::Tensor x) { return dropout(x + pe.slice(0, 0, x.size(0))); }
  torch::nn::Dropout dropout;
  torch::Tensor pe;
};
TORCH_MODULE(PositionalEncoding);

struct TransformerModelImpl : torch::nn::Module {
  TransformerModelImpl(int64_t ntoken, int64_t d_model, int64_t nhead, int64_t d_hid, int64_t nlayers)
      : pos_encoder(register_module("pos_encoder", PositionalEncoding(d_model, 0.0))),
        encoder(register_module("encoder", torch::nn::Embedding(ntoken, d_model))),
        transformer_encoder(register_module(
            "transformer_encoder",
            torch::nn::TransformerEncoder(torch::nn::TransformerEncoderOptions(
                torch::nn::TransformerEncoderLayerOptions(d_model, nhead).dim_feedforward(d_hid).dropout(0.0).activation(torch::kGELU),
                nlayers)))),
        decoder(register_module("decoder", torch::nn::Linear(d_model, ntoken))), scale(std::sqrt(static_cast<double>(d_model))) {}
  torch::Tensor forward(torch::Tensor src, torch::Tensor src_mask) {
    src = pos_encoder(encoder(src) * scale);
    return decoder(transformer_encoder(src, src_mask));
  }
  PositionalEncoding pos_encoder;
  torch::nn::Embedding encoder;
  torch::nn::TransformerEncoder transformer_encoder;
  torch::nn::Linear decoder;
  double scale;
};
TORCH_MODULE(TransformerModel);

TEST(TorchSequencePrograms, TransformerLanguageModelLearnsAPattern) {
  torch::manual_seed(1);
  const int64_t length = 12;
  TransformerModel model(6, 16, 2, 32, 2);
  const torch::Tensor mask = torch::nn::TransformerImpl::generate_square_subsequent_mask(length);
  EXPECT_EQ(mask[0][0].item<float>(), 0);
  EXPECT_TRUE(std::isinf(mask[0][1].item<float>()));
  const torch::Tensor ids = (torch::arange(0, length + 1).unsqueeze(1) + torch::arange(0, 6).unsqueeze(0)).remainder(6);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(5e-3));
  torch::nn::CrossEntropyLoss criterion;
  float loss_value = 0;
  for (int step = 0; step < 40; ++step) {
    torch::Tensor output = model(ids.slice(0, 0, length), mask);
    torch::Tensor loss = criterion(output.view({-1, 6}), ids.slice(0, 1).reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 0.5);
    optimizer.step();
    loss_value = loss.item<float>();
  }
  EXPECT_LT(loss_value, 0.1F);
  // The mask hides what comes later.
  model->eval();
  torch::NoGradGuard no_grad;
  torch::Tensor changed = ids.slice(0, 0, length).clone();
  changed[length - 1].fill_(0);
  const torch::Tensor before = model(ids.slice(0, 0, length), mask).slice(0, 0, length - 1);
  EXPECT_TRUE(torch::allclose(before, model(changed, mask).slice(0, 0, length - 1), 1e-5, 1e-5));
}

TEST(TorchSequencePrograms, PackedSequencesGiveWhatEachSequenceGivesAlone) {
  torch::manual_seed(2);
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true).batch_first(true));
  torch::nn::GRU gru(torch::nn::GRUOptions(3, 4).batch_first(true));
  const std::vector<torch::Tensor> sequences = {torch::randn({2, 3}), torch::randn({5, 3}), torch::randn({3, 3})};
  const torch::Tensor padded = torch::nn::utils::rnn::pad_sequence(sequences, /*batch_first=*/true);
  const torch::Tensor lengths = torch::tensor({2, 5, 3}, torch::kLong);
  auto packed = torch::nn::utils::rnn::pack_padded_sequence(padded, lengths, /*batch_first=*/true, /*enforce_sorted=*/false);
  EXPECT_TRUE(torch::equal(packed.batch_sizes(), torch::tensor({3, 3, 2, 1, 1}, torch::kLong)));
  EXPECT_TRUE(torch::equal(packed.sorted_indices(), torch::tensor({1, 2, 0}, torch::kLong)));
  auto [output, state] = lstm->forward_with_packed_input(packed);
  auto [unpacked, unpacked_lengths] = torch::nn::utils::rnn::pad_packed_sequence(output, /*batch_first=*/true);
  auto [gru_output, gru_state] = gru->forward_with_packed_input(packed);
  auto gru_unpacked = std::get<0>(torch::nn::utils::rnn::pad_packed_sequence(gru_output, true, -1.0, 7));
  EXPECT_TRUE(torch::equal(unpacked_lengths, lengths));
  EXPECT_EQ(gru_unpacked.sizes(), torch::IntArrayRef({3, 7, 4}));
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t n = lengths[i].item<int64_t>();
    auto [alone, alone_state] = lstm->forward(sequences[static_cast<size_t>(i)].unsqueeze(0));
    EXPECT_TRUE(torch::allclose(unpacked[i].slice(0, 0, n), alone[0], 1e-5, 1e-6)) << i;
    EXPECT_TRUE(torch::equal(unpacked[i].slice(0, n), torch::zeros({5 - n, 8})));
    EXPECT_TRUE(torch::allclose(std::get<0>(state).select(1, i), std::get<0>(alone_state).select(1, 0), 1e-5, 1e-6)) << i;
    EXPECT_TRUE(torch::allclose(std::get<1>(state).select(1, i), std::get<1>(alone_state).select(1, 0), 1e-5, 1e-6)) << i;
    auto [gru_alone, gru_last] = gru->forward(sequences[static_cast<size_t>(i)].unsqueeze(0));
    EXPECT_TRUE(torch::allclose(gru_unpacked[i].slice(0, 0, n), gru_alone[0], 1e-5, 1e-6)) << i;
    EXPECT_TRUE(torch::equal(gru_unpacked[i].slice(0, n), torch::full({7 - n, 4}, -1.0)));
    EXPECT_TRUE(torch::allclose(gru_state.select(1, i), gru_last.select(1, 0), 1e-5, 1e-6)) << i;
  }
  EXPECT_THROW(torch::nn::utils::rnn::pack_padded_sequence(padded, lengths, true), c10::Error);
  EXPECT_THROW(torch::nn::utils::rnn::pad_packed_sequence(output, true, 0.0, 4), c10::Error);
}

TEST(TorchSequencePrograms, AttentionAsAFunctionAndAsAModule) {
  torch::manual_seed(3);
  torch::nn::MultiheadAttention attention(torch::nn::MultiheadAttentionOptions(8, 2).dropout(0.0));
  const torch::Tensor q = torch::randn({3, 2, 8}), k = torch::randn({5, 2, 8});
  auto [by_module, weights] = attention(q, k, k);
  auto [by_function, weights2] = F::multi_head_attention_forward(
      q, k, k,
      F::MultiheadAttentionForwardFuncOptions(8, 2, attention->in_proj_weight, attention->in_proj_bias, {}, {}, false, 0.0,
                                              attention->out_proj->weight, attention->out_proj->bias)
          .training(false));
  EXPECT_TRUE(torch::allclose(by_module, by_function));
  EXPECT_TRUE(torch::allclose(weights, weights2));
  EXPECT_TRUE(torch::allclose(weights.sum(-1), torch::ones({2, 3})));
  torch::nn::AnyModule any(attention);
  auto result = any.forward<std::tuple<torch::Tensor, torch::Tensor>>(q, k, k);
  EXPECT_TRUE(torch::allclose(std::get<0>(result), by_module));
}

TEST(TorchSequencePrograms, WholeTransformerAndCopies) {
  torch::manual_seed(4);
  torch::nn::Transformer model(torch::nn::TransformerOptions(8, 2, 1, 2).dim_feedforward(16).dropout(0.0));
  const torch::Tensor src = torch::randn({4, 2, 8}), tgt = torch::randn({3, 2, 8});
  const torch::Tensor out = model(src, tgt);
  EXPECT_EQ(out.sizes(), tgt.sizes());
  auto copy = std::dynamic_pointer_cast<torch::nn::TransformerImpl>(model->clone());
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(torch::equal(copy->forward(src, tgt), out));
  {
    torch::NoGradGuard no_grad;
    for (auto& p : copy->parameters()) p.zero_();
  }
  EXPECT_TRUE(torch::equal(model(src, tgt), out));
  EXPECT_THROW(model(src, torch::randn({3, 2, 4})), c10::Error);
  EXPECT_THROW(torch::nn::MultiheadAttention(torch::nn::MultiheadAttentionOptions(8, 3)), c10::Error);
}

TEST(TorchSequencePrograms, ContainersOfModulesAndParameters) {
  torch::nn::ModuleDict dict;
  dict->update(std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>>{{"linear", torch::nn::Linear(2, 3).ptr()},
                                                                                        {"act", torch::nn::ReLU().ptr()}});
  EXPECT_EQ(dict->size(), 2U);
  EXPECT_TRUE(dict->contains("act"));
  EXPECT_EQ(dict->at<torch::nn::LinearImpl>("linear").weight.size(0), 3);
  EXPECT_EQ(dict->named_parameters().keys(), (std::vector<std::string>{"linear.weight", "linear.bias"}));
  EXPECT_NE(dict->pop("act"), nullptr);
  EXPECT_EQ(dict->keys(), std::vector<std::string>{"linear"});
  torch::nn::ParameterDict parameters;
  parameters->insert("A", torch::ones({2}).requires_grad_());
  parameters->insert("B", torch::zeros({1}));
  EXPECT_TRUE(parameters["A"].requires_grad());
  EXPECT_FALSE(parameters->get("B").requires_grad());
  EXPECT_EQ(parameters->named_parameters().size(), 2U);
  auto copied = std::dynamic_pointer_cast<torch::nn::ParameterDictImpl>(parameters->clone());
  EXPECT_TRUE(torch::equal(copied->get("A"), parameters->get("A")));
  EXPECT_FALSE(copied->get("A").is_same(parameters->get("A")));
  torch::nn::ParameterList list(torch::ones({2}), torch::zeros({3}));
  list->append(torch::full({1}, 5.0));
  EXPECT_EQ(list->size(), 3U);
  EXPECT_EQ(list[2].item<float>(), 5);
  EXPECT_EQ(list->named_parameters().keys(), (std::vector<std::string>{"0", "1", "2"}));
  torch::nn::ModuleList modules(torch::nn::Linear(1, 2), torch::nn::ReLU());
  modules->insert(1, torch::nn::Linear(2, 4));
  EXPECT_EQ(modules->size(), 3U);
  EXPECT_EQ(modules->at<torch::nn::LinearImpl>(1).options.out_features(), 4);
  EXPECT_EQ(modules->named_parameters().keys(), (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"}));
  torch::nn::Sequential model(torch::nn::Linear(2, 2), torch::nn::Functional(torch::elu, 1.0, 1.0, 1.0));
  EXPECT_EQ(model->forward(torch::ones({1, 2})).sizes(), torch::IntArrayRef({1, 2}));
}

TEST(TorchSequencePrograms, LBFGSFindsTheMinimum) {
  torch::Tensor x = torch::tensor({-1.2, 1.0}, torch::dtype(torch::kDouble).requires_grad(true));
  torch::optim::LBFGS optimizer(std::vector<torch::Tensor>{x}, torch::optim::LBFGSOptions(1).max_iter(60).tolerance_change(1e-15).tolerance_grad(1e-10).line_search_fn("strong_wolfe"));
  auto closure = [&]() {
    optimizer.zero_grad();
    auto loss = 100 * (x[1] - x[0] * x[0]).pow(2) + (1 - x[0]).pow(2);
    loss.backward();
    return loss;
  };
  for (int i = 0; i < 3; ++i) optimizer.step(closure);
  EXPECT_TRUE(torch::allclose(x.detach(), torch::ones({2}, torch::kDouble), 1e-5, 1e-5));
}

TEST(TorchSequencePrograms, FunctionalFormsWithOptions) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::arange(16, torch::kFloat).view({1, 1, 4, 4});
  EXPECT_EQ(F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kReplicate)).sizes(), torch::IntArrayRef({1, 1, 7, 7}));
  EXPECT_EQ(F::pad(x, F::PadFuncOptions({1, 1}).value(9))[0][0][0][0].item<float>(), 9);
  EXPECT_EQ(F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kBilinear).align_corners(true)).sizes(),
            torch::IntArrayRef({1, 1, 8, 8}));
  auto [pooled, indices] = F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(2));
  EXPECT_TRUE(torch::equal(F::max_unpool2d(pooled, indices, F::MaxUnpool2dFuncOptions(2)).sum(), pooled.sum()));
  EXPECT_TRUE(torch::equal(F::fold(F::unfold(x, F::UnfoldFuncOptions({2, 2}).stride(2)), F::FoldFuncOptions({4, 4}, {2, 2}).stride(2)), x));
  EXPECT_EQ(F::fractional_max_pool2d(x, F::FractionalMaxPool2dFuncOptions(2).output_size(3)).sizes(), torch::IntArrayRef({1, 1, 3, 3}));
  EXPECT_THROW(F::fractional_max_pool2d(x, F::FractionalMaxPool2dFuncOptions(2)), c10::Error);
  const torch::Tensor theta = torch::tensor({1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F}).view({1, 2, 3});
  const torch::Tensor grid = F::affine_grid(theta, {1, 1, 4, 4}, /*align_corners=*/true);
  EXPECT_TRUE(torch::allclose(F::grid_sample(x, grid, F::GridSampleFuncOptions().mode(torch::kBilinear).align_corners(true)), x, 1e-5, 1e-4));
  EXPECT_NEAR(F::normalize(torch::tensor({3.0, 4.0}), F::NormalizeFuncOptions().p(2).dim(0))[1].item<double>(), 0.8, 1e-6);
  const auto l1 = [](const torch::Tensor& a, const torch::Tensor& b) { return (a - b).abs().sum(-1); };
  const torch::Tensor a = torch::randn({4, 3}), p = torch::randn({4, 3}), n = torch::randn({4, 3});
  const torch::Tensor loss =
      F::triplet_margin_with_distance_loss(a, p, n, F::TripletMarginWithDistanceLossFuncOptions().distance_function(l1).margin(2.0).reduction(torch::kSum));
  EXPECT_TRUE(torch::allclose(loss, (l1(a, p) - l1(a, n) + 2).clamp_min(0).sum()));
  EXPECT_THROW(F::smooth_l1_loss(a, p, F::SmoothL1LossFuncOptions().beta(0.5), 0.5), c10::Error);
  const torch::Tensor table = torch::randn({5, 2});
  auto bag = torch::nn::EmbeddingBag::from_pretrained(table, torch::nn::EmbeddingBagFromPretrainedOptions().mode(torch::kSum));
  EXPECT_FALSE(bag->weight.requires_grad());
  EXPECT_TRUE(torch::allclose(bag(torch::tensor({{0, 1}, {2, 3}}, torch::kLong)), torch::stack({table[0] + table[1], table[2] + table[3]})));
}

}  // namespace
