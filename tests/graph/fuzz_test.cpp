// SPDX-License-Identifier: Apache-2.0
// Random programs: captured, run and put through every pass, bit by bit against the functions themselves. TAEDA_FUZZ_PROGRAMS
// and TAEDA_FUZZ_SEED choose how many and from which seed on; TAEDA_FUZZ_LOG names a file for the refusals.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "taeda/graph/capture.h"
#include "taeda/graph/passes/passes.h"
#include "tests/graph/same.h"
#include "tests/support/fuzz_program.h"

namespace taeda::graph {
namespace {

struct Tally {
  size_t captured = 0, sizes_moved = 0, failed = 0;
  std::map<std::string, size_t> refused, changed;  ///< by message; by pass
};

/// Memory of their own, without gradients.
Tensors inputs_of(const fuzz::Program& program, int number) {
  Tensors list;
  for (const Tensor& t : program.inputs(0, number).tensors) list.push_back(t.detach().clone());
  return list;
}

/// The graph's results and what it does to its inputs, against those of the function. Empty, or what went wrong.
std::string compare(const std::string& pass, const Graph& g, const fuzz::Program& program, const Tensors (&inputs)[2], const Tensors (&want)[2],
                    uint64_t seed, Tally& tally) {
  for (int number = 0; number < 2; ++number) {
    const Tensors b = inputs_of(program, number);
    const std::string where = str(pass, ", inputs ", number, ", ", program.text(), g.text());
    Tensors got;
    manual_seed(seed);
    try {
      got = run(g, b);
    } catch (const std::exception& e) {
      if (number == 0 || std::string(e.what()).find("sizes of results") == std::string::npos) return where + e.what();
      ++tally.sizes_moved;
      continue;
    }
    if (got.size() != want[number].size()) return where + "another number of outputs";
    for (size_t i = 0; i < got.size(); ++i) {
      if (!same(got[i], want[number][i])) return str(where, "output ", i, ": got\n", got[i], "\nexpected\n", want[number][i]);
    }
    for (size_t i = 0; i < b.size(); ++i) {
      if (!same(b[i], inputs[number][i])) return str(where, "input ", i, ": got\n", b[i], "\nexpected\n", inputs[number][i]);
    }
  }
  return "";
}

/// Empty, or what went wrong.
std::string check(uint64_t seed, Tally& tally) {
  const fuzz::Program program(seed, 4 + static_cast<int>(seed % 13));
  const Function f = [&](const Tensors& in) {
    Tensors kept;
    for (const Tensor& t : program.run({in, Tensor()}, 0).tensors) {
      if (t.defined()) kept.push_back(t);
    }
    return kept;
  };
  const NoGradGuard no_grad;
  Tensors a[2], want[2];
  for (int number = 0; number < 2; ++number) {
    a[number] = inputs_of(program, number);
    manual_seed(seed);
    try {
      want[number] = f(a[number]);
    } catch (const std::exception&) {
      ++tally.failed;
      return "";
    }
  }
  Graph g;
  try {
    manual_seed(seed);
    g = capture(f, inputs_of(program, 0));
  } catch (const std::exception& e) {
    const std::string text = e.what();
    if (!text.starts_with("[graph]")) return "capture: " + text + '\n' + program.text();
    ++tally.refused[text.substr(0, 70)];
    return "";
  }
  ++tally.captured;
  const std::string text = g.text();
  g = parse(text, g.stored());
  if (g.text() != text) return "read back otherwise: " + text + g.text();
  std::string wrong = compare("capture", g, program, a, want, seed, tally);
  PassOptions options;
  options.verify = true;
  options.after = [&](const std::string& pass, const Graph& graph) {
    ++tally.changed[pass];
    if (wrong.empty()) wrong = compare(pass, graph, program, a, want, seed, tally);
  };
  optimize(g, options);
  if (wrong.empty() && !optimize(g, options).empty()) wrong = "a second optimize() finds more\n" + g.text();
  return wrong;
}

TEST(GraphFuzz, RandomProgramsEqualEager) {
  const char* count = std::getenv("TAEDA_FUZZ_PROGRAMS");
  const char* first = std::getenv("TAEDA_FUZZ_SEED");
  const uint64_t programs = count ? std::strtoull(count, nullptr, 10) : 200;
  const uint64_t start = first ? std::strtoull(first, nullptr, 10) : 1;
  Tally tally;
  int mismatches = 0;
  for (uint64_t seed = start; seed < start + programs && mismatches < 5; ++seed) {
    const std::string wrong = check(seed, tally);
    if (wrong.empty()) continue;
    ++mismatches;
    ADD_FAILURE() << wrong;
  }
  if (const char* path = std::getenv("TAEDA_FUZZ_LOG")) {
    std::ofstream log(path);
    log << "captured " << tally.captured << ", sizes moved " << tally.sizes_moved << ", failed in eager " << tally.failed << '\n';
    for (const auto& [pass, n] : tally.changed) log << pass << " changed " << n << '\n';
    for (const auto& [text, n] : tally.refused) log << n << ' ' << text << '\n';
  }
  EXPECT_GE(tally.captured, programs / 4);
}

}  // namespace
}  // namespace taeda::graph
