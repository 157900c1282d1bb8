// Small operators (what one call costs) and large ones (what the machine gives), one thread. Bars: see benchmarks/peer.h.
// Those of small operators are ratios too, so that they mean the same on a slower machine.
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

#include <string>
#include <vector>

namespace {

using torch::Tensor;
using torch::indexing::Slice;

constexpr int64_t kLarge = 1 << 24;

/// Registers a benchmark that calls `make()` once for a closure and then times the closure. `bytes`: moved by one call.
template <class Make>
void add(const char* name, const char* bars, Make make, double bytes = 0) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    auto call = make();
    benchmark::DoNotOptimize(call());  // pages and caches that are new at the first call
    for (auto _ : state) {
      auto result = call();
      benchmark::DoNotOptimize(result);
    }
    state.SetLabel(bars);
    if (bytes > 0) state.SetBytesProcessed(static_cast<int64_t>(bytes * static_cast<double>(state.iterations())));
  });
}

/// A plain copy loop over 64 MB that are already in memory: the measure of what the memory gives. It stays a loop: memcpy, into
/// which g++ would turn it, bypasses the cache for large blocks.
#ifndef __clang__
__attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif
void copy_loop(benchmark::State& state) {
  std::vector<float> from(kLarge, 1.0F);
  std::vector<float> to(kLarge, 0.0F);
  for (auto _ : state) {
    const float* __restrict source = from.data();
    float* __restrict target = to.data();
    benchmark::DoNotOptimize(target);
    for (int64_t i = 0; i < kLarge; ++i) target[i] = source[i];
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(8 * kLarge * static_cast<int64_t>(state.iterations()));
}

void register_small() {
  const auto four = [] { return torch::tensor({1.0F, 2.0F, 3.0F, 4.0F}); };
  add("add_4", "ratio>=5", [=] { return [a = four(), b = four()] { return a + b; }; });
  add("add_4_recorded", "ratio>=4.2",
      [=] { return [a = four().requires_grad_(), b = four()] { return a + b; }; });
  add("mul_scalar_4", "ratio>=13.5", [=] { return [a = four()] { return a * 2.0; }; });
  add("view_4", "ratio>=3.2", [=] { return [a = four()] { return a.view({2, 2}); }; });
  add("slice_4", "ratio>=6.1", [=] { return [a = four()] { return a.index({Slice(1, 3)}); }; });
  add("select_item", "ratio>=5.1", [=] { return [a = four()] { return a.select(0, 1).item<float>(); }; });
  add("empty_4", "ratio>=3.1", [] { return [] { return torch::empty({4}); }; });
  add("sum_4", "ratio>=7.2", [=] { return [a = four()] { return a.sum(); }; });
  add("cat_4_4", "ratio>=3.4", [=] { return [a = four(), b = four()] { return torch::cat({a, b}); }; });
  for (const int64_t n : {4, 64}) {
    add(("matmul_" + std::to_string(n)).c_str(), n == 4 ? "ratio>=4.8" : "ratio>=2.5", [n] {
      return [a = torch::ones({n, n}), b = torch::ones({n, n})] { return torch::matmul(a, b); };
    });
  }
}

void register_large() {
  benchmark::RegisterBenchmark("copy_16M", copy_loop);
  const auto large = [] { return torch::full({kLarge}, 0.5F); };
  add("add_16M", "copy>=0.8", [=] { return [a = large(), b = large()] { return a + b; }; }, 12.0 * kLarge);
  add("tanh_16M", "copy>=0.8", [=] { return [a = large()] { return torch::tanh(a); }; }, 8.0 * kLarge);
  add("exp_16M", "copy>=0.8", [=] { return [a = large()] { return torch::exp(a); }; }, 8.0 * kLarge);
  add("sum_16M", "ratio>=1.5", [=] { return [a = large()] { return a.sum(); }; }, 4.0 * kLarge);

  const auto matrix = [](int64_t n, int64_t m) { return torch::randn({n, m}); };
  add("softmax_4096x1024", "ratio>=1.5", [=] { return [a = matrix(4096, 1024)] { return torch::softmax(a, 1); }; });
  add("layer_norm_4096x1024", "ratio>=1.5", [=] {
    return [a = matrix(4096, 1024), w = torch::ones({1024}), b = torch::zeros({1024})] {
      return torch::layer_norm(a, {1024}, w, b);
    };
  });
  add("transpose_copy_4096", "ratio>=1", [=] { return [a = matrix(4096, 4096)] { return a.t().contiguous(); }; },
      8.0 * kLarge);
  const auto numbers = [] { return torch::randint(0, 1 << 30, {1000000}, torch::kInt64); };
  add("sort_int64_1M", "ratio>=1", [=] { return [a = numbers()] { return torch::sort(a); }; });
  add("topk_1M_100", "ratio>=1", [] { return [a = torch::randn({1000000})] { return torch::topk(a, 100); }; });
  const auto rows = [] { return torch::randint(0, 4096, {4096, 1024}, torch::kInt64); };
  add("gather_4096x1024", "ratio>=1",
      [=] { return [a = matrix(4096, 1024), i = rows()] { return torch::gather(a, 0, i); }; });
  add("index_add_4096x1024", "ratio>=1", [=] {
    return [a = matrix(4096, 1024), b = matrix(4096, 1024), i = torch::randint(0, 4096, {4096}, torch::kInt64)] {
      return torch::index_add(a, 0, i, b);
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  register_small();
  register_large();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
