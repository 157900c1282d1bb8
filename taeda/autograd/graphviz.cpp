// SPDX-License-Identifier: Apache-2.0
// A picture of the graph, by an iterative walk over its edges.
#include "taeda/autograd/graphviz.h"

#include <unordered_map>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/extras.h"

namespace taeda::autograd {

namespace {
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string label_of(const Node& node) {
  if (node.is_accumulator()) {
    return quoted(describe(static_cast<const AccumulateGrad&>(node).variable)) + ", shape=ellipse";
  }
  const std::string module = node.extras ? node.extras->module_path : std::string();
  return quoted(module.empty() ? node.name() : node.name() + " in " + module) + ", shape=box";
}
}  // namespace

std::string graphviz(const variable_list& roots) {
  std::string text = "digraph autograd {\n";
  std::unordered_map<Node*, size_t> numbers;
  std::vector<Node*> order;
  const auto number_of = [&](Node* node) {
    const auto [it, fresh] = numbers.emplace(node, numbers.size());
    if (fresh) order.push_back(node);
    return it->second;
  };
  std::vector<Edge> owners;
  for (size_t i = 0; i < roots.size(); ++i) {
    Edge edge = gradient_edge(roots[i]);
    text += str("  r", i, " [label=", quoted(describe(roots[i])), ", shape=ellipse, style=bold];\n");
    if (!edge.is_valid()) continue;
    text += str("  r", i, " -> n", number_of(edge.function.get()), ";\n");
    owners.push_back(std::move(edge));
  }
  for (size_t at = 0; at < order.size(); ++at) {
    Node& node = *order[at];
    text += str("  n", at, " [label=", label_of(node), "];\n");
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Edge& edge = node.next_edge(i);
      if (!edge.is_valid()) continue;
      text += str("  n", at, " -> n", number_of(edge.function.get()));
      if (edge.input_nr != 0) text += str(" [label=", edge.input_nr, "]");
      text += ";\n";
    }
  }
  return text + "}\n";
}

}  // namespace taeda::autograd
