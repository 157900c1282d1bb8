// The one include of a benchmark: Taeda, or with TAEDA_PEER_TORCH the LibTorch it is measured against. The source that follows
// is the same for both, and so is the name space `torch`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef TAEDA_PEER_TORCH
#include <torch/torch.h>
#else
#include "taeda/torch.h"
#endif

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

// A bar that benchmarks/bench.py judges travels in the benchmark's label, as words of the forms
//   ns<=110         the median in nanoseconds
//   ratio>=5        the peer's median over ours
//   memory<=1       our peak memory over the peer's, each benchmark in a process of its own
//   copy>=0.8       bytes per second over those of the benchmark `copy_16M` of the same program
//   over_NAME<=1.02 the median of the ratios to the benchmark NAME of the same program, run by run
//   more_than_NAME<=1e6 the median less that of the benchmark NAME, in nanoseconds
//   mean_SET        no bar: the benchmark is one of a set, whose geometric mean of `over_` is told below the table
// A source with the line `// threads: 1 2` is run with each of these numbers of threads. One with `// no peer` is Taeda's alone; the
// peer of one with `// peer: SCRIPT` is a Python script, run by the interpreter that TAEDA_TORCHVISION_PYTHON names.

namespace bench {

/// Registers a benchmark that calls `make()` once for a closure and then times the closure.
template <class Make>
benchmark::internal::Benchmark* add(const std::string& name, const char* bars, Make make) {
  return benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    auto call = make();
    for (auto _ : state) {
      auto result = call();
      benchmark::DoNotOptimize(result);
    }
    state.SetLabel(bars);
  });
}

/// The main program: runs what is registered on BENCH_THREADS threads (default one). Says on the error stream how much memory
/// the process had at most.
inline int run(int argc, char** argv, void (*register_all)()) {
  const char* threads = std::getenv("BENCH_THREADS");
  torch::set_num_threads(threads ? std::atoi(threads) : 1);
  torch::manual_seed(1);
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM", 0) == 0) std::cerr << line << '\n';
  }
  return 0;
}

}  // namespace bench
