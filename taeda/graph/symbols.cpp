// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/symbols.h"

#include <algorithm>

namespace taeda::graph {

namespace {

/// The numbers of one half of a type, with what stands for -1 from `next` on.
std::vector<Size> merged(const std::vector<int64_t>& numbers, const std::vector<Size>& symbolic, size_t next) {
  std::vector<Size> sizes;
  for (const int64_t n : numbers) sizes.push_back(n == -1 && next < symbolic.size() ? symbolic[next++] : Size(n));
  return sizes;
}

void split(const std::vector<Size>& sizes, std::vector<int64_t>& numbers, std::vector<Size>& symbolic) {
  for (const Size& s : sizes) {
    numbers.push_back(s.is_number() ? s.number() : -1);
    if (!s.is_number()) symbolic.push_back(s);
  }
}

Value filled(const Value& v, const std::vector<Size>& symbolic, size_t& next, const SymbolValues& values, std::vector<Size>& left) {
  if (v.is_list()) {
    Value::List list;
    for (const Value& item : v.list()) list.push_back(filled(item, symbolic, next, values, left));
    return Value(std::move(list));
  }
  if (!v.is_none() || next == symbolic.size()) return v;
  const Size size = symbolic[next++].with(values);
  if (size.is_number()) return Value(size.number());
  left.push_back(size);
  return Value();
}

void check_range(const Symbol& symbol, int64_t size) {
  TAEDA_CHECK_VALUE(size >= symbol.min && size <= symbol.max, "[graph] ", symbol.name, " lies in ", symbol.min, " to ", symbol.max, ": got ", size,
                    "; capture with a range that holds it");
}

}  // namespace

std::vector<Size> sizes_of(const Type& type) { return merged(type.sizes, type.symbolic, 0); }
std::vector<Size> strides_of(const Type& type) {
  return merged(type.strides, type.symbolic, static_cast<size_t>(std::count(type.sizes.begin(), type.sizes.end(), -1)));
}

Type make_type(ScalarType dtype, const std::vector<Size>& sizes, const std::vector<Size>& strides) {
  Type type;
  type.dtype = dtype;
  split(sizes, type.sizes, type.symbolic);
  split(strides, type.strides, type.symbolic);
  return type;
}

std::vector<Size> contiguous_strides(const std::vector<Size>& sizes) {
  std::vector<Size> strides(sizes.size());
  Size step(1);
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step = sizes[d] == Size(0) ? step : step * sizes[d];
  }
  return strides;
}

bool is_contiguous(const Type& type) { return strides_of(type) == contiguous_strides(sizes_of(type)); }

bool has_symbolic_arguments(const Node& node) {
  return std::any_of(node.args.begin(), node.args.end(), [](const Arg& arg) { return is_symbolic(arg); });
}

Arg sizes_arg(const std::vector<Size>& sizes) {
  Arg arg;
  Value::List list;
  for (const Size& size : sizes) {
    list.push_back(size.is_number() ? Value(size.number()) : Value());
    if (!size.is_number()) arg.symbolic.push_back(size);
  }
  arg.attribute = Value(std::move(list));
  return arg;
}

std::string text_of(const std::vector<Size>& sizes) {
  std::string text;
  for (const Size& size : sizes) text += (text.empty() ? "" : ", ") + size.text();
  return text;
}

Type with(const Type& type, const SymbolValues& values) {
  if (!is_symbolic(type)) return type;
  std::vector<Size> sizes = sizes_of(type), strides = strides_of(type);
  for (Size& s : sizes) s = s.with(values);
  for (Size& s : strides) s = s.with(values);
  return make_type(type.dtype, sizes, strides);
}

Arg with(const Arg& arg, const SymbolValues& values) {
  if (!is_symbolic(arg)) return arg;
  Arg result;
  size_t next = 0;
  result.attribute = filled(arg.attribute, arg.symbolic, next, values, result.symbolic);
  return result;
}

SymbolValues bind(const Graph& graph, const std::vector<Tensor>& inputs) {
  SymbolValues values;
  for (const Symbol& symbol : graph.symbols) {
    for (size_t i = 0; i < inputs.size() && (values.empty() || values.back().first != symbol.name); ++i) {
      const std::vector<Size> sizes = sizes_of(graph.values[static_cast<size_t>(graph.inputs[i])].type);
      if (!inputs[i].defined() || static_cast<size_t>(inputs[i].dim()) != sizes.size()) continue;
      const auto d = std::find(sizes.begin(), sizes.end(), Size::symbol(symbol.name));
      if (d == sizes.end()) continue;
      values.emplace_back(symbol.name, inputs[i].size(d - sizes.begin()));
      check_range(symbol, values.back().second);
    }
  }
  return values;
}

Graph specialize(const Graph& graph, const SymbolValues& values) {
  for (const auto& [name, size] : values) {
    const auto symbol = std::find_if(graph.symbols.begin(), graph.symbols.end(), [&](const Symbol& s) { return s.name == name; });
    TAEDA_CHECK_VALUE(symbol != graph.symbols.end(), "[graph] sizes are given to symbols of the graph: got ", name, "; leave it out");
    check_range(*symbol, size);
  }
  Graph result = graph;
  std::erase_if(result.symbols, [&](const Symbol& s) { return std::any_of(values.begin(), values.end(), [&](const auto& v) { return v.first == s.name; }); });
  for (Datum& v : result.values) v.type = with(v.type, values);
  for (Node& node : result.nodes) {
    for (Arg& arg : node.args) {
      if (is_symbolic(arg)) arg = with(arg, values);
    }
  }
  return result;
}

}  // namespace taeda::graph
