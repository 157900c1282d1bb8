// SPDX-License-Identifier: Apache-2.0
// Text and Graphviz form of graphs.
#include "taeda/graph/text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>

#include "taeda/graph/layout.h"
#include "taeda/graph/symbols.h"

namespace taeda::graph {

namespace {

/// Constants with more elements are stored beside the text.
constexpr int64_t kInline = 64;

/// The shortest digits that read back as the same number; with its bits a NaN that is not the usual one.
template <class T>
void show_floating(std::ostream& out, T element) {
  const std::conditional_t<sizeof(T) == 2, float, T> number(element);
  const auto bits = std::bit_cast<std::remove_const_t<decltype(kUsualNan<T>)>>(element);
  if (std::isnan(number)) {
    out << "nan";
    if (bits != kUsualNan<T>) out << ':' << std::hex << bits << std::dec;
    return;
  }
  char buffer[32];
  const std::string_view digits(buffer, static_cast<size_t>(std::to_chars(buffer, buffer + sizeof buffer, number).ptr - buffer));
  out << digits << (digits.find_first_not_of("-0123456789") == digits.npos ? ".0" : "");
}

template <class T>
void show_element(std::ostream& out, T element) {
  if constexpr (std::is_same_v<T, bool>) out << (element ? "true" : "false");
  else if constexpr (std::is_integral_v<T>) out << +element;
  else show_floating(out, element);
}

/// `next`: what stands for the next none of a symbolic argument.
void show(std::ostream& out, const Value& v, const std::vector<Size>& symbolic, size_t& next) {
  if (v.is_list()) {
    out << '[';
    for (size_t i = 0; i < v.list().size(); ++i) {
      if (i) out << ", ";
      show(out, v.list()[i], symbolic, next);
    }
    out << ']';
  } else if (v.is_none()) {
    out << (next < symbolic.size() ? symbolic[next].text() : "none");
    ++next;
  } else if (v.is_bool()) {
    show_element(out, v.to_bool());
  } else if (v.is_int()) {
    show_element(out, v.to_int());
  } else if (v.is_double()) {
    show_element(out, v.to_double());
  } else if (v.is_string()) {
    out << quoted(v.string());
  } else if (v.is_device()) {
    out << "device " << quoted(v.device().str());
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
    size_t next = 0;
    show(out, arg.attribute, arg.symbolic, next);
  }
}

void show(std::ostream& out, const Graph& graph, Id id) {
  if (id < 0) {
    out << '_';
    return;
  }
  const Type& type = graph.values[static_cast<size_t>(id)].type;
  out << '%' << id << ": " << type.dtype << '[' << text_of(sizes_of(type)) << ']';
  if (!is_contiguous(type)) out << " strides [" << text_of(strides_of(type)) << ']';
}

void show(std::ostream& out, const Graph& graph, const Node& node) {
  for (size_t i = 0; i < node.results.size(); ++i) {
    if (i) out << ", ";
    show(out, graph, node.results[i]);
  }
  for (size_t i = 0; i < node.updates.size(); ++i) {
    if (i || !node.results.empty()) out << ", ";
    show(out, graph, node.updates[i].value);
    out << " of " << node.updates[i].tensor;
  }
  out << " = " << call_of(node) << (node.random ? " random" : "");
  if (!node.path.empty()) out << " in " << quoted(node.path);
}

void show_leaf(std::ostream& out, const Graph& graph, Id id) {
  static const char* const origins[] = {"input", "state", "constant"};
  const Datum& v = graph.values[static_cast<size_t>(id)];
  out << origins[static_cast<size_t>(v.origin)] << ' ';
  show(out, graph, id);
  if (!v.name.empty()) out << ' ' << quoted(v.name);
  if (v.origin == Origin::kState && v.tensor.defined() && v.tensor.storage_offset() != 0) out << " offset " << v.tensor.storage_offset();
  if (v.origin == Origin::kConstant && v.tensor.defined()) {
    if (v.tensor.impl().flags & kFlagWrappedNumber) out << " number";
    if (is_inline(v)) {
      const Tensor memory = memory_of(v.tensor);
      out << " = [";
      dispatch_all(v.type.dtype, "graph", [&]<class T>() {
        const T* const elements = static_cast<const T*>(memory.impl().storage->data) + memory.storage_offset();
        for (int64_t i = 0; i < memory.numel(); ++i) {
          if (i) out << ", ";
          show_element(out, elements[i]);
        }
      });
      out << ']';
    } else {
      out << " stored";
    }
  }
  out << '\n';
}

}  // namespace

std::string quoted(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20 || byte == 0x7f) (out += "\\x") += {digits[byte >> 4], digits[byte & 15]};
    else out += c;
  }
  return out + '"';
}

Tensor memory_of(const Tensor& t) { return make_view(t, {end_of(t) - t.storage_offset()}, {1}, t.storage_offset()); }

bool is_inline(const Datum& v) { return end_of(v.tensor) - v.tensor.storage_offset() <= kInline; }

std::string stored_name(int64_t id) { return str('%', id); }

std::string call_of(const Node& node) {
  std::ostringstream out;
  out << name_of(*node.op) << '(';
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (i) out << ", ";
    show(out, node.args[i]);
  }
  out << ')';
  return out.str();
}

std::string text_of(const Graph& graph, const Node& node) {
  std::ostringstream out;
  show(out, graph, node);
  return out.str();
}

std::string Graph::text() const {
  std::ostringstream out;
  out << "graph 1\n";
  for (const Symbol& s : symbols) out << "symbol " << s.name << " in [" << s.min << ", " << s.max << "]\n";
  for (const Id id : inputs) show_leaf(out, *this, id);
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].origin == Origin::kState || values[id].origin == Origin::kConstant) show_leaf(out, *this, static_cast<Id>(id));
  }
  for (const Node& node : nodes) {
    show(out, *this, node);
    out << '\n';
  }
  for (const Mutation& m : mutations) out << "mutate %" << m.target << " = %" << m.value << '\n';
  out << "return";
  for (size_t i = 0; i < outputs.size(); ++i) out << (i ? ", %" : " %") << outputs[i];
  out << '\n';
  return out.str();
}

States Graph::stored() const {
  States tensors;
  for (size_t id = 0; id < values.size(); ++id) {
    const Datum& v = values[id];
    if (v.origin == Origin::kState) tensors.emplace_back(v.name, v.tensor);
    if (v.origin == Origin::kConstant && !is_inline(v)) tensors.emplace_back(stored_name(static_cast<Id>(id)), memory_of(v.tensor));
  }
  return tensors;
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

}  // namespace taeda::graph
