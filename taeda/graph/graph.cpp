// SPDX-License-Identifier: Apache-2.0
// Text, Graphviz form and rules of graphs.
#include "taeda/graph/graph.h"

#include <sstream>

namespace taeda::graph {

std::string name_of(const OpInfo& op) { return *op.overload ? str(op.name, '.', op.overload) : std::string(op.name); }

namespace {

void collect(const Arg& arg, std::vector<Id>& ids) {
  if (arg.value >= 0) ids.push_back(arg.value);
  for (const Arg& item : arg.items) collect(item, ids);
}

template <class List>
void join(std::ostream& out, const List& list) {
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
}

void show(std::ostream& out, const Value& v) {
  if (v.is_list()) {
    out << '[';
    for (size_t i = 0; i < v.list().size(); ++i) {
      if (i) out << ", ";
      show(out, v.list()[i]);
    }
    out << ']';
  } else if (v.is_none()) {
    out << "none";
  } else if (v.is_bool()) {
    out << (v.to_bool() ? "true" : "false");
  } else if (v.is_int()) {
    out << v.to_int();
  } else if (v.is_double()) {
    out << std::hexfloat << v.to_double() << std::defaultfloat;
  } else if (v.is_string()) {
    out << '"' << v.string() << '"';
  } else {
    out << v.describe();
  }
}

void show(std::ostream& out, const Arg& arg) {
  if (arg.value >= 0) {
    out << '%' << arg.value;
  } else if (arg.is_list) {
    out << '[';
    for (size_t i = 0; i < arg.items.size(); ++i) {
      if (i) out << ", ";
      show(out, arg.items[i]);
    }
    out << ']';
  } else {
    show(out, arg.attribute);
  }
}

void show(std::ostream& out, const Graph& graph, Id id) {
  if (id < 0) {
    out << '_';
    return;
  }
  const Type& type = graph.values[static_cast<size_t>(id)].type;
  out << '%' << id << ": " << type.dtype << '[';
  join(out, type.sizes);
  out << ']';
  if (IntArrayRef(detail::contiguous_strides(type.sizes)) != IntArrayRef(type.strides)) {
    out << " strides [";
    join(out, type.strides);
    out << ']';
  }
}

}  // namespace

std::vector<Id> operands(const Node& node) {
  std::vector<Id> ids;
  for (const Arg& arg : node.args) collect(arg, ids);
  return ids;
}

std::string Graph::text() const {
  std::ostringstream out;
  static const char* const origins[] = {"input", "state", "constant"};
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].origin == Origin::kResult) continue;
    out << origins[static_cast<size_t>(values[id].origin)] << ' ';
    show(out, *this, static_cast<Id>(id));
    if (!values[id].name.empty()) out << " \"" << values[id].name << '"';
    out << '\n';
  }
  for (const Node& node : nodes) {
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (i) out << ", ";
      show(out, *this, node.results[i]);
    }
    for (size_t i = 0; i < node.updates.size(); ++i) {
      if (i || !node.results.empty()) out << ", ";
      show(out, *this, node.updates[i].value);
      out << " of " << node.updates[i].tensor;
    }
    out << " = " << name_of(*node.op) << '(';
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (i) out << ", ";
      show(out, node.args[i]);
    }
    out << ')' << (node.random ? " random" : "");
    if (!node.path.empty()) out << " in \"" << node.path << '"';
    out << '\n';
  }
  out << "return";
  for (size_t i = 0; i < outputs.size(); ++i) out << (i ? ", %" : " %") << outputs[i];
  out << '\n';
  for (const Mutation& m : mutations) out << "mutate %" << m.target << " = %" << m.value << '\n';
  return out.str();
}

std::string Graph::dot() const {
  std::ostringstream out;
  out << "digraph graph {\n  node [shape=box];\n";
  std::vector<std::string> maker(values.size());
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].origin == Origin::kResult) continue;
    maker[id] = str('v', id);
    std::string label;
    for (const char c : values[id].name.empty() ? str('%', id) : values[id].name) label += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    out << "  v" << id << " [shape=ellipse, label=\"" << label << "\"];\n";
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    out << "  n" << n << " [label=\"" << name_of(*nodes[n].op) << "\"];\n";
    for (const Id id : operands(nodes[n])) out << "  " << maker[static_cast<size_t>(id)] << " -> n" << n << ";\n";
    for (const Id id : nodes[n].results) {
      if (id >= 0) maker[static_cast<size_t>(id)] = str('n', n);
    }
    for (const Update& u : nodes[n].updates) maker[static_cast<size_t>(u.value)] = str('n', n);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out << "  o" << i << " [shape=ellipse, label=\"output " << i << "\"];\n  " << maker[static_cast<size_t>(outputs[i])] << " -> o" << i << ";\n";
  }
  out << "}\n";
  return out.str();
}

void Graph::verify() const {
  std::vector<bool> made(values.size());
  const auto in_range = [&](Id id) {
    TAEDA_CHECK(id >= 0 && static_cast<size_t>(id) < values.size(), "[graph] a value's number must be below ", values.size(), ": got ", id,
                "; number the graph's values anew");
    return static_cast<size_t>(id);
  };
  const auto used = [&](Id id, const std::string& by) {
    TAEDA_CHECK(made[in_range(id)], "[graph] a value must be made before it is used: got %", id, " in ", by, "; order the nodes");
  };
  const auto make = [&](Id id) {
    const size_t at = in_range(id);
    TAEDA_CHECK(!made[at] && values[at].origin == Origin::kResult, "[graph] a value is made once: got %", id, " again; give each result its own");
    made[at] = true;
  };
  for (size_t id = 0; id < values.size(); ++id) {
    const Datum& v = values[id];
    made[id] = v.origin != Origin::kResult;
    TAEDA_CHECK(v.type.sizes.size() == v.type.strides.size(), "[graph] a type has a stride for each size: got ", v.type.sizes.size(), " and ",
                v.type.strides.size(), " of %", id, "; complete it");
    TAEDA_CHECK((v.origin != Origin::kState && v.origin != Origin::kConstant) || v.tensor.defined(), "[graph] a state or constant has a tensor: %",
                id, " has none; give it one");
  }
  for (const Id id : inputs) {
    TAEDA_CHECK(values[in_range(id)].origin == Origin::kInput, "[graph] inputs must be values of that kind: got %", id, "; correct the list");
  }
  for (const Node& node : nodes) {
    TAEDA_CHECK(node.op, "[graph] a node needs an operator: got none; name one of the registry");
    const std::string name = name_of(*node.op);
    const size_t wanted = parse_schema_args(node.op->schema).size();
    TAEDA_CHECK(node.args.size() == wanted, "[graph] a node has every argument of its schema: got ", node.args.size(), " for ", wanted, " of ",
                name, "; add the defaults");
    const std::vector<Id> ids = operands(node);
    for (const Id id : ids) used(id, name);
    for (const Id id : node.results) {
      if (id >= 0) make(id);
    }
    for (const Update& u : node.updates) {
      TAEDA_CHECK(u.tensor >= 0 && static_cast<size_t>(u.tensor) < ids.size(), "[graph] an update names a tensor argument: got ", u.tensor, " of ",
                  ids.size(), " in ", name, "; correct it");
      make(u.value);
    }
  }
  for (const Id id : outputs) used(id, "the outputs");
  for (const Mutation& m : mutations) {
    used(m.value, "the mutations");
    const Origin origin = values[in_range(m.target)].origin;
    TAEDA_CHECK(origin == Origin::kInput || origin == Origin::kState, "[graph] only inputs and states can be mutated: got %", m.target,
                "; return the value instead");
  }
}

}  // namespace taeda::graph
