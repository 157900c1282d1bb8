// A function as it is, interpreted, with generated code and replayed, one after the other in one program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "taeda/taeda.h"

namespace bench {

/// Times `make()`'s closure with every backend of compile(). The bars compare with it as it is. `set`: further words of the labels,
/// to which the backend's name is added.
template <class Make>
void every_backend(const std::string& name, Make make, const std::string& set = "") {
  using taeda::CompileBackend;
  const std::pair<const char*, CompileBackend> backends[] = {
      {"eager", CompileBackend::kEager}, {"interpreted", CompileBackend::kInterpreter}, {"compiled", CompileBackend::kJit}};
  for (const auto& [suffix, backend] : backends) {
    const std::string bars = backend == CompileBackend::kEager ? "" : "over_" + name + "_eager<=1.05" + (set.empty() ? "" : " " + set + suffix);
    benchmark::RegisterBenchmark((name + '_' + suffix).c_str(), [=, backend = backend](benchmark::State& state) {
      taeda::set_num_threads(1);
      taeda::manual_seed(1);
      const auto call = taeda::compile(make(), {.backend = backend});
      for (int i = 0; i < 3; ++i) call();
      for (auto _ : state) {
        const taeda::Tensor result = call();
        benchmark::DoNotOptimize(result.impl().data());
      }
      state.SetLabel(bars);
    });
  }
}

/// The same in static mode: the host code is skipped. `most`: of the time that the function as it is takes.
template <class Make>
void replayed(const std::string& name, Make make, const std::string& most) {
  benchmark::RegisterBenchmark((name + "_static").c_str(), [=](benchmark::State& state) {
    taeda::set_num_threads(1);
    taeda::manual_seed(1);
    const auto call = taeda::compile(make(), {.mode = taeda::CompileMode::kStatic});
    for (int i = 0; i < 5; ++i) call();
    for (auto _ : state) {
      const taeda::Tensor result = call();
      benchmark::DoNotOptimize(result.impl().data());
    }
    state.SetLabel("over_" + name + "_eager<=" + most);
  });
}

}  // namespace bench
