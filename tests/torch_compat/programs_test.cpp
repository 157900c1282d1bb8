// SPDX-License-Identifier: Apache-2.0
// Programs as users of LibTorch write them: a classifier with a custom data set, a generative pair, an autoencoder.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <vector>

namespace {

/// Small pictures with a bright bar whose place is the label.
class Bars : public torch::data::datasets::Dataset<Bars> {
 public:
  explicit Bars(int64_t count) {
    torch::manual_seed(7);
    images_ = torch::rand({count, 1, 8, 8}) * 0.2;
    targets_ = torch::randint(0, 4, {count}, torch::kLong);
    for (int64_t i = 0; i < count; ++i) {
      images_[i][0].narrow(0, 2 * targets_[i].item<int64_t>(), 2).add_(1);
    }
  }
  torch::data::Example<> get(size_t index) override {
    return {images_[static_cast<int64_t>(index)], targets_[static_cast<int64_t>(index)]};
  }
  torch::optional<size_t> size() const override { return images_.size(0); }

 private:
  torch::Tensor images_, targets_;
};

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 8, /*kernel_size=*/3).padding(1)), conv2(torch::nn::Conv2dOptions(8, 16, 3)),
        fc1(16 * 3 * 3, 32), fc2(32, 4) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(conv1->forward(x));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = x.view({-1, 16 * 3 * 3});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.1, /*training=*/is_training());
    x = fc2->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }
  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Dropout2d conv2_drop{torch::nn::Dropout2dOptions(0.1)};
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

template <typename DataLoader>
void train(Net& model, torch::Device device, DataLoader& data_loader, torch::optim::Optimizer& optimizer) {
  model.train();
  for (auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    ASSERT_FALSE(std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
  }
}

template <typename DataLoader>
double test(Net& model, torch::Device device, DataLoader& data_loader, size_t dataset_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double test_loss = 0;
  int32_t correct = 0;
  for (const auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    test_loss += torch::nll_loss(output, targets, /*weight=*/{}, torch::Reduction::Sum).template item<float>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  EXPECT_LT(test_loss / static_cast<double>(dataset_size), 0.5);
  return static_cast<double>(correct) / static_cast<double>(dataset_size);
}

TEST(TorchPrograms, ClassifierOnACustomDataset) {
  torch::manual_seed(1);
  torch::Device device(torch::kCPU);
  Net model;
  model.to(device);
  auto train_dataset = Bars(256).map(torch::data::transforms::Normalize<>(0.3, 0.5)).map(torch::data::transforms::Stack<>());
  auto train_loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(train_dataset), torch::data::DataLoaderOptions(32));
  auto test_dataset = Bars(100).map(torch::data::transforms::Normalize<>(0.3, 0.5)).map(torch::data::transforms::Stack<>());
  const size_t test_dataset_size = test_dataset.size().value();
  auto test_loader = torch::data::make_data_loader(std::move(test_dataset), /*batch_size=*/50);
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));
  for (size_t epoch = 1; epoch <= 8; ++epoch) train(model, device, *train_loader, optimizer);
  EXPECT_GE(test(model, device, *test_loader, test_dataset_size), 0.95);
}

constexpr int kNoiseSize = 8;

struct DCGANGeneratorImpl : torch::nn::Module {
  explicit DCGANGeneratorImpl(int noise_size)
      : conv1(torch::nn::ConvTranspose2dOptions(noise_size, 16, 4).bias(false)), batch_norm1(16),
        conv2(torch::nn::ConvTranspose2dOptions(16, 8, 3).stride(2).padding(1).bias(false)), batch_norm2(8),
        conv3(torch::nn::ConvTranspose2dOptions(8, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv3", conv3);
    register_module("batch_norm1", batch_norm1);
    register_module("batch_norm2", batch_norm2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(batch_norm1(conv1(x)));
    x = torch::relu(batch_norm2(conv2(x)));
    x = torch::tanh(conv3(x));
    return x;
  }
  torch::nn::ConvTranspose2d conv1;
  torch::nn::BatchNorm2d batch_norm1;
  torch::nn::ConvTranspose2d conv2;
  torch::nn::BatchNorm2d batch_norm2;
  torch::nn::ConvTranspose2d conv3;
};
TORCH_MODULE(DCGANGenerator);

TEST(TorchPrograms, GeneratorAndDiscriminator) {
  torch::manual_seed(2);
  DCGANGenerator generator(kNoiseSize);
  torch::nn::Sequential discriminator(
      // Layer 1
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 4).stride(2).padding(1).bias(false)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      // Layer 2
      torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 4).stride(2).padding(1).bias(false)), torch::nn::BatchNorm2d(16),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      // Output
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 1, 3).stride(1).padding(0).bias(false)), torch::nn::Sigmoid());
  torch::optim::Adam generator_optimizer(generator->parameters(), torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.5)));
  torch::optim::Adam discriminator_optimizer(discriminator->parameters(), torch::optim::AdamOptions(5e-3).betas(std::make_tuple(0.5, 0.5)));
  double first = 0;
  double last = 0;
  for (int step = 0; step < 20; ++step) {
    discriminator->zero_grad();
    torch::Tensor real_images = torch::ones({16, 1, 14, 14}) + torch::randn({16, 1, 14, 14}) * 0.1;
    torch::Tensor real_labels = torch::empty(16).uniform_(0.8, 1.0);
    torch::Tensor real_output = discriminator->forward(real_images).reshape(real_labels.sizes());
    torch::Tensor d_loss_real = torch::binary_cross_entropy(real_output, real_labels);
    d_loss_real.backward();
    torch::Tensor noise = torch::randn({16, kNoiseSize, 1, 1});
    torch::Tensor fake_images = generator->forward(noise);
    ASSERT_EQ(fake_images.sizes(), torch::IntArrayRef({16, 1, 14, 14}));
    torch::Tensor fake_labels = torch::zeros(16);
    torch::Tensor fake_output = discriminator->forward(fake_images.detach()).reshape(fake_labels.sizes());
    torch::Tensor d_loss_fake = torch::binary_cross_entropy(fake_output, fake_labels);
    d_loss_fake.backward();
    torch::Tensor d_loss = d_loss_real + d_loss_fake;
    discriminator_optimizer.step();
    generator->zero_grad();
    fake_labels.fill_(1);
    fake_output = discriminator->forward(fake_images).reshape(fake_labels.sizes());
    torch::Tensor g_loss = torch::binary_cross_entropy(fake_output, fake_labels);
    g_loss.backward();
    generator_optimizer.step();
    if (step == 0) first = d_loss.item<float>();
    last = d_loss.item<float>();
    ASSERT_TRUE(std::isfinite(g_loss.item<float>()));
  }
  EXPECT_LT(last, first);
  EXPECT_EQ(generator->named_buffers().size(), 6U);
}

struct AutoEncoderImpl : torch::nn::Module {
  AutoEncoderImpl(int64_t in, int64_t h)
      : encoder(torch::nn::Sequential(torch::nn::Linear(in, h), torch::nn::ReLU(), torch::nn::Linear(h, 3))),
        decoder(torch::nn::Sequential(torch::nn::Linear(3, h), torch::nn::Functional(torch::relu), torch::nn::Linear(h, in))) {
    register_module("encoder", encoder);
    register_module("decoder", decoder);
    mean = register_buffer("mean", torch::zeros({in}));
  }
  torch::Tensor forward(const torch::Tensor& x) { return decoder->forward(encoder->forward(x - mean)) + mean; }
  torch::nn::Sequential encoder, decoder;
  torch::Tensor mean;
};
TORCH_MODULE(AutoEncoder);

TEST(TorchPrograms, AutoencoderWithScheduler) {
  torch::manual_seed(3);
  const torch::Tensor basis = torch::randn({3, 12});
  const torch::Tensor data = torch::matmul(torch::randn({128, 3}), basis) + 2;
  AutoEncoder model(12, 16);
  model->mean.copy_(data.mean(0));
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-2));
  torch::optim::StepLR scheduler(optimizer, /*step_size=*/50, /*gamma=*/0.5);
  float first = 0;
  float last = 0;
  for (int epoch = 0; epoch < 150; ++epoch) {
    auto closure = [&]() {
      optimizer.zero_grad();
      auto loss = torch::nn::functional::mse_loss(model(data), data);
      loss.backward();
      return loss;
    };
    auto loss = optimizer.step(closure);
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    scheduler.step();
    if (epoch == 0) first = loss.item<float>();
    last = loss.item<float>();
  }
  EXPECT_LT(last, 0.05F * first);
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 1e-2 * 0.125);
}

TEST(TorchPrograms, SavesAndLoadsModulesOptimizersAndTensors) {
  torch::manual_seed(4);
  AutoEncoder model(6, 4);
  torch::optim::Adam optimizer(model->parameters(), 1e-3);
  model(torch::randn({5, 6})).sum().backward();
  optimizer.step();
  std::stringstream module_file, optimizer_file, tensors_file, tensor_file;
  torch::save(model, module_file);
  torch::save(optimizer, optimizer_file);
  torch::save(std::vector<torch::Tensor>{torch::arange(3), torch::eye(2)}, tensors_file);
  torch::save(torch::full({2}, 0.5), tensor_file);

  AutoEncoder loaded(6, 4);
  torch::load(loaded, module_file);
  const auto wanted = model->named_parameters();
  for (const auto& item : loaded->named_parameters()) EXPECT_TRUE(torch::equal(item.value(), wanted[item.key()])) << item.key();
  torch::optim::Adam other(loaded->parameters(), 5e-2);
  torch::load(other, optimizer_file);
  EXPECT_EQ(static_cast<torch::optim::AdamOptions&>(other.param_groups()[0].options()).lr(), 1e-3);
  const auto& state = static_cast<torch::optim::AdamParamState&>(*other.state().at(loaded->parameters()[0].unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 1);
  std::vector<torch::Tensor> tensors;
  torch::load(tensors, tensors_file);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_TRUE(torch::equal(tensors[1], torch::eye(2)));
  torch::Tensor tensor;
  torch::load(tensor, tensor_file);
  EXPECT_TRUE(torch::equal(tensor, torch::full({2}, 0.5)));
}

TEST(TorchPrograms, CopiesParametersFromOneModelToAnother) {
  torch::manual_seed(5);
  Net source;
  Net target;
  {
    torch::NoGradGuard no_grad;
    auto new_params = source.named_parameters();
    auto params = target.named_parameters(true /*recurse*/);
    auto buffers = target.named_buffers(true /*recurse*/);
    for (auto& val : new_params) {
      auto name = val.key();
      auto* t = params.find(name);
      if (t != nullptr) {
        t->copy_(val.value());
      } else {
        t = buffers.find(name);
        if (t != nullptr) t->copy_(val.value());
      }
    }
  }
  source.eval();
  target.eval();
  const torch::Tensor x = torch::randn({2, 1, 8, 8});
  EXPECT_TRUE(torch::equal(source.forward(x), target.forward(x)));
}

}  // namespace
