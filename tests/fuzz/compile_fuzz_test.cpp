// SPDX-License-Identifier: Apache-2.0
// Random programs, eager against compiled, bit by bit. TAEDA_FUZZ_PROGRAMS and TAEDA_FUZZ_SEED choose how many and from which
// seed on; TAEDA_FUZZ_JIT has every fused loop compiled; TAEDA_FUZZ_DEBUG has the debug backend compare every unit as well;
// TAEDA_FUZZ_BACKGROUND has plans made on another thread, and waits for them before some calls; TAEDA_FUZZ_STATIC says how many programs are
// run in static mode (100), where all but the values stays equal; TAEDA_FUZZ_LOG names a file for the counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "taeda/compile/background.h"
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
  size_t programs = 0, calls = 0, failed_alike = 0, failed_late = 0, mismatches = 0, refused = 0, replayed = 0;
};

void count(const Program& program) {
  for (const Instruction& i : program.instructions()) {
    ++Program::counts()[i.op ? std::string("op ") + i.op->name : str("feature ", static_cast<int>(i.kind))];
  }
}

CompileOptions options_of_environment() {
  CompileOptions options{.backend = CompileBackend::kInterpreter};
  if (std::getenv("TAEDA_FUZZ_JIT")) options.backend = CompileBackend::kJit;
  if (std::getenv("TAEDA_FUZZ_DEBUG")) options.backend = CompileBackend::kDebug;
  options.code_from_elements = 0;
  options.step_aside = false;
  return options;
}

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
  count(program);
  CompileOptions options = options_of_environment();
  options.background = std::getenv("TAEDA_FUZZ_BACKGROUND") != nullptr;
  const auto fast = compile([&](const Inputs& in, int number) { return program.run(in, number); }, options);
  ++tally.programs;
  static const int variants[] = {0, 0, 1, 0, 1, 2, 0};
  for (int number = 0; number < 7; ++number) {
    ++tally.calls;
    if (options.background && number % 3 == 0) lazy::wait_for_plans();  // the others go on without
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

/// The program over arguments, and a leaf that it knows otherwise: arguments of static calls require no grad. What it returns has no history,
/// and shares no memory with the leaf.
std::vector<Tensor> run_on(const Program& program, const std::vector<Tensor>& arguments, const Tensor& leaf) {
  Inputs in{arguments, {}};
  in.tensors.insert(in.tensors.begin() + 2, leaf);
  const Outcome outcome = program.run(in, 1);
  std::vector<Tensor> results;
  for (const Tensor& t : outcome.tensors) {
    if (t.is_alias_of(leaf)) results.push_back(t.detach().clone());
    else results.push_back(t.requires_grad() ? t.detach() : t);
  }
  return results;
}

/// Empty, or what went wrong in static mode. Calls that are refused do nothing.
std::string check_static(uint64_t seed, Tally& tally) {
  const Program program(seed, 4 + static_cast<int>(seed % 13));
  count(program);
  CompileOptions options = options_of_environment();
  options.mode = CompileMode::kStatic;
  std::map<int, Tensor> fast_leaves, leaves;  // by variant: the function always knows the same ones
  size_t ran = 0, calls = 0;
  const auto fast = compile([&](const std::vector<Tensor>& arguments, int variant) {
    ++ran;
    return run_on(program, arguments, fast_leaves.at(variant));
  }, options);
  ++tally.programs;
  static const int variants[] = {0, 0, 0, 1, 0, 1, 1, 1, 2, 0, 2, 2, 2, 0};
  for (int number = 0; number < 14; ++number) {
    const int variant = variants[number];
    const Inputs a = program.inputs(variant, number), b = program.inputs(variant, number);
    const auto arguments_of = [](const Inputs& in) { return std::vector<Tensor>{in.tensors[0], in.tensors[1], in.tensors[3]}; };
    for (auto* known : {&fast_leaves, &leaves}) {
      Tensor& leaf = known->try_emplace(variant, a.tensors[2].detach().clone().requires_grad_()).first->second;
      const NoGradGuard off;
      if (leaf.sizes() != a.tensors[2].sizes()) return "";  // the program reshapes it in place
      leaf.copy_(a.tensors[2]);
      if (seed % 3 == 0 || (seed % 3 == 1 && number % 4 == 0)) leaf.mutable_grad().reset();  // else they accumulate
    }
    const std::vector<Tensor> x = arguments_of(a), y = arguments_of(b);
    manual_seed(seed + static_cast<uint64_t>(number));
    Outcome want = attempt([&]() -> Outcome { return {run_on(program, x, leaves.at(variant)), false, {}}; });
    const Tensor state = default_generator().get_state();
    manual_seed(seed + static_cast<uint64_t>(number));
    Outcome got = attempt([&]() -> Outcome {
      try {
        return {fast(y, variant), false, {}};
      } catch (const CompileError& e) {
        if (std::string(e.what()).find("must be equal") != std::string::npos) throw;  // of the debug backend
        return {{}, true, "refused"};
      }
    });
    if (got.failed && got.error == "refused") {
      ++tally.refused;
      break;
    }
    ++calls;
    ++tally.calls;
    const std::string where = str("static call ", number, " of ", program.text());
    if (got.failed && !want.failed) return where + "only compiled failed: " + got.error;
    if (want.failed) {
      ++(got.failed ? tally.failed_alike : tally.failed_late);
      break;
    }
    want.tensors.insert(want.tensors.end(), a.tensors.begin(), a.tensors.end());
    got.tensors.insert(got.tensors.end(), b.tensors.begin(), b.tensors.end());
    if (a.base.defined()) want.tensors.push_back(a.base), got.tensors.push_back(b.base);
    const Tensor &g = leaves.at(variant).grad(), &h = fast_leaves.at(variant).grad();
    if (g.defined() != h.defined()) return where + "a gradient is there in one of them only";
    want.tensors.push_back(leaves.at(variant)), got.tensors.push_back(fast_leaves.at(variant));
    if (g.defined()) want.tensors.push_back(g), got.tensors.push_back(h);
    const std::string found = difference(got, want);
    if (!found.empty()) return where + found + '\n' + fast.explain();
    if (!default_generator().get_state().equal(state)) return where + "the generator's state differs";
  }
  tally.replayed += calls - std::min(calls, ran);
  return "";
}

/// Checks programs from the first seed on, and writes the counts to the log, if one is wanted.
Tally run_programs(uint64_t programs, std::string (*check_one)(uint64_t, Tally&)) {
  const char* first = std::getenv("TAEDA_FUZZ_SEED");
  const uint64_t start = first ? std::strtoull(first, nullptr, 10) : 1;
  Tally tally;
  for (uint64_t seed = start; seed < start + programs; ++seed) {
    const std::string wrong = check_one(seed, tally);
    if (wrong.empty()) continue;
    ++tally.mismatches;
    ADD_FAILURE() << wrong;
    if (tally.mismatches >= 5) break;
  }
  if (const char* path = std::getenv("TAEDA_FUZZ_LOG")) {
    std::ofstream log(path);
    log << "programs " << tally.programs << ", first seed " << start << ", calls " << tally.calls << ", failed alike " << tally.failed_alike
        << ", failed in eager only " << tally.failed_late << ", mismatches " << tally.mismatches << ", refused in static mode " << tally.refused
        << ", calls replayed " << tally.replayed << '\n';
    for (const auto& [name, n] : Program::counts()) log << name << ' ' << n << '\n';
  }
  return tally;
}

uint64_t programs_wanted(const char* name, uint64_t otherwise) {
  const char* count = std::getenv(name);
  return count ? std::strtoull(count, nullptr, 10) : otherwise;
}

TEST(CompileFuzz, RandomProgramsEqualEager) { run_programs(programs_wanted("TAEDA_FUZZ_PROGRAMS", 300), check); }

TEST(CompileFuzz, StaticCallsEqualEager) {
  const uint64_t programs = programs_wanted("TAEDA_FUZZ_STATIC", 100);
  const Tally tally = run_programs(programs, check_static);
  EXPECT_GE(tally.replayed, programs / 2);
}

}  // namespace
}  // namespace taeda::fuzz
