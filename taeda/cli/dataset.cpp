// SPDX-License-Identifier: Apache-2.0
// Opening of the data named on the command line.
#include "taeda/cli/dataset.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "taeda/cli/digits.h"
#include "taeda/core/parallel.h"
#include "taeda/data/data.h"
#include "taeda/io/file.h"
#include "taeda/io/image.h"
#include "taeda/io/tensor_bytes.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::cli {

namespace {

/// Folders up to this size are held in memory, at the model's size.
constexpr int64_t kMostInMemory = int64_t{2} << 30;

/// What a caller asks of the readers.
struct Request {
  const RunConfig& config;
  const DataInfo* known = nullptr;  ///< of a trained model
  bool whole = false;               ///< all samples for validation
};

template <class TrainData, class ValData>
void set_loaders(DataSet& set, TrainData train, ValData val, const Request& r, size_t workers = 0) {
  set.train_size = static_cast<int64_t>(*train.size());
  set.val_size = static_cast<int64_t>(*val.size());
  TAEDA_CHECK_VALUE(set.val_size > 0 && (r.whole || set.train_size > 0), "[data] ", r.config.data, " must hold samples to train and to validate on: got ",
                    set.train_size, " and ", set.val_size, "; there must be five at least");
  const auto options = data::DataLoaderOptions().batch_size(static_cast<size_t>(r.config.batch_size)).workers(workers);
  if (set.train_size > 0) {
    set.train = train::LoaderRef(data::make_data_loader<data::samplers::RandomSampler>(std::move(train).map(data::transforms::Stack<>()), options));
  }
  set.val = train::LoaderRef(data::make_data_loader<data::samplers::SequentialSampler>(std::move(val).map(data::transforms::Stack<>()), options));
}

/// The range of augmentation: small pictures move by a pixel at most.
data::AffineRange augmentation(const DataSet& set, bool photos) {
  const auto side = static_cast<double>(std::min(set.input_shape[1], set.input_shape[2]));
  data::AffineRange range;
  range.degrees = 10;
  range.translate = std::max(0.5, side / 14);
  range.scale = 0.1;
  range.shear = photos ? 0 : 5;
  range.flip = photos ? 0.5 : 0;
  range.fill = photos ? 0 : -set.mean / set.spread;
  return range;
}

using Pairs = data::datasets::TensorPairDataset;

void set_pairs(DataSet& set, Pairs train, Pairs val, const Request& r) {
  set.input_shape = DimVector(val.data().sizes().slice(1));
  set_loaders(set, std::move(train), std::move(val), r);
}

void set_images(DataSet& set, Pairs train, Pairs val, const Request& r, bool photos) {
  set.input_shape = DimVector(val.data().sizes().slice(1));
  if (!r.config.augment) return set_loaders(set, std::move(train), std::move(val), r);
  set_loaders(set, std::move(train).map(data::transforms::RandomAffine<>(augmentation(set, photos))), std::move(val), r);
}

Tensor scaled(const Tensor& images, double maximum, const DataInfo& info) { return (images.to(kFloat) / maximum - info.mean) / info.spread; }

std::vector<std::string> numbered(int64_t n) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < n; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Numbers of samples: every fifth for validation, the others for training; with `whole` all for validation.
struct Split {
  std::vector<size_t> train, val;
  Split(size_t n, bool whole) {
    for (size_t i = 0; i < n; ++i) (whole || i % 5 == 4 ? val : train).push_back(i);
  }
};

DataSet open_digits(const Request& r) {
  const auto images_file = io::borrow_source(digit_images().data(), digit_images().size(), "digits images");
  const auto labels_file = io::borrow_source(digit_labels().data(), digit_labels().size(), "digits labels");
  DataSet set;
  set.outputs = 10;
  set.classes = numbered(10);
  set.mean = 0.3;
  set.spread = 0.37;
  const Tensor images = scaled(data::read_idx(*images_file).unsqueeze(1), 16, set);
  const Tensor labels = data::read_idx(*labels_file).to(kLong);
  const int64_t n = images.size(0);
  const int64_t held_out = 360;
  set.val_name = "the last 360 digits";
  const auto part = [&](int64_t from, int64_t to) { return Pairs(images.slice(0, from, to).contiguous(), labels.slice(0, from, to).contiguous()); };
  set_images(set, part(0, n - held_out), part(n - held_out, n), r, false);
  return set;
}

DataSet open_mnist(const std::string& dir, const Request& r) {
  using data::datasets::MNIST;
  const MNIST train(dir, MNIST::Mode::kTrain);
  const MNIST test(dir, MNIST::Mode::kTest);
  DataSet set;
  set.outputs = 10;
  set.classes = numbered(10);
  set.mean = 0.13;
  set.spread = 0.31;
  set.val_name = "the test images";
  set_images(set, Pairs(scaled(train.images(), 1, set), train.targets()), Pairs(scaled(test.images(), 1, set), test.targets()), r, false);
  return set;
}

DataSet open_cifar(const std::string& dir, const Request& r) {
  const data::datasets::Cifar train(dir, true);
  const data::datasets::Cifar test(dir, false);
  const double maximum = train.images().is_floating_point() ? 1 : 255;
  DataSet set;
  set.outputs = train.classes();
  set.classes = numbered(set.outputs);
  if (set.outputs == 10) set.classes = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  set.mean = 0.46;
  set.spread = 0.25;
  set.val_name = "the test images";
  set_images(set, Pairs(scaled(train.images(), maximum, set), train.targets()), Pairs(scaled(test.images(), maximum, set), test.targets()), r, true);
  return set;
}

/// Some images of a folder, at the model's size and scale.
class FolderPart : public data::datasets::Dataset<FolderPart> {
 public:
  FolderPart(std::shared_ptr<data::datasets::ImageFolder> folder, std::vector<size_t> numbers, int64_t size, const DataInfo& info)
      : folder_(std::move(folder)), numbers_(std::move(numbers)), size_(size), mean_(info.mean), spread_(info.spread) {}
  data::Example<> get(size_t index) override {
    data::Example<> sample = folder_->get(numbers_.at(index));
    const double mean[] = {mean_}, spread[] = {spread_};
    sample.data = io::image_to_float(io::resize_image(sample.data, size_, size_), mean, spread);
    return sample;
  }
  std::optional<size_t> size() const override { return numbers_.size(); }
  /// All samples at once.
  Pairs in_memory() {
    const auto n = static_cast<int64_t>(numbers_.size());
    Tensor images = make_tensor({n, 3, size_, size_}, kFloat), targets = make_tensor({n}, kLong);
    parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const data::Example<> sample = get(static_cast<size_t>(i));
        const auto bytes = static_cast<size_t>(sample.data.nbytes());
        std::memcpy(io::raw_data(images) + static_cast<size_t>(i) * bytes, sample.data.const_data_ptr<float>(), bytes);
        reinterpret_cast<int64_t*>(io::raw_data(targets))[i] = folder_->target(numbers_[static_cast<size_t>(i)]);
      }
    });
    return {images, targets};
  }

 private:
  std::shared_ptr<data::datasets::ImageFolder> folder_;
  std::vector<size_t> numbers_;
  int64_t size_;
  double mean_, spread_;
};

DataSet open_folder(const std::string& dir, const Request& r) {
  namespace fs = std::filesystem;
  const int64_t size = r.known ? r.known->input_shape[1] : r.config.image_size;
  const io::DecodeOptions decode{.min_height = size, .min_width = size};
  const bool divided = fs::is_directory(fs::path(dir) / "train") && fs::is_directory(fs::path(dir) / "val");
  const auto open = [&](const std::string& root) { return std::make_shared<data::datasets::ImageFolder>(root, decode); };
  const auto train = open(divided ? dir + "/train" : dir);
  const auto val = divided ? open(dir + "/val") : train;
  DataSet set;
  set.classes = train->classes();
  TAEDA_CHECK_VALUE(val->classes() == set.classes, "[data] train and val must have the same classes: got ", set.classes.size(), " and ",
                    val->classes().size(), " in ", dir, "; rename the folders");
  TAEDA_CHECK_VALUE(!r.known || r.known->classes == set.classes, "[data] the folder must have the classes that the model knows: got others in ", dir,
                    "; they were ", r.known ? r.known->classes.size() : 0, " folders");
  set.outputs = static_cast<int64_t>(set.classes.size());
  set.mean = 0.46;
  set.spread = 0.26;
  set.input_shape = {3, size, size};
  Split split(*train->size(), r.whole);
  if (divided) {
    split.train.resize(*train->size());
    split.val.resize(*val->size());
    std::iota(split.train.begin(), split.train.end(), size_t{0});
    std::iota(split.val.begin(), split.val.end(), size_t{0});
  }
  set.val_name = divided ? "the images in val" : r.whole ? "all images" : "every fifth image";
  FolderPart train_part(train, split.train, size, set), val_part(val, split.val, size, set);
  const auto bytes = static_cast<int64_t>(split.train.size() + split.val.size()) * 3 * size * size * 4;
  if (bytes <= kMostInMemory) {
    set_images(set, train_part.in_memory(), val_part.in_memory(), r, true);
  } else if (const auto workers = static_cast<size_t>(get_num_threads()); r.config.augment) {
    set_loaders(set, train_part.map(data::transforms::RandomAffine<>(augmentation(set, true))), val_part, r, workers);
  } else {
    set_loaders(set, train_part, val_part, r, workers);
  }
  return set;
}

DataSet open_csv(const std::string& file, const Request& r) {
  const data::CsvTable all = data::read_csv(file);
  const data::CsvColumn& target = all.at(r.config.target);
  std::vector<size_t> rows;
  for (size_t i = 0; i < all.rows; ++i) {
    if (!target.missing[i]) rows.push_back(i);
  }
  const data::CsvTable table = all.select(rows);
  const Split split(table.rows, r.whole);
  const data::CsvTable train = table.select(split.train), val = table.select(split.val);
  DataSet set;
  const auto task = r.config.task == "regression"       ? data::CsvTask::kRegression
                    : r.config.task == "classification" ? data::CsvTask::kClassification
                                                        : data::CsvTask::kAuto;
  set.encoder = r.known ? r.known->encoder : data::TableEncoder(table, train, r.config.target, task);
  set.task = set.encoder.is_classification() ? Task::kClassification : Task::kRegression;
  set.classes = set.encoder.classes();
  set.outputs = set.encoder.is_classification() ? static_cast<int64_t>(set.classes.size()) : 1;
  set.val_name = r.whole ? "all rows" : "every fifth row";
  set_pairs(set, Pairs(set.encoder.features(train), set.encoder.targets(train)), Pairs(set.encoder.features(val), set.encoder.targets(val)), r);
  return set;
}

DataSet open_text(const std::string& file, const Request& r) {
  const std::string text = data::read_text(file);
  DataSet set;
  set.task = Task::kLanguage;
  set.vocabulary = r.known ? r.known->vocabulary : data::CharVocabulary(text);
  set.outputs = static_cast<int64_t>(set.vocabulary.size());
  const Tensor tokens = set.vocabulary.encode(text);
  const int64_t block = r.config.block;
  const int64_t split = r.whole ? 0 : tokens.size(0) * 9 / 10;
  set.input_shape = {block};
  // Validation goes through the held-out part once, in windows that do not overlap.
  const int64_t windows = (tokens.size(0) - split - 1) / block;
  TAEDA_CHECK_VALUE(windows > 0 && (r.whole || split > block), "[data] the text must be longer than ten windows: got ", tokens.size(0), " characters for a block of ", block,
                    "; use a longer text or a smaller --block");
  const auto held_out = [&](int64_t shift) {
    return tokens.slice(0, split + shift, split + shift + windows * block).reshape({windows, block}).contiguous();
  };
  set.val_name = r.whole ? "the whole text" : "the last tenth of the text";
  Pairs val(held_out(0), held_out(1));
  if (r.whole) set_loaders(set, Pairs(make_tensor({0, block}, kLong), make_tensor({0, block}, kLong)), std::move(val), r);
  else set_loaders(set, data::datasets::TextBlocks(tokens.slice(0, 0, split).contiguous(), block), std::move(val), r);
  return set;
}

DataSet open(const Request& r) {
  const size_t colon = r.config.data.find(':');
  const std::string place = colon == std::string::npos ? "" : r.config.data.substr(colon + 1);
  const std::string kind = data_kind(r.config);
  if (kind == "mnist") return open_mnist(place, r);
  if (kind == "cifar") return open_cifar(place, r);
  if (kind == "folder") return open_folder(place, r);
  if (kind == "csv") return open_csv(place, r);
  if (kind == "text") return open_text(place, r);
  return open_digits(r);
}

}  // namespace

DataSet open_data(const RunConfig& config) { return open({config}); }

DataSet open_eval_data(const RunConfig& config, const DataInfo& known, bool whole) {
  DataSet set = open({config, &known, whole});
  TAEDA_CHECK_VALUE(set.task == known.task && set.input_shape == known.input_shape && set.outputs == known.outputs,
                    "[--data] the data must be of the kind that the model was trained on: got samples ", IntArrayRef(set.input_shape), " for a model of ",
                    IntArrayRef(known.input_shape), "; give data of that kind");
  return set;
}

Tensor example_of(const DataInfo& info) {
  std::vector<int64_t> sizes = {1};
  sizes.insert(sizes.end(), info.input_shape.begin(), info.input_shape.end());
  return taeda::zeros(sizes, TensorOptions(info.task == Task::kLanguage ? kLong : kFloat));
}

Value DataInfo::to_value() const {
  Value::List shape, names;
  for (const int64_t size : input_shape) shape.emplace_back(size);
  for (const std::string& name : classes) names.emplace_back(name);
  Dict dict{{"task", static_cast<int64_t>(task)}, {"input_shape", std::move(shape)}, {"outputs", outputs}, {"classes", std::move(names)},
            {"mean", mean}, {"spread", spread}};
  if (!encoder.target_name().empty()) dict.set(Value("encoder"), encoder.to_value());
  if (vocabulary.size() > 0) dict.set(Value("vocabulary"), vocabulary.to_value());
  return dict;
}

DataInfo DataInfo::from_value(const Value& value) {
  DataInfo info;
  try {
    const Dict& dict = value.dict();
    const int64_t task = dict.at("task").to_int();
    TAEDA_CHECK_VALUE(task >= 0 && task <= 2, "[data] the task must be from 0 to 2: got ", task, "; the file is damaged");
    info.task = static_cast<Task>(task);
    for (const Value& size : dict.at("input_shape").list()) {
      TAEDA_CHECK_VALUE(size.to_int() > 0 && size.to_int() < (1 << 24), "[data] sizes must be positive: got ", size.to_int(), "; the file is damaged");
      info.input_shape.push_back(size.to_int());
    }
    info.outputs = dict.at("outputs").to_int();
    TAEDA_CHECK_VALUE(!info.input_shape.empty() && info.outputs > 0 && info.outputs < (1 << 24), "[data] there must be inputs and outputs: got ",
                      info.input_shape.size(), " dimensions and ", info.outputs, " outputs; the file is damaged");
    for (const Value& name : dict.at("classes").list()) info.classes.push_back(name.string());
    TAEDA_CHECK_VALUE(info.task != Task::kClassification || static_cast<int64_t>(info.classes.size()) == info.outputs,
                      "[data] there must be a name for each class: got ", info.classes.size(), " for ", info.outputs, "; the file is damaged");
    info.mean = dict.at("mean").to_double();
    info.spread = dict.at("spread").to_double();
    if (dict.contains("encoder")) info.encoder = data::TableEncoder::from_value(dict.at("encoder"));
    if (dict.contains("vocabulary")) info.vocabulary = data::CharVocabulary::from_value(dict.at("vocabulary"));
    TAEDA_CHECK_VALUE(info.task != Task::kLanguage || static_cast<int64_t>(info.vocabulary.size()) == info.outputs,
                      "[data] there must be a character for each output: got ", info.vocabulary.size(), " for ", info.outputs, "; the file is damaged");
  } catch (const Error& error) {
    TAEDA_CHECK_IO(false, "[run] the checkpoint's description of its data is damaged: ", error.what());
  }
  return info;
}

}  // namespace taeda::cli
