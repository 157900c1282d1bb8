// SPDX-License-Identifier: Apache-2.0
// Interpretation: operators one by one, through the registry.
#include "taeda/core/modes.h"
#include "taeda/graph/layout.h"

namespace taeda::graph {

Type type_of(const Tensor& t) { return {t.scalar_type(), t.sizes().vec(), t.strides().vec()}; }

Tensor copy_as_laid_out(const Tensor& t) {
  const Tensor copy = t.impl().is_non_overlapping_and_dense() ? make_tensor_strided(t.sizes(), t.strides(), t.scalar_type())
                                                              : make_tensor(t.sizes(), t.scalar_type());
  copy.copy_(t);
  return copy;
}

namespace {

Tensor number_tensor(const Scalar& s) {
  Tensor t = make_tensor({}, s.isFloatingPoint() ? kDouble : s.isBoolean() ? kBool : kLong);
  dispatch_all(t.scalar_type(), "graph", [&]<class T>() { *static_cast<T*>(t.impl().storage->data) = s.unchecked<T>(); });
  t.mutable_impl().flags |= kFlagWrappedNumber;
  return t;
}

class Runner {
 public:
  Runner(const Graph& graph, const std::vector<Tensor>& inputs) : graph_(graph), now_(graph.values.size()), uses_(graph.values.size()) {
    TAEDA_CHECK_VALUE(inputs.size() == graph.inputs.size(), "[graph] run takes one tensor for each input: got ", inputs.size(), " for ",
                      graph.inputs.size(), "; pass them in the captured order");
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto id = static_cast<size_t>(graph.inputs[i]);
      const Type& type = graph.values[id].type;
      TAEDA_CHECK_VALUE(inputs[i].defined() && inputs[i].scalar_type() == type.dtype && inputs[i].sizes() == IntArrayRef(type.sizes),
                        "[graph] an input has the captured dtype and sizes: got ", Value(inputs[i]).describe(), " for ", type.dtype,
                        IntArrayRef(type.sizes), "; capture again for others");
      now_[id] = inputs[i].detach();
      if (now_[id].strides() == IntArrayRef(type.strides) && now_[id].storage_offset() == 0) continue;
      const Tensor laid_out = make_tensor_strided(type.sizes, type.strides, type.dtype);
      laid_out.copy_(now_[id]);
      now_[id] = laid_out;
    }
    for (size_t id = 0; id < now_.size(); ++id) {
      if (graph.values[id].tensor.defined()) now_[id] = graph.values[id].tensor.detach();
    }
    for (const Node& node : graph.nodes) {
      for (const Id id : operands(node)) ++uses_[static_cast<size_t>(id)];
    }
    for (const Id id : graph.outputs) ++uses_[static_cast<size_t>(id)];
    for (const Mutation& m : graph.mutations) ++uses_[static_cast<size_t>(m.value)];
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    for (const Node& node : graph_.nodes) run(node);
    std::vector<Tensor> results, written;
    for (const Id id : graph_.outputs) results.push_back(now_[static_cast<size_t>(id)]);
    // What is written may be what an output reads.
    if (!graph_.mutations.empty()) {
      for (Tensor& t : results) t = copy_as_laid_out(t);
    }
    for (const Mutation& m : graph_.mutations) written.push_back(copy_as_laid_out(now_[static_cast<size_t>(m.value)]));
    for (size_t i = 0; i < written.size(); ++i) {
      const Id target = graph_.mutations[i].target;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (graph_.inputs[k] == target) inputs[k].detach().copy_(written[i]);
      }
      if (graph_.values[static_cast<size_t>(target)].tensor.defined()) graph_.values[static_cast<size_t>(target)].tensor.detach().copy_(written[i]);
    }
    return results;
  }

 private:
  Value argument(const Node& node, const Arg& arg, bool tensor, int& position) {
    if (arg.value >= 0) {
      const Tensor& t = now_[static_cast<size_t>(arg.value)];
      for (const Update& u : node.updates) {
        if (u.tensor != position) continue;
        ++position;
        return Value(copies_.emplace_back(copy_as_laid_out(t)));
      }
      ++position;
      return Value(t);
    }
    if (arg.is_list) {
      Value::List list;
      for (const Arg& item : arg.items) list.push_back(argument(node, item, tensor, position));
      return Value(std::move(list));
    }
    return tensor && arg.attribute.is_number() ? Value(number_tensor(arg.attribute.to_scalar())) : arg.attribute;
  }

  void run(const Node& node) {
    copies_.clear();
    std::vector<Value> args;
    const std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
    int position = 0;
    for (size_t i = 0; i < node.args.size(); ++i) args.push_back(argument(node, node.args[i], schema[i].type.starts_with("Tensor"), position));
    const Value result = node.op->invoke(args.data());
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (node.results[i] < 0) continue;
      now_[static_cast<size_t>(node.results[i])] = result.is_list() ? result.list().at(i).tensor() : result.tensor();
    }
    // Copies were made in the order of the arguments, which is that of the updates.
    for (size_t i = 0; i < node.updates.size(); ++i) now_[static_cast<size_t>(node.updates[i].value)] = copies_.at(i);
    for (const Id id : operands(node)) {
      if (--uses_[static_cast<size_t>(id)] == 0 && graph_.values[static_cast<size_t>(id)].origin == Origin::kResult) now_[static_cast<size_t>(id)] = Tensor();
    }
  }

  const Graph& graph_;
  std::vector<Tensor> now_;   ///< by value
  std::vector<int> uses_;     ///< that are still to come
  std::vector<Tensor> copies_;
};

}  // namespace

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs) {
  const BelowDoorGuard below;
  return Runner(graph, inputs).run(inputs);
}

}  // namespace taeda::graph
