// SPDX-License-Identifier: Apache-2.0
// PyTorch files: what Python wrote loads, what is written here has the form Python reads, hostile files are refused.
#include "taeda/io/pt.h"

#include "taeda/io/serialize.h"
#include "taeda/io/zip.h"
#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

void read_all(io::SourcePtr source) { io::load_pt(std::move(source)); }

/// A file around a hand-made pickle; `storage` becomes the record data/0.
io::SourcePtr pt_of(const std::string& pickle, const std::string& storage = std::string(16, '\0')) {
  io::StringSink sink;
  io::ZipWriter zip(sink);
  zip.add("x/data.pkl", pickle);
  zip.add("x/data/0", storage);
  zip.finish();
  return io::make_source(sink.bytes, "hostile.pt");
}

std::string text(const std::string& s) { return std::string("X") + static_cast<char>(s.size()) + std::string(3, '\0') + s; }
/// The opcodes that name the storage data/0 of `type` with `numel` elements.
std::string storage(const std::string& type, int numel, const std::string& key = "0") {
  return "(" + text("storage") + "ctorch\n" + type + "\n" + text(key) + text("cpu") + "K" + static_cast<char>(numel) + "tQ";
}
std::string tensor(const std::string& storage, const std::string& offset, const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + offset + "(" + sizes + "t(" + strides + "t\x89" "ccollections\nOrderedDict\n)RtR";
}

TEST(Pt, LoadsAStateDictSavedByPython) {
  const Value value = io::load_pt(fixture("state_dict.pt"));
  const Dict& dict = value.dict();
  EXPECT_EQ(dict.keys(), (std::vector<std::string>{"fc.weight", "fc.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
                                                   "norm.num_batches_tracked"}));
  EXPECT_EQ(dict.at("fc.weight").tensor().sizes(), (IntArrayRef{2, 3}));
  EXPECT_EQ(values<float>(dict.at("fc.weight").tensor()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<float>(dict.at("norm.running_var").tensor()), (std::vector<float>{1, 1}));
  EXPECT_EQ(values<int64_t>(dict.at("norm.num_batches_tracked").tensor()), std::vector<int64_t>{0});
}

TEST(Pt, LoadsEveryKindOfValueSavedByPython) {
  const Value value = io::load_pt(fixture("checkpoint.pt"));
  const Dict& dict = value.dict();
  EXPECT_EQ(dict.at("epoch").to_int(), 3);
  EXPECT_EQ(dict.at("large").to_int(), -(int64_t{1} << 40));
  EXPECT_EQ(dict.at("rate").to_double(), 0.125);
  EXPECT_EQ(dict.at("name").string(), "grün");
  EXPECT_FALSE(dict.at("done").to_bool());
  EXPECT_TRUE(dict.at("nothing").is_none());
  EXPECT_EQ(dict.at("list").list()[2].string(), "x");
  EXPECT_TRUE(dict.at("list").list()[3].list()[0].to_bool());
  EXPECT_EQ(dict.at("tuple").int_list(), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(dict.at("size").int_list(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(static_cast<ScalarType>(dict.at("dtype").to_int()), kHalf);
  EXPECT_EQ(dict.at("device").string(), "cpu");
  EXPECT_EQ(dict.at("bytes").string(), std::string("\0\xff", 2));
  EXPECT_EQ(values<float>(dict.at("view").tensor()), (std::vector<float>{2, 4, 6}));
  EXPECT_TRUE(dict.at("view").tensor().is_alias_of(dict.at("base").tensor()));
  EXPECT_EQ(values<float>(dict.at("transposed").tensor()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(dict.at("parameter").tensor().requires_grad());
  EXPECT_EQ(dict.at("empty").tensor().sizes(), (IntArrayRef{0, 3}));
  EXPECT_EQ(values<int64_t>(dict.at("scalar").tensor()), std::vector<int64_t>{7});
  const Dict& optimizer = dict.at("optimizer").dict();
  const Dict& group = optimizer.at("param_groups").list()[0].dict();
  EXPECT_EQ(group.at("lr").to_double(), 0.25);
  EXPECT_EQ(group.at("betas").double_list(), (std::vector<double>{0.5, 0.75}));
  const Value* first = optimizer.at("state").dict().find(int64_t{0});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->dict().at("exp_avg").tensor().sizes(), (IntArrayRef{2, 3}));
}

TEST(Pt, LoadsEveryDtypeSavedByPython) {
  const Value value = io::load_pt(fixture("dtypes.pt"));
  const ScalarType types[] = {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool};
  ASSERT_EQ(value.list().size(), std::size(types));
  for (size_t i = 0; i < std::size(types); ++i) EXPECT_EQ(value.list()[i].tensor().scalar_type(), types[i]);
  EXPECT_EQ(values<int16_t>(value.list()[2].tensor()), (std::vector<int16_t>{0, 1, 2}));
  EXPECT_EQ(static_cast<float>(values<BFloat16>(value.list()[6].tensor())[2]), 2.0f);
  EXPECT_EQ(values<bool>(value.list()[9].tensor()), (std::vector<bool>{false, true, true}));
}

TEST(Pt, NamesWhatItDoesNotLoad) {
  expect_io_error([] { io::load_pt(fixture("module.pt")); }, "torch.nn.modules.linear.Linear");
  expect_io_error([] { io::load_pt(fixture("legacy.pt")); }, "before 1.6");
  expect_io_error([] { io::load_pt(fixture("complex.pt")); }, "torch.ComplexFloatStorage");
  expect_io_error([] { io::load_pt(fixture("pair.npz")); }, "without data.pkl");
  expect_io_error([] { io::load_pt(fixture("color.png")); }, "does not begin as a .pt file");
}

TEST(Pt, RoundTripsValues) {
  Dict inner{{"a", make<float>({2}, {1, 2})}, {7, "seven"}};
  const Tensor base = make<double>({6}, {0, 1, 2, 3, 4, 5});
  Dict dict{{"inner", inner}, {"none", Value()}, {"yes", true}, {"numbers", Value::List{0, 255, 256, 65536, -1, int64_t{1} << 40, INT64_MIN}},
            {"real", 1e-300}, {"text", "ü"}, {"base", base}, {"view", make_view(base, {2}, {2}, 1)},
            {"empty", make<int32_t>({0, 3}, {})}, {"list", Value::List{}}};
  const Value loaded = pickle_load(pickle_save(dict));
  const Dict& back = loaded.dict();
  EXPECT_EQ(back.keys(), dict.keys());
  EXPECT_EQ(back.at("inner").dict().find(int64_t{7})->string(), "seven");
  EXPECT_EQ(back.at("numbers").int_list(), dict.at("numbers").int_list());
  EXPECT_EQ(back.at("real").to_double(), 1e-300);
  EXPECT_EQ(back.at("text").string(), "ü");
  EXPECT_TRUE(back.at("none").is_none());
  EXPECT_EQ(values<double>(back.at("view").tensor()), (std::vector<double>{1, 3}));
  EXPECT_TRUE(back.at("view").tensor().is_alias_of(back.at("base").tensor()));
  EXPECT_EQ(back.at("empty").tensor().sizes(), (IntArrayRef{0, 3}));
}

TEST(Pt, AViewAloneIsWrittenAlone) {
  const Tensor base = make<float>({100000}, std::vector<float>(100000, 1.0f));
  const std::vector<char> bytes = pickle_save(make_view(base, {3}, {1}, 500));
  EXPECT_LT(bytes.size(), 4000u);
  EXPECT_EQ(values<float>(pickle_load(bytes).tensor()), (std::vector<float>{1, 1, 1}));
}

TEST(Pt, WritesTheRecordsPythonLooksFor) {
  const std::vector<char> bytes = pickle_save(Value::List{make<float>({2}, {1, 2}), make<int64_t>({1}, {3})});
  const io::ZipReader zip(io::borrow_source(bytes.data(), bytes.size()));
  EXPECT_EQ(zip.read(zip.at("archive/version")), "3\n");
  EXPECT_EQ(zip.read(zip.at("archive/byteorder")), "little");
  EXPECT_EQ(zip.read(zip.at("archive/data/1")), std::string("\3\0\0\0\0\0\0\0", 8));
  const std::string whole(bytes.begin(), bytes.end());
  EXPECT_EQ(whole.find(std::string("\3\0\0\0\0\0\0\0", 8)) % 64, 0u);
  EXPECT_EQ(zip.read(zip.at("archive/data.pkl")).substr(0, 2), "\x80\x02");
}

TEST(Pt, WritesTheBytesThatPythonOpened) {
  // written.pt was written by this program and opened by PyTorch 2.15's torch.load(weights_only=True), each value as expected.
  const Tensor base = make<float>({6}, {0, 1, 2, 3, 4, 5});
  const Dict dict{{"w", base}, {"v", make_view(base, {2}, {2}, 1)}, {"i", 5}, {"big", int64_t{1} << 60}, {"neg", -3}, {"f", 0.1}, {"s", "grün"},
                  {"n", Value()}, {"b", true}, {"l", Value::List{1, 2.0, "x", Value::List{}}}, {"d", Dict{{7, "seven"}}},
                  {"h", make<Half>({2}, {Half(1.0f), Half(2.0f)})}, {"bf", make<BFloat16>({2}, {BFloat16(1.0f), BFloat16(2.0f)})},
                  {"bool", make<bool>({2}, {true, false})}, {"u8", make<uint8_t>({0, 2}, {})}, {"sc", make<double>({}, {2.5})}};
  const std::vector<char> bytes = pickle_save(dict);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), io::read_file(fixture("written.pt")));
}

TEST(Pt, RefusesWhatCannotBeWritten) {
  auto knot = std::make_shared<Value::List>();
  knot->push_back(Value(knot));
  EXPECT_THROW(pickle_save(Value(knot)), ValueError);
  knot->clear();
  EXPECT_THROW(pickle_save("\xff"), ValueError);
}

TEST(Pt, EveryTruncationIsAnError) {
  truncate_everywhere(io::read_file(fixture("state_dict.pt")), read_all);
  truncate_everywhere(io::read_file(fixture("tensor.pt")), read_all);
}

TEST(Pt, EveryTruncatedPickleIsAnError) {
  const io::ZipReader zip(io::open_file(fixture("checkpoint.pt")));
  for (const auto& entry : zip.entries()) {
    if (entry.name.find("data.pkl") == std::string::npos) continue;
    const std::string pickle = zip.read(entry);
    for (size_t n = 0; n < pickle.size(); ++n) EXPECT_THROW(read_all(pt_of(pickle.substr(0, n))), Error) << n;
    // Checksums would catch flipped bits in a file: flip them in the pickle itself.
    flip_bits(pickle, 30000, [](const io::SourcePtr& source) { read_all(pt_of(source->read_all())); });
  }
}

TEST(Pt, SurvivesBitFlips) {
  flip_bits(io::read_file(fixture("checkpoint.pt")), 10000, read_all);
  flip_bits(io::read_file(fixture("tensor.pt")), 10000, read_all);
}

TEST(Pt, ExecutesNothing) {
  for (const std::string global : {"os\nsystem", "builtins\neval", "posix\nsystem", "torch\nload", "torch.hub\nload", "collections\nCounter",
                                    "torch._utils\n_rebuild_device_tensor_from_numpy"}) {
    const std::string wanted = std::string(global).replace(global.find('\n'), 1, ".");
    expect_io_error([&] { read_all(pt_of("\x80\x02" "c" + global + "\n" + text("ls") + "\x85R.")); }, "'" + wanted + "'");
    const size_t split = global.find('\n');
    expect_io_error([&] { read_all(pt_of("\x80\x04" + text(global.substr(0, split)) + text(global.substr(split + 1)) + "\x93" + text("ls") + "\x85R.")); },
                    "'" + wanted + "'");
  }
  expect_io_error([&] { read_all(pt_of("\x80\x02itorch\nload\n.")); }, "opcode 105");
}

TEST(Pt, RefusesTensorsOutsideTheirStorage) {
  const std::string four = storage("FloatStorage", 4);  // 16 bytes
  EXPECT_NO_THROW(read_all(pt_of("\x80\x02" + tensor(four, "K\1", "K\3", "K\1") + ".")));
  EXPECT_NO_THROW(read_all(pt_of("\x80\x02" + tensor(four, std::string("K\0", 2), "K\x64", std::string("K\0", 2)) + ".")));  // expanded
  const std::string far = std::string("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f");
  const struct {
    std::string pickle, message;
  } cases[] = {
      {tensor(four, "K\2", "K\3", "K\1"), "does not fit its storage of 4 elements"},
      {tensor(four, "K\5", std::string("K\0", 2), "K\1"), "does not fit"},
      {tensor(four, "K\1", "K\3", far), "does not fit"},
      {tensor(four, far, "K\1", "K\1"), "does not fit"},
      {tensor(four, "K\1", far + far, "K\1K\1"), "does not fit"},
      {tensor(four, "K\1", std::string("K\0", 2) + far + far, "K\1K\1K\1"), "does not fit"},
      {tensor(four, "J\xff\xff\xff\xff", "K\1", "K\1"), "without storage"},
      {tensor(four, "K\1", "J\xff\xff\xff\xff", "K\1"), "wrong sizes"},
      {tensor(four, "K\1", "K\1", "J\xff\xff\xff\xff"), "wrong strides"},
      {tensor(four, "K\1", "K\1K\1", "K\1"), "differ in number"},
      {tensor(storage("FloatStorage", 5), "K\1", "K\1", "K\1"), "should have 5 elements of 4 bytes"},
      {tensor(storage("FloatStorage", 1, "1"), "K\1", "K\1", "K\1"), "has no entry 'x/data/1'"},
      {tensor(storage("FloatStorage", 1, "../data.pkl"), "K\1", "K\1", "K\1"), "has no entry"},
      {tensor(storage("ComplexFloatStorage", 1), "K\1", "K\1", "K\1"), "ComplexFloatStorage"},
      {tensor(text("no storage"), "K\1", "K\1", "K\1"), "without storage"},
      {storage("FloatStorage", 4), "bare storage"},
  };
  for (const auto& c : cases) {
    expect_io_error([&] { read_all(pt_of("\x80\x02" + c.pickle + ".")); }, c.message);
    expect_io_error([&] { read_all(pt_of("\x80\x02" + c.pickle + ".")); }, "hostile.pt");
  }
  // Two views of one storage under different dtypes.
  expect_io_error([&] { read_all(pt_of("\x80\x02(" + tensor(four, "K\1", "K\1", "K\1") + tensor(storage("IntStorage", 4), "K\1", "K\1", "K\1") + "t.")); },
                  "should have 4 elements");
}

TEST(Pt, RefusesKnotsAndDepths) {
  expect_io_error([&] { read_all(pt_of("\x80\x02]q" + std::string("\0", 1) + "h" + std::string("\0", 1) + "a.")); }, "holds itself");
  expect_io_error([&] { read_all(pt_of("\x80\x02}q" + std::string("\0", 1) + "K\1h" + std::string("\0", 1) + "s.")); }, "holds itself");
  const size_t deep = 1000000;
  expect_io_error([&] { read_all(pt_of("\x80\x02" + std::string(deep, ']') + std::string(deep - 1, 'a') + ".")); }, "nested deeper");
  expect_io_error([&] { read_all(pt_of("\x80\x02K\1" + std::string(deep, '\x85') + ".")); }, "nested deeper");
  // A deep chain that is thrown away again is taken apart without recursion.
  const Value value = io::load_pt(pt_of("\x80\x02" + std::string(deep, ']') + std::string(deep - 1, 'a') + "0K\5."));
  EXPECT_EQ(value.to_int(), 5);
}

TEST(Pt, RefusesDataThatMultiplyThemselves) {
  // Each list holds the former one ten times: nine levels name a billion elements.
  std::string bomb = "\x80\x02]q";
  bomb += '\0';
  for (char level = 1; level < 12; ++level) {
    bomb += "0](";
    for (int i = 0; i < 10; ++i) (bomb += 'h') += static_cast<char>(level - 1);
    (bomb += "eq") += level;
  }
  expect_io_error([&] { read_all(pt_of(bomb + ".")); }, "more data than can be real");
  // One long string, named again and again.
  std::string copies = "\x80\x02](X";
  const uint32_t length = 1 << 20;
  copies.append(reinterpret_cast<const char*>(&length), 4).append(length, 'a').append("q").append(1, '\0');
  for (int i = 0; i < 5000; ++i) copies.append("h").append(1, '\0');
  expect_io_error([&] { read_all(pt_of(copies + "e.")); }, "more data than can be real");
  expect_io_error([&] { read_all(pt_of("\x80\x02X\xff\xff\xff\xff" "short.")); }, "end too early");
}

TEST(Pt, RefusesStackFaults) {
  for (const std::string pickle : {".", "0.", "a.", "e.", "t.", "s.", "u.", "R.", "b.", "Q.", "q\1.", "h\1.", "(.", "NN.", "\x85.", "N\x86.", "NNa.", "]NNu.", "N(u.",
                                    "(]\x86.", "]b.", "ccollections\nOrderedDict\nNR.", "N(N0.", "I1x\n.", "\x80\x09."}) {
    EXPECT_THROW(read_all(pt_of("\x80\x02" + std::string(pickle))), IoError) << pickle;
  }
}

}  // namespace
}  // namespace taeda::test
