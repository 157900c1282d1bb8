// SPDX-License-Identifier: Apache-2.0
// What the program's data rest on: random affine maps, windows of text, tables learned from a part of their rows.
#include <algorithm>
#include <cmath>

#include "taeda/data/data.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

using namespace taeda::data;  // NOLINT

Tensor ramp(int64_t height, int64_t width) { return arange(height * width).to(kFloat).view({1, height, width}); }

TEST(RandomAffine, WithoutRangeChangesNothing) {
  Random random(1);
  const Tensor image = ramp(5, 7);
  EXPECT_TRUE(equal(data::detail::random_affine(image, {}, random), image));
  const Tensor bytes = image.to(kByte);
  EXPECT_TRUE(equal(data::detail::random_affine(bytes, {}, random), bytes));
}

TEST(RandomAffine, MirrorsMovesAndTurns) {
  const Tensor image = ramp(5, 7);
  Random random(1);
  EXPECT_TRUE(allclose(data::detail::random_affine(image, {.flip = 1}, random), image.flip({2}), 1e-5, 1e-5));
  // A plane stays a plane: moved by (dx, dy), its values change by the same amount everywhere inside.
  const Tensor moved = data::detail::random_affine(image, {.translate = 0.8, .fill = 1000}, random);
  const Tensor difference = (image - moved).slice(1, 1, 4).slice(2, 1, 6);
  EXPECT_LT((difference.max() - difference.min()).item<double>(), 1e-3);
  EXPECT_GT(difference.abs().max().item<double>(), 1e-3);
  // What comes from outside is the fill; turned by up to a half circle, the middle stays.
  const Tensor ones = taeda::ones({3, 9, 9});
  for (int i = 0; i < 20; ++i) {
    const Tensor turned = data::detail::random_affine(ones, {.degrees = 180, .scale = 0.5, .shear = 20, .fill = -1}, random);
    EXPECT_EQ(turned[0][4][4].item<float>(), 1);
    EXPECT_LE(turned.max().item<float>(), 1 + 1e-6);
    EXPECT_GE(turned.min().item<float>(), -1 - 1e-6);
    EXPECT_TRUE(equal(turned[0], turned[2]));
  }
}

TEST(RandomAffine, ABatchIsWhatItsSamplesAre) {
  const Tensor images = rand({6, 2, 8, 8});
  const AffineRange range{.degrees = 15, .translate = 1, .scale = 0.1, .flip = 0.5};
  Random one(7), two(7);
  const Tensor batch = data::detail::random_affine(images, range, one);
  for (int64_t i = 0; i < 6; ++i) EXPECT_TRUE(equal(data::detail::random_affine(images[i], range, two), batch[i]));
  EXPECT_FALSE(equal(batch[0], images[0]));
}

TEST(RandomAffine, IsTheSameWithAndWithoutWorkers) {
  const auto epoch = [](size_t workers) {
    manual_seed(5);
    const Tensor images = arange(40 * 16).to(kFloat).view({40, 1, 4, 4});
    auto loader = make_data_loader(datasets::TensorPairDataset(images, arange(40)).map(transforms::RandomAffine<>({.degrees = 20, .translate = 1})).map(transforms::Stack<>()),
                                   DataLoaderOptions(8).workers(workers));
    std::vector<Tensor> all;
    for (int i = 0; i < 2; ++i) {
      for (auto& batch : *loader) all.push_back(batch.data);
    }
    return cat(all);
  };
  const Tensor alone = epoch(0);
  EXPECT_TRUE(equal(alone, epoch(3)));
  EXPECT_FALSE(equal(alone.slice(0, 0, 40), alone.slice(0, 40)));  // other numbers in the second epoch
}

TEST(RandomAffine, RefusesWhatItCannotDo) {
  Random random(1);
  EXPECT_THROW(data::detail::random_affine(ones({4, 4}), {}, random), ValueError);
  EXPECT_THROW(data::detail::random_affine(ones({1, 4, 4}, kLong), {}, random), ValueError);
  EXPECT_THROW(data::detail::random_affine(ones({1, 4, 4}), {.scale = 1}, random), ValueError);
}

TEST(TextBlocks, AnEpochIsOnePassOverTheText) {
  const Tensor tokens = arange(1001);
  datasets::TextBlocks blocks(tokens, 10);
  ASSERT_EQ(*blocks.size(), 100u);
  manual_seed(3);
  auto loader = make_data_loader<samplers::SequentialSampler>(std::move(blocks).map(transforms::Stack<>()), 25);
  std::vector<int64_t> starts;
  for (int epoch = 0; epoch < 2; ++epoch) {
    int64_t number = 0;
    for (auto& batch : *loader) {
      EXPECT_TRUE(equal(batch.data + 1, batch.target));
      EXPECT_TRUE(equal(batch.data.select(1, 9), batch.data.select(1, 0) + 9));
      for (int64_t i = 0; i < batch.data.size(0); ++i, ++number) {
        const int64_t start = batch.data[i][0].item<int64_t>();
        EXPECT_GE(start, number * 10);
        EXPECT_LT(start, number * 10 + 10);
        EXPECT_LE(start, 990);
        starts.push_back(start);
      }
    }
    EXPECT_EQ(number, 100);
  }
  EXPECT_FALSE(std::equal(starts.begin(), starts.begin() + 100, starts.begin() + 100));  // cut elsewhere
  datasets::TextBlocks again(tokens, 10);
  EXPECT_THROW(again.get(100), IndexError);
  EXPECT_THROW(datasets::TextBlocks(tokens.slice(0, 0, 10), 10), ValueError);
}

TEST(TableEncoder, LearnsFromTheTrainingRowsAlone) {
  const CsvTable table = parse_csv("x,kind,y\n1,a,10\n3,a,30\n100,b,1000\n", "t");
  const CsvTable training = table.select({0, 1});
  EXPECT_EQ(training.rows, 2u);
  const TableEncoder encoder(table, training, "y", CsvTask::kRegression);
  EXPECT_EQ(encoder.feature_names(), (std::vector<std::string>{"x", "kind=a"}));
  EXPECT_EQ(encoder.target_mean(), 20);
  EXPECT_EQ(encoder.target_spread(), 10);
  const Tensor features = encoder.features(table);
  EXPECT_EQ(features[0][0].item<float>(), -1);
  EXPECT_EQ(features[2][0].item<float>(), 98);
  EXPECT_EQ(features[2][1].item<float>(), 0);  // a kind that training did not see
  const TableEncoder classes(parse_csv("x,y\n1,a\n2,b\n3,c\n", "t"), parse_csv("x,y\n1,a\n2,b\n", "t"), "y");
  EXPECT_EQ(classes.classes().size(), 3u);
  EXPECT_THROW(table.select({3}), IndexError);
}

}  // namespace
}  // namespace taeda::test
