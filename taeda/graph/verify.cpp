// SPDX-License-Identifier: Apache-2.0
// The rules of graphs.
#include "taeda/graph/verify.h"

#include <algorithm>
#include <set>

#include "taeda/core/tensor.h"
#include "taeda/graph/symbols.h"

namespace taeda::graph {

namespace {

/// Whether an attribute may stand where the schema has `type`.
bool attribute_fits(const Value& v, std::string_view type) {
  if (type.ends_with('?')) {
    if (v.is_none()) return true;
    type.remove_suffix(1);
  }
  if (const size_t bracket = type.find('['); bracket != type.npos) {
    const std::string_view element = type.substr(0, bracket);
    if (!v.is_list()) return bracket + 1 < type.size() && type[bracket + 1] != ']' && attribute_fits(v, element);
    return std::all_of(v.list().begin(), v.list().end(), [&](const Value& item) { return attribute_fits(item, element); });
  }
  if (type == "int") return v.is_int() || v.is_bool();
  if (type == "float" || type == "Scalar") return v.is_number();
  if (type == "bool") return v.is_bool();
  if (type == "str") return v.is_string();
  if (type == "Device") return v.is_device();
  return (type == "ScalarType" || type == "Layout" || type == "MemoryFormat") && v.is_int();
}

/// Numbers in `v` that follow from symbols.
size_t holes(const Value& v) {
  if (!v.is_list()) return v.is_none();
  size_t n = 0;
  for (const Value& item : v.list()) n += holes(item);
  return n;
}

/// Whether an argument of a node may stand where the schema has `type`.
bool fits(const Arg& arg, std::string_view type) {
  if (!type.starts_with("Tensor")) return arg.value < 0 && !arg.is_list && attribute_fits(arg.attribute, type);
  if (type.find('[') == type.npos) return !arg.is_list && (arg.value >= 0 || arg.attribute.is_none() || arg.attribute.is_number());
  return (arg.is_list && arg.value < 0 && std::all_of(arg.items.begin(), arg.items.end(), [](const Arg& item) {
            return !item.is_list && !is_symbolic(item) && (item.value >= 0 || item.attribute.is_none() || item.attribute.is_number());
          })) || (type.ends_with('?') && arg.value < 0 && !arg.is_list && arg.attribute.is_none());
}

class Verifier {
 public:
  Verifier(const Graph& graph, Part& part) : graph_(graph), part_(part), made_(graph.values.size()), listed_(graph.values.size()) {}

  void run() {
    for (const Symbol& symbol : graph_.symbols) check_symbol(symbol);
    for (size_t id = 0; id < graph_.values.size(); ++id) check_value(at(Part::kValue, id));
    for (const Id id : graph_.inputs) check_input(id);
    for (const Symbol& symbol : graph_.symbols) {
      TAEDA_CHECK(given_.contains(symbol.name), "[graph] a symbol is the whole size of a dimension of an input: ", symbol.name, " is of none; leave it out");
    }
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      TAEDA_CHECK(graph_.values[at(Part::kValue, id)].origin != Origin::kInput || listed_[id], "[graph] every input is in the list of inputs: %", id,
                  " is not; add it");
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) check_node(graph_.nodes[at(Part::kNode, n)]);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) used(graph_.outputs[at(Part::kOutput, i)], "the outputs");
    std::fill(listed_.begin(), listed_.end(), false);
    for (size_t i = 0; i < graph_.mutations.size(); ++i) check_mutation(graph_.mutations[at(Part::kMutation, i)]);
  }

 private:
  size_t at(Part::Kind kind, size_t index) {
    part_ = {kind, index};
    return index;
  }
  size_t in_range(Id id) const {
    TAEDA_CHECK(id >= 0 && static_cast<size_t>(id) < graph_.values.size(), "[graph] a value's number must be below ", graph_.values.size(), ": got ", id,
                "; number the graph's values anew");
    return static_cast<size_t>(id);
  }
  const Type& type(Id id) const { return graph_.values[in_range(id)].type; }
  void used(Id id, const std::string& by) const {
    TAEDA_CHECK(made_[in_range(id)], "[graph] a value must be made before it is used: got %", id, " in ", by, "; order the nodes");
  }
  void make(Id id) {
    const size_t i = in_range(id);
    TAEDA_CHECK(!made_[i] && graph_.values[i].origin == Origin::kResult, "[graph] a value is made once: got %", id, " again; give each result its own");
    made_[i] = true;
  }

  void check_symbol(const Symbol& symbol) {
    TAEDA_CHECK(is_symbol_name(symbol.name), "[graph] the name of a symbol is one of letters, digits and _ that means nothing else: got \"", symbol.name,
                "\"; choose another");
    TAEDA_CHECK(symbol.min >= 0 && symbol.min <= symbol.max, "[graph] sizes are from 0 on: got the range ", symbol.min, " to ", symbol.max, " of ",
                symbol.name, "; correct it");
    for (const auto& [name, size] : least_) TAEDA_CHECK(name != symbol.name, "[graph] a symbol is declared once: got ", name, " again; leave one out");
    least_.emplace_back(symbol.name, symbol.min);
    most_.emplace_back(symbol.name, symbol.max);
  }
  void check_sizes(const std::vector<Size>& sizes, const std::string& of) const {
    for (const Size& size : sizes) {
      TAEDA_CHECK(!size.is_number(), "[graph] a number is written as such: got the size ", size.text(), " of ", of, "; correct it");
      for (const std::string& name : size.symbols()) {
        TAEDA_CHECK(std::any_of(least_.begin(), least_.end(), [&](const auto& v) { return v.first == name; }), "[graph] symbols are declared: ", name,
                    " in ", of, " is not; declare it");
      }
      size.at(least_);
      size.at(most_);
    }
  }
  /// Symbols count at both ends of their ranges.
  void check_value(size_t id) {
    const Datum& v = graph_.values[id];
    const Type& t = v.type;
    if (is_symbolic(t)) {
      const auto left = static_cast<size_t>(std::count(t.sizes.begin(), t.sizes.end(), -1) + std::count(t.strides.begin(), t.strides.end(), -1));
      TAEDA_CHECK(left == t.symbolic.size(), "[graph] a type has -1 for each of its symbolic sizes: got ", left, " for ", t.symbolic.size(), " of %", id,
                  "; correct it");
      TAEDA_CHECK(v.origin != Origin::kState && v.origin != Origin::kConstant, "[graph] a state or constant has one size: got ", text_of(sizes_of(t)),
                  " of %", id, "; correct it");
      check_sizes(t.symbolic, str('%', id));
      check_type(id, with(t, most_));
      if (v.origin == Origin::kInput) {
        for (const Size& size : sizes_of(t)) given_.emplace(size.as_symbol());
      }
    }
    check_type(id, with(t, least_));
  }
  void check_type(size_t id, const Type& t) {
    const Datum& v = graph_.values[id];
    made_[id] = v.origin != Origin::kResult;
    TAEDA_CHECK(is_supported(t.dtype), "[graph] a value has a dtype that tensors can have: got ", t.dtype, " of %", id, "; correct it");
    TAEDA_CHECK(t.sizes.size() == t.strides.size(), "[graph] a type has a stride for each size: got ", t.sizes.size(), " and ", t.strides.size(), " of %",
                id, "; complete it");
    TAEDA_CHECK(t.sizes.size() <= static_cast<size_t>(kMaxDims), "[graph] tensors have at most ", kMaxDims, " dimensions: got ", t.sizes.size(), " of %",
                id, "; flatten some of them");
    std::vector<int64_t> counted;
    for (size_t d = 0; d < t.sizes.size(); ++d) {
      TAEDA_CHECK(t.sizes[d] >= 0 && t.strides[d] >= 0, "[graph] sizes and strides are at least 0: got ", t.sizes[d], " and ", t.strides[d], " of %", id,
                  "; correct them");
      counted.push_back(std::max<int64_t>(t.sizes[d], 1));
    }
    detail::checked_numel(counted, "graph");
    detail::storage_bytes(t.sizes, t.strides, 0, item_size(t.dtype), "graph");
    if (v.origin != Origin::kState && v.origin != Origin::kConstant) return;
    TAEDA_CHECK(v.tensor.defined(), "[graph] a state or constant has a tensor: %", id, " has none; give it one");
    TAEDA_CHECK(v.tensor.scalar_type() == t.dtype && v.tensor.sizes() == IntArrayRef(t.sizes) && v.tensor.strides() == IntArrayRef(t.strides),
                "[graph] a state or constant has its tensor's type: got ", Value(v.tensor).describe(), " with strides ", v.tensor.strides(), " for ", t.dtype,
                IntArrayRef(t.sizes), " with strides ", IntArrayRef(t.strides), " of %", id, "; correct it");
  }
  void check_input(Id id) {
    at(Part::kValue, static_cast<size_t>(id));
    TAEDA_CHECK(graph_.values[in_range(id)].origin == Origin::kInput, "[graph] inputs must be values of that kind: got %", id, "; correct the list");
    TAEDA_CHECK(!listed_[static_cast<size_t>(id)], "[graph] an input is listed once: got %", id, " again; leave it out");
    listed_[static_cast<size_t>(id)] = true;
  }
  void check_node(const Node& node) {
    TAEDA_CHECK(node.op, "[graph] a node needs an operator: got none; name one of the registry");
    const std::string name = name_of(*node.op);
    const std::vector<SchemaArg> schema = parse_schema_args(node.op->schema);
    TAEDA_CHECK(node.args.size() == schema.size(), "[graph] a node has every argument of its schema: got ", node.args.size(), " for ", schema.size(),
                " of ", name, "; add the defaults");
    for (size_t i = 0; i < schema.size(); ++i) {
      const Arg& arg = node.args[i];
      if (is_symbolic(arg)) {
        TAEDA_CHECK(arg.value < 0 && !arg.is_list && holes(arg.attribute) == arg.symbolic.size(), "[graph] an argument has none for each of its symbolic "
                    "numbers: argument ", i, " of ", name, " has not; correct it");
        check_sizes(arg.symbolic, name);
        TAEDA_CHECK(fits(with(arg, least_), schema[i].type), "[graph] arguments fit the schema: argument ", i, " of ", name, " is no ", schema[i].type,
                    "; correct it");
        continue;
      }
      TAEDA_CHECK(fits(node.args[i], schema[i].type), "[graph] arguments fit the schema: argument ", i, " of ", name, " is no ", schema[i].type,
                  "; correct it");
    }
    const std::vector<Id> ids = operands(node);
    for (const Id id : ids) used(id, name);
    for (const Id id : node.results) {
      if (id >= 0) make(id);
    }
    int last = -1;
    for (const Update& u : node.updates) {
      TAEDA_CHECK(u.tensor >= 0 && static_cast<size_t>(u.tensor) < ids.size(), "[graph] an update names a tensor argument: got ", u.tensor, " of ",
                  ids.size(), " in ", name, "; correct it");
      TAEDA_CHECK(u.tensor > last, "[graph] updates are in the order of the arguments: got ", u.tensor, " after ", last, " in ", name, "; order them");
      last = u.tensor;
      make(u.value);
      TAEDA_CHECK(type(u.value) == type(ids[static_cast<size_t>(u.tensor)]), "[graph] an update has its argument's type: %", u.value,
                  " has another; correct it");
    }
  }
  void check_mutation(const Mutation& m) {
    used(m.value, "the mutations");
    const Origin origin = graph_.values[in_range(m.target)].origin;
    TAEDA_CHECK(origin == Origin::kInput || origin == Origin::kState, "[graph] only inputs and states can be mutated: got %", m.target,
                "; return the value instead");
    const Type &to = type(m.target), &from = type(m.value);
    TAEDA_CHECK(to.dtype == from.dtype && sizes_of(to) == sizes_of(from), "[graph] a mutation keeps dtype and sizes: %", m.value, " has others than %", m.target,
                "; correct it");
    TAEDA_CHECK(!listed_[in_range(m.target)], "[graph] a value is mutated once: got %", m.target, " again; leave one out");
    listed_[in_range(m.target)] = true;
  }

  const Graph& graph_;
  Part& part_;
  std::vector<bool> made_, listed_;
  SymbolValues least_, most_;   ///< the ends of the symbols' ranges
  std::set<std::string, std::less<>> given_;  ///< symbols that inputs give
};

}  // namespace

void verify(const Graph& graph, Part& part) { Verifier(graph, part).run(); }

}  // namespace taeda::graph
