// SPDX-License-Identifier: Apache-2.0
// Opening of the data named on the command line.
#include "taeda/cli/dataset.h"

#include <algorithm>

#include "taeda/cli/digits.h"
#include "taeda/data/data.h"
#include "taeda/io/file.h"
#include "taeda/io/image.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::cli {

namespace {

template <class TrainData, class ValData>
void set_loaders(DataSet& set, TrainData train, ValData val, const RunConfig& config, int64_t default_batch) {
  set.batch_size = config.batch_size > 0 ? config.batch_size : default_batch;
  set.train_size = static_cast<int64_t>(*train.size());
  set.val_size = static_cast<int64_t>(*val.size());
  const auto batch = static_cast<size_t>(set.batch_size);
  set.train = train::LoaderRef(
      data::make_data_loader<data::samplers::RandomSampler>(std::move(train).map(data::transforms::Stack<>()), data::DataLoaderOptions().batch_size(batch)));
  set.val = train::LoaderRef(
      data::make_data_loader<data::samplers::SequentialSampler>(std::move(val).map(data::transforms::Stack<>()), data::DataLoaderOptions().batch_size(batch)));
}

void set_pairs(DataSet& set, const Tensor& train_x, const Tensor& train_y, const Tensor& val_x, const Tensor& val_y,
               const RunConfig& config, int64_t default_batch) {
  set.input_shape = DimVector(train_x.sizes().slice(1));
  set_loaders(set, data::datasets::TensorPairDataset(train_x, train_y), data::datasets::TensorPairDataset(val_x, val_y), config,
              default_batch);
}

std::vector<std::string> numbered(int64_t n) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < n; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Row numbers: every fifth one for validation, the others for training.
std::pair<Tensor, Tensor> fifths(int64_t rows) {
  const Tensor all = taeda::arange(rows, TensorOptions(kLong));
  const Tensor held_out = all.remainder(5).eq(4);
  return {all.masked_select(held_out.logical_not()), all.masked_select(held_out)};
}

DataSet open_digits(const RunConfig& config) {
  const auto images_file = io::borrow_source(digit_images().data(), digit_images().size(), "digits images");
  const auto labels_file = io::borrow_source(digit_labels().data(), digit_labels().size(), "digits labels");
  const Tensor images = normalise_images(data::read_idx(*images_file).unsqueeze(1), 16);
  const Tensor labels = data::read_idx(*labels_file).to(kLong);
  DataSet set;
  set.outputs = 10;
  set.classes = numbered(10);
  set.usual_epochs = 30;
  const int64_t n = images.size(0);
  const int64_t held_out = 360;
  set_pairs(set, images.slice(0, 0, n - held_out).contiguous(), labels.slice(0, 0, n - held_out).contiguous(),
            images.slice(0, n - held_out).contiguous(), labels.slice(0, n - held_out).contiguous(), config, 32);
  return set;
}

DataSet open_mnist(const std::string& dir, const RunConfig& config) {
  using data::datasets::MNIST;
  const MNIST train(dir, MNIST::Mode::kTrain);
  const MNIST test(dir, MNIST::Mode::kTest);
  DataSet set;
  set.outputs = 10;
  set.classes = numbered(10);
  set.usual_epochs = 5;
  set_pairs(set, normalise_images(train.images(), 1), train.targets(), normalise_images(test.images(), 1), test.targets(), config,
            64);
  return set;
}

DataSet open_cifar(const std::string& dir, const RunConfig& config) {
  const data::datasets::Cifar train(dir, true);
  const data::datasets::Cifar test(dir, false);
  const double maximum = train.images().is_floating_point() ? 1 : 255;
  DataSet set;
  set.outputs = train.classes();
  set.classes = numbered(set.outputs);
  set_pairs(set, normalise_images(train.images(), maximum), train.targets(), normalise_images(test.images(), maximum),
            test.targets(), config, 128);
  return set;
}

DataSet open_folder(const std::string& dir, const RunConfig& config) {
  data::datasets::ImageFolder folder(dir);
  const int64_t size = config.image_size > 0 ? config.image_size : 64;
  const auto n = static_cast<int64_t>(*folder.size());
  // Folders that fit in memory are read once, at the model's size.
  std::vector<Tensor> images;
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < n; ++i) {
    const auto sample = folder.get(static_cast<size_t>(i));
    const Tensor image = sample.data.dim() == 3 ? sample.data : sample.data.unsqueeze(0);
    images.push_back(io::resize_image(image, size, size).to(kFloat));
    targets.push_back(folder.target(static_cast<size_t>(i)));
  }
  const Tensor x = normalise_images(taeda::stack(images, 0), 255);
  Tensor y = taeda::empty(IntArrayRef(n), TensorOptions(kLong));
  std::copy(targets.begin(), targets.end(), y.data_ptr<int64_t>());
  const auto [train, val] = fifths(n);
  DataSet set;
  set.classes = folder.classes();
  set.outputs = static_cast<int64_t>(set.classes.size());
  set_pairs(set, x.index_select(0, train), y.index_select(0, train), x.index_select(0, val), y.index_select(0, val), config, 32);
  return set;
}

DataSet open_csv(const std::string& file, const RunConfig& config) {
  TAEDA_CHECK_VALUE(!config.target.empty(), "[data] csv needs the column to predict: got none; add --target COLUMN");
  const data::CsvTable table = data::read_csv(file);
  DataSet set;
  set.encoder = data::TableEncoder(table, config.target);
  set.usual_epochs = 100;
  set.task = set.encoder.is_classification() ? Task::kClassification : Task::kRegression;
  set.classes = set.encoder.classes();
  set.outputs = set.encoder.is_classification() ? static_cast<int64_t>(set.classes.size()) : 1;
  const Tensor x = set.encoder.features(table);
  const Tensor y = set.encoder.targets(table);
  const auto [train, val] = fifths(x.size(0));
  set_pairs(set, x.index_select(0, train), y.index_select(0, train), x.index_select(0, val), y.index_select(0, val), config, 32);
  return set;
}

DataSet open_text(const std::string& file, const RunConfig& config) {
  const std::string text = data::read_text(file);
  DataSet set;
  set.task = Task::kLanguage;
  set.usual_epochs = 1;
  set.vocabulary = data::CharVocabulary(text);
  set.outputs = static_cast<int64_t>(set.vocabulary.size());
  const Tensor tokens = set.vocabulary.encode(text);
  const int64_t split = tokens.size(0) * 9 / 10;
  set.input_shape = {config.block};
  using data::datasets::TextDataset;
  // Validation goes through the held-out part once, in windows that do not overlap.
  const int64_t windows = (tokens.size(0) - split - 1) / config.block;
  TAEDA_CHECK_VALUE(windows > 0, "[data] the text must be longer than ten windows: got ", tokens.size(0), " characters for a block of ",
                    config.block, "; use a smaller --block");
  const auto held_out = [&](int64_t shift) {
    return tokens.slice(0, split + shift, split + shift + windows * config.block).reshape({windows, config.block}).contiguous();
  };
  set_loaders(set, TextDataset(tokens.slice(0, 0, split).contiguous(), config.block),
              data::datasets::TensorPairDataset(held_out(0), held_out(1)), config, 12);
  return set;
}

}  // namespace

Tensor normalise_images(const Tensor& images, double maximum) { return (images.to(kFloat) / maximum - 0.25) / 0.35; }

DataSet open_data(const RunConfig& config) {
  const size_t colon = config.data.find(':');
  const std::string kind = config.data.substr(0, colon);
  const std::string place = colon == std::string::npos ? "" : config.data.substr(colon + 1);
  TAEDA_CHECK_VALUE(kind == "digits" || !place.empty(), "[data] the data must be named with its place: got \"", config.data,
                    "\"; write for example mnist:DIR, csv:FILE or text:FILE");
  if (kind == "digits") return open_digits(config);
  if (kind == "mnist") return open_mnist(place, config);
  if (kind == "cifar") return open_cifar(place, config);
  if (kind == "folder") return open_folder(place, config);
  if (kind == "csv") return open_csv(place, config);
  if (kind == "text") return open_text(place, config);
  TAEDA_CHECK_VALUE(false, "[data] unknown kind of data: got \"", kind,
                    "\"; use digits, mnist:DIR, cifar:DIR, folder:DIR, csv:FILE or text:FILE");
  return {};
}

}  // namespace taeda::cli
