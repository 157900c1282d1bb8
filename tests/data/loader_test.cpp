// SPDX-License-Identifier: Apache-2.0
// Loaders: batches, order, threads, failures, leaving early, and going on in the middle of an epoch.
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>

#include "taeda/core/generator.h"
#include "taeda/data/data.h"
#include "taeda/io/serialize.h"
#include "taeda/ops/functions.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

using namespace taeda::data;  // NOLINT
using datasets::TensorDataset;
using datasets::TensorPairDataset;
using samplers::RandomSampler;
using samplers::SequentialSampler;
using transforms::Stack;

Tensor ramp(int64_t rows, int64_t columns) {
  std::vector<float> numbers(static_cast<size_t>(rows * columns));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return make<float>({rows, columns}, numbers);
}

/// Sample i is i; one of them throws, and each takes a while.
struct Numbers : datasets::Dataset<Numbers> {
  explicit Numbers(size_t n, std::chrono::milliseconds delay = {}, size_t bad = SIZE_MAX, std::shared_ptr<std::atomic<int>> alive = {})
      : count(n), delay(delay), bad(bad), alive(std::move(alive)) {}
  Example<> get(size_t index) override {
    std::this_thread::sleep_for(delay);
    if (index == bad) throw std::runtime_error("no such picture");
    return {make<float>({1}, {static_cast<float>(index)}), make<int64_t>({}, {static_cast<int64_t>(index)})};
  }
  std::optional<size_t> size() const override { return count; }
  size_t count;
  std::chrono::milliseconds delay;
  size_t bad;
  std::shared_ptr<std::atomic<int>> alive;
};

template <class Loader>
std::vector<int64_t> targets_of_epoch(Loader& loader) {
  std::vector<int64_t> all;
  for (auto& batch : loader) {
    const auto part = values<int64_t>(batch.target);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(DataLoader, GivesWholeBatchesOfTensors) {
  auto loader = make_data_loader<SequentialSampler>(TensorDataset(ramp(10, 2)).map(Stack<TensorExample>()), 4);
  std::vector<int64_t> sizes;
  std::vector<float> seen;
  for (auto& batch : *loader) {
    sizes.push_back(batch.data.size(0));
    const auto part = values<float>(batch.data);
    seen.insert(seen.end(), part.begin(), part.end());
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(seen, values<float>(ramp(10, 2)));
  EXPECT_EQ(loader->size(), 3u);
}

TEST(DataLoader, DropsTheShortLastBatchWhenAsked) {
  auto loader = make_data_loader<SequentialSampler>(TensorDataset(ramp(10, 2)).map(Stack<TensorExample>()),
                                                    DataLoaderOptions().batch_size(4).drop_last(true));
  size_t batches = 0;
  for (auto& batch : *loader) batches += batch.data.size(0) == 4;
  EXPECT_EQ(batches, 2u);
  EXPECT_EQ(loader->size(), 2u);
}

TEST(DataLoader, WithoutATransformABatchIsAListOfSamples) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(5), 2);
  std::vector<size_t> sizes;
  for (std::vector<Example<>>& batch : *loader) sizes.push_back(batch.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 2, 1}));
}

TEST(DataLoader, RandomOrderIsTheDefaultGeneratorsPermutation) {
  manual_seed(7);
  auto loader = make_data_loader(TensorPairDataset(ramp(20, 1), make<int64_t>({20}, [] {
    std::vector<int64_t> v(20);
    std::iota(v.begin(), v.end(), 0);
    return v;
  }())).map(Stack<>()), 6);
  const std::vector<int64_t> first = targets_of_epoch(*loader), second = targets_of_epoch(*loader);
  manual_seed(7);
  taeda::randperm(20);  // drawn by the sampler's constructor
  EXPECT_EQ(first, values<int64_t>(taeda::randperm(20)));
  EXPECT_EQ(second, values<int64_t>(taeda::randperm(20)));
}

TEST(DataLoader, BatchWiseAndSampleWiseAgree) {
  const Tensor images = ramp(6, 12).view({6, 3, 2, 2});
  const Tensor targets = make<int64_t>({6}, {0, 1, 2, 3, 4, 5});
  TensorPairDataset set(images, targets);
  transforms::Normalize<> normalize({1.0, 2.0, 3.0}, {0.5});
  const std::vector<size_t> indices = {5, 0, 3};
  auto fast = set.map(normalize).map(Stack<>());
  const Example<> whole = fast.get_batch(indices);
  const Example<> single = Stack<>().apply_batch(normalize.apply_batch(set.get_batch(indices)));
  EXPECT_EQ(values<float>(whole.data), values<float>(single.data));
  EXPECT_EQ(values<int64_t>(whole.target), values<int64_t>(single.target));
  EXPECT_EQ(whole.data.sizes(), (IntArrayRef{3, 3, 2, 2}));
}

TEST(DataLoader, ThreadsKeepTheOrder) {
  for (const size_t workers : {1u, 2u, 5u}) {
    auto loader = make_data_loader<SequentialSampler>(Numbers(101).map(Stack<>()), DataLoaderOptions().batch_size(3).workers(workers));
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> expected(101);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(targets_of_epoch(*loader), expected);
    }
  }
}

TEST(DataLoader, WithoutOrderEverySampleComesOnce) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(100).map(Stack<>()),
                                                    DataLoaderOptions().batch_size(3).workers(4).enforce_ordering(false));
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto seen = targets_of_epoch(*loader);
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 100u);
  }
}

TEST(DataLoader, AFailedSampleReachesTheConsumerWithItsNumberWithinASecond) {
  for (const size_t workers : {1u, 3u}) {
    auto loader = make_data_loader<SequentialSampler>(Numbers(1000, {}, 37).map(Stack<>()), DataLoaderOptions().batch_size(8).workers(workers));
    const auto start = std::chrono::steady_clock::now();
    size_t batches = 0;
    try {
      for (auto& batch : *loader) batches += batch.data.defined();
      ADD_FAILURE() << "no exception";
    } catch (const WorkerException& error) {
      EXPECT_EQ(error.sample_index, 37u);
      EXPECT_NE(error.message.find("at sample 37"), std::string::npos) << error.message;
      EXPECT_NE(error.message.find("no such picture"), std::string::npos) << error.message;
      EXPECT_THROW(std::rethrow_exception(error.original_exception), std::runtime_error);
    }
    EXPECT_EQ(batches, 4u);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    loader.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  }
}

TEST(DataLoader, AFailedTransformNamesTheSampleToo) {
  auto fails = transforms::Lambda<Example<>>([](Example<> sample) {
    if (sample.target.item<int64_t>() == 11) TAEDA_CHECK(false, "[test] bad sample");
    return sample;
  });
  auto threads = make_data_loader<SequentialSampler>(Numbers(20).map(fails).map(Stack<>()), DataLoaderOptions().batch_size(4).workers(2));
  try {
    targets_of_epoch(*threads);
    ADD_FAILURE() << "no exception";
  } catch (const WorkerException& error) {
    EXPECT_EQ(error.sample_index, 11u);
  }
  auto plain = make_data_loader<SequentialSampler>(Numbers(20).map(fails).map(Stack<>()), 4);
  try {
    targets_of_epoch(*plain);
    ADD_FAILURE() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "while getting sample 11: [test] bad sample");
  }
  auto other = make_data_loader<SequentialSampler>(Numbers(20, {}, 3).map(Stack<>()), 4);
  EXPECT_THROW(targets_of_epoch(*other), std::runtime_error);
}

TEST(DataLoader, AfterAFailureTheLoaderGoesOnAndBeginsAnew) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(20, {}, 5).map(Stack<>()), DataLoaderOptions().batch_size(4).workers(2));
  for (int epoch = 0; epoch < 3; ++epoch) EXPECT_THROW(targets_of_epoch(*loader), WorkerException);
}

TEST(DataLoader, LeavingEarlyLeaksAndHangsNothing) {
  auto alive = std::make_shared<std::atomic<int>>(0);
  for (const size_t workers : {0u, 1u, 4u}) {
    const auto start = std::chrono::steady_clock::now();
    {
      auto loader = make_data_loader<SequentialSampler>(Numbers(100000, std::chrono::milliseconds(1), SIZE_MAX, alive).map(Stack<>()),
                                                        DataLoaderOptions().batch_size(64).workers(workers));
      for (int epoch = 0; epoch < 2; ++epoch) {
        for (auto& batch : *loader) {
          EXPECT_EQ(values<int64_t>(batch.target)[0], 0);
          break;
        }
      }
      EXPECT_NE(loader->begin(), loader->end());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
    EXPECT_EQ(alive.use_count(), 1);  // every copy of the data set is gone
  }
}

TEST(DataLoader, OnlyTheNewestIteratorGoesOn) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(10).map(Stack<>()), 2);
  auto first = loader->begin();
  EXPECT_EQ(values<int64_t>(first->target)[0], 0);
  auto second = loader->begin();
  EXPECT_EQ(values<int64_t>(second->target)[0], 0);
  EXPECT_THROW(++first, Error);
  loader->join();
  EXPECT_THROW(loader->begin(), Error);
}

TEST(DataLoader, TimesOut) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(4, std::chrono::milliseconds(400)).map(Stack<>()),
                                                    DataLoaderOptions().batch_size(2).workers(1).timeout(std::chrono::milliseconds(20)));
  EXPECT_THROW(targets_of_epoch(*loader), Error);
}

/// A noisy loader: random order and a random number added to each sample.
auto noisy_loader(size_t workers) {
  return make_data_loader(Numbers(50).map(transforms::TensorLambda<>([](Tensor x) {
                                         return make<float>({1}, {values<float>(x)[0] + static_cast<float>(current_random().uniform())});
                                       })).map(Stack<>()),
                          DataLoaderOptions().batch_size(7).workers(workers));
}

std::vector<std::vector<float>> all_batches(size_t workers, int epochs) {
  manual_seed(3);
  auto loader = noisy_loader(workers);
  std::vector<std::vector<float>> batches;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (auto& batch : *loader) batches.push_back(values<float>(batch.data));
  }
  return batches;
}

TEST(DataLoader, RandomTransformsDoNotDependOnThreads) {
  const auto plain = all_batches(0, 2);
  EXPECT_EQ(all_batches(1, 2), plain);
  EXPECT_EQ(all_batches(4, 2), plain);
  EXPECT_NE(plain[0], plain[8]);
}

TEST(DataLoader, GoesOnExactlyWhereItWasSaved) {
  const auto unbroken = all_batches(0, 3);
  for (const size_t workers : {0u, 2u}) {
    for (size_t stop = 1; stop <= 16; ++stop) {  // 8 batches an epoch: also after the last one of an epoch
      manual_seed(3);
      auto loader = noisy_loader(workers);
      std::stringstream saved;
      Tensor generator;
      std::vector<std::vector<float>> batches;
      while (batches.size() < stop) {
        for (auto& batch : *loader) {
          batches.push_back(values<float>(batch.data));
          if (batches.size() == stop) break;
        }
      }
      save(loader, saved);
      generator = default_generator().get_state();

      manual_seed(99);
      auto fresh = noisy_loader(2 - workers);
      load(fresh, saved);
      default_generator().set_state(generator);
      for (size_t epoch = (stop - 1) / 8; epoch < 3; ++epoch) {
        for (auto& batch : *fresh) batches.push_back(values<float>(batch.data));
      }
      ASSERT_EQ(batches, unbroken) << "stopped after " << stop << " batches with " << workers << " workers";
    }
  }
}

TEST(DataLoader, SavedBetweenEpochsTheNextOneIsNew) {
  manual_seed(3);
  auto loader = noisy_loader(0);
  std::stringstream before, after;
  save(loader, before);
  EXPECT_EQ(targets_of_epoch(*loader).size(), 50u);
  save(loader, after);
  load(loader, after);
  EXPECT_EQ(targets_of_epoch(*loader).size(), 50u);
  load(loader, before);
  EXPECT_EQ(targets_of_epoch(*loader).size(), 50u);
}

/// Gives 10 batches an epoch.
struct Stream : datasets::StatefulDataset<Stream> {
  std::optional<std::vector<Example<>>> get_batch(size_t size) override {
    if (given == 10) return std::nullopt;
    std::vector<Example<>> batch(size, {make<float>({1}, {static_cast<float>(given)}), make<int64_t>({}, {0})});
    ++given;
    return batch;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override { given = 0; }
  void save(serialize::OutputArchive&) const override {}
  void load(serialize::InputArchive&) override {}
  int given = 0;
};

TEST(DataLoader, StatefulDataSetsDecideThemselves) {
  auto loader = make_data_loader(Stream().map(Stack<>()), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    size_t batches = 0;
    for (auto& batch : *loader) batches += batch.data.size(0) == 3;
    EXPECT_EQ(batches, 10u);
  }
}

TEST(DataLoader, SharedDataSetsAreNotCopied) {
  auto shared = datasets::make_shared_dataset<Numbers>(10);
  shared->count = 6;
  auto loader = make_data_loader<SequentialSampler>(shared.map(Stack<>()), DataLoaderOptions().batch_size(4).workers(2));
  EXPECT_EQ(targets_of_epoch(*loader).size(), 6u);
}

/// Chunk c holds the numbers 10c … 10c + 9; one of them cannot be read.
struct Chunks : datasets::ChunkDataReader<Example<>> {
  explicit Chunks(size_t bad = SIZE_MAX) : bad(bad) {}
  std::vector<Example<>> read_chunk(size_t chunk) override {
    if (chunk == bad) throw std::runtime_error("bad chunk");
    std::this_thread::sleep_for(std::chrono::milliseconds((chunk * 7) % 5));
    std::vector<Example<>> samples;
    for (size_t i = 0; i < 10; ++i) samples.push_back({make<float>({1}, {0}), make<int64_t>({}, {static_cast<int64_t>(10 * chunk + i)})});
    return samples;
  }
  size_t chunk_count() override { return 8; }
  void reset() override {}
  size_t bad;
};

TEST(ChunkDataset, GivesEverySampleOnceInAnOrderOfItsOwn) {
  for (const size_t preloaders : {1u, 3u}) {
    datasets::ChunkDataset<Chunks, SequentialSampler, SequentialSampler> set(Chunks(), SequentialSampler(8), SequentialSampler(10),
                                                                             datasets::ChunkDatasetOptions(preloaders, 7, 7));
    auto loader = make_data_loader(std::move(set).map(Stack<>()), DataLoaderOptions(7));
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<int64_t> expected(80);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(targets_of_epoch(*loader), expected);
    }
    loader->begin();  // left at once
  }
  datasets::ChunkDataset<Chunks> random(Chunks(), RandomSampler(8), RandomSampler(10), datasets::ChunkDatasetOptions(2, 9, 20, 3));
  random.reset();
  std::set<int64_t> seen;
  while (auto batch = random.get_batch()) {
    for (const Example<>& sample : *batch) seen.insert(values<int64_t>(sample.target)[0]);
  }
  EXPECT_EQ(seen.size(), 80u);
  EXPECT_THROW(random.get_batch(5), ValueError);
}

TEST(ChunkDataset, AFailedChunkReachesTheConsumer) {
  datasets::ChunkDataset<Chunks, SequentialSampler, SequentialSampler> set(Chunks(3), SequentialSampler(8), SequentialSampler(10),
                                                                           datasets::ChunkDatasetOptions(2, 10));
  set.reset();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(set.get_batch());
  EXPECT_THROW(set.get_batch(), std::runtime_error);
}

TEST(AnyLoader, HidesTheKindOfLoader) {
  AnyLoader loader = make_data_loader<SequentialSampler>(Numbers(10).map(Stack<>()), 4);
  EXPECT_EQ(loader.size(), 3u);
  EXPECT_TRUE(loader.can_be_saved());
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> sizes;
    loader.begin();
    while (auto batch = loader.next()) sizes.push_back(batch->data.size(0));
    EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  }
  loader.begin();
  loader.next();
  EXPECT_EQ(loader.delivered(), 1u);
  std::stringstream saved;
  save(loader, saved);
  AnyLoader other = make_data_loader<SequentialSampler>(Numbers(10).map(Stack<>()), 4);
  load(other, saved);
  other.begin();
  EXPECT_EQ(other.delivered(), 1u);
  EXPECT_EQ(values<int64_t>(other.next()->target)[0], 4);
  AnyLoader stream = make_data_loader(Stream().map(Stack<>()), 3);
  EXPECT_FALSE(stream.can_be_saved());
  AnyLoader plain = make_data_loader<SequentialSampler>(TensorDataset(ramp(4, 2)).map(Stack<TensorExample>()), 4);
  plain.begin();
  EXPECT_FALSE(plain.next()->target.defined());
}

TEST(Samplers, DistributedOnesDivideTheSamples) {
  for (const size_t size : {10u, 12u, 7u}) {
    std::multiset<size_t> all, strict;
    for (size_t rank = 0; rank < 3; ++rank) {
      samplers::DistributedRandomSampler sampler(size, 3, rank), exact(size, 3, rank, /*allow_duplicates=*/false);
      samplers::DistributedSequentialSampler sequential(size, 3, rank);
      const auto part = sampler.next(100);
      ASSERT_TRUE(part);
      EXPECT_EQ(part->size(), (size + 2) / 3);
      all.insert(part->begin(), part->end());
      if (auto e = exact.next(100)) strict.insert(e->begin(), e->end());
      EXPECT_EQ(sequential.next(100)->front(), rank * ((size + 2) / 3) % size);
      EXPECT_FALSE(sampler.next(1));
    }
    for (size_t i = 0; i < size; ++i) EXPECT_GE(all.count(i), 1u);
    for (size_t i = 0; i < size; ++i) EXPECT_LE(strict.count(i), 1u);
    EXPECT_EQ(strict.size(), size / 3 * 3);
  }
  samplers::DistributedRandomSampler a(100), b(100);
  b.set_epoch(1);
  a.reset();
  b.reset();
  EXPECT_NE(a.next(100), b.next(100));
  EXPECT_THROW(samplers::DistributedRandomSampler(4, 2, 2), ValueError);
}

TEST(Samplers, StreamSamplerCountsSamples) {
  samplers::StreamSampler sampler(5);
  EXPECT_EQ(sampler.next(3)->size(), 3u);
  EXPECT_EQ(sampler.next(3)->size(), 2u);
  EXPECT_FALSE(sampler.next(3));
}

TEST(GatherRows, EqualsIndexSelect) {
  const std::vector<size_t> indices = {4, 0, 4, 2};
  for (const int64_t columns : {1, 2, 3, 4, 16, 32, 100, 0}) {
    const Tensor rows = ramp(5, columns);
    const Tensor expected = rows.index_select(0, make<int64_t>({4}, {4, 0, 4, 2}));
    EXPECT_EQ(values<float>(gather_rows(rows, indices)), values<float>(expected));
    EXPECT_EQ(gather_rows(rows, indices).sizes(), (IntArrayRef{4, columns}));
  }
  EXPECT_EQ(values<float>(gather_rows(ramp(5, 3).t(), std::vector<size_t>{1})), (std::vector<float>{1, 4, 7, 10, 13}));
  EXPECT_THROW(gather_rows(ramp(5, 3), std::vector<size_t>{5}), IndexError);
  std::vector<size_t> many(20000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i % 5;
  EXPECT_EQ(values<float>(gather_rows(ramp(5, 100), many))[100 * 19999 + 99], 499.0f);
}

}  // namespace
}  // namespace taeda::test
