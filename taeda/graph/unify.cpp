// SPDX-License-Identifier: Apache-2.0
// Several captures of one function as one graph.
#include <algorithm>
#include <bit>
#include <cstring>

#include "taeda/graph/dynamic_capture.h"
#include "taeda/graph/size_fit.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/text.h"

namespace taeda::graph {

namespace {

/// A node without its numbers, which go to `numbers`.
class Shape {
 public:
  Shape(const Graph& graph, const Node& node, std::vector<int64_t>& numbers) : graph_(graph), numbers_(numbers) {
    text_ = str(name_of(*node.op), node.random ? " random " : " ", node.path);
    for (const Arg& arg : node.args) add(arg);
    for (const Id id : node.results) add(id);
    for (const Update& u : node.updates) text_ += str(" of ", u.tensor), add(u.value);
  }
  const std::string& text() const { return text_; }

 private:
  void add(Id id) {
    text_ += str(" %", id);
    if (id < 0) return;
    const Type& type = graph_.values[static_cast<size_t>(id)].type;
    text_ += str(':', type.dtype, type.sizes.size());
  }
  void add(const Arg& arg) {
    if (arg.value >= 0) return add(arg.value);
    if (!arg.is_list) return add(arg.attribute);
    text_ += " [";
    for (const Arg& item : arg.items) {
      if (item.value < 0 && item.attribute.is_int()) text_ += str(' ', item.attribute.to_int());  // no formula stands in a list of tensors
      else add(item);
    }
    text_ += ']';
  }
  void add(const Value& v) {
    if (v.is_int()) {
      text_ += " #";
      numbers_.push_back(v.to_int());
    } else if (v.is_list()) {
      text_ += " [";
      for (const Value& item : v.list()) add(item);
      text_ += ']';
    } else if (v.is_double()) {
      text_ += str(' ', std::bit_cast<int64_t>(v.to_double()), 'd');
    } else {
      text_ += ' ' + (v.is_string() ? quoted(v.string()) : v.is_device() ? v.device().str() : v.describe());
    }
  }

  const Graph& graph_;
  std::vector<int64_t>& numbers_;
  std::string text_;
};

/// The first node that reads a value.
std::string reader_of(const Graph& graph, Id id) {
  for (const Node& node : graph.nodes) {
    const std::vector<Id> ids = operands(node);
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) return text_of(graph, node);
  }
  return "an output";
}

bool same_leaf(const Datum& a, const Datum& b) {
  if (a.origin != b.origin || a.name != b.name || a.type.dtype != b.type.dtype || a.type.sizes.size() != b.type.sizes.size()) return false;
  return a.origin != Origin::kConstant || (a.type == b.type && same_bytes(a.tensor, b.tensor));
}

class Unifier {
 public:
  Unifier(const std::vector<Graph>& looks, const std::vector<Symbol>& symbols, const std::vector<std::vector<int64_t>>& points)
      : looks_(looks), symbols_(symbols), points_(points), fit_(names_of(symbols), points), graph_(looks[0]) {}

  std::optional<Graph> run(std::string& failure) {
    for (const Graph& g : looks_) read(g);
    std::vector<Type> types;
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      const std::optional<Type> type = type_of_all(id);
      if (!type) return failed(failure, id);
      types.push_back(*type);
    }
    size_t next = 0;
    for (Node& node : graph_.nodes) {
      for (Arg& arg : node.args) {
        if (arg.value >= 0 || arg.is_list) continue;
        std::vector<Size> symbolic;
        const std::optional<Value> v = formula_of(arg.attribute, next, symbolic);
        if (!v) {
          failure = str("an argument of ", text_of(looks_[0], node), " is ", seen_text(seen_number(next_failed_)));
          return {};
        }
        arg.attribute = *v;
        arg.symbolic = std::move(symbolic);
      }
    }
    for (size_t id = 0; id < types.size(); ++id) graph_.values[id].type = types[id];
    graph_.symbols = symbols_;
    return std::move(graph_);
  }

 private:
  static std::vector<std::string> names_of(const std::vector<Symbol>& symbols) {
    std::vector<std::string> names;
    for (const Symbol& s : symbols) names.push_back(s.name);
    return names;
  }
  std::string at(size_t look) const { return text_of(symbols_, points_[look]); }

  void read(const Graph& g) {
    numbers_.emplace_back();
    for (const Node& node : g.nodes) Shape(g, node, numbers_.back());
  }

  std::vector<int64_t> seen_size(size_t id, size_t d) const {
    std::vector<int64_t> seen;
    for (const Graph& g : looks_) seen.push_back(g.values[id].type.sizes[d]);
    return seen;
  }
  std::vector<int64_t> seen_stride(size_t id, size_t d) const {
    std::vector<int64_t> seen;
    for (const Graph& g : looks_) seen.push_back(g.values[id].type.strides[d]);
    return seen;
  }
  std::vector<int64_t> seen_number(size_t i) const {
    std::vector<int64_t> seen;
    for (const std::vector<int64_t>& numbers : numbers_) seen.push_back(numbers[i]);
    return seen;
  }
  std::string seen_text(const std::vector<int64_t>& seen) const {
    std::string text;
    for (size_t p = 0; p < seen.size(); ++p) text += str(p ? ", " : "", seen[p], " at ", at(p));
    return text;
  }

  std::optional<Type> type_of_all(size_t id) {
    const size_t dims = looks_[0].values[id].type.sizes.size();
    std::vector<Size> sizes, strides;
    for (size_t d = 0; d < dims; ++d) {
      const std::optional<Size> size = fit_.find(seen_size(id, d));
      if (!size) return {};
      sizes.push_back(*size);
    }
    const std::vector<Size> row_major = contiguous_strides(sizes);
    const bool contiguous = std::all_of(looks_.begin(), looks_.end(), [&](const Graph& g) { return is_contiguous(g.values[id].type); });
    for (size_t d = 0; d < dims; ++d) {
      if (contiguous) fit_.know(row_major[d], seen_stride(id, d));
      const std::optional<Size> stride = contiguous ? row_major[d] : fit_.find(seen_stride(id, d));
      if (!stride) return {};
      strides.push_back(*stride);
    }
    return make_type(looks_[0].values[id].type.dtype, sizes, strides);
  }
  std::optional<Graph> failed(std::string& failure, size_t id) {
    std::string maker = looks_[0].values[id].name;
    for (const Node& node : looks_[0].nodes) {
      if (std::find(node.results.begin(), node.results.end(), static_cast<Id>(id)) != node.results.end()) maker = text_of(looks_[0], node);
    }
    failure = "a result of " + maker + " has";
    for (size_t look = 0; look < looks_.size(); ++look) {
      const Type& t = looks_[look].values[id].type;
      failure += str(look ? ", sizes " : " sizes ", IntArrayRef(t.sizes), " with strides ", IntArrayRef(t.strides), " at ", at(look));
    }
    return {};
  }

  /// An attribute with formulas in the place of the numbers from `next` on.
  std::optional<Value> formula_of(const Value& v, size_t& next, std::vector<Size>& symbolic) {
    if (v.is_list()) {
      Value::List list;
      for (const Value& item : v.list()) {
        std::optional<Value> one = formula_of(item, next, symbolic);
        if (!one) return {};
        list.push_back(std::move(*one));
      }
      return Value(std::move(list));
    }
    if (!v.is_int()) return v;
    const std::optional<Size> size = fit_.find(seen_number(next_failed_ = next++));
    if (!size) return {};
    if (size->is_number()) return v;
    symbolic.push_back(*size);
    return Value();
  }

  const std::vector<Graph>& looks_;
  const std::vector<Symbol>& symbols_;
  const std::vector<std::vector<int64_t>>& points_;
  SizeFit fit_;
  Graph graph_;
  std::vector<std::vector<int64_t>> numbers_;  ///< integers among the arguments, by look
  size_t next_failed_ = 0;
};

}  // namespace

bool same_bytes(const Tensor& a, const Tensor& b) {
  const Tensor x = memory_of(a), y = memory_of(b);
  if (x.nbytes() != y.nbytes()) return false;
  return x.nbytes() == 0 || a.impl().storage == b.impl().storage || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

std::string difference(const Graph& a, const std::string& at_a, const Graph& b, const std::string& at_b) {
  std::vector<int64_t> numbers;
  for (size_t n = 0; n < std::max(a.nodes.size(), b.nodes.size()); ++n) {
    const bool both = n < a.nodes.size() && n < b.nodes.size();
    if (both && Shape(a, a.nodes[n], numbers).text() == Shape(b, b.nodes[n], numbers).text()) continue;
    const auto call = [&](const Graph& g) { return n < g.nodes.size() ? text_of(g, g.nodes[n]) : "missing"; };
    return str("a function with dynamic sizes calls the same operators at every size: call ", n, " is ", call(a), " at ", at_a, " and ", call(b), " at ",
               at_b, "; leave the dimension static, or let no decision, and no number but integers, follow from a size");
  }
  const bool same_ends = a.outputs == b.outputs && a.inputs == b.inputs && a.values.size() == b.values.size() && a.mutations.size() == b.mutations.size() &&
                         std::equal(a.mutations.begin(), a.mutations.end(), b.mutations.begin(),
                                    [](const Mutation& x, const Mutation& y) { return x.target == y.target && x.value == y.value; });
  if (!same_ends) {
    return str("a function with dynamic sizes gives and changes the same values at every size: it does not at ", at_a, " and ", at_b,
               "; leave the dimension static");
  }
  for (size_t id = 0; id < a.values.size(); ++id) {
    if (same_leaf(a.values[id], b.values[id])) continue;
    return str("constants of a function with dynamic sizes are equal at every size: one that ", reader_of(a, static_cast<Id>(id)), " reads is not at ", at_a,
               " and ", at_b, "; make it by operators of the function (arange, full), or leave the dimension static");
  }
  return "";
}

std::string text_of(const std::vector<Symbol>& symbols, const std::vector<int64_t>& point) {
  std::string text;
  for (size_t i = 0; i < symbols.size(); ++i) text += str(i ? ", " : "", symbols[i].name, " = ", point[i]);
  return text;
}

std::optional<Graph> unify(const std::vector<Graph>& looks, const std::vector<Symbol>& symbols, const std::vector<std::vector<int64_t>>& points,
                           std::string& failure) {
  return Unifier(looks, symbols, points).run(failure);
}

}  // namespace taeda::graph
