// SPDX-License-Identifier: Apache-2.0
// Calls random operators with random changes to sample arguments: shapes, strides, dtypes, special values, nonsense. A call must give
// a result or throw one of the library's errors in its format; a refused call must leave its arguments as they were. Meant to
// run under the sanitizers; ./run fuzz does.
//   fuzz_ops [--seconds N] [--calls N] [--seed N] [--op NAME] [--log FILE] [--dump FILE] [--odd-calls FILE]
// --seconds: of all, with --odd-calls of each call; --log: the running call, to be read after a crash; --dump: all calls as
// text; --odd-calls: instead of fuzzing, a fixed set of odd calls as text, of operators whose name starts with --op.
#include <unistd.h>

#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "taeda/autograd/autograd.h"
#include "taeda/core/allocator.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"
#include "tests/fuzz/call_text.h"
#include "tests/support/op_mutate.h"

namespace {

using namespace taeda;        // NOLINT
using namespace taeda::test;  // NOLINT

struct Options {
  double seconds = 60;
  int64_t calls = INT64_MAX;
  uint64_t seed = 1;
  std::string op, log = "fuzz_ops.log", dump, odd_calls;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    const std::string value = argv[i + 1];
    if (key == "--seconds") o.seconds = std::stod(value);
    else if (key == "--calls") o.calls = std::stoll(value);
    else if (key == "--seed") o.seed = std::stoull(value);
    else if (key == "--op") o.op = value;
    else if (key == "--log") o.log = value;
    else if (key == "--dump") o.dump = value;
    else if (key == "--odd-calls") o.odd_calls = value;
    else {
      std::cerr << "[fuzz_ops] unknown option " << key << '\n';
      std::exit(2);
    }
  }
  return o;
}

/// A copy of the tensor with its layout, in a storage of its own.
Tensor copy_layout(const Tensor& t) {
  const auto& storage = *t.impl().storage;
  Tensor bytes = make_tensor({static_cast<int64_t>(storage.nbytes / t.itemsize())}, t.scalar_type());
  if (storage.nbytes) std::memcpy(bytes.mutable_data_ptr(), storage.data, static_cast<size_t>(bytes.numel()) * t.itemsize());
  return make_view(bytes, t.sizes(), t.strides(), t.storage_offset());
}

class Fuzzer {
 public:
  explicit Fuzzer(Options options) : options_(std::move(options)) {
    for (const auto& [op, list] : samples()) {
      if (!options_.op.empty() && options_.op != op->name) continue;
      if (std::string(op->name) == "from_file") continue;
      rows_.push_back(&list);
    }
    if (!options_.dump.empty()) dump_.open(options_.dump);
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    while (done_ < options_.calls && elapsed() < options_.seconds && faults_ < 50) one();
    std::printf("%lld calls of %zu operators in %.0f s: %lld gave a result, %lld an error, %lld were differentiated; %d faults\n",
                static_cast<long long>(done_), rows_.size(), elapsed(), static_cast<long long>(results_),
                static_cast<long long>(errors_), static_cast<long long>(backwards_), faults_);
    return faults_ > 0;
  }

 private:
  void one() {
    const uint64_t seed = options_.seed + static_cast<uint64_t>(done_++);
    Mutator mutator(seed);
    const std::vector<Sample>& list = *rows_[static_cast<size_t>(mutator.below(static_cast<int64_t>(rows_.size())))];
    Sample s = mutator.mutate(list[static_cast<size_t>(mutator.below(static_cast<int64_t>(list.size())))],
                              static_cast<int>(mutator.below(4)));
    s.id = "seed" + std::to_string(seed);
    describe(s);
    alarm(60);  // a call that never ends is a fault too
    const auto before = memory_of(s);
    const bool dumped = dump_.is_open();
    Sample kept = s;
    if (dumped) kept.args = map_tensors(s.args, copy_layout);
    const Outcome outcome = run_call(s);
    if (dumped) write_call(dump_, kept, outcome);
    outcome.kind == "ok" ? ++results_ : ++errors_;
    if (outcome.kind == "std") fault(s, "threw another kind of exception: " + outcome.message);
    if (outcome.kind != "ok" && outcome.kind != "std" && outcome.message.find('[') != 0) fault(s, "message without operator: " + outcome.message);
    if (outcome.kind != "ok" && memory_of(s) != before) fault(s, "was refused after something was written: " + outcome.message);
    if (outcome.kind == "ok") {
      read_all(outcome.result);
      if (mutator.below(3) == 0 && !dumped) differentiate(s);
    }
    alarm(0);
  }

  /// Reads every element, so that a result over foreign memory is noticed.
  void read_all(const Value& v) {
    map_tensors(v, [&](const Tensor& t) {
      if (t.numel() < 1 << 20) (void)bytes_of(t);
      return t;
    });
  }

  void differentiate(const Sample& original) {
    Sample s = original;
    std::vector<Tensor> leaves;
    s.args = map_tensors(original.args, [&](const Tensor& t) {
      Tensor leaf = fresh(t);
      if (!is_floating_type(t.scalar_type())) return leaf;
      leaf.requires_grad_();
      leaves.push_back(leaf);
      return s.op->kind == OpKind::kInplace && leaves.size() == 1 ? leaf.clone() : leaf;
    });
    try {
      std::vector<Tensor> roots;
      map_tensors(s.op->invoke(s.args.data()), [&](const Tensor& t) {
        if (t.requires_grad() && t.numel() > 0) roots.push_back(t.to(kDouble).sum());
        return t;
      });
      if (roots.empty()) return;
      Tensor total = roots[0];
      for (size_t i = 1; i < roots.size(); ++i) total = total + roots[i];
      ++backwards_;
      const std::vector<Tensor> grads = autograd::grad({total}, leaves, {}, true, true, true);
      Tensor norm;
      for (const Tensor& g : grads) {
        if (g.defined() && g.requires_grad() && is_floating_type(g.scalar_type())) norm = norm.defined() ? norm + g.to(kDouble).sum() : g.to(kDouble).sum();
      }
      if (norm.defined()) (void)autograd::grad({norm}, leaves, {}, false, false, true);
    } catch (const Error& e) {
      if (std::string(e.what()).find('[') != 0) fault(s, std::string("gradient: message without operator: ") + e.what());
    } catch (const std::exception& e) {
      fault(s, std::string("gradient threw another kind of exception: ") + e.what());
    }
  }

  void describe(const Sample& s) {
    text_ = s.id + ' ' + s.name() + '(';
    for (const Value& v : s.args) {
      text_ += describe(v) + ", ";
    }
    text_ += ")\n";
    std::FILE* f = std::fopen(options_.log.c_str(), "w");
    if (!f) return;
    std::fputs(text_.c_str(), f);
    std::fclose(f);
  }
  static std::string describe(const Value& v) {
    if (v.is_list()) {
      std::string text = "[";
      for (const Value& item : v.list()) text += describe(item) + ", ";
      return text + "]";
    }
    if (!v.is_tensor() || !v.tensor().defined()) return v.is_string() ? '"' + v.string() + '"' : v.describe();
    const Tensor& t = v.tensor();
    return v.describe() + str("/", t.strides(), "+", t.storage_offset());
  }
  void fault(const Sample&, const std::string& what) {
    ++faults_;
    std::printf("FAULT %s  %s\n", text_.c_str(), what.substr(0, 400).c_str());
    std::fflush(stdout);
  }

  Options options_;
  std::vector<const std::vector<Sample>*> rows_;
  std::ofstream dump_;
  std::string text_;
  int64_t done_ = 0, results_ = 0, errors_ = 0, backwards_ = 0;
  int faults_ = 0;
};

sigjmp_buf too_long;

/// Runs the call; one that takes longer is given up.
Outcome run_call_in_time(const Sample& s, unsigned seconds) {
  std::signal(SIGALRM, [](int) { siglongjmp(too_long, 1); });
  if (sigsetjmp(too_long, 1) != 0) {
    std::cout << "takes too long: " << s.id << std::endl;
    return {"std", "took too long", {}};
  }
  alarm(seconds);
  Outcome outcome = run_call(s);
  alarm(0);
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  taeda::set_memory_limit(size_t{2} << 30);
  const Options options = parse(argc, argv);
  if (options.odd_calls.empty()) return Fuzzer(options).run();
  std::ofstream file(options.odd_calls);
  for (const OpInfo* op : built_in_ops()) {
    if (!samples().contains(op) || !std::string_view(op->name).starts_with(options.op)) continue;
    for (const Sample& s : samples().at(op)) {
      for (int k = 0; k < kOddCalls; ++k) {
        Sample call = odd_call(s, k);
        call.id = s.name() + '|' + s.id + '|' + std::to_string(k);
        Sample kept = call;
        kept.args = map_tensors(call.args, copy_layout);
        write_call(file, kept, run_call_in_time(call, static_cast<unsigned>(options.seconds)));
        file.flush();
      }
    }
  }
}
