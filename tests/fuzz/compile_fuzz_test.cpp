// SPDX-License-Identifier: Apache-2.0
// Random programs, eager against compiled, bit by bit. TAEDA_FUZZ_PROGRAMS and TAEDA_FUZZ_SEED choose how many and from which
// seed on; TAEDA_FUZZ_JIT has every fused loop compiled; TAEDA_FUZZ_DEBUG has the debug backend compare every unit as well;
// TAEDA_FUZZ_BACKGROUND has plans made on another thread; TAEDA_FUZZ_LOG names a file for the counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/support/fuzz_program.h"

namespace taeda::fuzz {
namespace {

bool same(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes() || a.strides() != b.strides() || a.requires_grad() != b.requires_grad() ||
      a._version() != b._version()) {
    return false;
  }
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  if (x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0) return true;
  // A NaN's sign and payload are not promised.
  return x.is_floating_point() && x.isnan().equal(y.isnan()) && x.nan_to_num(0.5).equal(y.nan_to_num(0.5));
}

Outcome attempt(const std::function<Outcome()>& run) {
  try {
    return run();
  } catch (const std::exception& e) {
    return {{}, true, e.what()};
  }
}

struct Tally {
  size_t programs = 0, calls = 0, failed_alike = 0, failed_late = 0, mismatches = 0;
};

std::string difference(const Outcome& got, const Outcome& want) {
  if (got.tensors.size() != want.tensors.size()) return "another number of tensors";
  for (size_t i = 0; i < got.tensors.size(); ++i) {
    if (!same(got.tensors[i], want.tensors[i])) {
      return str("tensor ", i, ": got (version ", got.tensors[i]._version(), ")\n", got.tensors[i], "\nexpected (version ", want.tensors[i]._version(), ")\n",
                 want.tensors[i]);
    }
  }
  return "";
}

/// Empty, or what went wrong.
std::string check(uint64_t seed, Tally& tally) {
  const Program program(seed, 4 + static_cast<int>(seed % 13));
  for (const Instruction& i : program.instructions()) {
    ++Program::counts()[i.op ? std::string("op ") + i.op->name : str("feature ", static_cast<int>(i.kind))];
  }
  CompileOptions options{.backend = CompileBackend::kInterpreter};
  if (std::getenv("TAEDA_FUZZ_JIT")) options.backend = CompileBackend::kJit;
  if (std::getenv("TAEDA_FUZZ_DEBUG")) options.backend = CompileBackend::kDebug;
  options.background = std::getenv("TAEDA_FUZZ_BACKGROUND") != nullptr;
  options.code_from_elements = 0;
  options.step_aside = false;
  const auto fast = compile([&](const Inputs& in, int number) { return program.run(in, number); }, options);
  ++tally.programs;
  static const int variants[] = {0, 0, 1, 0, 1, 2, 0};
  for (int number = 0; number < 7; ++number) {
    ++tally.calls;
    const Inputs a = program.inputs(variants[number], number), b = program.inputs(variants[number], number);
    manual_seed(seed + static_cast<uint64_t>(number));
    Outcome want = attempt([&] { return program.run(a, number); });
    const Tensor state = default_generator().get_state();
    manual_seed(seed + static_cast<uint64_t>(number));
    Outcome got = attempt([&] { return fast(b, number); });
    const std::string where = str("call ", number, " of ", program.text());
    if (got.failed && !want.failed) return where + "only compiled failed: " + got.error;
    if (want.failed) {
      ++(got.failed ? tally.failed_alike : tally.failed_late);
      continue;
    }
    want.tensors.insert(want.tensors.end(), a.tensors.begin(), a.tensors.end());
    got.tensors.insert(got.tensors.end(), b.tensors.begin(), b.tensors.end());
    if (a.base.defined()) want.tensors.push_back(a.base), got.tensors.push_back(b.base);
    const std::string found = difference(got, want);
    if (!found.empty()) return where + found + '\n' + fast.explain();
    if (!default_generator().get_state().equal(state)) return where + "the generator's state differs";
  }
  return "";
}

TEST(CompileFuzz, RandomProgramsEqualEager) {
  const char* count = std::getenv("TAEDA_FUZZ_PROGRAMS");
  const char* first = std::getenv("TAEDA_FUZZ_SEED");
  const uint64_t programs = count ? std::strtoull(count, nullptr, 10) : 300;
  const uint64_t start = first ? std::strtoull(first, nullptr, 10) : 1;
  Tally tally;
  for (uint64_t seed = start; seed < start + programs; ++seed) {
    const std::string wrong = check(seed, tally);
    if (wrong.empty()) continue;
    ++tally.mismatches;
    ADD_FAILURE() << wrong;
    if (tally.mismatches >= 5) break;
  }
  if (const char* path = std::getenv("TAEDA_FUZZ_LOG")) {
    std::ofstream log(path);
    log << "programs " << tally.programs << ", first seed " << start << ", calls " << tally.calls << ", failed alike " << tally.failed_alike
        << ", failed in eager only " << tally.failed_late << ", mismatches " << tally.mismatches << '\n';
    for (const auto& [name, n] : Program::counts()) log << name << ' ' << n << '\n';
  }
}

}  // namespace
}  // namespace taeda::fuzz
