// SPDX-License-Identifier: Apache-2.0
// Interpretation: operators one by one, through the registry.
#include <algorithm>

#include "taeda/core/modes.h"
#include "taeda/graph/layout.h"

namespace taeda::graph {

Type type_of(const Tensor& t) { return {t.scalar_type(), t.sizes().vec(), t.strides().vec()}; }

int64_t end_of(const Tensor& t) {
  int64_t end = t.storage_offset() + (t.numel() != 0);
  for (int64_t d = 0; t.numel() != 0 && d < t.dim(); ++d) end += (t.size(d) - 1) * t.stride(d);
  return end;
}

bool share_elements(const Tensor& a, const Tensor& b) {
  if (a.impl().storage != b.impl().storage || a.numel() == 0 || b.numel() == 0) return false;
  const auto bytes = [](const Tensor& t, int64_t at) { return at * static_cast<int64_t>(t.element_size()); };
  return bytes(a, a.storage_offset()) < bytes(b, end_of(b)) && bytes(b, b.storage_offset()) < bytes(a, end_of(a));
}

bool overlaps_itself(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride and size
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (t.size(d) > 1) steps.emplace_back(t.stride(d), t.size(d));
  }
  std::sort(steps.begin(), steps.end());
  int64_t last = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= last) return true;
    last += stride * (size - 1);
  }
  return false;
}

Tensor copy_as_laid_out(const Tensor& t) {
  const Tensor copy = make_tensor_strided(t.sizes(), t.strides(), t.scalar_type());
  const int64_t length = end_of(t) - t.storage_offset();
  make_view(copy, {length}, {1}, 0).copy_(make_view(t, {length}, {1}, t.storage_offset()));
  return copy;
}

void check_apart(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<std::pair<Id, Tensor>> outside;
  for (size_t i = 0; i < inputs.size(); ++i) outside.emplace_back(graph.inputs[i], inputs[i]);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].origin == Origin::kState) outside.emplace_back(static_cast<Id>(id), graph.values[id].tensor);
  }
  for (const Mutation& m : graph.mutations) {
    for (const auto& [target, written] : outside) {
      for (const auto& [id, other] : outside) {
        TAEDA_CHECK_VALUE(target != m.target || id == target || !share_elements(written, other), "[graph] what a run changes shares no memory with other "
                          "inputs or states: got ", graph.values[static_cast<size_t>(target)].name, " and ",
                          graph.values[static_cast<size_t>(id)].name, ", which do; clone() one of them");
      }
    }
  }
}

namespace {

Tensor number_tensor(const Scalar& s) {
  Tensor t = make_tensor({}, s.isFloatingPoint() ? kDouble : s.isBoolean() ? kBool : kLong);
  dispatch_all(t.scalar_type(), "graph", [&]<class T>() { *static_cast<T*>(t.impl().storage->data) = s.unchecked<T>(); });
  t.mutable_impl().flags |= kFlagWrappedNumber;
  return t;
}

/// `t` with the strides of `type`, in which later nodes read it.
Tensor laid_out(const Tensor& t, const Type& type) {
  if (t.strides() == IntArrayRef(type.strides)) return t;
  const Tensor copy = make_tensor_strided(type.sizes, type.strides, type.dtype);
  copy.copy_(t);
  return copy;
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
      if (now_[id].storage_offset() != 0) now_[id] = copy_as_laid_out(now_[id]);
      now_[id] = laid_out(now_[id], type);
    }
    check_apart(graph, inputs);
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
    for (const Id id : graph_.outputs) {
      const Tensor& t = now_[static_cast<size_t>(id)];
      results.push_back(of_constant(t) ? copy_as_laid_out(t) : t);
    }
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
  /// Callers may write what they get; constants stay.
  bool of_constant(const Tensor& t) const {
    return std::any_of(graph_.values.begin(), graph_.values.end(), [&](const Datum& v) {
      return v.origin == Origin::kConstant && v.tensor.impl().storage == t.impl().storage;
    });
  }
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
      const Type& type = graph_.values[static_cast<size_t>(node.results[i])].type;
      const Tensor& t = result.is_list() ? result.list().at(i).tensor() : result.tensor();
      TAEDA_CHECK_VALUE(t.defined() && t.scalar_type() == type.dtype && t.sizes() == IntArrayRef(type.sizes), "[graph] sizes of results are those of the "
                        "capture: ", node.op->name, " gave ", Value(t).describe(), " for ", type.dtype, IntArrayRef(type.sizes),
                        "; leave operators whose sizes follow from values outside of the graph");
      now_[static_cast<size_t>(node.results[i])] = laid_out(t, type);
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
