// SPDX-License-Identifier: Apache-2.0
// Lookup of operators, schema parsing, and the call by name.
#include "taeda/ops/registry_bind.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace taeda {

std::vector<const OpInfo*> all_ops() {
  std::vector<const OpInfo*> ops;
  for (size_t t = 0; t < detail::op_table_count; ++t) {
    for (size_t i = 0; i < detail::op_tables[t].count; ++i) ops.push_back(&detail::op_tables[t].infos[i]);
  }
  for (const OpInfo* op : detail::custom_ops()) ops.push_back(op);
  return ops;
}

std::vector<const OpInfo*> find_ops(std::string_view name) {
  // Never destroyed: threads may still call operators at exit.
  static const auto* built_in = [] {
    auto* index = new std::unordered_map<std::string_view, std::vector<const OpInfo*>>;
    for (size_t t = 0; t < detail::op_table_count; ++t) {
      for (size_t i = 0; i < detail::op_tables[t].count; ++i) {
        const OpInfo* op = &detail::op_tables[t].infos[i];
        (*index)[op->name].push_back(op);
      }
    }
    return index;
  }();
  std::vector<const OpInfo*> found;
  if (const auto at = built_in->find(name); at != built_in->end()) found = at->second;
  for (const OpInfo* op : detail::custom_ops()) {
    if (name == op->name) found.push_back(op);
  }
  return found;
}

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// The pieces between commas outside brackets and quotes.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (!trim(text.substr(start)).empty()) parts.push_back(trim(text.substr(start)));
  return parts;
}

Value parse_default(std::string_view text, std::string_view type) {
  if (text == "None") return Value();
  if (text == "True") return Value(true);
  if (text == "False") return Value(false);
  if (text == "contiguous_format") return Value(MemoryFormat::Contiguous);
  if (text == "inf") return Value(std::numeric_limits<double>::infinity());
  if (text == "Mean") return Value(1);
  if (text.front() == '"' || text.front() == '\'') return Value(std::string(text.substr(1, text.size() - 2)));
  if (text.front() == '[') {
    Value::List list;
    for (const auto part : split(text.substr(1, text.size() - 2))) list.push_back(parse_default(part, type));
    return Value(std::move(list));
  }
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  const auto [p, code] = std::from_chars(text.data(), end, integer);
  if (code == std::errc() && p == end) {
    return type.starts_with("float") ? Value(static_cast<double>(integer)) : Value(integer);
  }
  return Value(std::stod(std::string(text)));
}

}  // namespace

std::vector<SchemaArg> parse_schema_args(std::string_view schema) {
  const size_t open = schema.find('(');
  const size_t close = schema.rfind(") ->");
  TAEDA_CHECK_VALUE(open != std::string_view::npos && close != std::string_view::npos && open < close,
                    "[schema] a schema reads name(arguments) -> results: got \"", schema, "\"; correct it");
  std::vector<SchemaArg> args;
  bool kwarg_only = false;
  for (const auto part : split(schema.substr(open + 1, close - open - 1))) {
    if (part == "*") {
      kwarg_only = true;
      continue;
    }
    SchemaArg arg;
    std::string_view declaration = part;
    if (const size_t eq = part.find('='); eq != std::string_view::npos) {
      declaration = trim(part.substr(0, eq));
      arg.has_default = true;
    }
    const size_t space = declaration.rfind(' ');
    TAEDA_CHECK_VALUE(space != std::string_view::npos, "[schema] an argument reads type name: got \"", part, "\"; correct it");
    std::string type(declaration.substr(0, space));
    if (const size_t paren = type.find('('); paren != std::string::npos) type.erase(paren, type.find(')') - paren + 1);
    if (type.starts_with("SymInt")) type = "int" + type.substr(6);
    arg.type = type;
    arg.name = std::string(declaration.substr(space + 1));
    arg.kwarg_only = kwarg_only;
    if (arg.has_default) arg.default_value = parse_default(trim(part.substr(part.find('=') + 1)), arg.type);
    args.push_back(std::move(arg));
  }
  return args;
}

namespace {

/// How well a value fits a schema type: 0 exact, 1 with a conversion, -1 not at all.
int fit(const Value& v, std::string_view type) {
  const bool optional = type.ends_with('?');
  if (optional && v.is_none()) return 0;
  if (optional) type.remove_suffix(1);
  if (type == "Tensor") return v.is_tensor() ? 0 : v.is_number() ? 2 : -1;
  if (type == "Scalar") return v.is_number() ? 0 : v.is_tensor() && v.tensor().defined() && v.tensor().dim() == 0 ? 2 : -1;
  if (type == "int") return v.is_int() ? 0 : v.is_bool() ? 1 : v.is_tensor() && v.tensor().defined() && v.tensor().numel() == 1 && !v.tensor().is_floating_point() ? 2 : -1;
  if (type == "float") return v.is_double() ? 0 : v.is_number() ? 1 : -1;
  if (type == "bool") return v.is_bool() ? 0 : -1;
  if (type == "str") return v.is_string() ? 0 : -1;
  if (type == "Generator") return v.is_generator() ? 0 : -1;
  if (type == "Device") return v.is_device() ? 0 : v.is_string() ? 1 : -1;
  if (type == "ScalarType" || type == "Layout" || type == "MemoryFormat") return v.is_int() ? 1 : -1;
  const size_t bracket = type.find('[');
  if (bracket == std::string_view::npos) return -1;
  const std::string_view element = type.substr(0, bracket);
  if (!v.is_list()) {
    const bool sized = bracket + 1 < type.size() && type[bracket + 1] != ']';
    return sized && (element == "int" || element == "float") && v.is_number() && fit(v, element) >= 0 ? 1 : -1;
  }
  int worst = 0;
  for (const Value& item : v.list()) {
    const int f = element == "Tensor" && !item.is_tensor() ? -1 : fit(item, element);
    if (f < 0) return -1;
    worst = std::max(worst, f);
  }
  return worst;
}

Value adapt(const Value& v, std::string_view type) {
  if (type.ends_with('?')) type.remove_suffix(1);
  if (type == "Tensor" && v.is_number()) {
    const Scalar s = v.to_scalar();
    Tensor t = make_tensor({}, s.isFloatingPoint() ? kDouble : s.isBoolean() ? kBool : kLong);
    dispatch_all(t.scalar_type(), "call", [&]<class T>() { *static_cast<T*>(t.impl().storage->data) = s.unchecked<T>(); });
    t.mutable_impl().flags |= kFlagWrappedNumber;
    return Value(t);
  }
  if (type == "Device" && v.is_string()) return Value(Device(v.string()));
  if (type == "int" && v.is_tensor()) return Value(v.tensor().item<int64_t>());
  return v;
}

/// Fills `bound` and gives the worst fit, or -1.
int bind_arguments(const std::vector<SchemaArg>& schema, const std::vector<Value>& args, const Kwargs& kwargs,
         std::vector<Value>& bound) {
  size_t positional = 0;
  for (const SchemaArg& a : schema) positional += !a.kwarg_only;
  std::vector<Value> given = args;
  // Sizes may be passed as separate integers: view(2, 3).
  if (given.size() > positional) {
    if (schema.empty() || positional == 0) return -1;
    size_t list_at = positional - 1;
    if (!schema[list_at].type.starts_with("int[]")) return -1;
    Value::List tail(given.begin() + static_cast<int64_t>(list_at), given.end());
    for (const Value& v : tail) {
      if (!v.is_int()) return -1;
    }
    given.resize(list_at);
    given.emplace_back(std::move(tail));
  }
  bound.clear();
  int worst = 0;
  size_t used_kwargs = 0;
  for (size_t i = 0; i < schema.size(); ++i) {
    const Value* v = nullptr;
    if (i < given.size() && !schema[i].kwarg_only) v = &given[i];
    for (const auto& [name, value] : kwargs) {
      const bool alias = (name == "input" && schema[i].name == "self") || (name == "axis" && schema[i].name == "dim");
      if (name != schema[i].name && !alias) continue;
      if (v) return -1;
      v = &value;
      ++used_kwargs;
    }
    if (!v) {
      if (!schema[i].has_default) return -1;
      bound.push_back(schema[i].default_value);
      continue;
    }
    int f = fit(*v, schema[i].type);
    // A single integer stands for a list of one.
    if (f < 0 && schema[i].type.starts_with("int[]") && v->is_int()) f = 1;
    if (f < 0) return -1;
    worst = std::max(worst, f);
    bound.push_back(adapt(*v, schema[i].type));
  }
  return used_kwargs == kwargs.size() ? worst : -1;
}

}  // namespace

BoundCall bind_call(std::string_view name, const std::vector<Value>& args, const Kwargs& kwargs) {
  const std::vector<const OpInfo*> overloads = find_ops(name);
  TAEDA_CHECK_NOT_IMPLEMENTED(!overloads.empty(), "[", name, "] there is no operator of this name; see all_ops()");
  const OpInfo* best = nullptr;
  int best_fit = 3;
  std::vector<Value> best_args;
  for (const OpInfo* op : overloads) {
    std::vector<Value> bound;
    const int f = bind_arguments(parse_schema_args(op->schema), args, kwargs, bound);
    if (f < 0 || f >= best_fit) continue;
    best = op;
    best_fit = f;
    best_args = std::move(bound);
  }
  if (!best) {
    std::string given;
    for (const Value& v : args) given += (given.empty() ? "" : ", ") + v.describe();
    for (const auto& [key, v] : kwargs) given += (given.empty() ? "" : ", ") + key + "=" + v.describe();
    std::string known;
    for (const OpInfo* op : overloads) known += str("\n  ", op->schema);
    TAEDA_CHECK_TYPE(false, "[", name, "] the arguments must fit a signature: got (", given, "); signatures:", known);
  }
  return {best, std::move(best_args)};
}

Value call_op(std::string_view name, std::vector<Value> args, Kwargs kwargs) {
  const BoundCall call = bind_call(name, args, kwargs);
  return call.op->invoke(call.args.data());
}

}  // namespace taeda
