// SPDX-License-Identifier: Apache-2.0
// Archives, save and load.
#include "taeda/io/serialize.h"

#include <sstream>

#include "taeda/io/pt.h"
#include "taeda/io/safetensors.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

/// Writes itself as a module does: a tensor, a number, a part with a tensor, and a part with nothing.
struct Thing {
  Tensor weight = make<float>({2}, {1, 2});
  Tensor bias = make<double>({1}, {3});
  int64_t steps = 5;
  void save(serialize::OutputArchive& archive) const {
    serialize::OutputArchive part, nothing;
    part.write("bias", bias, true);
    archive.write("weight", weight);
    archive.write("part", part);
    archive.write("nothing", nothing);
    archive.write("steps", steps);
  }
  void load(serialize::InputArchive& archive) {
    serialize::InputArchive part, nothing;
    archive.read("weight", weight);
    archive.read("part", part);
    archive.read("nothing", nothing);
    part.read("bias", bias, true);
    Value value;
    archive.read("steps", value);
    steps = value.to_int();
  }
};

Thing changed() {
  Thing thing;
  thing.weight = make<float>({2}, {7, 8});
  thing.bias = make<double>({1}, {9});
  thing.steps = 6;
  return thing;
}

void expect_changed(const Thing& thing) {
  EXPECT_EQ(values<float>(thing.weight), (std::vector<float>{7, 8}));
  EXPECT_EQ(values<double>(thing.bias), std::vector<double>{9});
  EXPECT_EQ(thing.steps, 6);
}

TEST(Serialize, ObjectsRoundTripThroughFilesStreamsAndMemory) {
  const TemporaryFolder folder;
  save(changed(), folder / "thing.pt");
  Thing from_file;
  load(from_file, folder / "thing.pt");
  expect_changed(from_file);

  std::stringstream stream;
  save(std::make_shared<Thing>(changed()), stream);
  auto from_stream = std::make_shared<Thing>();
  load(from_stream, stream);
  expect_changed(*from_stream);

  const std::string bytes = stream.str();
  Thing from_memory, from_function;
  load(from_memory, bytes.data(), bytes.size());
  expect_changed(from_memory);
  load(from_function, [&](uint64_t place, void* out, size_t n) { return bytes.copy(static_cast<char*>(out), n, place); }, [&] { return bytes.size(); });
  expect_changed(from_function);
}

TEST(Serialize, NestedNamesBecomeAStateDictionary) {
  const TemporaryFolder folder;
  save(Thing(), folder / "thing.pt");
  EXPECT_EQ(io::load_pt(folder / "thing.pt").dict().keys(), (std::vector<std::string>{"weight", "part.bias", "nothing", "steps"}));
}

TEST(Serialize, NestedDictionariesAreNestedArchives) {
  const TemporaryFolder folder;
  io::save_pt(folder / "checkpoint.pt", Dict{{"model", Dict{{"part.bias", make<double>({1}, {4})}}}, {"epoch", 2}});
  serialize::InputArchive archive, model, part;
  archive.load_from(folder / "checkpoint.pt");
  EXPECT_EQ(archive.keys(), (std::vector<std::string>{"model", "epoch"}));
  archive.read("model", model);
  model.read("part", part);
  Tensor bias;
  part.read("bias", bias);
  EXPECT_EQ(values<double>(bias), std::vector<double>{4});
  archive.read("model.part.bias", bias);
  EXPECT_FALSE(archive.try_read("model.part.other", bias));
  expect_io_error([&] { part.read("other", bias); }, "checkpoint.pt, at model.part has nothing named 'other'; it has bias");
  expect_io_error([&] { archive.read("epoch", bias); }, "'epoch' must be a tensor: got int 2");
}

TEST(Serialize, TensorsOfTheSameShapeAreWrittenInPlace) {
  const TemporaryFolder folder;
  save(changed(), folder / "thing.pt");
  Thing thing;
  const void* place = thing.weight.const_data_ptr();
  const Tensor other_shape = thing.bias = make<double>({3}, {0, 0, 0});
  load(thing, folder / "thing.pt");
  EXPECT_EQ(thing.weight.const_data_ptr(), place);
  EXPECT_EQ(thing.bias.sizes(), (IntArrayRef{1}));
  expect_changed(thing);
}

TEST(Serialize, TensorsAndListsOfThem) {
  const TemporaryFolder folder;
  const Tensor one = make<float>({2}, {1, 2}), two = make<int64_t>({}, {3});
  save(one, folder / "one.pt");
  Tensor loaded;
  load(loaded, folder / "one.pt");
  EXPECT_EQ(values<float>(loaded), (std::vector<float>{1, 2}));
  EXPECT_TRUE(io::load_pt(folder / "one.pt").is_tensor());

  save(std::vector<Tensor>{one, two}, folder / "two.pt");
  std::vector<Tensor> list;
  load(list, folder / "two.pt");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(values<int64_t>(list[1]), std::vector<int64_t>{3});
  expect_io_error([&] { load(loaded, folder / "two.pt"); }, "must hold a tensor: it holds list of 2");

  save(Value(Dict{{"a", 1}}), folder / "value.pt");
  Value value;
  load(value, folder / "value.pt");
  EXPECT_EQ(value.dict().at("a").to_int(), 1);
}

TEST(Serialize, ReadsPythonsStateDictsAndSafetensors) {
  serialize::InputArchive archive, fc;
  archive.load_from(fixture("state_dict.pt"));
  archive.read("fc", fc);
  Tensor weight;
  fc.read("weight", weight);
  EXPECT_EQ(values<float>(weight), (std::vector<float>{0, 1, 2, 3, 4, 5}));

  const TemporaryFolder folder;
  serialize::OutputArchive out;
  out.write("fc.weight", weight);
  out.save_to(folder / "w.safetensors");
  EXPECT_TRUE(io::SafetensorsReader(folder / "w.safetensors").contains("fc.weight"));
  archive.load_from(folder / "w.safetensors");
  archive.read("fc", fc);
  Tensor again;
  fc.read("weight", again);
  EXPECT_EQ(values<float>(again), values<float>(weight));
  out.write("number", Value(1));
  EXPECT_THROW(out.save_to(folder / "w.safetensors"), ValueError);
  EXPECT_TRUE(io::SafetensorsReader(folder / "w.safetensors").contains("fc.weight"));
}

TEST(Serialize, MissingFilesAndNamesAreNamed) {
  const TemporaryFolder folder;
  Thing thing;
  expect_io_error([&] { load(thing, folder / "missing.pt"); }, "missing.pt");
  save(Value(Dict{{"weight", make<float>({2}, {1, 2})}}), folder / "part.pt");
  expect_io_error([&] { load(thing, folder / "part.pt"); }, "part.pt has nothing named 'part'");
  std::shared_ptr<Thing> nothing;
  EXPECT_THROW(save(nothing, folder / "x.pt"), Error);
}

}  // namespace
}  // namespace taeda::test
