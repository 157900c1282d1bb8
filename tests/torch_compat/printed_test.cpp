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

}  // namespace
