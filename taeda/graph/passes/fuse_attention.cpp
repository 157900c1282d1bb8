// SPDX-License-Identifier: Apache-2.0
// Attention written out (matrix product, scale, mask, softmax, matrix product) as the operator that never holds all weights.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "taeda/graph/passes/rewrite.h"
#include "taeda/graph/symbols.h"
#include "taeda/graph/text.h"
#include "taeda/ops/functions.h"

namespace taeda::graph {

namespace {

constexpr int kMostDepth = 8;
constexpr double kInf = std::numeric_limits<double>::infinity();

const OpInfo& operator_named(const char* name, const char* overload) {
  for (const OpInfo* op : find_ops(name)) {
    if (std::string_view(op->overload) == overload) return *op;
  }
  TAEDA_CHECK(false, "[graph] the registry must have the operator ", name, "; it has not; report this");
}

/// What a matrix is that takes part in a mask. Below: on the diagonal too.
enum class Pattern : uint8_t { kOther, kOnes, kOnesBelow, kOnesAbove, kZeros, kNever, kNeverAbove };

Pattern turned(Pattern p) { return p == Pattern::kOnesBelow ? Pattern::kOnesAbove : p == Pattern::kOnesAbove ? Pattern::kOnesBelow : Pattern::kOther; }

/// The pattern of rows of `width` elements, `stride` apart, as far as memory has them.
Pattern pattern_of(const Tensor& memory, int64_t width, int64_t stride) {
  const Tensor t = memory.detach().contiguous().to(kDouble);
  const double* const elements = t.const_data_ptr<double>();
  bool below = true, above = true, never = true;
  for (int64_t i = 0; i * stride < t.numel(); ++i) {
    for (int64_t k = 0; k < width && i * stride + k < t.numel(); ++k) {
      const double x = elements[i * stride + k];
      below &= (x != 0) == (k <= i) && std::isfinite(x);
      above &= (x != 0) == (k > i) && std::isfinite(x);
      never &= x == (k > i ? -kInf : 0);
    }
  }
  return below ? Pattern::kOnesBelow : above ? Pattern::kOnesAbove : never ? Pattern::kNeverAbove : Pattern::kOther;
}

/// What was found: softmax(scale * query keys + mask) value in three dimensions, keys being turned.
struct Attention {
  Id query, keys, value;       ///< (batch * heads, length, width), (…, width, keys), (…, keys, value width)
  std::vector<Size> leading;   ///< batch, heads
  double scale = 1;
  Id mask = -1;
  bool fills = false;          ///< the mask says what takes no part; else it is added
  bool causal = false;         ///< the mask leaves out the keys behind a row's place
};

class Fuser {
 public:
  Fuser(Graph& graph, Notes* notes) : graph_(graph), notes_(notes), uses_(count_uses(graph)), makers_(makers_of(graph)) {}

  size_t run() {
    size_t fused = 0;
    std::vector<Node> nodes;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const std::optional<Attention> found = is_operator(node, "bmm") ? find(node) : std::nullopt;
      if (!found) {
        nodes.push_back(node);
        continue;
      }
      note(notes_, text_of(graph_, node), " and what makes its weights are _fused_attention");
      build(*found, node, nodes);
      ++fused;
    }
    graph_.nodes = std::move(nodes);
    return fused;
  }

 private:
  static size_t at(int id) { return static_cast<size_t>(id); }
  /// By value: build() adds values.
  Type type(Id id) const { return graph_.values[at(id)].type; }

  /// The node that makes `id`, which nothing else reads; null for others.
  const Node* sole(Id id) const {
    if (id < 0 || uses_[at(id)] != 1 || makers_[at(id)] < 0) return nullptr;
    const Node& node = graph_.nodes[at(makers_[at(id)])];
    return node.results.size() == 1 && node.results[0] == id && node.updates.empty() && !node.random ? &node : nullptr;
  }
  static bool reshapes(const Node& node) { return is_operator(node, "reshape") || (is_operator(node, "view") && !*node.op->overload); }

  std::optional<Attention> find(const Node& product) const {
    Attention a;
    a.value = product.args[1].value;
    if (product.args[0].value < 0 || a.value < 0) return {};
    const ScalarType dtype = type(a.value).dtype;
    const Node* node = sole(product.args[0].value);
    if (dtype != kFloat && dtype != kDouble) return {};
    if (node && reshapes(*node)) node = sole(node->args[0].value);
    if (!node || !is_operator(*node, "_softmax") || node->args[2].attribute.to_bool()) return {};
    const Type weights = type(node->results[0]);
    const auto rank = static_cast<int64_t>(weights.sizes.size());
    const int64_t dim = node->args[1].attribute.is_int() ? node->args[1].attribute.to_int() : 0;
    if ((rank != 3 && rank != 4) || (dim != -1 && dim != rank - 1)) return {};
    const std::vector<Size> sizes = sizes_of(weights);
    a.leading = rank == 4 ? std::vector<Size>{sizes[0], sizes[1]} : std::vector<Size>{sizes[0], Size(1)};
    node = sole(node->args[0].value);
    if (node && is_mask(*node, rank, dtype, a)) node = sole(node->args[0].value);
    if (node && (is_operator(*node, "mul") || is_operator(*node, "div")) && scales(*node, a)) node = sole(node->args[0].value);
    if (node && reshapes(*node)) node = sole(node->args[0].value);
    if (!node || !is_operator(*node, "bmm") || type(node->results[0]).dtype != dtype) return {};
    a.query = node->args[0].value;
    a.keys = node->args[1].value;
    // Between the products only leading dimensions are put together or apart.
    const std::vector<Size> together{a.leading[0] * a.leading[1], sizes[sizes.size() - 2], sizes.back()};
    const bool same = sizes_of(type(node->results[0])) == together && sizes_of(type(product.args[0].value)) == together;
    return same && a.query >= 0 && a.keys >= 0 ? std::optional<Attention>(a) : std::nullopt;
  }
  bool is_mask(const Node& node, int64_t rank, ScalarType dtype, Attention& a) const {
    const bool fills = is_operator(node, "masked_fill") && node.op->overload == std::string_view("Scalar");
    const bool adds = is_operator(node, "add") && node.args.size() == 3 && node.args[2].attribute.is_int() && node.args[2].attribute.to_int() == 1;
    if ((!fills && !adds) || node.args[0].value < 0 || node.args[1].value < 0) return false;
    const Type mask = type(node.args[1].value);
    if (sizes_of(type(node.results[0])) != sizes_of(type(node.args[0].value)) || mask.sizes.size() > (rank == 4 ? 4u : 2u)) return false;
    if (fills && (!node.args[2].attribute.is_double() || node.args[2].attribute.to_double() != -kInf || mask.dtype != kBool)) return false;
    if (adds && mask.dtype != dtype) return false;
    a.mask = node.args[1].value;
    a.fills = fills;
    const std::vector<Size> sizes = sizes_of(mask), weights = sizes_of(type(node.results[0]));
    const size_t n = sizes.size(), all = weights.size();
    const bool whole = n >= 2 && sizes[n - 1] == weights[all - 1] && sizes[n - 2] == weights[all - 2] && std::all_of(sizes.begin(), sizes.end() - 2, is_one);
    a.causal = whole && pattern(a.mask, 0) == (fills ? Pattern::kOnesAbove : Pattern::kNeverAbove);
    return true;
  }
  static bool is_one(const Size& size) { return size == Size(1); }

  /// Of the last two dimensions; those before them have one element.
  Pattern pattern(Id id, int depth) const {
    const Datum& v = graph_.values[at(id)];
    const std::vector<Size> sizes = sizes_of(v.type), strides = strides_of(v.type);
    const size_t n = sizes.size();
    if (depth == kMostDepth || n < 2 || !std::all_of(sizes.begin(), sizes.end() - 2, is_one)) return Pattern::kOther;
    if (v.origin == Origin::kConstant) {
      const int64_t width = v.type.sizes[n - 1];
      return is_contiguous(v.type) && width > 1 ? pattern_of(v.tensor.reshape({-1}), width, width) : Pattern::kOther;
    }
    if (makers_[at(id)] < 0) return Pattern::kOther;
    const Node& node = graph_.nodes[at(makers_[at(id)])];
    if (node.random || !node.updates.empty() || node.results.size() != 1) return Pattern::kOther;
    if (is_operator(node, "ones")) return Pattern::kOnes;
    if (is_operator(node, "zeros")) return Pattern::kZeros;
    if (is_operator(node, "full") && node.args[1].attribute.is_number()) {
      const double x = node.args[1].attribute.to_scalar().to<double>();
      return x == 0 ? Pattern::kZeros : x == -kInf ? Pattern::kNever : std::isfinite(x) ? Pattern::kOnes : Pattern::kOther;
    }
    const Id from = node.args.empty() ? -1 : node.args[0].value;
    if (from < 0) return Pattern::kOther;
    if (is_operator(node, "as_strided")) return part_of_constant(node, from, sizes, strides);
    const Pattern p = pattern(from, depth + 1);
    const auto number = [&](size_t i, double x) { return node.args[i].attribute.is_number() && node.args[i].attribute.to_scalar().to<double>() == x; };
    if (is_operator(node, "tril")) return p == Pattern::kOnes && number(1, 0) ? Pattern::kOnesBelow : Pattern::kOther;
    if (is_operator(node, "triu") && !number(1, 1)) return Pattern::kOther;
    if (is_operator(node, "triu")) return p == Pattern::kOnes ? Pattern::kOnesAbove : p == Pattern::kNever ? Pattern::kNeverAbove : Pattern::kOther;
    if (is_operator(node, "logical_not")) return turned(p);
    if (is_operator(node, "eq") && node.args[1].value < 0) return number(1, 0) ? turned(p) : Pattern::kOther;
    if (is_operator(node, "ne") && node.args[1].value < 0) return number(1, 0) && p != Pattern::kNeverAbove ? p : Pattern::kOther;
    if (is_operator(node, "masked_fill") && node.op->overload == std::string_view("Scalar") && number(2, -kInf) && sizes == sizes_of(type(node.args[1].value))) {
      return p == Pattern::kZeros && pattern(node.args[1].value, depth + 1) == Pattern::kOnesAbove ? Pattern::kNeverAbove : Pattern::kOther;
    }
    const std::vector<Size> before = sizes_of(type(from));
    const bool kept = reshapes(node) && before.size() >= 2 && before.back() == sizes.back() && before[before.size() - 2] == sizes[n - 2];
    // A conversion may make 0 of 0.5, but not of these ones where it keeps floating numbers or makes bool.
    const bool converts = is_operator(node, "_to_copy") && (v.type.dtype == type(from).dtype || v.type.dtype == kBool || type(from).dtype == kBool);
    return kept || converts || is_operator(node, "clone") ? p : Pattern::kOther;
  }
  /// The greatest number that a size can be, where that is plain.
  int64_t most_of(const Size& size) const {
    if (size.is_number()) return size.number();
    for (const Symbol& s : graph_.symbols) {
      if (size.as_symbol() == s.name) return s.max;
    }
    return std::numeric_limits<int64_t>::max();
  }
  /// The corner of a matrix that is there for the greatest sizes.
  Pattern part_of_constant(const Node& node, Id from, const std::vector<Size>& sizes, const std::vector<Size>& strides) const {
    const Datum& whole = graph_.values[at(from)];
    const size_t n = strides.size();
    const Value& offset = node.args[3].attribute;
    if (whole.origin != Origin::kConstant || !whole.tensor.is_contiguous() || !offset.is_int() || offset.to_int() != 0) return Pattern::kOther;
    if (!strides[n - 2].is_number() || strides[n - 1] != Size(1) || most_of(sizes[n - 1]) > strides[n - 2].number() ||
        strides[n - 2].number() < 2) {
      return Pattern::kOther;
    }
    return pattern_of(whole.tensor.reshape({-1}), strides[n - 2].number(), strides[n - 2].number());
  }
  static bool scales(const Node& node, Attention& a) {
    if (node.args.size() != 2 || node.args[0].value < 0 || node.args[1].value >= 0 || !node.args[1].attribute.is_number() || is_symbolic(node.args[1])) return false;
    const double number = node.args[1].attribute.to_scalar().to<double>();
    a.scale = is_operator(node, "mul") ? number : 1 / number;
    return std::isfinite(a.scale) && a.scale > 0;
  }

  Id add(std::vector<Node>& nodes, const char* name, const char* overload, std::vector<Arg> args, Type type) {
    Node node;
    node.op = &operator_named(name, overload);
    node.args = std::move(args);
    node.results = {add_value(std::move(type))};
    nodes.push_back(std::move(node));
    return nodes.back().results[0];
  }
  Id add_value(Type type) {
    graph_.values.push_back({std::move(type), Origin::kResult, "", Tensor()});
    return static_cast<Id>(graph_.values.size()) - 1;
  }
  static Type row_major(ScalarType dtype, const std::vector<Size>& sizes) { return make_type(dtype, sizes, contiguous_strides(sizes)); }

  /// `id`, of three dimensions, in four: what it was before they were put together, if that is known.
  Id in_four(Id id, const Attention& a, std::vector<Node>& nodes) {
    const Type three = type(id);
    std::vector<Size> sizes = sizes_of(three);
    sizes.erase(sizes.begin());
    sizes.insert(sizes.begin(), a.leading.begin(), a.leading.end());
    const int maker = makers_[at(id)];
    if (maker >= 0 && reshapes(graph_.nodes[at(maker)])) {
      Id from = graph_.nodes[at(maker)].args[0].value;
      if (sizes_of(type(from)) == sizes) {
        const int copy = makers_[at(from)];
        const bool copied = copy >= 0 && is_operator(graph_.nodes[at(copy)], "clone") && graph_.nodes[at(copy)].results.size() == 1;
        return copied ? graph_.nodes[at(copy)].args[0].value : from;
      }
    }
    std::vector<Size> strides = strides_of(three);
    strides.insert(strides.begin(), strides[0] * a.leading[1]);
    return add(nodes, "view", "", {Arg::of_value(id), sizes_arg(sizes)}, make_type(three.dtype, sizes, strides));
  }

  /// The nodes in the place of `product`.
  void build(const Attention& a, const Node& product, std::vector<Node>& nodes) {
    const Id result = product.results[0];
    const ScalarType dtype = type(result).dtype;
    const Id query = in_four(a.query, a, nodes), turned = in_four(a.keys, a, nodes), value = in_four(a.value, a, nodes);
    std::vector<Size> sizes = sizes_of(type(turned)), strides = strides_of(type(turned));
    std::swap(sizes[2], sizes[3]);
    std::swap(strides[2], strides[3]);
    const Id keys = add(nodes, "permute", "", {Arg::of_value(turned), Arg::of_attribute(Value(std::vector<int64_t>{0, 1, 3, 2}))}, make_type(dtype, sizes, strides));
    Id mask = a.causal ? -1 : a.mask;
    if (a.fills && !a.causal) {
      const Type type = this->type(mask);
      mask = add(nodes, "logical_not", "", {Arg::of_value(mask)}, row_major(type.dtype, sizes_of(type)));
    }
    std::vector<Size> out = sizes_of(type(query));
    const std::vector<Size> rows(out.begin(), out.end() - 1);
    out.back() = sizes_of(type(value)).back();
    const Id attended = add(nodes, "_fused_attention", "", {Arg::of_value(query), Arg::of_value(keys), Arg::of_value(value), mask < 0 ? Arg() : Arg::of_value(mask),
                            Arg::of_attribute(Value(a.causal)), Arg::of_attribute(Value(a.scale))}, row_major(dtype, out));
    const Id sums = add_value(row_major(dtype, rows));
    nodes.back().results.push_back(sums);
    nodes.back().path = product.path;
    // softmax makes NaN of a row without any key; the fused operator makes 0.
    std::vector<Size> column = rows;
    column.emplace_back(1);
    const Id none = add(nodes, "eq", "Scalar", {Arg::of_value(sums), Arg::of_attribute(Value(-kInf))}, row_major(kBool, rows));
    const Id spread = add(nodes, "view", "", {Arg::of_value(none), sizes_arg(column)}, row_major(kBool, column));
    const Id filled = add(nodes, "masked_fill", "Scalar", {Arg::of_value(attended), Arg::of_value(spread), Arg::of_attribute(Value(std::nan("")))}, row_major(dtype, out));
    Node last;
    last.op = &operator_named("reshape", "");
    last.args = {Arg::of_value(filled), sizes_arg(sizes_of(type(result)))};
    last.results = {result};
    nodes.push_back(std::move(last));
  }

  Graph& graph_;
  Notes* notes_;
  std::vector<int> uses_, makers_;  ///< of the values there were at the start
};

}  // namespace

size_t fuse_attention(Graph& graph, Notes* notes) {
  const BelowDoorGuard below;
  return Fuser(graph, notes).run();
}

}  // namespace taeda::graph
