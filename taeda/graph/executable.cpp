// SPDX-License-Identifier: Apache-2.0
// Interpretation: operators one by one, through the registry.
#include "taeda/graph/executable.h"

#include <algorithm>
#include <atomic>

#include "taeda/core/modes.h"
#include "taeda/graph/fused.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/recording.h"
#include "taeda/graph/symbols.h"
#include "taeda/ops/view.h"

namespace taeda::graph {

namespace {

Tensor number_tensor(const Scalar& s) {
  Tensor t = make_tensor({}, s.isFloatingPoint() ? kDouble : s.isBoolean() ? kBool : kLong);
  dispatch_all(t.scalar_type(), "graph", [&]<class T>() { *static_cast<T*>(t.impl().storage->data) = s.unchecked<T>(); });
  t.mutable_impl().flags |= kFlagWrappedNumber;
  return t;
}

/// `t` with the strides of `type`, which nodes that go by memory count on. Those of dimensions that have at most one element do not count.
/// `recorded`: by operators that autograd and a capture see.
Tensor laid_out(const Tensor& t, const Type& type, bool recorded = false) {
  bool same = true;
  for (size_t d = 0; d < type.sizes.size(); ++d) same &= type.sizes[d] <= 1 || t.strides()[d] == type.strides[d];
  if (same || t.numel() == 0) return t;
  const Tensor copy = recorded ? empty_strided(type.sizes, type.strides, type.dtype) : make_tensor_strided(type.sizes, type.strides, type.dtype);
  copy.copy_(t);
  return copy;
}

bool viewable(const Tensor& t, const Value& sizes) {
  const DimVector to = detail::infer_size(sizes.int_list(), t.numel(), "view");
  return detail::view_strides(t.sizes(), t.strides(), t.numel(), to).has_value();
}

/// A tensor argument of a step.
struct Operand {
  size_t arg;
  int item;     ///< of a list, else -1
  Id value;
  bool update;  ///< the operator writes it
  bool dies;    ///< nothing reads the value later, nor elsewhere in this step
  bool by_memory = false;  ///< the operator goes by the strides of the value's type
};

/// What the sizes of a run make of types and arguments; empty where nothing follows from symbols.
struct Bound {
  SymbolValues values;
  std::vector<Type> types;                            ///< of all values
  std::vector<std::pair<size_t, std::vector<Value>>> args;  ///< of the steps with symbolic arguments, in order
};

/// A node made ready.
struct Step {
  const Node* node;
  std::vector<Value> args;  ///< attributes; lists of tensors as long as they will be
  std::vector<Operand> operands;
  std::vector<Id> last;  ///< results of nodes that nothing reads later
  bool reshapes = false; ///< a view by sizes
  detail::ConvWindow window;  ///< of a fused convolution
  Tensor packed;
  int kernel = -1;  ///< of a pointwise gradient
};

size_t at(Id id) { return static_cast<size_t>(id); }

}  // namespace

struct Executable::Prepared {
  explicit Prepared(Graph g) : graph(std::move(g)) {
    std::vector<int> uses(graph.values.size());
    for (const Node& node : graph.nodes) {
      for (const Id id : operands(node)) ++uses[at(id)];
    }
    for (const Id id : graph.outputs) ++uses[at(id)];
    for (const Mutation& m : graph.mutations) ++uses[at(m.value)];
    const std::vector<int> reads = uses;
    for (const Node& node : graph.nodes) steps.push_back(prepare(node, uses, reads));
    prepare_symbols();
    for (const Datum& v : graph.values) {
      if (v.origin == Origin::kConstant) constants.push_back(v.tensor.impl().storage.get());
    }
  }

  Step prepare(const Node& node, std::vector<int>& uses, const std::vector<int>& reads) {
    Step step;
    step.node = &node;
    step.reshapes = is_operator(node, "view") && !*node.op->overload;
    const std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
    int position = 0;
    const auto add = [&](size_t arg, int item, const Arg& from) {
      if (from.value >= 0) {
        const bool update = std::any_of(node.updates.begin(), node.updates.end(), [&](const Update& u) { return u.tensor == position; });
        const bool strided = step.reshapes || is_operator(node, "as_strided") || is_operator(node, "as_strided_scatter");
        const bool by_memory = (position == 0 && strided) || (node.op == &kFusedConvolution && arg == kAdd);
        step.operands.push_back({arg, item, from.value, update, false, by_memory});
        ++position;
        return Value();
      }
      return schema[arg].type.starts_with("Tensor") && from.attribute.is_number() ? Value(number_tensor(from.attribute.to_scalar())) : from.attribute;
    };
    for (size_t i = 0; i < node.args.size(); ++i) {
      const Arg& arg = node.args[i];
      if (!arg.is_list) {
        step.args.push_back(add(i, -1, arg));
        continue;
      }
      Value::List list;
      for (size_t k = 0; k < arg.items.size(); ++k) list.push_back(add(i, static_cast<int>(k), arg.items[k]));
      step.args.emplace_back(std::move(list));
    }
    for (const Operand& o : step.operands) {
      if (--uses[at(o.value)] == 0 && graph.values[at(o.value)].origin == Origin::kResult) step.last.push_back(o.value);
    }
    for (Operand& o : step.operands) {
      const auto here = std::count_if(step.operands.begin(), step.operands.end(), [&](const Operand& other) { return other.value == o.value; });
      o.dies = here == 1 && std::find(step.last.begin(), step.last.end(), o.value) != step.last.end();
    }
    if (node.op == &kPointwiseGradient) step.kernel = gradient_kernel(step.args.data());
    if (node.op == &kFusedConvolution) {
      step.window = window_of(step.args.data());
      const Id weight = node.args[kWeight].value;
      if (weight >= 0 && graph.values[at(weight)].origin == Origin::kConstant) {
        step.packed = detail::pack_convolution(graph.values[at(weight)].tensor, step.window.groups);
        if (step.packed.defined() && reads[at(weight)] == 1) {  // the sizes are all that is left to read
          Tensor& t = graph.values[at(weight)].tensor;
          t = zeros({}, t.scalar_type()).expand(t.sizes());
        }
      }
    }
    return step;
  }

  /// For the sizes of `inputs`.
  std::shared_ptr<const Bound> bound_to(const std::vector<Tensor>& inputs) const {
    SymbolValues values = bind(graph, inputs);
    if (std::shared_ptr<const Bound> last = last_bound.load(); last && last->values == values) return last;
    std::vector<int64_t> numbers;
    for (const Size& formula : formulas) numbers.push_back(formula.at(values));
    const auto bound = std::make_shared<Bound>();
    bound->types.reserve(graph.values.size());
    for (size_t id = 0, next = 0; id < graph.values.size(); ++id) {
      const Type& type = graph.values[id].type;
      bound->types.push_back({type.dtype, type.sizes, type.strides, {}});
      if (!is_symbolic(type)) continue;
      const size_t* from = symbolic_types[next++].data();
      for (std::vector<int64_t>* list : {&bound->types.back().sizes, &bound->types.back().strides}) {
        for (int64_t& n : *list) {
          if (n == -1) n = numbers[*from++];
        }
      }
    }
    for (const SymbolicArg& arg : symbolic_args) {
      if (bound->args.empty() || bound->args.back().first != arg.step) bound->args.emplace_back(arg.step, steps[arg.step].args);
      const size_t* from = arg.formulas.data();
      const Value filled = with_numbers(steps[arg.step].node->args[arg.arg].attribute, numbers, from);
      bound->args.back().second[arg.arg] = arg.tensor ? Value(number_tensor(filled.to_scalar())) : filled;
    }
    bound->values = std::move(values);
    last_bound.store(bound);
    return bound;
  }
  static Value with_numbers(const Value& v, const std::vector<int64_t>& numbers, const size_t*& next) {
    if (v.is_none()) return Value(numbers[*next++]);
    if (!v.is_list()) return v;
    Value::List list;
    for (const Value& item : v.list()) list.push_back(with_numbers(item, numbers, next));
    return Value(std::move(list));
  }
  std::vector<size_t> numbers_of(const std::vector<Size>& sizes) {
    std::vector<size_t> list;
    for (const Size& size : sizes) {
      const auto at = std::find(formulas.begin(), formulas.end(), size);
      list.push_back(static_cast<size_t>(at - formulas.begin()));
      if (at == formulas.end()) formulas.push_back(size);
    }
    return list;
  }
  void prepare_symbols() {
    if (graph.symbols.empty()) return;
    for (const Datum& v : graph.values) {
      if (is_symbolic(v.type)) symbolic_types.push_back(numbers_of(v.type.symbolic));
    }
    for (size_t n = 0; n < steps.size(); ++n) {
      const Node& node = *steps[n].node;
      if (!has_symbolic_arguments(node)) continue;
      const std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
      for (size_t i = 0; i < node.args.size(); ++i) {
        if (is_symbolic(node.args[i])) symbolic_args.push_back({n, i, numbers_of(node.args[i].symbolic), schema[i].type.starts_with("Tensor")});
      }
    }
  }

  Graph graph;
  std::vector<Step> steps;
  std::vector<const StorageImpl*> constants;
  /// What follows from symbols: each formula once, and which of them types, by value, and arguments have.
  struct SymbolicArg {
    size_t step, arg;
    std::vector<size_t> formulas;
    bool tensor;  ///< a number for a tensor
  };
  std::vector<Size> formulas;
  std::vector<std::vector<size_t>> symbolic_types;
  std::vector<SymbolicArg> symbolic_args;
  mutable std::atomic<std::shared_ptr<const Bound>> last_bound;
};

namespace {

/// One run.
class Run {
 public:
  Run(const Graph& graph, const std::vector<const StorageImpl*>& constants, const Bound* bound, const std::vector<Tensor>& inputs)
      : graph_(graph), constants_(constants), bound_(bound), now_(graph.values.size()) {
    TAEDA_CHECK_VALUE(inputs.size() == graph.inputs.size(), "[graph] run takes one tensor for each input: got ", inputs.size(), " for ",
                      graph.inputs.size(), "; pass them in the captured order");
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Type& type = this->type(graph.inputs[i]);
      TAEDA_CHECK_VALUE(inputs[i].defined() && inputs[i].scalar_type() == type.dtype && inputs[i].sizes() == IntArrayRef(type.sizes),
                        "[graph] an input has the captured dtype and sizes: got ", Value(inputs[i]).describe(), " for ", type.dtype,
                        IntArrayRef(type.sizes), "; capture again for others");
      Tensor& now = now_[at(graph.inputs[i])];
      now = inputs[i].detach();
      if (now.storage_offset() != 0) now = copy_as_laid_out(now);
      now = laid_out(now, type);
    }
    check_apart(graph, inputs);
    for (size_t id = 0; id < now_.size(); ++id) {
      if (graph.values[id].tensor.defined()) now_[id] = graph.values[id].tensor.detach();
    }
  }
  /// One that autograd records.
  Run(const Graph& graph, const std::vector<const StorageImpl*>& constants, std::vector<Tensor> leaves, bool)
      : graph_(graph), constants_(constants), bound_(nullptr), now_(std::move(leaves)), recorded_(true) {}

  /// `args`: the step's, for the sizes of this run.
  void execute(const Step& step, const std::vector<Value>& args) {
    args_ = args;
    written_.clear();
    for (const Operand& o : step.operands) {
      Tensor& t = now_[at(o.value)];
      if (o.by_memory && !(step.reshapes && viewable(t, args[1]))) t = laid_out(t, type(o.value), recorded_);
      Value value(o.update ? written_.emplace_back(own(t, o)) : t);
      if (o.item < 0) {
        args_[o.arg] = std::move(value);
        continue;
      }
      if (args_[o.arg].shared_list() == args[o.arg].shared_list()) args_[o.arg] = Value(Value::List(args[o.arg].list()));
      args_[o.arg].mutable_list()[static_cast<size_t>(o.item)] = std::move(value);
    }
    keep(step, call(step));
    args_.clear();
    for (const Id id : step.last) now_[at(id)] = Tensor();
  }

  /// The outputs, then what the graph would write.
  std::vector<Tensor> values() const {
    std::vector<Tensor> list;
    for (const Id id : graph_.outputs) list.push_back(now_[at(id)]);
    for (const Mutation& m : graph_.mutations) list.push_back(now_[at(m.value)]);
    return list;
  }
  /// The outputs, after what the graph changes has been written.
  std::vector<Tensor> finish(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> results, written;
    for (const Id id : graph_.outputs) {
      const Tensor& t = now_[at(id)];
      // Callers may write what they get: constants stay, and what is written below may be what an output reads.
      const bool constant = std::find(constants_.begin(), constants_.end(), t.impl().storage.get()) != constants_.end();
      results.push_back(constant || is_changed(t, inputs) ? copy_as_laid_out(t) : t);
    }
    for (const Mutation& m : graph_.mutations) written.push_back(copy_as_laid_out(now_[at(m.value)]));
    for (size_t i = 0; i < written.size(); ++i) {
      const Id target = graph_.mutations[i].target;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (graph_.inputs[k] == target) inputs[k].detach().copy_(written[i]);
      }
      if (graph_.values[at(target)].tensor.defined()) graph_.values[at(target)].tensor.detach().copy_(written[i]);
    }
    return results;
  }

 private:
  const Type& type(Id id) const { return bound_ ? bound_->types[at(id)] : graph_.values[at(id)].type; }
  /// Whether `t` shows memory that the graph changes in the end.
  bool is_changed(const Tensor& t, const std::vector<Tensor>& inputs) const {
    const auto shows = [&](const Tensor& other) { return other.defined() && other.impl().storage == t.impl().storage; };
    for (const Mutation& m : graph_.mutations) {
      if (shows(graph_.values[at(m.target)].tensor)) return true;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (graph_.inputs[k] == m.target && shows(inputs[k])) return true;
      }
    }
    return false;
  }
  /// What an operator may write: the value itself where nobody else sees its memory, else a copy.
  Tensor own(const Tensor& t, const Operand& o) const {
    if (recorded_) return laid_out(t.clone(), type(o.value), true);
    const bool alone = o.dies && t.impl().storage.use_count() == 1 && !overlaps_itself(t);
    return alone ? t : copy_as_laid_out(t);
  }
  Value call(const Step& step) {
    if (recorded_ && step.node->op->kind == OpKind::kView && std::string_view(step.node->op->name) == "as_strided") {
      return Value(plain_view(args_[0].tensor(), args_[1].int_list(), args_[2].int_list(), args_[3].to_int()));
    }
    if (recorded_) check_gradients(*step.node);
    if (step.kernel >= 0) return Value(pointwise_gradient(step.kernel, args_.data()));
    if (step.node->op != &kFusedConvolution || !step.packed.defined()) return step.node->op->invoke(args_.data());
    const detail::ConvEpilogue after{args_[kAdd].is_none() ? Tensor() : args_[kAdd].tensor(), args_[kRelu].to_bool(), step.packed};
    const std::optional<Tensor> bias = args_[kBias].is_none() ? std::nullopt : std::optional<Tensor>(args_[kBias].tensor());
    return Value(detail::convolution_with(args_[kInput].tensor(), args_[kWeight].tensor(), bias, step.window, after));
  }
  /// What the function calls without gradients, and not with them.
  void check_gradients(const Node& node) const {
    if (!is_operator(node, "_fused_attention") || args_[3].is_none()) return;
    TAEDA_CHECK_NOT_IMPLEMENTED(!args_[3].tensor().requires_grad(), "[graph] the mask of _fused_attention has no gradient: got one that needs it; take the "
                                "gradient of the function, not of its graph");
  }
  void keep(const Step& step, const Value& result) {
    const Node& node = *step.node;
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (node.results[i] < 0) continue;
      const Type& type = this->type(node.results[i]);
      const Tensor& t = result.is_list() ? result.list().at(i).tensor() : result.tensor();
      TAEDA_CHECK_VALUE(t.defined() && t.scalar_type() == type.dtype && t.sizes() == IntArrayRef(type.sizes), "[graph] sizes of results are those of the "
                        "capture: ", node.op->name, " gave ", Value(t).describe(), " for ", type.dtype, IntArrayRef(type.sizes),
                        "; leave operators whose sizes follow from values outside of the graph");
      now_[at(node.results[i])] = t;
    }
    // Written tensors were made in the order of the arguments, which is that of the updates.
    for (size_t i = 0; i < node.updates.size(); ++i) now_[at(node.updates[i].value)] = written_.at(i);
  }

  const Graph& graph_;
  const std::vector<const StorageImpl*>& constants_;
  const Bound* bound_;  ///< null where nothing follows from symbols
  std::vector<Tensor> now_;  ///< by value
  const bool recorded_ = false;
  std::vector<Value> args_;
  std::vector<Tensor> written_;
};

}  // namespace

Executable::Executable(Graph graph) {
  const BelowDoorGuard below;
  if (!graph.symbols.empty()) graph.verify();  // formulas are counted on
  prepared_ = std::make_unique<const Prepared>(std::move(graph));
}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

std::vector<Tensor> Executable::run(const std::vector<Tensor>& inputs) const {
  const BelowDoorGuard below;
  const std::vector<Step>& steps = prepared_->steps;
  const std::shared_ptr<const Bound> bound = prepared_->graph.symbols.empty() ? nullptr : prepared_->bound_to(inputs);
  Run run(prepared_->graph, prepared_->constants, bound.get(), inputs);
  size_t symbolic = 0;
  for (size_t n = 0; n < steps.size(); ++n) {
    const bool other = bound && symbolic < bound->args.size() && bound->args[symbolic].first == n;
    run.execute(steps[n], other ? bound->args[symbolic++].second : steps[n].args);
  }
  return run.finish(inputs);
}

std::vector<Tensor> run_recorded(const Graph& graph, std::vector<Tensor> leaves) {
  std::optional<const Executable::Prepared> prepared;
  {
    const BelowDoorGuard below;
    prepared.emplace(graph);
  }
  Run run(prepared->graph, prepared->constants, std::move(leaves), true);
  for (const Step& step : prepared->steps) run.execute(step, step.args);
  return run.values();
}

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs) { return Executable(graph).run(inputs); }

}  // namespace taeda::graph
