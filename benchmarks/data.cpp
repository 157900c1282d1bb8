// What a batch of an in-memory data set costs beside plain slicing of the same tensor, one thread. Bars: see benchmarks/peer.h.
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

namespace {

using torch::Tensor;
using Rows = torch::data::datasets::TensorDataset;
using Stack = torch::data::transforms::Stack<torch::data::TensorExample>;

constexpr int64_t kRows = 20'000;

/// Time for one batch: a whole epoch is visited, the permutation at its start included.
void loader_shuffled(benchmark::State& state) {
  const int64_t batch = state.range(1), batches = (kRows + batch - 1) / batch;
  auto loader = torch::data::make_data_loader(Rows(torch::randn({kRows, state.range(0)})).map(Stack()), static_cast<size_t>(batch));
  for (auto _ : state) {
    for (auto& example : *loader) benchmark::DoNotOptimize(example.data);
  }
  state.counters["batch"] = benchmark::Counter(static_cast<double>(batches), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// The same by hand: a permutation, and rows chosen by slices of it.
void slicing_shuffled(benchmark::State& state) {
  const int64_t batch = state.range(1), batches = (kRows + batch - 1) / batch;
  const Tensor data = torch::randn({kRows, state.range(0)});
  for (auto _ : state) {
    const Tensor order = torch::randperm(kRows);
    for (int64_t i = 0; i < kRows; i += batch) {
      Tensor rows = data.index_select(0, order.slice(0, i, std::min(i + batch, kRows)));
      benchmark::DoNotOptimize(rows);
    }
  }
  state.counters["batch"] = benchmark::Counter(static_cast<double>(batches), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

BENCHMARK(loader_shuffled)->Args({32, 64})->Args({20, 256})->Args({784, 64});
BENCHMARK(slicing_shuffled)->Args({32, 64})->Args({20, 256})->Args({784, 64});

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
