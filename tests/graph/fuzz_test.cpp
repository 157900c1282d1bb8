// SPDX-License-Identifier: Apache-2.0
// Random programs: captured, run and put through every pass, bit by bit against the functions themselves. TAEDA_FUZZ_PROGRAMS
// and TAEDA_FUZZ_SEED choose how many and from which seed on; TAEDA_FUZZ_LOG names a file for the refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>

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

/// Results of the program that are tensors at its end.
Function function_of(const fuzz::Program& program) {
  return [&program](const Tensors& in) {
    Tensors kept;
    for (const Tensor& t : program.run({in, Tensor()}, 0).tensors) {
      if (t.defined()) kept.push_back(t);
    }
    return kept;
  };
}

/// Empty, or what went wrong.
std::string check(uint64_t seed, Tally& tally) {
  const fuzz::Program program(seed, 4 + static_cast<int>(seed % 13));
  const Function f = function_of(program);
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

/// `programs`: unless the environment says otherwise; one in `share` of them is captured at least.
void run_programs(std::string (*check)(uint64_t seed, Tally& tally), uint64_t programs, uint64_t share) {
  const char* count = std::getenv("TAEDA_FUZZ_PROGRAMS");
  const char* first = std::getenv("TAEDA_FUZZ_SEED");
  if (count) programs = std::strtoull(count, nullptr, 10);
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
  EXPECT_GE(tally.captured, programs / share);
}

TEST(GraphFuzz, RandomProgramsEqualEager) { run_programs(&check, 200, 4); }

/// `t` with other sizes in some dimensions, which lie in memory in the same order: elements are drawn from those that are there.
Tensor resized(const Tensor& t, const std::vector<int64_t>& sizes, uint64_t& state) {
  const Tensor flat = t.detach().reshape({-1});
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  const Tensor from = empty({n}, kLong);
  int64_t* const at = from.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) at[i] = static_cast<int64_t>(((state = state * 6364136223846793005 + 1442695040888963407) >> 33) % static_cast<uint64_t>(flat.numel()));
  std::vector<int64_t> order(sizes.size()), back(sizes.size()), there;
  std::iota(order.begin(), order.end(), 0);
  if (!t.is_contiguous()) std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.stride(a) > t.stride(b); });
  for (size_t d = 0; d < order.size(); ++d) {
    back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    there.push_back(sizes[static_cast<size_t>(order[d])]);
  }
  return flat.index_select(0, from).reshape(there).permute(back);
}

/// All dimensions of the inputs that have one size become one symbol; the graph at every size in its range. Empty, or what went wrong.
std::string check_dynamic(uint64_t seed, Tally& tally) {
  constexpr int64_t kLeast = 1, kMost = 11;
  const fuzz::Program program(seed, 3 + static_cast<int>(seed % 8));
  // Updates of all tensors of one shape: a decision by sizes.
  const auto decides = [](const fuzz::Instruction& i) { return i.kind == fuzz::Kind::kManyUpdates; };
  if (std::any_of(program.instructions().begin(), program.instructions().end(), decides)) return "";
  const Function f = function_of(program);
  const NoGradGuard no_grad;
  const Tensors examples = inputs_of(program, 0);
  std::vector<int64_t> seen;
  for (const Tensor& t : examples) {
    for (const int64_t size : t.sizes()) {
      if (size >= 2 && size <= kMost && t.numel() > 0) seen.push_back(size);
    }
  }
  if (seen.empty()) return "";
  const int64_t size = seen[seed % seen.size()];
  CaptureOptions options;
  for (size_t i = 0; i < examples.size(); ++i) {
    for (int64_t d = 0; d < examples[i].dim() && examples[i].numel() > 0; ++d) {
      if (examples[i].size(d) == size) options.dynamic.push_back({i, d, {"n", kLeast, kMost}});
    }
  }
  Graph g;
  try {
    manual_seed(seed);
    g = capture(f, examples, {}, options);
  } catch (const std::exception& e) {
    const std::string text = e.what();
    ++tally.refused[text.substr(0, 70)];
    return "";
  }
  ++tally.captured;
  const std::string text = g.text();
  g = parse(text, g.stored());
  if (g.text() != text) return "read back otherwise: " + text + g.text();
  std::string wrong;
  uint64_t state = seed;
  const auto compare_all = [&](const std::string& pass, const Graph& graph) {
    for (int64_t n = kLeast; n <= kMost && wrong.empty(); ++n) {
      Tensors a, b, want, got;
      for (size_t i = 0; i < examples.size(); ++i) {
        std::vector<int64_t> sizes = examples[i].sizes().vec();
        for (const Dynamic& d : options.dynamic) {
          if (d.input == i) sizes[static_cast<size_t>(d.dim)] = n;
        }
        a.push_back(examples[i].numel() > 0 ? resized(examples[i], sizes, state) : examples[i].clone());
        b.push_back(a.back().clone());
      }
      const std::string where = str(pass, " at n = ", n, ", ", program.text(), graph.text());
      try {
        manual_seed(seed);
        want = f(a);
      } catch (const std::exception&) {
        continue;
      }
      try {
        manual_seed(seed);
        got = run(graph, b);
      } catch (const std::exception& e) {
        if (std::string(e.what()).find("sizes of results") != std::string::npos) {
          ++tally.sizes_moved;
          continue;
        }
        wrong = where + e.what();
        return;
      }
      for (size_t i = 0; i < got.size() && wrong.empty(); ++i) {
        if (!same(got[i], want[i])) wrong = str(where, "output ", i, ": got\n", got[i], "\nexpected\n", want[i]);
      }
      for (size_t i = 0; i < b.size() && wrong.empty(); ++i) {
        if (!same(b[i], a[i])) wrong = str(where, "input ", i, ": got\n", b[i], "\nexpected\n", a[i]);
      }
    }
  };
  compare_all("capture", g);
  PassOptions passes;
  passes.verify = true;
  passes.after = compare_all;
  optimize(g, passes);
  return wrong;
}

TEST(GraphFuzz, RandomProgramsWithDynamicSizesEqualEager) { run_programs(&check_dynamic, 150, 10); }

}  // namespace
}  // namespace taeda::graph
