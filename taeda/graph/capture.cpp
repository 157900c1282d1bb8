// SPDX-License-Identifier: Apache-2.0
// The recorder behind graph::capture. Memory is followed by storage: each has a current value, views are derived from it by
// their geometry, and a write makes a new value.
#include "taeda/graph/capture.h"

#include <algorithm>
#include <map>

#include "taeda/core/generator.h"
#include "taeda/cpu/pointwise_abi.h"
#include "taeda/graph/dynamic_capture.h"
#include "taeda/graph/fused.h"
#include "taeda/graph/layout.h"
#include "taeda/graph/recording.h"
#include "taeda/ops/pointwise_recorded.h"

namespace taeda::graph {

namespace {

const OpInfo& view_operator(const char* name) {
  for (const OpInfo* op : find_ops(name)) {
    if (!*op->overload) return *op;
  }
  TAEDA_CHECK(false, "[graph] the registry must have the operator ", name, "; it has not; report this");
}

/// Operators in place that change what a tensor shows, not its elements.
bool shows_otherwise(const OpInfo& op) {
  constexpr std::string_view kNames[] = {"as_strided_", "detach_", "resize_", "resize_as_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

class GraphRecorder final : public ::taeda::capture::Recorder, public StorageWatcher {
 public:
  /// `whole`: constants are the memory of the program's tensors, whatever part of it is read.
  GraphRecorder(Graph& graph, const States& states, bool whole) : graph_(graph), states_(states), whole_(whole) {
    const BelowDoorGuard below;
    for (const auto& [name, state] : states) {
      watch(state.impl().storage);
      leaves_.emplace_back(state, state.detach());
    }
  }
  ~GraphRecorder() { unwatch(); }

  void add_input(const Tensor& t, size_t number) {
    const BelowDoorGuard below;
    leaves_.emplace_back(t, t.detach());
    const Id id = add_leaf(t.detach(), Origin::kInput, str("input", number));
    graph_.values[static_cast<size_t>(id)].tensor = Tensor();
    graph_.inputs.push_back(id);
  }

  ::taeda::capture::Answer begin(::taeda::capture::Call& call) override {
    const bool known = call.target.info ? call.target.info->custom == nullptr : pointwise::recorded(call.target, call.words.data()).has_value();
    TAEDA_CHECK_NOT_IMPLEMENTED(known, "[graph] every operator of a captured function has a schema: ",
                                call.target.name, " has none here (an optimizer's step, or registered by the program); leave it out");
    operands_.clear();
    writes_.clear();
    before_.clear();
    const BelowDoorGuard below;
    if (temporaries_ >= forget_at_) forget();
    for (TensorImpl* t : call.tensors) {
      operands_.push_back(t ? value_of(Tensor(IntrusivePtr<TensorImpl>::share(t))) : -1);
      writes_.push_back(t ? t->storage->writes.load() : 0);
      before_.push_back(t ? Tensor(IntrusivePtr<TensorImpl>::share(t)).detach() : Tensor());
    }
    runs_.store(true);
    generator_ = default_generator_state();
    return ::taeda::capture::Answer::kRecord;
  }

  void drop(::taeda::capture::Call&) noexcept override { runs_.store(false); }
  void finish() override {
    TAEDA_CHECK(runs_.load(), "[graph] a captured function changes tensors through operators alone: got an out= form, a raw write or a use of the "
                              "generator; use the operator that returns a tensor");
  }
  void touch(StorageImpl&) override {
    TAEDA_CHECK(runs_.load(), "[graph] a captured function does not look at values: got item(), printing or a pointer; it would be fixed in the graph");
  }

  void record(::taeda::capture::Call& call) override {
    Node node;
    node.op = call.target.info ? call.target.info : &kPointwiseGradient;
    node.random = default_generator_state() != generator_;
    runs_.store(false);
    const auto pointwise = pointwise::recorded(call.target, call.words.data());
    if (node.op == &kPointwiseGradient) {
      describe_gradient(call, *pointwise, node);
    } else if (pointwise) {
      // The numbers that stand for inputs come first, then the attributes, which the schema may have before a tensor.
      const auto is_tensor = [&](int i) { return ((pointwise->tensor_mask >> i) & 1) != 0; };
      size_t tensor = 0, number = 0, last = call.numbers.size() - static_cast<size_t>(pointwise->attributes);
      int input = 0;
      for (const SchemaArg& arg : parse_schema_args(node.op->schema)) {
        if (input == pointwise->inputs || (!arg.type.starts_with("Tensor") && is_tensor(input))) {
          node.args.push_back(Arg::of_attribute(Value(call.numbers[last++])));
        } else {
          node.args.push_back(is_tensor(input++) ? Arg::of_value(operands_[tensor++]) : Arg::of_attribute(Value(call.numbers[number++])));
        }
      }
    } else {
      decode(call, node);
    }
    bool fresh = false;
    for (const Tensor& r : call.results) {
      const bool known = r.defined() && storages_.contains(r.impl().storage.get());
      fresh |= r.defined() && !known;
      TAEDA_CHECK(!known || !fresh, "[graph] results are all new or all arguments: ", node.op->name, " mixes them; report this operator");
    }
    const std::vector<std::pair<size_t, int>> changed = changes(call, *node.op);
    if (changed.empty() && !fresh) return;  // it gave an argument back
    for (const Id id : operands_) {
      if (id >= 0 && node.path.empty()) node.path = path_of(id);
    }
    for (const Tensor& r : call.results) node.results.push_back(r.defined() && fresh ? add_value(type_of(r)) : -1);
    for (const auto& [i, at] : changed) {
      node.updates.push_back({at, add_value(type_of(Tensor(IntrusivePtr<TensorImpl>::share(call.tensors[i]))))});
    }
    const std::vector<Id> results = node.results;
    const std::vector<Update> updates = node.updates;
    graph_.nodes.push_back(std::move(node));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] >= 0) own(call.results[i], results[i]);
    }
    for (size_t i = 0; i < changed.size(); ++i) write(Tensor(IntrusivePtr<TensorImpl>::share(call.tensors[changed[i].first])), updates[i].value);
  }

  /// The value of a tensor as it is now.
  Id value_of(const Tensor& t) {
    StorageImpl* s = t.impl().storage.get();
    auto at = storages_.find(s);
    if (at == storages_.end()) {
      for (const auto& [name, state] : states_) {
        if (state.impl().storage.get() != s) continue;
        const Tensor shared = state.detach();
        shared.set_requires_grad(state.requires_grad());
        return add_leaf(shared, Origin::kState, name), value_of(t);
      }
      const auto length = static_cast<int64_t>(s->nbytes / t.element_size());
      if (!whole_ || length == 1) return add_leaf(t, Origin::kConstant, "");
      const BelowDoorGuard below;
      add_leaf(::taeda::make_view(t.detach(), {length}, {1}, 0), Origin::kConstant, "");
      return value_of(t);
    }
    return view_of(at->second, t);
  }

  /// `examples`: what the inputs were copied from.
  void end(const std::vector<Tensor>& results, const std::vector<Tensor>& examples) {
    for (const Tensor& t : results) {
      TAEDA_CHECK_VALUE(t.defined(), "[graph] a captured function returns tensors: got an undefined one; leave it out");
      graph_.outputs.push_back(value_of(t));
    }
    for (const auto& [s, place] : storages_) {
      if (place.leaf < 0 || place.leaf == place.value) continue;
      TAEDA_CHECK(graph_.values[static_cast<size_t>(place.leaf)].origin != Origin::kConstant, "[graph] a captured function changes only inputs and "
                  "states: it wrote a tensor of the program that is neither; pass it as a state");
      graph_.mutations.push_back({place.leaf, place.value});
    }
    std::sort(graph_.mutations.begin(), graph_.mutations.end(), [](const Mutation& a, const Mutation& b) { return a.target < b.target; });
    unwatch();
    for (const auto& [now, whole] : leaves_) {
      TAEDA_CHECK_NOT_IMPLEMENTED(now.impl().storage == whole.impl().storage && same_place(now, whole), "[graph] a captured function leaves the sizes of "
                                  "inputs and states: got ", now.sizes(), " with strides ", now.strides(), " for ", whole.sizes(), " with strides ",
                                  whole.strides(), "; use the operator that returns a view");
    }
    check_apart(graph_, examples);
    for (const Mutation& m : graph_.mutations) {
      for (size_t i = 0; i < examples.size(); ++i) {
        for (const auto& [s, place] : storages_) {
          TAEDA_CHECK_VALUE(graph_.inputs[i] != m.target || place.leaf < 0 || graph_.values[static_cast<size_t>(place.leaf)].origin != Origin::kConstant ||
                            !share_elements(place.whole, examples[i]), "[graph] an input that the function changes shares no memory with tensors that "
                            "the function reads otherwise: input ", i, " does; pass a clone()");
        }
      }
    }
  }

 private:
  /// A block of memory: the whole of it as first seen, and what it holds now.
  struct Place {
    Tensor whole;
    Id value;
    Id leaf;
    std::map<std::pair<int64_t, std::vector<int64_t>>, Id> views;
  };

  /// The tensor arguments that the operator wrote, each with its number among those that are defined. Where several arguments lie in
  /// a written storage and the call does not name the written one, all of them count: the others keep what they hold.
  std::vector<std::pair<size_t, int>> changes(const ::taeda::capture::Call& call, const OpInfo& op) const {
    const size_t n = call.tensors.size();
    std::vector<std::pair<size_t, int>> changed;
    const auto said = [&](size_t i) { return std::find(call.written.begin(), call.written.end(), i) != call.written.end(); };
    const auto together = [&](size_t i, size_t k) { return call.tensors[k] && call.tensors[k]->storage == call.tensors[i]->storage; };
    const bool pointwise = pointwise::recorded(call.target, call.words.data()).has_value();
    int position = 0;
    for (size_t i = 0; i < n; ++i) {
      if (!call.tensors[i]) continue;
      const int at = position++;
      bool any_said = false;
      for (size_t k = 0; k < n; ++k) any_said |= said(k) && together(i, k);
      const bool named = said(i);
      if (any_said ? !named : call.tensors[i]->storage->writes.load() == writes_[i]) continue;
      const Tensor written(IntrusivePtr<TensorImpl>::share(call.tensors[i]));
      if (!same_place(written, before_[i]) || shows_otherwise(op)) {
        TAEDA_CHECK_NOT_IMPLEMENTED(end_of(written) <= end_of(storages_.at(written.impl().storage.get()).whole), "[graph] a tensor keeps its size: ", op.name,
                                    " changed it; make a new one");
        continue;
      }
      TAEDA_CHECK_NOT_IMPLEMENTED(!overlaps_itself(written), "[graph] an operator writes elements that lie apart: argument ", i, " of ", op.name, " has sizes ",
                                  written.sizes(), " with strides ", written.strides(), "; clone() it first");
      for (size_t k = 0; k < n; ++k) {
        if (k == i || !together(i, k)) continue;
        const Tensor other(IntrusivePtr<TensorImpl>::share(call.tensors[k]));
        // The very argument may be read too: pointwise operators look at an element before they write it.
        if (named && pointwise && !said(k) && same_place(written, other)) continue;
        TAEDA_CHECK_NOT_IMPLEMENTED(!share_elements(written, other), "[graph] a tensor that an operator writes shares no elements with its other "
                                    "arguments: arguments ", i, " and ", k, " of ", op.name, " do; clone() one of them first");
      }
      changed.emplace_back(i, at);
    }
    return changed;
  }

  Id add_value(Type type) {
    graph_.values.push_back({std::move(type), Origin::kResult, "", Tensor()});
    return static_cast<Id>(graph_.values.size()) - 1;
  }
  Id add_leaf(const Tensor& t, Origin origin, const std::string& name) {
    const Id id = add_value(type_of(t));
    Datum& v = graph_.values[static_cast<size_t>(id)];
    v.origin = origin;
    v.name = name;
    if (origin == Origin::kConstant) {
      const BelowDoorGuard below;
      runs_.store(true);
      v.tensor = copy_as_laid_out(t.detach());
      runs_.store(false);
      if (t.impl().flags & kFlagWrappedNumber) v.tensor.mutable_impl().flags |= kFlagWrappedNumber;
    } else {
      v.tensor = t;
    }
    if (!storages_.contains(t.impl().storage.get())) {
      own(t, id);
      storages_.at(t.impl().storage.get()).leaf = id;
    }
    return id;
  }
  void own(const Tensor& t, Id id) {
    StorageImpl* s = t.impl().storage.get();
    if (storages_.contains(s)) return;
    const BelowDoorGuard below;
    storages_.emplace(s, Place{t.detach(), id, -1, {}});
    ++temporaries_;
    watch(t.impl().storage);
  }
  /// Frees memory that only this recorder holds: the function cannot reach it any more.
  void forget() {
    for (auto at = storages_.begin(); at != storages_.end();) {
      const bool alone = at->second.leaf < 0 && at->second.whole.impl().storage.use_count() == 2;  // the place's and watched_'s
      at = alone ? storages_.erase(at) : std::next(at);
    }
    std::erase_if(watched_, [](const IntrusivePtr<StorageImpl>& s) {
      if (s.use_count() > 1) return false;
      s->watcher.store(nullptr);
      return true;
    });
    temporaries_ = static_cast<size_t>(std::count_if(storages_.begin(), storages_.end(), [](const auto& item) { return item.second.leaf < 0; }));
    forget_at_ = std::max(kForgetAt, 2 * temporaries_);
  }
  void watch(const IntrusivePtr<StorageImpl>& s) {
    if (s->watcher.load() != nullptr) return;
    s->watcher.store(this);
    watched_.push_back(s);
  }
  void unwatch() {
    for (const auto& s : watched_) s->watcher.store(nullptr);
    watched_.clear();
  }

  static bool same_place(const Tensor& a, const Tensor& b) {
    return a.scalar_type() == b.scalar_type() && a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() && a.strides() == b.strides();
  }

  Id add_view(const char* name, Id from, std::vector<Value> rest, const Tensor& t) {
    Node node;
    node.op = &view_operator(name);
    node.args.push_back(Arg::of_value(from));
    for (Value& v : rest) node.args.push_back(Arg::of_attribute(std::move(v)));
    const Id id = add_value(type_of(t));
    node.results.push_back(id);
    node.path = path_of(from);
    graph_.nodes.push_back(std::move(node));
    return id;
  }

  Id view_of(Place& place, const Tensor& t) {
    const BelowDoorGuard below;
    const Tensor& whole = place.whole;
    if (same_place(whole, t)) return place.value;
    TAEDA_CHECK_NOT_IMPLEMENTED(whole.scalar_type() == t.scalar_type(), "[graph] a view keeps its dtype: got ", t.scalar_type(), " of ",
                                whole.scalar_type(), "; convert with to() instead");
    std::vector<int64_t> key = t.sizes().vec();
    key.insert(key.end(), t.strides().begin(), t.strides().end());
    if (whole_) place.views.clear();  // what is the same view here may not be at other sizes
    const auto [at, fresh] = place.views.emplace(std::pair(t.storage_offset(), key), -1);
    if (!fresh) return at->second;
    const bool reaches = t.numel() == 0 || (t.storage_offset() >= whole.storage_offset() && end_of(t) <= end_of(whole));
    if (place.leaf >= 0 && place.leaf == place.value && graph_.values[static_cast<size_t>(place.leaf)].origin == Origin::kConstant &&
        (!reaches || whole.storage_offset() != 0)) {
      at->second = add_leaf(t, Origin::kConstant, "");  // another part of the memory of a tensor of the program
    } else {
      TAEDA_CHECK_NOT_IMPLEMENTED(reaches, "[graph] views lie within the tensor that was first seen in their memory: got elements up to ", end_of(t),
                                  " of ", end_of(whole), "; pass the whole as a state or an input");
      at->second = make_view(place, t);
    }
    return at->second;
  }
  Id make_view(const Place& place, const Tensor& t) {
    const Tensor& whole = place.whole;
    if (whole.storage_offset() == t.storage_offset() && whole.numel() == t.numel()) {
      if (whole.dim() == t.dim() && t.numel() > 0) {
        std::vector<int64_t> order;
        for (int64_t d = 0; d < t.dim(); ++d) {
          for (int64_t k = 0; k < t.dim(); ++k) {
            if (std::find(order.begin(), order.end(), k) == order.end() && whole.size(k) == t.size(d) && whole.stride(k) == t.stride(d)) {
              order.push_back(k);
              break;
            }
          }
        }
        if (static_cast<int64_t>(order.size()) == t.dim() && same_place(whole.permute(order), t)) return add_view("permute", place.value, {Value(order)}, t);
      }
      if (whole.is_contiguous() && t.is_contiguous()) return add_view("view", place.value, {Value(t.sizes())}, t);
    }
    TAEDA_CHECK_NOT_IMPLEMENTED(whole.storage_offset() == 0, "[graph] a tensor of the program begins its memory: got one at ", whole.storage_offset(),
                                "; clone() it first");
    return add_view("as_strided", place.value, {Value(t.sizes()), Value(t.strides()), Value(t.storage_offset())}, t);
  }

  /// After an operator wrote `t`, whose elements are now `value`.
  void write(const Tensor& t, Id value) {
    Place& place = storages_.at(t.impl().storage.get());
    place.views.clear();
    const BelowDoorGuard below;
    if (same_place(place.whole, t)) {
      place.value = value;
      return;
    }
    TAEDA_CHECK_NOT_IMPLEMENTED(place.whole.is_contiguous() && place.whole.storage_offset() == 0, "[graph] a tensor written through a view is contiguous: "
                                "got strides ", place.whole.strides(), " for ", place.whole.sizes(), "; call contiguous() first");
    Node node;
    TAEDA_CHECK_NOT_IMPLEMENTED(t.numel() == 0 || end_of(t) <= end_of(place.whole), "[graph] views lie within the tensor that was first seen in their "
                                "memory: one up to element ", end_of(t), " of ", end_of(place.whole), " is written; pass the whole as a state or an input");
    node.op = &view_operator("as_strided_scatter");
    node.args = {Arg::of_value(place.value), Arg::of_value(value), Arg::of_attribute(Value(t.sizes())), Arg::of_attribute(Value(t.strides())), Arg::of_attribute(Value(t.storage_offset()))};
    place.value = add_value(type_of(place.whole));
    node.results.push_back(place.value);
    graph_.nodes.push_back(std::move(node));
  }

  std::string path_of(Id id) const {
    const Datum& v = graph_.values[static_cast<size_t>(id)];
    const size_t dot = v.name.rfind('.');
    return v.origin == Origin::kState && dot != std::string::npos ? v.name.substr(0, dot) : "";
  }

  void describe_gradient(const ::taeda::capture::Call& call, const pointwise::Recorded& gradient, Node& node) const {
    size_t tensor = 0, number = 0;
    Arg saved, numbers = Arg::of_attribute(Value(Value::List()));
    saved.is_list = true;
    for (int i = 0; i < gradient.inputs; ++i) {
      const bool is_tensor = ((gradient.tensor_mask >> i) & 1) != 0;
      saved.items.push_back(is_tensor ? Arg::of_value(operands_[tensor++]) : Arg::of_attribute(Value(call.numbers[number++])));
    }
    while (number < call.numbers.size()) numbers.attribute.mutable_list().emplace_back(call.numbers[number++]);
    const Arg grad = saved.items[0];
    saved.items.erase(saved.items.begin());
    const char* kernel = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(gradient.kernel)).name;
    node.args = {Arg::of_attribute(Value(kernel)), Arg::of_attribute(Value(gradient.compute)), grad, std::move(saved), std::move(numbers)};
  }

  /// The arguments of a general operator, in the order in which its door added them.
  void decode(const ::taeda::capture::Call& call, Node& node) const {
    std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
    // Results of `words` alone: a reader without tensors.
    static const Tensor none[1];
    std::vector<Tensor> unused;
    const ::taeda::capture::Replay replay{none, 0, call.words.data(), call.numbers.data(), 0, nullptr, unused};
    ::taeda::capture::Reader reader(replay);
    using ::taeda::capture::As;
    size_t tensor = 0;
    const auto operand = [&] {
      const Id id = operands_[tensor++];
      return id >= 0 ? Arg::of_value(id) : Arg();
    };
    for (size_t i = 0; i < schema.size(); ++i) {
      std::string type = schema[i].type;
      if (schema[i].name == "dtype" && i + 3 < schema.size() && schema[i + 1].name == "layout" && schema[i + 3].name == "pin_memory") {
        const TensorOptions o = reader.get(As<const TensorOptions&>());
        node.args.push_back(Arg::of_attribute(Value(o.dtype_opt())));
        node.args.push_back(Arg::of_attribute(Value(o.layout_opt())));
        node.args.push_back(Arg::of_attribute(Value(o.device_opt())));
        node.args.push_back(Arg::of_attribute(Value(o.pinned_memory_opt())));
        i += 3;
        continue;
      }
      if (type == "Tensor") {
        node.args.push_back(operand());
        continue;
      }
      if (type.starts_with("Tensor") && type.find('[') != type.npos) {
        Arg list;
        list.is_list = true;
        const bool optional = type.starts_with("Tensor?");
        for (auto n = reader.get(As<uint64_t>()); n > 0; --n) {
          if (optional) reader.get(As<bool>());
          list.items.push_back(operand());
        }
        node.args.push_back(std::move(list));
        continue;
      }
      if (type.ends_with('?')) {
        type.pop_back();
        if (!reader.get(As<bool>())) {
          if (type == "Tensor") ++tensor;
          node.args.emplace_back();
          continue;
        }
        if (type == "Tensor") {
          node.args.push_back(operand());
          continue;
        }
      }
      node.args.push_back(Arg::of_attribute(plain(reader, type, *node.op)));
    }
  }
  static Value plain(::taeda::capture::Reader& reader, const std::string& type, const OpInfo& op) {
    using ::taeda::capture::As;
    if (type == "int") return Value(reader.get(As<int64_t>()));
    if (type == "bool") return Value(reader.get(As<bool>()));
    if (type == "float") return Value(reader.get(As<double>()));
    if (type == "str") return Value(reader.get(As<std::string_view>()));
    if (type == "Scalar") return Value(reader.get(As<const Scalar&>()));
    if (type == "Device") return Value(reader.get(As<Device>()));
    if (type == "ScalarType" || type == "Layout" || type == "MemoryFormat") return Value(reader.get(As<int64_t>()));
    if (type.starts_with("int[")) return Value(reader.get(As<IntArrayRef>()));
    if (type.starts_with("float[")) return Value(reader.get(As<ArrayRef<double>>()));
    TAEDA_CHECK_NOT_IMPLEMENTED(false, "[graph] arguments are tensors, numbers, texts and lists of them: got ", type, " of ", op.name,
                                "; call the operator without it");
  }

  Graph& graph_;
  const States& states_;
  const bool whole_;
  std::vector<std::pair<Tensor, Tensor>> leaves_;  ///< inputs and states, and how they were
  /// So many memories that no leaf has are kept before the first look for those to free.
  static constexpr size_t kForgetAt = 16;
  std::map<StorageImpl*, Place> storages_;
  size_t temporaries_ = 0, forget_at_ = kForgetAt;  ///< places without a leaf, at most
  std::vector<IntrusivePtr<StorageImpl>> watched_;
  std::vector<Id> operands_;
  std::vector<uint32_t> writes_;
  std::vector<Tensor> before_;  ///< geometry of the arguments
  std::vector<uint8_t> generator_;
  std::atomic<bool> runs_{false};  ///< a kernel runs
};

}  // namespace

namespace {

/// `inputs` are copies of `examples`.
Graph trace(const std::function<std::vector<Tensor>(const AddInput&)>& function, const std::vector<Tensor>& inputs, std::vector<Tensor> examples,
            const States& states, bool whole_constants, bool gradients) {
  TAEDA_CHECK(!::taeda::capture::active(), "[graph] captures do not nest: got one inside another or inside a compiled function; capture outside");
  Graph graph;
  GraphRecorder recorder(graph, states, whole_constants);
  for (size_t i = 0; i < inputs.size(); ++i) recorder.add_input(inputs[i], i);
  const ModesGuard modes;
  tls_modes.grad_enabled = gradients;
  if (gradients) tls_modes.inference = false, tls_modes.active &= ~kModeInference;
  refresh_mask(tls_modes);
  tls_modes.active |= kModeCapture;
  tls_modes.capture = static_cast<::taeda::capture::Recorder*>(&recorder);
  const std::vector<Tensor> results = function([&](const Tensor& added) {
    recorder.add_input(added, examples.size());
    examples.push_back(added);
  });
  recorder.end(results, examples);
  renumber(graph);
  graph.verify();
  return graph;
}

}  // namespace

Graph capture(const Function& function, const std::vector<Tensor>& examples, const States& states, const CaptureOptions& options) {
  return options.dynamic.empty() ? capture_once(function, examples, states, false) : capture_dynamic(function, examples, states, options.dynamic);
}

Graph capture_once(const Function& function, const std::vector<Tensor>& examples, const States& states, bool whole_constants) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : examples) {
    TAEDA_CHECK_VALUE(t.defined(), "[graph] example inputs are tensors: got an undefined one; leave it out");
    const BelowDoorGuard below;
    // An expanded example has no memory of its own to copy.
    inputs.push_back(copy_as_laid_out(overlaps_itself(t) ? t.detach().contiguous() : t.detach()));
  }
  return trace([&](const AddInput&) { return function(inputs); }, inputs, examples, states, whole_constants, false);
}

Graph capture_with_gradients(const std::function<std::vector<Tensor>(const AddInput&)>& function, const std::vector<Tensor>& inputs, const States& states) {
  return trace(function, inputs, inputs, states, false, true);
}

}  // namespace taeda::graph
