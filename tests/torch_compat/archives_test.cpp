// SPDX-License-Identifier: Apache-2.0
// What programs written for LibTorch rely on when they save and load: handles, gradients, lists, missing parts; and small things around.
#include <torch/torch.h>

#include <gtest/gtest.h>

namespace {

template <class T>
void reload(const T& from, T& into) {
  std::stringstream stream;
  torch::save(from, stream);
  torch::load(into, stream);
}

TEST(Archives, LoadingIntoAParameterChangesTheModule) {
  torch::nn::Linear linear(2, 2);
  reload(torch::full({2, 2}, 7.0f), linear->weight);
  EXPECT_TRUE(linear->named_parameters()["weight"].equal(torch::full({2, 2}, 7.0f)));
  EXPECT_TRUE(linear->weight.requires_grad());
  reload(torch::full({3, 2}, 5.0f), linear->weight);
  EXPECT_EQ(linear->named_parameters()["weight"].sizes(), (std::vector<int64_t>{3, 2}));
}

TEST(Archives, ListsGrow) {
  std::vector<torch::Tensor> list{torch::zeros({2})};
  reload(std::vector<torch::Tensor>{torch::ones({2}), torch::ones({1})}, list);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].sum().item<float>(), 0);
  EXPECT_EQ(list[2].numel(), 1);
}

TEST(Archives, TensorsKeepThatTheyNeedGradients) {
  torch::serialize::OutputArchive out;
  out.write("w", torch::ones({2}, torch::requires_grad()));
  out.write("b", torch::ones({2}));
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  torch::Tensor w, b;
  in.read("w", w);
  in.read("b", b);
  EXPECT_TRUE(w.requires_grad() && w.is_leaf());
  EXPECT_FALSE(b.requires_grad());
  // A module's file is a state dictionary: what a parameter needs is the module's to say.
  torch::nn::Linear frozen(2, 2), free(2, 2);
  for (auto& p : frozen->parameters()) p.set_requires_grad(false);
  reload(frozen, free);
  EXPECT_TRUE(free->weight.requires_grad());
  std::stringstream module;
  torch::save(free, module);
  const std::string bytes = module.str();
  const torch::IValue state = torch::pickle_load({bytes.begin(), bytes.end()});
  for (const auto& [name, value] : state.dict()) {
    EXPECT_FALSE(value.tensor().requires_grad()) << name.string();
  }
}

TEST(Archives, MissingPartsAreErrorsAndEmptyOnesAreNot) {
  torch::serialize::OutputArchive out, nothing;
  out.write("nothing", nothing);
  torch::nn::Sequential model(torch::nn::Linear(1, 1), torch::nn::Dropout());
  out.write("model", [&] {
    torch::serialize::OutputArchive part;
    model->save(part);
    return part;
  }());
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in, part;
  in.load_from(stream);
  in.read("nothing", part);
  EXPECT_TRUE(part.keys().empty());
  in.read("model", part);
  model->load(part);
  EXPECT_FALSE(in.try_read("optimizer", part));
  EXPECT_THROW(in.read("optimizer", part), c10::Error);
}

TEST(Archives, ClonesNeedGradientsWhereTheirClassSaysSo) {
  torch::nn::Linear linear(2, 2);
  linear->weight.set_requires_grad(false);
  const auto copy = std::dynamic_pointer_cast<torch::nn::LinearImpl>(linear->clone());
  EXPECT_TRUE(copy->weight.requires_grad());
  EXPECT_EQ(linear->named_parameters().key_description(), "Key");
}

TEST(Archives, LossesTakeAReductionAlone) {
  namespace F = torch::nn::functional;
  const auto a = torch::tensor({1.0f, 2.0f}), b = torch::tensor({2.0f, 4.0f});
  EXPECT_EQ(torch::nn::MSELoss(torch::kSum)(a, b).item<float>(), 5);
  EXPECT_EQ(F::mse_loss(a, b, torch::kSum).item<float>(), 5);
  EXPECT_EQ(F::l1_loss(a, b, torch::kSum).item<float>(), 3);
  EXPECT_EQ(F::smooth_l1_loss(a, b, torch::kSum).item<float>(), 2);
  EXPECT_EQ(F::huber_loss(a, b, torch::kNone).numel(), 2);
  EXPECT_EQ(torch::nn::KLDivLoss(torch::kBatchMean)(torch::zeros({2, 2}), torch::ones({2, 2})).item<float>(), 0);
}

TEST(Archives, InitialisationsAreFoundWithoutTheirNamespace) {
  using namespace torch::nn::init;  // NOLINT(google-build-using-namespace)
  auto leaf = torch::zeros({4}, torch::requires_grad());
  uniform_(leaf, 2, 3);
  EXPECT_GE(leaf.min().item<float>(), 2);
  normal_(leaf);
  EXPECT_LT(normal_(torch::empty({1000}), 1, 0.1).mean().item<float>(), 2);
  EXPECT_TRUE(leaf.is_leaf() && leaf.requires_grad());
}

TEST(Archives, SharedDatasetsServeSeveralThreads) {
  struct Squares : torch::data::datasets::Dataset<Squares> {
    torch::data::Example<> get(size_t i) override { return {torch::tensor(static_cast<int64_t>(i * i)), torch::tensor(0)}; }
    torch::optional<size_t> size() const override { return 11; }
  };
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      torch::data::datasets::make_shared_dataset<Squares>(), torch::data::DataLoaderOptions(4).workers(2));
  int64_t sum = 0;
  for (auto& batch : *loader) {
    for (auto& example : batch) sum += example.data.item<int64_t>();
  }
  EXPECT_EQ(sum, 385);
}

TEST(Archives, ProcessWideContext) {
  torch::manual_seed(5);
  EXPECT_EQ(at::globalContext().defaultGenerator(torch::kCPU).current_seed(), 5u);
  EXPECT_FALSE(at::globalContext().hasCUDA());
}

}  // namespace
