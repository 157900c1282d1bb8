// Frozen graphs: ResNet-50 with its batch norms, sums and relus in convolutions of packed weights, beside eager calls of the same model. LibTorch's
// C++ interface has no such graph for modules: its side is eager both times. Bars: see benchmarks/peer.h.
// threads: 1 2
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/networks.h"

#ifndef TAEDA_PEER_TORCH
#include "taeda/graph/capture.h"
#include "taeda/graph/executable.h"
#include "taeda/graph/passes/passes.h"
#endif

namespace {

auto eager(int64_t batch) {
  return [=] {
    return [model = bench::resnet50(), x = torch::rand({batch, 3, 224, 224})]() mutable {
      const torch::NoGradGuard no_grad;
      return model->forward(x);
    };
  };
}

#ifdef TAEDA_PEER_TORCH
auto frozen(int64_t batch) { return eager(batch); }
#else
auto frozen(int64_t batch) {
  return [=] {
    auto model = bench::resnet50();
    const torch::Tensor x = torch::rand({batch, 3, 224, 224});
    namespace graph = taeda::graph;
    graph::Graph g = graph::capture([&](const std::vector<torch::Tensor>& in) { return std::vector{model->forward(in[0])}; }, {x},
                                    graph::states_of(*model));
    graph::optimize(g, {.frozen = true});
    return [fast = std::make_shared<graph::Executable>(std::move(g)), x] { return fast->run({x})[0]; };
  };
}
#endif

void register_all() {
  bench::add("resnet50_eager_1", "", eager(1));
  bench::add("resnet50_frozen_1", "over_resnet50_eager_1<=0.95 memory<=1", frozen(1));
  bench::add("resnet50_eager_8", "", eager(8));
  bench::add("resnet50_frozen_8", "over_resnet50_eager_8<=0.95 memory<=1", frozen(8));
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, register_all); }
