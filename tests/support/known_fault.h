// SPDX-License-Identifier: Apache-2.0
// Known faults: checks that fail today, by name. Each is run all the same, and one that passes must leave its list.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace taeda::test {

/// Runs `check`. When `name` is listed, its failures are expected, and their absence is the failure.
template <class Check>
void run_unless_known_fault(const std::set<std::string>& known, const std::string& name, const Check& check) {
  if (!known.contains(name)) return check();
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check();
  }
  bool failed = false;
  for (int i = 0; i < results.size(); ++i) failed |= results.GetTestPartResult(i).failed();
  EXPECT_TRUE(failed) << name << " passes now: take it off the list of known faults";
}

}  // namespace taeda::test
