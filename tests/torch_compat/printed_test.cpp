// SPDX-License-Identifier: Apache-2.0
// Modules print as LibTorch prints them.
#include "tests/torch_compat/printed_modules.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

TEST(TorchCompat, ModulesPrintAsLibTorch) {
  std::ifstream file(TAEDA_PRINTED_MODULES);
  ASSERT_TRUE(file.good()) << TAEDA_PRINTED_MODULES;
  std::ostringstream printed;
  printed::all_modules(printed);
  std::istringstream lines(printed.str());
  std::string want;
  std::string got;
  int line = 0;
  while (std::getline(file, want)) {
    ++line;
    ASSERT_TRUE(std::getline(lines, got)) << "nothing printed for line " << line << ": " << want;
    EXPECT_EQ(got, want) << "line " << line;
  }
  EXPECT_FALSE(std::getline(lines, got)) << "printed beyond the recorded lines: " << got;
}

/// What follows a module on the stream looks the same only when the stream's flags do.
template <class Holder>
bool leaves_boolalpha(const Holder& module) {
  std::ostringstream stream;
  module->pretty_print(stream);
  return (stream.flags() & std::ios::boolalpha) != 0;
}

TEST(TorchCompat, PrintingLeavesTheFlagsThatLibTorchLeaves) {
  using namespace torch::nn;  // NOLINT(google-build-using-namespace)
  EXPECT_TRUE(leaves_boolalpha(Linear(1, 2)));
  EXPECT_FALSE(leaves_boolalpha(Conv2d(1, 2, 3)));
  EXPECT_TRUE(leaves_boolalpha(Conv2d(Conv2dOptions(1, 2, 3).bias(false))));
  EXPECT_FALSE(leaves_boolalpha(Embedding(3, 2)));
  EXPECT_TRUE(leaves_boolalpha(Embedding(EmbeddingOptions(3, 2).sparse(true))));
  EXPECT_FALSE(leaves_boolalpha(ReLU()));
  EXPECT_TRUE(leaves_boolalpha(ReLU(true)));
  EXPECT_TRUE(leaves_boolalpha(LeakyReLU()));
  EXPECT_TRUE(leaves_boolalpha(MaxUnpool2d(2)));
  EXPECT_TRUE(leaves_boolalpha(LocalResponseNorm(2)));
  EXPECT_TRUE(leaves_boolalpha(CosineSimilarity()));
}

}  // namespace
