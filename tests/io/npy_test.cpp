// SPDX-License-Identifier: Apache-2.0
// NumPy files: both ways, both orders, damage.
#include "taeda/io/npy.h"

#include "taeda/io/zip.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  const uint32_t length = static_cast<uint32_t>(dictionary.size());
  return std::string("\x93NUMPY") + version + '\0' + std::string(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4) + dictionary + data;
}

std::string bytes_of(const Tensor& tensor) {
  io::StringSink sink;
  io::write_npy(sink, tensor);
  return sink.bytes;
}

TEST(Npy, ReadsBothMemoryAndByteOrders) {
  EXPECT_EQ(values<float>(io::load_npy(fixture("row.npy"))), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const Tensor column = io::load_npy(fixture("column.npy"));
  EXPECT_EQ(column.sizes(), (IntArrayRef{2, 3, 4}));
  EXPECT_TRUE(column.is_contiguous());
  for (int64_t i = 0; i < 24; ++i) EXPECT_EQ(values<int64_t>(column)[static_cast<size_t>(i)], i);
  EXPECT_EQ(values<double>(io::load_npy(fixture("big.npy"))), (std::vector<double>{1.5, -2.0}));
}

TEST(Npy, WritesTheSameBytesAsNumPy) {
  EXPECT_EQ(bytes_of(make<float>({2, 3}, {0, 1, 2, 3, 4, 5})), io::read_file(fixture("row.npy")));
}

TEST(Npy, RoundTripsShapes) {
  const TemporaryFolder folder;
  for (const Tensor& tensor : {make<double>({}, {2.5}), make<int8_t>({3}, {-1, 0, 1}), make<bool>({0, 2}, {}), make<Half>({1, 1, 2}, {Half(1.0f), Half(2.0f)})}) {
    io::save_npy(folder / "a.npy", tensor);
    const Tensor loaded = io::load_npy(folder / "a.npy");
    EXPECT_EQ(loaded.sizes(), tensor.sizes());
    EXPECT_EQ(loaded.scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(tensor.numel() == 0 || std::memcmp(loaded.const_data_ptr(), tensor.const_data_ptr(), tensor.nbytes()) == 0);
  }
  EXPECT_THROW(bytes_of(make<BFloat16>({1}, {BFloat16(1.0f)})), TypeError);
}

TEST(Npy, ReadsVersionsTwoAndThree) {
  for (const char version : {'\2', '\3'}) {
    const Tensor t = io::load_npy(*io::make_source(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1L,), }\n", std::string("\x07\0\0\0", 4), version)));
    EXPECT_EQ(values<int32_t>(t), std::vector<int32_t>{7});
  }
}

TEST(Npy, NamesTheFault) {
  const struct {
    std::string bytes, message;
  } cases[] = {
      {"not numpy at all", "does not begin as"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234"), "needs 8 bytes, the file holds 4"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "12345678"), "needs 4 bytes, the file holds 8"},
      {npy("{'descr': '<f4', 'fortran_order': False}", ""), "missing"},
      {npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", ""), "neither True nor False"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999, 999999999999999999)}", ""), "too large"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", ""), "no tuple of sizes"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", ""), "out of range"},
      {npy("{'evil': '<f4'}", ""), "unexpected key 'evil'"},
      {npy("__import__('os')", ""), "no '{'"},
      {npy("{}", "", 1).replace(6, 1, "\x09"), "versions 1 to 3"},
      {npy("{'descr': '<f4", ""), "text without an end"},
  };
  for (const auto& c : cases) expect_io_error([&] { io::load_npy(*io::make_source(c.bytes)); }, c.message);
  const auto unsupported = npy("{'descr': '|O', 'fortran_order': False, 'shape': ()}", "");
  EXPECT_THROW(io::load_npy(*io::make_source(unsupported)), NotImplementedError);
  EXPECT_THROW(io::load_npy(*io::make_source(npy("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", ""))), NotImplementedError);
  EXPECT_THROW(io::load_npy(*io::make_source(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ""))), NotImplementedError);
}

TEST(Npy, SurvivesDamage) {
  const auto read = [](const io::SourcePtr& source) { io::load_npy(*source); };
  for (const char* name : {"row.npy", "column.npy"}) {
    truncate_everywhere(io::read_file(fixture(name)), read);
    flip_bits(io::read_file(fixture(name)), 5000, read);
  }
}

TEST(Npz, ReadsNumPysArchives) {
  const io::NamedTensors pair = io::load_npz(fixture("pair.npz"));
  ASSERT_EQ(pair.size(), 2u);
  EXPECT_EQ(pair[0].first, "a");
  EXPECT_EQ(values<bool>(pair[0].second), (std::vector<bool>{true, false}));
  EXPECT_EQ(values<int16_t>(pair[1].second), std::vector<int16_t>{3});
  const io::NamedTensors packed = io::load_npz(fixture("packed.npz"));
  ASSERT_EQ(packed.size(), 2u);
  EXPECT_EQ(packed[0].second.numel(), 1000);
}

TEST(Npz, RoundTripsStoredAndCompressed) {
  const TemporaryFolder folder;
  std::vector<int32_t> numbers(10000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i % 7);
  for (const bool compress : {false, true}) {
    io::save_npz(folder / "a.npz", {{"x", make<int32_t>({100, 100}, numbers)}, {"empty", make<float>({0}, {})}}, compress);
    const io::NamedTensors loaded = io::load_npz(folder / "a.npz");
    ASSERT_EQ(loaded.size(), 2u);
    EXPECT_EQ(values<int32_t>(loaded[0].second), numbers);
    EXPECT_EQ(std::filesystem::file_size(folder / "a.npz") < 10000, compress);
  }
}

TEST(Npz, SurvivesDamage) {
  const auto read = [](io::SourcePtr source) { io::load_npz(std::move(source)); };
  for (const char* name : {"pair.npz", "packed.npz"}) {
    truncate_everywhere(io::read_file(fixture(name)), read);
    flip_bits(io::read_file(fixture(name)), 5000, read);
  }
}

TEST(Zip, RefusesArchivesMadeToExplode) {
  // One megabyte of zeros claims to be a terabyte; two entries over the same bytes.
  io::StringSink sink;
  io::ZipWriter writer(sink);
  writer.add("a", std::string(1 << 20, '\0'), 1, true);
  writer.add("b", std::string(100, 'b'));
  writer.finish();
  const io::ZipReader reader(io::make_source(sink.bytes));
  EXPECT_EQ(reader.read(reader.at("a")).size(), size_t{1} << 20);
  expect_io_error([&] { reader.read(reader.at("a"), 1000); }, "too large");

  std::string lying = sink.bytes;
  const size_t directory = lying.find("PK\1\2");
  lying.replace(directory + 24, 4, "\xf0\xff\xff\xff");  // 4 GiB from one kilobyte
  expect_io_error([&] { io::ZipReader(io::make_source(lying)); }, "claims 4294967280 bytes");

  std::string overlapping = sink.bytes;
  const size_t second = overlapping.find("PK\1\2", directory + 4);
  overlapping.replace(second + 42, 4, std::string(4, '\0'));
  expect_io_error([&] { io::ZipReader(io::make_source(overlapping)); }, "overlaps");
}

TEST(Zip, AlignsAndChecksSums) {
  io::StringSink sink;
  io::ZipWriter writer(sink);
  writer.add("x", "12", 64);
  writer.add("folder/y", std::string(200, 'q'), 64);
  writer.finish();
  EXPECT_EQ(sink.bytes.find("12", 30) % 64, 0u);
  EXPECT_EQ(sink.bytes.find("qq") % 64, 0u);
  std::string damaged = sink.bytes;
  damaged[damaged.find("qq")] = 'r';
  const io::ZipReader reader(io::make_source(damaged));
  EXPECT_EQ(reader.read(reader.at("x")), "12");
  expect_io_error([&] { reader.read(reader.at("folder/y")); }, "checksum of entry 'folder/y'");
  expect_io_error([&] { reader.at("z"); }, "has no entry 'z'");
  EXPECT_THROW(writer.add("x", "again"), ValueError);
}

}  // namespace
}  // namespace taeda::test
