// SPDX-License-Identifier: Apache-2.0
// Algebra that leaves every bit, NaN and the sign of zero included.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

namespace {

/// A graph half rewritten, seen from one of its nodes.
struct View {
  const Graph& graph;
  const std::vector<int>& makers;

  const Type& type(Id id) const { return graph.values[static_cast<size_t>(id)].type; }
  /// Whether the value's first element is that of its memory.
  bool begins_at_zero(Id id) const {
    const Datum& v = graph.values[static_cast<size_t>(id)];
    const int n = makers[static_cast<size_t>(id)];
    return n < 0 ? v.origin != Origin::kState || v.tensor.storage_offset() == 0 : !may_show(graph.nodes[static_cast<size_t>(n)]);
  }
  /// The node that makes `id` as its only result.
  const Node* maker(Id id) const {
    const int n = makers[static_cast<size_t>(id)];
    if (n < 0) return nullptr;
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    return node.results.size() == 1 && node.results[0] == id && !node.random ? &node : nullptr;
  }
};

/// A value that is the node's result, or -1. A node that is better written otherwise is changed.
using Rule = Id (*)(const View& view, Node& node, bool& changed);

bool is_number(const Arg& arg, double number) {
  const Value& v = arg.attribute;
  if (arg.value >= 0 || arg.is_list || !v.is_number() || v.is_bool()) return false;
  const double given = v.is_int() ? static_cast<double>(v.to_int()) : v.to_double();
  return given == number && std::signbit(given) == std::signbit(number);
}
bool is_int(const Arg& arg, int64_t number) { return arg.value < 0 && arg.attribute.is_int() && arg.attribute.to_int() == number; }

/// x * 1 and x / 1; x - 0.0 and x + -0.0, and of integers x ± 0. But x + 0.0 turns -0.0 into 0.0.
Id neutral(const View& view, Node& node, bool&) {
  const bool product = is_operator(node, "mul") || is_operator(node, "div");
  const bool sum = is_operator(node, "add"), difference = is_operator(node, "sub");
  if (!(product || sum || difference) || node.args.size() < 2 || node.args[0].value < 0) return -1;
  const Arg& other = node.args[1];
  if (product) return node.args.size() == 2 && is_number(other, 1) ? node.args[0].value : -1;
  if (!is_number(node.args[2], 1)) return -1;
  if (is_integral_type(view.type(node.args[0].value).dtype, false)) return is_int(other, 0) ? node.args[0].value : -1;
  // An integer 0 is added as 0.0.
  return (difference && is_number(other, 0.0)) || (sum && is_number(other, -0.0)) ? node.args[0].value : -1;
}

/// -(-x), and what changes nothing the second time.
Id twice(const View& view, Node& node, bool&) {
  if (node.args.size() != 1 || node.args[0].value < 0) return -1;
  const Node* first = view.maker(node.args[0].value);
  if (!first || first->op != node.op) return -1;
  if (is_operator(node, "neg")) return first->args[0].value;
  for (const char* name : {"relu", "abs", "floor", "ceil", "trunc", "round", "sign"}) {
    if (is_operator(node, name)) return node.args[0].value;
  }
  return -1;
}

/// where(c, x, x), minimum(x, x), maximum(x, x)
Id same_twice(const View&, Node& node, bool&) {
  const size_t n = node.args.size();
  const bool choice = is_operator(node, "where") && n == 3;
  if (!choice && !((is_operator(node, "minimum") || is_operator(node, "maximum")) && n == 2)) return -1;
  return node.args[n - 1].value == node.args[n - 2].value ? node.args[n - 1].value : -1;
}

/// A copy: of equal type it is its origin, where nobody can write either. Its result is not given out (see simplify).
Id copies(const View&, Node& node, bool&) { return is_operator(node, "clone") || is_operator(node, "_to_copy") ? node.args[0].value : -1; }

/// Whether every number of `from` is one of `to`, both floating or neither.
bool holds_all(ScalarType to, ScalarType from) {
  if (is_floating_type(to) != is_floating_type(from)) return false;
  if (to == from || from == kBool) return true;
  if (is_floating_type(to)) return to == kDouble || (to == kFloat && item_size(from) == 2);
  return is_integral_type(to, false) && item_size(to) > item_size(from);
}

/// A cast to a wider dtype and back.
Id casts(const View& view, Node& node, bool&) {
  if (!is_operator(node, "_to_copy") || node.args[0].value < 0) return -1;
  const Id wide = node.args[0].value;
  const Node* first = view.maker(wide);
  if (!first || !is_operator(*first, "_to_copy")) return -1;
  const Id x = first->args[0].value;
  return holds_all(view.type(wide).dtype, view.type(x).dtype) ? x : -1;
}

std::vector<int64_t> composed(const Node& first, const Node& second) {
  std::vector<int64_t> order = second.args[1].attribute.int_list();
  const std::vector<int64_t> inner = first.args[1].attribute.int_list();
  for (int64_t& d : order) d = inner[static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(order.size()) : d)];
  return order;
}

/// Views that show the whole as it is, and views of views.
Id views(const View& view, Node& node, bool& changed) {
  const bool permute = is_operator(node, "permute"), reshape = is_operator(node, "view") && !*node.op->overload;
  if (!permute && !reshape && !is_operator(node, "as_strided")) return -1;
  if (node.args[0].value < 0) return -1;
  const Node* first = view.maker(node.args[0].value);
  if (first && first->op == node.op && first->args[0].value >= 0 && (permute || (reshape && is_contiguous(view.type(first->args[0].value))))) {
    node.args[0] = first->args[0];
    if (permute) node.args[1].attribute = Value(composed(*first, node));
    changed = true;
  }
  const Id x = node.args[0].value;
  if (view.type(x) != view.type(node.results[0])) return -1;
  if (reshape) return x;
  if (!permute) return view.begins_at_zero(x) && is_int(node.args[3], 0) ? x : -1;
  const std::vector<int64_t> order = node.args[1].attribute.int_list();
  return std::is_sorted(order.begin(), order.end()) && (order.empty() || order[0] >= 0) ? x : -1;
}

const Rule kRules[] = {neutral, twice, same_twice, copies, casts, views};

}  // namespace

size_t simplify(Graph& graph, Notes* notes) {
  std::vector<Id> names(graph.values.size());
  std::iota(names.begin(), names.end(), 0);
  const std::vector<int> makers = makers_of(graph);
  const std::vector<bool> out = given_out(graph);
  const View view{graph, makers};
  size_t changes = 0;
  for (Node& node : graph.nodes) {
    replace_values(node, names);
    if (node.random || !node.updates.empty() || node.results.size() != 1 || node.results[0] < 0) continue;
    const Id result = node.results[0];
    for (const Rule rule : kRules) {
      const std::string before = notes ? text_of(graph, node) : std::string();
      bool changed = false;
      const Id same = rule(view, node, changed);
      if (changed) {
        note(notes, before, " becomes ", call_of(node));
        ++changes;
      }
      // A result of the same type; one that is given out only by what it shows.
      if (same < 0 || view.type(same) != view.type(result) || (out[static_cast<size_t>(result)] && node.op->kind != OpKind::kView)) continue;
      note(notes, before, " is %", same);
      names[static_cast<size_t>(result)] = same;
      ++changes;
      break;
    }
  }
  replace_values(graph, names);
  return changes;
}

}  // namespace taeda::graph
