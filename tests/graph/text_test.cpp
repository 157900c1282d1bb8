// SPDX-License-Identifier: Apache-2.0
// The text form: read back equal, and refused where it is wrong.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <set>

#include "taeda/graph/capture.h"
#include "taeda/graph/file.h"
#include "taeda/io/file.h"
#include "taeda/io/safetensors.h"
#include "tests/graph/changed_texts.h"
#include "tests/graph/same.h"

namespace taeda::graph {
namespace {

/// The error of a text, empty when there is none.
std::string error_of(const std::string& text, const States& tensors = {}) {
  try {
    parse(text, tensors);
  } catch (const ValueError& e) {
    return e.what();
  }
  return "";
}

/// A graph with states, mutations, updates, constants of both kinds, texts, lists and random nodes.
Graph sample() {
  manual_seed(5);
  nn::Sequential model(nn::Linear(4, 6), nn::BatchNorm1d(6), nn::Dropout(0.5));
  const Tensor small = tensor({1.5, -0.0, 3.0}), large = randn({10, 10});
  return capture(
      [&](const Tensors& in) {
        const Tensor y = model->forward(in[0]);
        in[1].slice(0, 1, 3).add_(small[0]);
        return Tensors{cat({y, y}, 1), gelu(y, "tanh"), in[1].t() + 0.1, large.mul(std::numeric_limits<double>::infinity()), y.sum(0, true, kDouble)};
      },
      {randn({5, 4}), ones({3, 2})}, states_of(*model));
}

TEST(GraphText, ReadsBackEqual) {
  const Graph g = sample();
  const Graph back = parse(g.text(), g.stored());
  EXPECT_EQ(back.text(), g.text());
  EXPECT_EQ(back.inputs, g.inputs);
  const Tensor x = randn({5, 4});
  manual_seed(1);
  const Tensors want = run(g, {x, ones({3, 2})});
  manual_seed(1);
  const Tensors got = run(back, {x, ones({3, 2})});
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same(got[i], want[i])) << i;
}

TEST(GraphText, StatesAreThoseOfTheProgram) {
  nn::Sequential model(nn::Linear(4, 6));
  const Graph g = capture([&](const Tensors& in) { return Tensors{model->forward(in[0])}; }, {ones({5, 4})}, states_of(*model));
  const Graph back = parse(g.text(), states_of(*model));
  const NoGradGuard no_grad;
  model->parameters()[0].fill_(2.0);
  EXPECT_TRUE(same(run(back, {ones({5, 4})})[0], model->forward(ones({5, 4}))));
}

TEST(GraphText, EveryElementOfEveryDtypeKeepsItsBits) {
  const auto check = []<class Bits>(ScalarType dtype, std::vector<Bits> bits) {
    const Tensor t = from_blob(bits.data(), {static_cast<int64_t>(bits.size())}, dtype).clone();
    const Graph g = capture([&](const Tensors&) { return Tensors{t}; }, {ones({1})});
    const Graph back = parse(g.text());
    EXPECT_EQ(back.text(), g.text());
    const Tensor got = run(back, {ones({1})})[0];
    EXPECT_EQ(got.scalar_type(), dtype);
    EXPECT_EQ(std::memcmp(got.const_data_ptr(), t.const_data_ptr(), t.nbytes()), 0) << g.text();
  };
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint64_t> wide{0x7ff8000000000000, 0xfff8000000000000, 0x8000000000000000, 0x7ff0000000000000, 1};
    std::vector<uint32_t> single{0x7fc00000, 0xffc00001, 0x80000000, 0x7f800000, 1};
    std::vector<uint16_t> half{0x7e00, 0x7fc0, 0xfe01, 0x8000, 0x7c00, 0x7f80, 1};
    std::vector<uint8_t> byte{0, 255, 128, 127};
    for (int i = 0; i < 40; ++i) {
      wide.push_back(random());
      single.push_back(static_cast<uint32_t>(random()));
      half.push_back(static_cast<uint16_t>(random()));
      byte.push_back(static_cast<uint8_t>(random()));
    }
    for (const ScalarType t : {kDouble, kLong}) check(t, wide);
    for (const ScalarType t : {kFloat, kInt}) check(t, single);
    for (const ScalarType t : {kHalf, kBFloat16, kShort}) check(t, half);
    for (const ScalarType t : {kByte, kChar}) check(t, byte);
  }
  check(kBool, std::vector<uint8_t>{0, 1, 1, 0});
}

TEST(GraphText, EveryOperatorHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const OpInfo* op : all_ops()) EXPECT_TRUE(names.insert(name_of(*op)).second) << op->schema;
}

TEST(GraphText, HandWrittenTextRuns) {
  const Graph g = parse(R"(# twice the sum
graph 1

input %7: Float[2, 2] "x"
%3: Float[2] = sum.dim_IntList(%7, [0], false, none)  # of the columns
  %4: Float[2] = mul.Tensor(%3, 2)
return %4
)");
  EXPECT_TRUE(same(run(g, {tensor({1.0, 2.0, 3.0, 4.0}).view({2, 2})})[0], tensor({8.0, 12.0})));
}

TEST(GraphText, ErrorsNameLineColumnAndRule) {
  const auto with = [](const std::string& line) { return "graph 1\ninput %0: Float[2]\n" + line + "\nreturn %0\n"; };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "line 1, column 1: expected \"graph 1\""},
      {"graph 2\n", "line 1, column 1: expected \"graph 1\""},
      {"graph 1\ninput %0: Float[2]\n", "line 3, column 1: expected a line that begins with \"return\"; got the end of the text"},
      {with("%1: Float[2] = sinn(%0)"), "line 3, column 16: the registry has no such operator; got \"sinn(%0)\""},
      {with("%1: Float[2] = sin(%5)"), "line 3, column 20: a value is made before it is used; got \"%5)\""},
      {with("%1: Float[2] = sin(%1)"), "line 3, column 1: a value must be made before it is used"},
      {with("%0: Float[2] = sin(%0)"), "line 3, column 1: a value is made once"},
      {with("%1: Float[2] = sin()"), "line 3, column 1: a node has every argument of its schema: got 0 for 1"},
      {with("%1: Float[2] = sin(true, 1)"), "line 3, column 1: a node has every argument"},
      {with("%1: Float[2] = sin(\"a\")"), "line 3, column 1: arguments fit the schema: argument 0 of sin"},
      {with("%1: Flat[2] = sin(%0)"), "line 3, column 5: expected a dtype; got \"Flat[2] = sin(%0)\""},
      {with("%1: ComplexFloat[2] = sin(%0)"), "line 3, column 5: expected a dtype"},
      {with("%1: Float[-2] = sin(%0)"), "line 3, column 1: sizes and strides are at least 0"},
      {with("%1: Float[99999999999999999999] = sin(%0)"), "line 3, column 11: expected a number from -9223372036854775808 to 9223372036854775807"},
      {with("%1: Float[4611686018427387904, 4] = sin(%0)"), "line 3, column 1: "},
      {with("%1: Float[0, 4611686018427387904, 4] = sin(%0)"), "line 3, column 1: "},
      {with("%1: Float[2] strides [] = sin(%0)"), "line 3, column 1: a type has a stride for each size"},
      {with("%1: Float[2] of 0 = sin(%0)\n%2: Float[3] of 0 = sin_(%0)"), "line 4, column 1: an update has its argument's type"},
      {with("%1: Float[2] of 1 = sin_(%0)"), "line 3, column 1: an update names a tensor argument"},
      {with("constant %1: Float[2] = [1.0]"), "line 3, column 26: expected 2 elements instead of 1"},
      {with("constant %1: Float[1000000000000] = [1.0]"), "expected 1000000000000 elements instead of 1"},
      {with("constant %1: Float[2] strides [-1] = [1.0]"), "line 3, column 1: strides are at least 0"},
      {with("constant %1: Float[2] stored"), "line 3, column 1: every tensor that the text names is given: \"%1\" is not"},
      {with("constant %1: Float[2] = [1.0, x]"), "line 3, column 31: expected a number; got \"x]\""},
      {with("constant %1: Byte[] = [256]"), "line 3, column 24: expected a number from 0 to 255"},
      {with("constant %1: Float[1] number = [1.0]"), "line 3, column 1: numbers have no dimensions"},
      {with("state %1: Float[2] \"w\""), "line 3, column 1: every tensor that the text names is given: \"w\" is not"},
      {with("state %1: Float[2] \"w"), "line 3, column 20: expected a text with a quotation mark at its end"},
      {with("state %1: Float[2] \"\\y\""), "line 3, column 21: expected \\\", \\\\ or \\x and two digits"},
      {with("%1: Float[2] = sin(%0) in \"a\" b"), "line 3, column 31: expected the end of the line; got \"b\""},
      {with("%1: Float[2] = sum.dim_IntList(%0, " + std::string(100000, '[')), "expected no deeper list"},
      {with("mutate %0 = %0\nmutate %0 = %0"), "line 4, column 1: a value is mutated once"},
      {with("hello"), "line 3, column 1: expected input, state, constant, mutate, return or %; got \"hello\""},
      {"graph 1\ninput %0: Float[2]\nreturn %0", "line 3, column 10: expected the end of the line; got the end of the text"},
      {"graph 1\ninput %0: Float[2]\nreturn %0\nreturn %0\n", "line 4, column 1: expected nothing behind \"return\""},
      {"graph 1\nconstant %0: Float[2] = [1.0, 2.0]\nmutate %0 = %0\nreturn %0\n", "line 3, column 1: only inputs and states can be mutated"},
  };
  for (const auto& [text, message] : cases) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with("[graph] line ") && error.find(message) != std::string::npos) << text.substr(0, 200) << "\ngot      " << error << "\nexpected " << message;
  }
}

TEST(GraphText, GivenTensorsFit) {
  const std::string text = "graph 1\nstate %0: Float[2] \"w\"\nconstant %1: Float[3] stored\n%2: Float[3] = sin(%1)\nreturn %0, %2\n";
  EXPECT_EQ(error_of(text, {{"w", ones({2})}, {"%1", ones({3})}}), "");
  EXPECT_NE(error_of(text, {{"w", ones({3})}, {"%1", ones({3})}}).find("line 2, column 1: given tensors have the text's sizes"), std::string::npos);
  EXPECT_NE(error_of(text, {{"w", ones({2}, kDouble)}, {"%1", ones({3})}}).find("given tensors have the text's dtype"), std::string::npos);
  EXPECT_NE(error_of(text, {{"w", ones({3}).slice(0, 1)}, {"%1", ones({3})}}).find("lie where the text says"), std::string::npos);
  EXPECT_NE(error_of(text, {{"w", ones({2})}, {"%1", ones({4})}}).find("line 3, column 1: the memory of a constant has its length"), std::string::npos);
}

TEST(GraphText, FilesReadBackEqual) {
  const std::string path = testing::TempDir() + "taeda_graph_test.safetensors";
  const Graph g = sample();
  save(g, path);
  const Graph back = load(path);
  EXPECT_EQ(back.text(), g.text());
  manual_seed(1);
  const Tensors want = run(g, {ones({5, 4}), ones({3, 2})});
  manual_seed(1);
  const Tensors got = run(back, {ones({5, 4}), ones({3, 2})});
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same(got.at(i), want[i])) << i;
  io::save_safetensors(path, {{"x", ones({2})}});
  EXPECT_THROW(load(path), IoError);
  io::write_file(path, "graph 1\ninput %0: Float[2]\nreturn %1\n");
  EXPECT_THROW(load(path), ValueError);
  io::write_file(path, "");
  EXPECT_THROW(load(path), ValueError);
  std::remove(path.c_str());
  EXPECT_THROW(load(path), IoError);
}

TEST(GraphText, EveryTruncationIsRefused) {
  const Graph g = sample();
  const std::string text = g.text();
  const States tensors = g.stored();
  for (size_t n = 0; n < text.size(); ++n) {
    const std::string error = error_of(text.substr(0, n), tensors);
    ASSERT_TRUE(error.starts_with("[graph] line ")) << n << ' ' << error;
  }
}

TEST(GraphText, RandomChangesAreRefusedOrReadBack) {
  EXPECT_GT(refused_changes(sample(), "%_=,()[]\"\\#\n 0123456789-.:enoinf\x80", 4000), 2000u);
}

}  // namespace
}  // namespace taeda::graph
