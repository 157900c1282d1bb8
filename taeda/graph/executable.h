// SPDX-License-Identifier: Apache-2.0
// Graphs that run many times.
//
//     graph::optimize(g, {.frozen = true});
//     const graph::Executable fast(g);
//     Tensor y = fast.run({x})[0];
#pragma once

#include <memory>
#include <vector>

#include "taeda/graph/graph.h"

namespace taeda::graph {

/// A graph whose arguments are decoded and whose constant weights are packed once. States are those of the program. May be run from several
/// threads at once where it changes none.
class TAEDA_API Executable {
 public:
  explicit Executable(Graph graph);
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  /// As graph::run().
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const;

  struct Prepared;

 private:
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace taeda::graph
