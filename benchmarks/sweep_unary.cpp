// Measures the unary float kernels against double references over all 2^32 float patterns, on every instruction set.
// Usage: bench_sweep_unary [stride] [kernel...]     stride 1 (default) takes every pattern; prints one table row a kernel.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "taeda/cpu/pointwise_abi.h"
#include "tests/simd/unary_reference.h"

namespace {

using namespace taeda::cpu;

struct Worst {
  double error = 0;
  float at = 0;
};

constexpr int kBlock = 4096;

// The worst errors of one kernel on the targets up to `targets`, over patterns first, first + stride, ... below `last`.
void sweep(const taeda::test::UnaryReference& reference, int targets, uint64_t first, uint64_t last, uint64_t stride, Worst* worst) {
  const auto id = static_cast<PointwiseKernelId>(find_pointwise_kernel(reference.kernel));
  std::vector<float> in(kBlock), out(kBlock);
  std::vector<double> exact(kBlock);
  for (uint64_t pattern = first; pattern < last;) {
    int count = 0;
    for (; count < kBlock && pattern < last; ++count, pattern += stride) {
      const auto bits = static_cast<uint32_t>(pattern);
      std::memcpy(&in[count], &bits, 4);
      exact[count] = reference.exact(in[count]);
    }
    char* const ptrs[] = {reinterpret_cast<char*>(out.data()), reinterpret_cast<char*>(in.data())};
    const int64_t strides[] = {4, 4};
    for (int t = 0; t <= targets; ++t) {
      pointwise_kernel(id, static_cast<SimdTarget>(t)).f32(ptrs, strides, count, nullptr);
      for (int i = 0; i < count; ++i) {
        const double error = taeda::test::ulp_error(out[i], exact[i]);
        if (error > worst[t].error) worst[t] = {error, in[i]};
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int targets = static_cast<int>(best_simd_target());
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::printf("| kernel |");
  for (int t = 0; t <= targets; ++t) std::printf(" %s: ulp | at |", simd_target_name(static_cast<SimdTarget>(t)));
  std::printf("\n");
  for (const auto& reference : taeda::test::kUnaryReferences) {
    bool wanted = argc <= 2;
    for (int i = 2; i < argc; ++i) wanted |= reference.kernel == std::string(argv[i]);
    if (!wanted || find_pointwise_kernel(reference.kernel) < 0) continue;
    std::vector<std::vector<Worst>> worst(threads, std::vector<Worst>(kSimdTargets));
    std::vector<std::thread> pool;
    const uint64_t share = ((uint64_t{1} << 32) / threads / stride) * stride;
    for (unsigned k = 0; k < threads; ++k) {
      const uint64_t first = k * share, last = k + 1 == threads ? uint64_t{1} << 32 : first + share;
      pool.emplace_back(sweep, std::cref(reference), targets, first, last, stride, worst[k].data());
    }
    for (auto& thread : pool) thread.join();
    std::printf("| %s |", reference.kernel);
    for (int t = 0; t <= targets; ++t) {
      Worst all;
      for (const auto& part : worst) {
        if (part[t].error > all.error) all = part[t];
      }
      std::printf(" %.3f | %.9g |", all.error, static_cast<double>(all.at));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}
