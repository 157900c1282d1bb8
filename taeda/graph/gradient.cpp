// SPDX-License-Identifier: Apache-2.0
// Joint graphs: the nodes of a graph run above autograd, inside a capture.
#include "taeda/graph/gradient.h"

#include <algorithm>

#include "taeda/autograd/autograd.h"
#include "taeda/core/generator.h"
#include "taeda/graph/fused.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/recording.h"
#include "taeda/ops/functions.h"

namespace taeda::graph {

namespace {

size_t at(Id id) { return static_cast<size_t>(id); }

/// Leaves the generator as it was.
class GeneratorGuard {
 public:
  GeneratorGuard() = default;
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;
  ~GeneratorGuard() { set_default_generator_state(state_); }

 private:
  std::vector<uint8_t> state_ = default_generator_state();
};

Tensor filled(const Type& type) {
  Tensor t = make_tensor_strided(type.sizes, type.strides, type.dtype);
  if (overlaps_itself(t)) t = make_tensor(type.sizes, type.dtype);
  return t.fill_(is_floating_type(type.dtype) ? 1 : 0);
}

/// What to differentiate by.
struct Wanted {
  Tensor leaf;
  std::string name;
  bool always;  ///< zeros where it has no gradient
};

/// The first `results` of `values` get cotangents; gradients are added to the values, and their names to `joint`.
std::vector<Tensor> with_gradients(std::vector<Tensor> values, const std::vector<Wanted>& wanted, const AddInput& add, JointGraph& joint) {
  std::vector<Tensor> by, from, cotangents;
  for (size_t i = 0; i < joint.results; ++i) {
    if (!values[i].defined() || !is_floating_type(values[i].scalar_type())) continue;
    Tensor cotangent;
    {
      const BelowDoorGuard below;
      cotangent = ones(values[i].sizes(), values[i].scalar_type());
    }
    add(cotangent);
    if (values[i].requires_grad()) from.push_back(values[i]), cotangents.push_back(cotangent);
  }
  for (const Wanted& w : wanted) by.push_back(w.leaf);
  std::vector<Tensor> gradients(by.size());
  if (!from.empty() && !by.empty()) gradients = autograd::grad(from, by, cotangents, false, false, true);
  const NoGradGuard no_grad;
  for (size_t i = 0; i < by.size(); ++i) {
    if (!gradients[i].defined() && !wanted[i].always) continue;
    values.push_back(gradients[i].defined() ? gradients[i] : zeros(by[i].sizes(), by[i].scalar_type()));
    joint.wanted.push_back(wanted[i].name);
  }
  return values;
}

void check_floating(ScalarType dtype, const std::string& name) {
  TAEDA_CHECK_VALUE(is_floating_type(dtype), "[graph] gradients are those of floating values: got ", dtype, " for ", name, "; leave it out");
}

/// Places of the inputs to differentiate by.
std::vector<size_t> places(const GradientOptions& options, const std::vector<ScalarType>& dtypes) {
  std::vector<size_t> list;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (!options.inputs && is_floating_type(dtypes[i])) list.push_back(i);
  }
  for (const size_t i : options.inputs.value_or(std::vector<size_t>())) {
    TAEDA_CHECK_INDEX(i < dtypes.size(), "[graph] gradients are by inputs from 0, of which there are ", dtypes.size(), ": got ", i, "; correct the place");
    check_floating(dtypes[i], str("input", i));
    if (std::find(list.begin(), list.end(), i) == list.end()) list.push_back(i);
  }
  return list;
}

/// States to differentiate by. `leaf_of` gives what the run reads as a state.
template <class LeafOf>
void add_states(std::vector<Wanted>& wanted, const GradientOptions& options, const States& states, const LeafOf& leaf_of) {
  for (size_t i = 0; i < states.size(); ++i) {
    const auto& [name, state] = states[i];
    const bool chosen = options.states ? std::find(options.states->begin(), options.states->end(), name) != options.states->end() : state.requires_grad();
    if (!chosen) continue;
    check_floating(state.scalar_type(), name);
    wanted.push_back({leaf_of(i), name, options.states.has_value()});
  }
  for (const std::string& name : options.states.value_or(std::vector<std::string>())) {
    const bool there = std::any_of(states.begin(), states.end(), [&](const auto& state) { return state.first == name; });
    TAEDA_CHECK_VALUE(there, "[graph] gradients are by states: got \"", name, "\", which is none; leave it out");
  }
}

class Differentiator {
 public:
  Differentiator(const Graph& graph, const GradientOptions& options) : graph_(graph), options_(options) {
    TAEDA_CHECK_NOT_IMPLEMENTED(graph.symbols.empty(), "[graph] gradients are those of graphs of fixed sizes: got the symbol ",
                                graph.symbols.front().name, "; capture without dynamic dimensions");
    for (const Node& node : graph.nodes) {
      TAEDA_CHECK_NOT_IMPLEMENTED(fused_operator(name_of(*node.op)) == nullptr, "[graph] gradients are those of the registry's operators: got ",
                                  node.op->name, "; take the gradient of the graph before it is frozen");
    }
  }

  JointGraph run() {
    const GeneratorGuard generator;
    JointGraph joint;
    joint.inputs = graph_.inputs.size();
    joint.results = graph_.outputs.size();
    States states;
    for (const Datum& v : graph_.values) {
      if (v.tensor.defined()) states.emplace_back(v.name, v.tensor);
    }
    const std::vector<Tensor> in = examples();
    joint.graph = capture_with_gradients([&](const AddInput& add) { return differentiate(in, add, joint); }, in, states);
    complete(joint.graph);
    joint.graph.verify();
    return joint;
  }

 private:
  /// Inputs for the capture.
  std::vector<Tensor> examples() const {
    const BelowDoorGuard below;
    TAEDA_CHECK_VALUE(options_.examples.empty() || options_.examples.size() == graph_.inputs.size(), "[graph] there is an example for each input: got ",
                      options_.examples.size(), " for ", graph_.inputs.size(), "; pass as many, or none");
    std::vector<Tensor> list;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Type& type = graph_.values[at(graph_.inputs[i])].type;
      list.push_back(filled(type));
      if (options_.examples.empty()) continue;
      const Tensor& given = options_.examples[i];
      TAEDA_CHECK_VALUE(given.defined() && given.scalar_type() == type.dtype && given.sizes() == IntArrayRef(type.sizes),
                        "[graph] an example has the captured dtype and sizes: got ", Value(given).describe(), " for ", type.dtype, IntArrayRef(type.sizes),
                        "; pass another");
      list.back().copy_(given.detach());
    }
    return list;
  }

  /// What the joint graph gives: results, values of mutations, gradients.
  std::vector<Tensor> differentiate(const std::vector<Tensor>& in, const AddInput& add, JointGraph& joint) const {
    std::vector<Tensor> leaves(graph_.values.size());
    States states;
    std::vector<size_t> ids;
    for (size_t id = 0; id < leaves.size(); ++id) {
      const Datum& v = graph_.values[id];
      if (v.tensor.defined()) leaves[id] = v.tensor.detach();
      if (v.origin == Origin::kState) states.emplace_back(v.name, v.tensor), ids.push_back(id);
    }
    std::vector<ScalarType> dtypes;
    for (size_t i = 0; i < in.size(); ++i) {
      leaves[at(graph_.inputs[i])] = in[i].detach();
      dtypes.push_back(in[i].scalar_type());
    }
    std::vector<Wanted> wanted;
    for (const size_t i : places(options_, dtypes)) wanted.push_back({leaves[at(graph_.inputs[i])], graph_.values[at(graph_.inputs[i])].name, true});
    add_states(wanted, options_, states, [&](size_t i) { return leaves[ids[i]]; });
    for (const Wanted& w : wanted) w.leaf.requires_grad_(true);
    return with_gradients(run_recorded(graph_, std::move(leaves)), wanted, add, joint);
  }

  /// Constants are constants again, and what was given as values of mutations becomes these.
  void complete(Graph& joint) const {
    for (size_t id = 0; id < joint.values.size(); ++id) {
      Datum& v = joint.values[id];
      if (v.origin != Origin::kState) continue;
      for (const Datum& given : graph_.values) {
        if (given.origin != Origin::kConstant || given.tensor.impl().storage != v.tensor.impl().storage) continue;
        v.origin = Origin::kConstant;
        v.tensor = given.tensor;
      }
    }
    const auto first = joint.outputs.begin() + static_cast<std::ptrdiff_t>(graph_.outputs.size());
    const auto end = first + static_cast<std::ptrdiff_t>(graph_.mutations.size());
    for (size_t i = 0; i < graph_.mutations.size(); ++i) joint.mutations.push_back({target_in(joint, graph_.mutations[i].target), first[static_cast<std::ptrdiff_t>(i)]});
    joint.outputs.erase(first, end);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) joint.values[at(joint.inputs[i])].name = graph_.values[at(graph_.inputs[i])].name;
  }
  Id target_in(Graph& joint, Id target) const {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      if (graph_.inputs[i] == target) return joint.inputs[i];
    }
    const Datum& v = graph_.values[at(target)];
    for (size_t id = 0; id < joint.values.size(); ++id) {
      if (joint.values[id].origin == Origin::kState && joint.values[id].name == v.name) return static_cast<Id>(id);
    }
    joint.values.push_back(v);
    return static_cast<Id>(joint.values.size()) - 1;
  }

  const Graph& graph_;
  const GradientOptions& options_;
};

void name_cotangents(JointGraph& joint) {
  for (size_t i = joint.inputs; i < joint.graph.inputs.size(); ++i) {
    joint.graph.values[at(joint.graph.inputs[i])].name = str("cotangent", i - joint.inputs);
  }
}

}  // namespace

JointGraph gradient(const Graph& graph, const GradientOptions& options) {
  JointGraph joint = Differentiator(graph, options).run();
  name_cotangents(joint);
  return joint;
}

JointGraph gradient(const Function& function, const std::vector<Tensor>& examples, const States& states, const GradientOptions& options) {
  TAEDA_CHECK_VALUE(options.examples.empty(), "[graph] examples of a function are given beside it: got ", options.examples.size(),
                    " among the options; leave them out");
  std::vector<Tensor> inputs;
  std::vector<Wanted> wanted;
  {
    const BelowDoorGuard below;
    std::vector<ScalarType> dtypes;
    for (const Tensor& t : examples) {
      TAEDA_CHECK_VALUE(t.defined(), "[graph] example inputs are tensors: got an undefined one; leave it out");
      inputs.push_back(copy_as_laid_out(overlaps_itself(t) ? t.detach().contiguous() : t.detach()));
      dtypes.push_back(t.scalar_type());
    }
    for (const size_t i : places(options, dtypes)) wanted.push_back({inputs[i].requires_grad_(true), str("input", i), true});
    add_states(wanted, options, states, [&](size_t i) { return states[i].second; });
    for (const Wanted& w : wanted) {
      TAEDA_CHECK_VALUE(w.leaf.requires_grad(), "[graph] states to differentiate by require grad: got ", w.name, ", which does not; call requires_grad_()");
    }
  }
  JointGraph joint;
  joint.inputs = inputs.size();
  joint.graph = capture_with_gradients([&](const AddInput& add) {
    std::vector<Tensor> results = function(inputs);
    joint.results = results.size();
    return with_gradients(std::move(results), wanted, add, joint);
  }, inputs, states);
  name_cotangents(joint);
  return joint;
}

}  // namespace taeda::graph
