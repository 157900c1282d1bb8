// SPDX-License-Identifier: Apache-2.0
// A model as TensorBoard's graph: the operators that made its result, under the modules whose parameters they use.
#include <algorithm>
#include <unordered_map>

#include "taeda/autograd/accumulate_grad.h"
#include "taeda/autograd/autograd.h"
#include "taeda/nn/module.h"
#include "taeda/train/loggers.h"
#include "taeda/train/protobuf.h"

namespace taeda::train {

using namespace protobuf;  // NOLINT(google-build-using-namespace): a few functions of this room

namespace {

std::string shape_attribute(IntArrayRef sizes) {
  std::string shape, list, value, entry;
  for (const int64_t size : sizes) {
    std::string dim;
    put_int(dim, 1, size);
    put_bytes(shape, 2, dim);
  }
  put_bytes(list, 7, shape);
  put_bytes(value, 1, list);
  put_bytes(entry, 1, "_output_shapes");
  put_bytes(entry, 2, value);
  return entry;
}

/// "network.body.0.weight" as "network/body/0/weight".
std::string path_of(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

/// The nodes behind a tensor with their names.
class GraphWalk {
 public:
  GraphWalk(const nn::Module& model, const Tensor& output) {
    for (const auto& item : model.named_parameters()) {
      if (item.value().defined()) parameters_[&item.value().impl()] = path_of(item.key());
    }
    root_ = autograd::gradient_edge(output);
    if (root_.is_valid()) visit(root_.function.get());
    for (size_t at = 0; at < order_.size(); ++at) {
      for (size_t i = 0; i < order_[at]->num_outputs(); ++i) {
        if (const autograd::Edge& edge = order_[at]->next_edge(i); edge.is_valid()) visit(edge.function.get());
      }
    }
    for (autograd::Node* node : order_) names_[node] = name_of(*node);
  }

  std::string graph_def() const {
    std::string graph;
    for (autograd::Node* node : order_) {
      std::string text;
      put_bytes(text, 1, names_.at(node));
      put_bytes(text, 2, node->is_accumulator() ? (is_parameter(*node) ? "Parameter" : "Placeholder") : operator_of(*node));
      for (size_t i = 0; i < node->num_outputs(); ++i) {
        if (const autograd::Edge& edge = node->next_edge(i); edge.is_valid()) put_bytes(text, 3, names_.at(edge.function.get()));
      }
      const IntArrayRef sizes = node->is_accumulator() ? static_cast<autograd::AccumulateGrad*>(node)->variable.sizes() : IntArrayRef(node->output_meta(0).sizes);
      put_bytes(text, 5, shape_attribute(sizes));
      put_bytes(graph, 1, text);
    }
    std::string versions;
    put_int(versions, 1, 22);
    put_bytes(graph, 4, versions);
    return graph;
  }

 private:
  void visit(autograd::Node* node) {
    if (names_.emplace(node, std::string()).second) order_.push_back(node);
  }
  bool is_parameter(const autograd::Node& node) const {
    return node.is_accumulator() && parameters_.contains(&static_cast<const autograd::AccumulateGrad&>(node).variable.impl());
  }
  static std::string operator_of(const autograd::Node& node) {
    const std::string name = node.name();
    return name.substr(0, name.find("Backward"));
  }
  std::string name_of(const autograd::Node& node) {
    if (is_parameter(node)) return parameters_.at(&static_cast<const autograd::AccumulateGrad&>(node).variable.impl());
    std::string scope;
    for (size_t i = 0; i < node.num_outputs() && scope.empty(); ++i) {
      const autograd::Edge& edge = node.next_edge(i);
      if (!edge.is_valid() || !is_parameter(*edge.function)) continue;
      const std::string& parameter = parameters_.at(&static_cast<const autograd::AccumulateGrad&>(*edge.function).variable.impl());
      scope = parameter.substr(0, parameter.rfind('/') + 1);
    }
    const std::string name = scope + (node.is_accumulator() ? "input" : operator_of(node));
    const int64_t number = used_[name]++;
    return number == 0 ? name : str(name, "_", number);
  }

  std::unordered_map<const TensorImpl*, std::string> parameters_;
  autograd::Edge root_;
  std::vector<autograd::Node*> order_;
  std::unordered_map<autograd::Node*, std::string> names_;
  std::unordered_map<std::string, int64_t> used_;
};

}  // namespace

void TensorBoardLogger::add_graph(const nn::Module& model, const Tensor& output) {
  TAEDA_CHECK_VALUE(output.defined() && output.requires_grad(), "[add_graph] the result must have a graph: got ",
                    output.defined() ? "a tensor without gradients" : "nothing", "; run the model with gradients enabled");
  std::string event;
  put_double(event, 1, wall_time());
  put_bytes(event, 4, GraphWalk(model, output).graph_def());
  add_event(event);
}

}  // namespace taeda::train
