// SPDX-License-Identifier: Apache-2.0
// Batch norms by fixed statistics as part of the linear map before them (Jacob et al. 2018, section 3.2).
#include "taeda/core/modes.h"
#include "taeda/graph/passes/rewrite.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/operators.h"

namespace taeda::graph {

namespace {

class Folder {
 public:
  Folder(Graph& graph, bool frozen, Notes* notes) : graph_(graph), notes_(notes), uses_(count_uses(graph)), makers_(makers_of(graph)), fixed_(graph.values.size()) {
    for (size_t id = 0; id < fixed_.size(); ++id) {
      const Origin origin = graph.values[id].origin;
      fixed_[id] = origin == Origin::kConstant || (frozen && origin == Origin::kState);
    }
    for (const Mutation& m : graph.mutations) fixed_[at(m.target)] = false;
  }

  size_t run() {
    std::vector<Id> names(graph_.values.size());
    for (size_t id = 0; id < names.size(); ++id) names[id] = static_cast<Id>(id);
    size_t folded = 0;
    for (Node& norm : graph_.nodes) {
      if (!is_operator(norm, "native_batch_norm") || norm.args[5].attribute.to_bool() || !norm.updates.empty() || used(norm, 1) || used(norm, 2)) continue;
      const Id x = norm.args[0].value, y = norm.results[0];
      Node* map = y >= 0 && uses_[at(x)] == 1 && makers_[at(x)] >= 0 ? &graph_.nodes[at(makers_[at(x)])] : nullptr;
      if (!map || !fold(*map, norm)) continue;
      note(notes_, '%', y, " = native_batch_norm(%", x, ", …) goes into %", x, " = ", map->op->name);
      names[at(y)] = x;
      ++folded;
    }
    if (folded == 0) return 0;
    names.resize(graph_.values.size());
    for (size_t id = uses_.size(); id < names.size(); ++id) names[id] = static_cast<Id>(id);
    replace_values(graph_, names);
    return folded;
  }

 private:
  static size_t at(Id id) { return static_cast<size_t>(id); }
  bool used(const Node& node, size_t result) const { return node.results[result] >= 0 && uses_[at(node.results[result])] > 0; }

  /// The tensor of what does not change; undefined for none.
  bool constant(const Arg& arg, Tensor& t) const {
    if (arg.value < 0) return arg.attribute.is_none();
    t = graph_.values[at(arg.value)].tensor.defined() ? graph_.values[at(arg.value)].tensor.detach() : Tensor();
    return at(arg.value) >= fixed_.size() || fixed_[at(arg.value)];  // later ones are constants of this pass
  }

  bool fold(Node& map, const Node& norm) {
    const bool linear = is_operator(map, "linear");
    if (!linear && !(is_operator(map, "convolution") && !map.args[6].attribute.to_bool())) return false;
    const Datum& result = graph_.values[at(norm.args[0].value)];
    if (result.type != graph_.values[at(norm.results[0])].type) return false;
    // The channels of a linear map are its last dimension, those of a norm the second.
    if (linear && result.type.sizes.size() != 2) return false;
    Tensor weight, bias, scale, shift, mean, variance;
    const bool fixed = constant(map.args[1], weight) && constant(map.args[2], bias) && constant(norm.args[1], scale) && constant(norm.args[2], shift) &&
                       constant(norm.args[3], mean) && constant(norm.args[4], variance);
    if (!fixed || !weight.defined() || !mean.defined() || !variance.defined()) return false;
    const ScalarType dtype = result.type.dtype;
    if (dtype != kFloat && dtype != kDouble) return false;
    Tensor factor = variance.to(kDouble).add(norm.args[7].attribute.to_double()).rsqrt();
    if (scale.defined()) factor = factor * scale.to(kDouble);
    Tensor offset = -mean.to(kDouble);
    if (bias.defined()) offset = offset + bias.to(kDouble);
    offset = offset * factor;
    if (shift.defined()) offset = offset + shift.to(kDouble);
    std::vector<int64_t> per_channel(static_cast<size_t>(weight.dim()), 1);
    per_channel[0] = -1;
    map.args[1] = constant_arg((weight.to(kDouble) * factor.view(per_channel)).to(dtype));
    map.args[2] = constant_arg(offset.to(dtype));
    return true;
  }
  Arg constant_arg(const Tensor& t) {
    Arg arg;
    arg.value = add_constant(graph_, t.contiguous());
    return arg;
  }

  Graph& graph_;
  Notes* notes_;
  std::vector<int> uses_, makers_;
  std::vector<bool> fixed_;  ///< by value that was there at the start
};

}  // namespace

size_t fold_batch_norm(Graph& graph, bool frozen, Notes* notes) {
  const BelowDoorGuard below;
  return Folder(graph, frozen, notes).run();
}

}  // namespace taeda::graph
