// What a batch of an in-memory data set costs beside plain slicing of the same tensor. Bars: see benchmarks/peer.h.
// threads: 1 2
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peer.h"

namespace {

using torch::Tensor;
using Rows = torch::data::datasets::TensorDataset;
using Stack = torch::data::transforms::Stack<torch::data::TensorExample>;

constexpr int64_t kRows = 20'000, kFeatures = 32, kBatch = 64;

/// An epoch of a shuffled loader, the permutation at its start included.
auto loader_epoch() {
  auto loader = std::shared_ptr(torch::data::make_data_loader(Rows(torch::randn({kRows, kFeatures})).map(Stack()), static_cast<size_t>(kBatch)));
  return [loader] {
    Tensor last;
    for (auto& example : *loader) last = example.data;
    return last;
  };
}

/// The same by hand: a permutation, and rows chosen by slices of it.
auto slicing_epoch() {
  return [data = torch::randn({kRows, kFeatures})] {
    Tensor last;
    const Tensor order = torch::randperm(kRows);
    for (int64_t i = 0; i < kRows; i += kBatch) last = data.index_select(0, order.slice(0, i, std::min(i + kBatch, kRows)));
    return last;
  };
}

void register_all() {
  bench::add("slicing_20000x32_64", "", slicing_epoch);
  bench::add("loader_20000x32_64", "over_slicing_20000x32_64<=2 ratio>=6.6 memory<=1", loader_epoch);
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
