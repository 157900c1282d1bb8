// SPDX-License-Identifier: Apache-2.0
// Safetensors files: both ways, and hostile headers.
#include "taeda/io/safetensors.h"

#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

io::NamedTensors examples() {
  return {{"bytes", make<uint8_t>({3}, {1, 2, 255})},
          {"a.weight", make<float>({2, 3}, {0, 1, 2, 3, 4, 5})},
          {"scalar", make<double>({}, {-0.5})},
          {"empty", make<int64_t>({0, 4}, {})},
          {"flag", make<bool>({2}, {true, false})},
          {"short", make<int16_t>({1}, {-3})},
          {"half", make<Half>({2}, {Half(1.5f), Half(-2.0f)})},
          {"brain", make<BFloat16>({1}, {BFloat16(3.0f)})}};
}

std::string bytes_of(const io::NamedTensors& tensors, const io::Metadata& metadata = {}) {
  io::StringSink sink;
  io::write_safetensors(sink, tensors, metadata);
  return sink.bytes;
}

void read_all(io::SourcePtr source) { io::load_safetensors(std::move(source)); }

/// A file of this header and `n` bytes of data.
std::string hostile(const std::string& header, size_t n) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(n, '\0');
}

TEST(Safetensors, RoundTripsEveryDtype) {
  const TemporaryFolder folder;
  const io::NamedTensors tensors = examples();
  io::save_safetensors(folder / "file.safetensors", tensors, {{"step", "12"}, {"über", "\"quoted\"\n"}});
  io::Metadata metadata;
  const io::NamedTensors loaded = io::load_safetensors(folder / "file.safetensors", &metadata);
  ASSERT_EQ(loaded.size(), tensors.size());
  EXPECT_EQ(metadata, (io::Metadata{{"step", "12"}, {"über", "\"quoted\"\n"}}));
  const io::SafetensorsReader reader(folder / "file.safetensors");
  for (const auto& [name, tensor] : tensors) {
    const Tensor other = reader.load(name);
    EXPECT_EQ(other.sizes(), tensor.sizes()) << name;
    EXPECT_EQ(other.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(tensor.numel() == 0 || std::memcmp(other.const_data_ptr(), tensor.const_data_ptr(), tensor.nbytes()) == 0) << name;
  }
  EXPECT_THROW(reader.load("other"), IndexError);
}

TEST(Safetensors, ReadsTheReferenceImplementationsFile) {
  io::Metadata metadata;
  const io::NamedTensors tensors = io::load_safetensors(fixture("three.safetensors"), &metadata);
  EXPECT_EQ(metadata, (io::Metadata{{"made", "here"}}));
  const io::SafetensorsReader reader(fixture("three.safetensors"));
  EXPECT_EQ(values<float>(reader.load("w")), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<int64_t>(reader.load("n")), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(reader.load("flag").scalar_type(), kBool);
}

TEST(Safetensors, EveryTruncationIsAnError) { truncate_everywhere(bytes_of(examples(), {{"k", "v"}}), read_all); }

TEST(Safetensors, SurvivesBitFlips) { flip_bits(bytes_of(examples(), {{"k", "v"}}), 20000, read_all); }

TEST(Safetensors, NamesTheFaultOfHostileHeaders) {
  const struct {
    std::string header;
    size_t data;
    std::string message;
  } cases[] = {
      {"{}", 1, "the tensors need 0 bytes, the file holds 1"},
      {"[]", 0, "must begin with '{'"},
      {"{", 0, "not valid JSON"},
      {"{}{}", 0, "not valid JSON"},
      {R"({"a":1})", 0, "unexpected a number"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "occurs twice"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "overlap"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "gap"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8, "run backwards"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "needs 12 bytes over a range of 8"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "overflows"},
      {R"({"a":{"dtype":"F32","shape":[0,9223372036854775807,9],"data_offsets":[0,0]}})", 0, "overflows"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "negative number"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "fraction"},
      {R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, "unknown dtype 'F31'"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4, "more than two numbers"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "a second dtype"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "missing"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615]}})", 4, "needs 4 bytes"},
      {R"({"__metadata__":{"k":1}})", 0, "unexpected a number"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "the metadata key 'k' twice"},
      {R"({"a":)" + std::string(100000, '[') + "}", 0, "unexpected a list"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.header.substr(0, 100));
    expect_io_error([&] { read_all(io::make_source(hostile(c.header, c.data), "hostile.safetensors")); }, c.message);
    expect_io_error([&] { read_all(io::make_source(hostile(c.header, c.data), "hostile.safetensors")); }, "hostile.safetensors");
  }
  expect_io_error([&] { read_all(io::make_source(std::string(8, '\xff') + "{}")); }, "the header is said to have");
}

TEST(Safetensors, NamesDtypesItCannotHold) {
  const std::string header = R"({"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})";
  const io::SafetensorsReader reader(io::make_source(hostile(header, 2)));
  EXPECT_EQ(reader.entry("a").dtype_name, "F8_E4M3");
  EXPECT_THROW(reader.load("a"), NotImplementedError);
}

TEST(Safetensors, RefusesNamesGivenTwice) {
  io::StringSink sink;
  const Tensor t = make<float>({1}, {1});
  EXPECT_THROW(io::write_safetensors(sink, {{"a", t}, {"a", t}}), ValueError);
  EXPECT_THROW(io::write_safetensors(sink, {{"__metadata__", t}}), ValueError);
  EXPECT_THROW(io::write_safetensors(sink, {{"a", Tensor()}}), ValueError);
  EXPECT_THROW(io::write_safetensors(sink, {{"\xff", t}}), ValueError);
}

}  // namespace
}  // namespace taeda::test
