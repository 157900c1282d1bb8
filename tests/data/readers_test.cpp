// SPDX-License-Identifier: Apache-2.0
// Readers of data sets: IDX, CIFAR, image folders, CSV, text; and augmentations.
#include <cmath>

#include "taeda/data/data.h"
#include "taeda/data/gzip.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

using namespace taeda::data;  // NOLINT

std::string digits(const std::string& name) { return std::string(TAEDA_DIGITS_DIR) + "/" + name; }

std::string idx(const std::vector<unsigned char>& head, size_t n) {
  return std::string(head.begin(), head.end()) + std::string(n, '\1');
}

TEST(Idx, ReadsTheDigits) {
  const Tensor images = read_idx(digits("images-idx3-ubyte.gz")), labels = read_idx(digits("labels-idx1-ubyte.gz"));
  EXPECT_EQ(images.sizes(), (IntArrayRef{1797, 8, 8}));
  EXPECT_EQ(labels.sizes(), (IntArrayRef{1797}));
  EXPECT_EQ(values<uint8_t>(labels)[3], 3);
  EXPECT_EQ(values<uint8_t>(images)[2], 5);
}

TEST(Idx, ReadsBigEndianNumbers) {
  const Tensor numbers = read_idx(*io::make_source(idx({0, 0, 0x0c, 1, 0, 0, 0, 2}, 0) + std::string("\0\0\1\2\xff\xff\xff\xfe", 8)));
  EXPECT_EQ(values<int32_t>(numbers), (std::vector<int32_t>{258, -2}));
}

TEST(Idx, NamesTheFault) {
  expect_io_error([] { read_idx(*io::make_source(idx({0, 0, 8, 1, 0, 0, 0, 5}, 4))); }, "need more bytes than the file can hold");
  expect_io_error([] { read_idx(*io::make_source(idx({0, 0, 8, 1, 0, 0, 0, 5}, 6))); }, "data go on after the last element");
  expect_io_error([] { read_idx(*io::make_source(idx({0, 0, 7, 1, 0, 0, 0, 5}, 5))); }, "does not begin as an IDX file");
  expect_io_error([] { read_idx(*io::make_source(idx({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, 6))); }, "need more bytes");
  const std::string labels = io::read_file(digits("labels-idx1-ubyte.gz"));
  for (size_t n = 0; n < labels.size(); n += 7) EXPECT_THROW(read_idx(*io::make_source(labels.substr(0, n))), IoError) << n;
  flip_bits(labels, 2000, [](const io::SourcePtr& source) { read_idx(*source); });
}

TEST(Mnist, ReadsPlainFiles) {
  const TemporaryFolder folder;
  io::write_file(folder / "train-images-idx3-ubyte", idx({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2}, 8));
  io::write_file(folder / "train-labels-idx1-ubyte", idx({0, 0, 8, 1, 0, 0, 0, 2}, 0) + "\7\3");
  datasets::MNIST set(folder / "");
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.is_train());
  EXPECT_EQ(set.images().sizes(), (IntArrayRef{2, 1, 2, 2}));
  EXPECT_EQ(values<float>(set.get(0).data)[0], 1.0f / 255.0f);
  EXPECT_EQ(values<int64_t>(set.get(1).target), std::vector<int64_t>{3});
  expect_io_error([&] { datasets::MNIST(folder / "", datasets::MNIST::Mode::kTest); }, "must hold t10k-images-idx3-ubyte");
  io::write_file(folder / "train-labels-idx1-ubyte", idx({0, 0, 8, 1, 0, 0, 0, 3}, 3));
  expect_io_error([&] { datasets::MNIST(folder / ""); }, "got [2, 2, 2] and [3]");
}

TEST(Cifar, ReadsBothKinds) {
  const TemporaryFolder folder;
  for (int i = 1; i <= 5; ++i) {
    io::write_file(folder / ("data_batch_" + std::to_string(i) + ".bin"), std::string(1, static_cast<char>(i)) + std::string(3072, static_cast<char>(10 * i)));
  }
  datasets::Cifar ten(folder / "");
  EXPECT_EQ(ten.size(), 5u);
  EXPECT_EQ(values<int64_t>(ten.targets()), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(values<uint8_t>(ten.get(2).data)[7], 30);
  expect_io_error([&] { datasets::Cifar(folder / "", false); }, "must hold data_batch_1.bin or train.bin");
  io::write_file(folder / "test.bin", std::string("\2\143", 2) + std::string(3072, 'x'));
  datasets::Cifar hundred(folder / "", false);
  EXPECT_EQ(hundred.classes(), 100);
  EXPECT_EQ(values<int64_t>(hundred.targets()), std::vector<int64_t>{99});
  io::write_file(folder / "data_batch_1.bin", std::string(3072, 'x'));
  expect_io_error([&] { datasets::Cifar(folder / ""); }, "data_batch_1.bin must consist of rows of 3073 bytes");
}

TEST(ImageFolder, FindsClassesAndImages) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "dog/inner");
  std::filesystem::create_directories(folder / "cat");
  std::filesystem::copy(fixture("color.png"), folder / "dog/b.PNG");
  std::filesystem::copy(fixture("color.jpg"), folder / "dog/inner/a.jpg");
  std::filesystem::copy(fixture("gray.png"), folder / "cat/c.png");
  io::write_file(folder / "cat/notes.txt", "not an image");
  datasets::ImageFolder set(folder / "");
  EXPECT_EQ(set.classes(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.get(0).data.sizes(), (IntArrayRef{3, 12, 20}));
  EXPECT_EQ(values<int64_t>(set.get(2).target), std::vector<int64_t>{1});

  io::write_file(folder / "dog/z.jpg", io::read_file(fixture("color.jpg")).substr(0, 400));
  auto loader = make_data_loader<samplers::SequentialSampler>(datasets::ImageFolder(folder / "").map(transforms::RandomResizedCrop<>(8)).map(transforms::ToFloat<>())
                                                                  .map(transforms::Stack<>()), DataLoaderOptions().batch_size(2).workers(2));
  size_t batches = 0;
  try {
    for (auto& batch : *loader) batches += batch.data.sizes() == IntArrayRef{2, 3, 8, 8};
    ADD_FAILURE() << "no exception";
  } catch (const WorkerException& error) {
    EXPECT_EQ(error.sample_index, 3u);
    EXPECT_NE(error.message.find("z.jpg"), std::string::npos) << error.message;
  }
  EXPECT_EQ(batches, 1u);
  std::filesystem::create_directory(folder / "empty");
  expect_io_error([&] { datasets::ImageFolder(folder / ""); }, "got none in");
  expect_io_error([&] { datasets::ImageFolder(folder / "cat"); }, "one folder a class");
  expect_io_error([&] { datasets::ImageFolder(folder / "missing"); }, "cannot be read");
}

TEST(Csv, ReadsTypesQuotesAndMissingValues) {
  const CsvTable table = parse_csv("\xef\xbb\xbfname,size,\"a, b\"\r\nx,1.5,\"say \"\"yes\"\"\"\r\n\"line\nend\",NA,\r\n y , -2e1 ,\"NA\"\r\n", "t.csv");
  EXPECT_EQ(table.names(), (std::vector<std::string>{"name", "size", "a, b"}));
  EXPECT_EQ(table.rows, 3u);
  EXPECT_EQ(table.at("name").texts, (std::vector<std::string>{"x", "line\nend", "y"}));
  EXPECT_TRUE(table.at("size").numeric);
  EXPECT_EQ(table.at("size").numbers[2], -20.0);
  EXPECT_TRUE(std::isnan(table.at("size").numbers[1]));
  EXPECT_EQ(table.at("a, b").texts, (std::vector<std::string>{"say \"yes\"", "", "NA"}));
  EXPECT_THROW(table.at("colour"), ValueError);
}

TEST(Csv, FindsHeaderAndDelimiter) {
  EXPECT_EQ(parse_csv("1;2\n3;4\n", "t").names(), (std::vector<std::string>{"column1", "column2"}));
  EXPECT_EQ(parse_csv("a\tb\n3\t4", "t").rows, 1u);
  EXPECT_EQ(parse_csv("a,b\n", "t").rows, 0u);
  EXPECT_EQ(parse_csv("1,2\n", "t", {.delimiter = ',', .header = true}).names(), (std::vector<std::string>{"1", "2"}));
}

TEST(Csv, NamesTheFault) {
  expect_io_error([] { parse_csv("a,b\n1,2\n\n3\n", "t.csv"); }, "t.csv line 4: a row must have 2 fields as the first one does: got 1");
  expect_io_error([] { parse_csv("a,b\n1,\"2\n", "t.csv"); }, "t.csv line 2: a quoted field has no end");
  expect_io_error([] { parse_csv("a,b\n1,\"2\"x\n", "t.csv"); }, "text follows a quoted field");
  expect_io_error([] { parse_csv("a,a\n1,2\n", "t.csv"); }, "two columns have the name 'a'");
  expect_io_error([] { parse_csv("", "t.csv"); }, "holds no rows");
}

TEST(Csv, EncodesClassification) {
  const CsvTable table = parse_csv("color,size,kind\nred,1,b\nblue,3,a\n,NA,b\nred,2,\n", "t");
  const TableEncoder encoder(table, "kind");
  EXPECT_TRUE(encoder.is_classification());
  EXPECT_EQ(encoder.classes(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(encoder.feature_names(), (std::vector<std::string>{"color=blue", "color=red", "size"}));
  const float s = std::sqrt(2.0f / 3.0f);
  const auto features = values<float>(encoder.features(table));
  EXPECT_EQ(std::vector<float>(features.begin(), features.begin() + 2), (std::vector<float>{0, 1}));
  EXPECT_FLOAT_EQ(features[2], -1 / s);
  EXPECT_EQ(std::vector<float>(features.begin() + 6, features.begin() + 9), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(encoder.rows_with_target(table), (std::vector<size_t>{0, 1, 2}));
  EXPECT_THROW(encoder.targets(table), ValueError);
  const TableEncoder again = TableEncoder::from_value(encoder.to_value());
  const CsvTable other = parse_csv("size,kind,color\n2,a,green\n", "t");
  EXPECT_EQ(values<float>(again.features(other)), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(values<int64_t>(again.targets(other)), std::vector<int64_t>{0});
  EXPECT_THROW(again.features(parse_csv("size,kind\n2,a\n", "t")), ValueError);
  EXPECT_THROW(again.targets(parse_csv("size,kind\n2,c\n", "t")), ValueError);
  EXPECT_THROW(TableEncoder(table, "none"), ValueError);
  EXPECT_THROW(TableEncoder::from_value(Value(1)), ValueError);
}

TEST(Csv, EncodesRegression) {
  const CsvTable table = parse_csv("x,y\n1,10.5\n2,20.5\n3,30.5\n", "t");
  const TableEncoder encoder(table, "y");
  EXPECT_FALSE(encoder.is_classification());
  const auto targets = values<float>(encoder.targets(table));
  EXPECT_NEAR(encoder.unscale(targets[2]), 30.5, 1e-5);
  EXPECT_TRUE(TableEncoder(parse_csv("x,y\n1,0\n2,1\n", "t"), "y").is_classification());
  EXPECT_FALSE(TableEncoder(parse_csv("x,y\n1,0\n2,1\n", "t"), "y", CsvTask::kRegression).is_classification());
}

TEST(Text, EncodesCharactersAndGivesWindows) {
  const std::string text = "grün, grün";
  const CharVocabulary vocabulary(text);
  EXPECT_EQ(vocabulary.characters(), (std::vector<std::string>{" ", ",", "g", "n", "r", "ü"}));
  const Tensor tokens = vocabulary.encode(text);
  EXPECT_EQ(tokens.sizes(), (IntArrayRef{10}));
  EXPECT_EQ(vocabulary.decode(tokens), text);
  EXPECT_EQ(CharVocabulary::from_value(vocabulary.to_value()).decode(tokens), text);
  EXPECT_THROW(vocabulary.encode("x"), ValueError);
  EXPECT_THROW(CharVocabulary("\xff"), ValueError);
  datasets::TextDataset set(tokens, 4);
  EXPECT_EQ(set.size(), 6u);
  const Example<> sample = set.get(1), batch = set.get_stacked(std::vector<size_t>{1, 5});
  EXPECT_EQ(vocabulary.decode(sample.data), "rün,");
  EXPECT_EQ(vocabulary.decode(sample.target), "ün, ");
  EXPECT_EQ(batch.data.sizes(), (IntArrayRef{2, 4}));
  EXPECT_EQ(vocabulary.decode(batch.target), "ün, grün");
  EXPECT_THROW(set.get(6), IndexError);
  EXPECT_THROW(datasets::TextDataset(tokens, 10), ValueError);
}

TEST(Augmentation, IsDecidedByTheScopeAlone) {
  const Tensor image = io::load_image(fixture("color.png"));
  const auto run = [&](uint64_t epoch, uint64_t batch) {
    const RandomScope scope(1, epoch, batch);
    transforms::RandomCrop<> crop(10, 2);
    transforms::RandomHorizontalFlip<> flip;
    transforms::ColorJitter<> jitter(0.5, 0.5, 0.5, 0.2);
    transforms::RandomResizedCrop<> resized(9);
    return values<uint8_t>(resized(jitter(flip(crop(image)))));
  };
  EXPECT_EQ(run(0, 0), run(0, 0));
  EXPECT_NE(run(0, 0), run(0, 1));
  EXPECT_NE(run(0, 0), run(1, 0));
}

TEST(Augmentation, KeepsSizesAndBounds) {
  const Tensor image = io::load_image(fixture("color.png"));  // 12 x 20
  for (uint64_t i = 0; i < 200; ++i) {
    const RandomScope scope(2, 0, i);
    EXPECT_EQ(transforms::RandomCrop<>(12, 3)(image).sizes(), (IntArrayRef{3, 12, 12}));
    EXPECT_EQ(transforms::RandomResizedCrop<>(5, {0.01, 1.0})(image).sizes(), (IntArrayRef{3, 5, 5}));
    EXPECT_EQ(transforms::RandomResizedCrop<>(5, {1.0, 1.0}, {3.0, 4.0})(image).sizes(), (IntArrayRef{3, 5, 5}));
  }
  EXPECT_EQ(transforms::Resize<>(6)(image).sizes(), (IntArrayRef{3, 6, 10}));
  EXPECT_EQ(transforms::Resize<>(6, 7)(image).sizes(), (IntArrayRef{3, 6, 7}));
  EXPECT_EQ(transforms::CenterCrop<>(6)(image).sizes(), (IntArrayRef{3, 6, 6}));
  EXPECT_THROW(transforms::RandomCrop<>(13)(image), ValueError);
  EXPECT_EQ(transforms::ToFloat<>({0.5}, {0.5})(image).scalar_type(), kFloat);
}

TEST(Random, IsUniform) {
  Random random(5);
  std::vector<int> counts(10);
  for (int i = 0; i < 100000; ++i) ++counts[static_cast<size_t>(random.below(10))];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) sum += random.uniform(2, 4);
  EXPECT_NEAR(sum / 100000, 3, 0.01);
}

}  // namespace
}  // namespace taeda::test
