// SPDX-License-Identifier: Apache-2.0
// Sample calls of every row of the registry.
#include "tests/support/op_samples.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "taeda/autograd/grad_mode.h"
#include "taeda/core/generator.h"
#include "taeda/ops/functions.h"
#include "tests/support/oracle_call.h"

namespace taeda::test {

std::string Sample::name() const { return std::string(op->name) + (*op->overload ? std::string(".") + op->overload : ""); }

Value Sample::call() const {
  const NoGradGuard off;
  manual_seed(1);
  return op->invoke(args.data());
}

namespace {

std::string kind_of(const Error& e) {
  if (dynamic_cast<const IndexError*>(&e)) return "IndexError";
  if (dynamic_cast<const TypeError*>(&e)) return "TypeError";
  if (dynamic_cast<const ValueError*>(&e)) return "ValueError";
  if (dynamic_cast<const NotImplementedError*>(&e)) return "NotImplementedError";
  if (dynamic_cast<const LinAlgError*>(&e)) return "LinAlgError";
  if (dynamic_cast<const OutOfMemoryError*>(&e)) return "OutOfMemoryError";
  return "Error";
}

}  // namespace

Outcome run_call(const Sample& sample) {
  Outcome outcome;
  try {
    outcome.result = sample.call();
    outcome.kind = "ok";
  } catch (const Error& e) {
    outcome.kind = kind_of(e);
    outcome.message = e.what();
  } catch (const std::exception& e) {
    outcome.kind = "std";
    outcome.message = e.what();
  }
  return outcome;
}

Value map_tensors(const Value& v, const std::function<Tensor(const Tensor&)>& change) {
  if (v.is_tensor()) return v.tensor().defined() ? Value(change(v.tensor())) : v;
  if (!v.is_list()) return v;
  Value::List list;
  for (const Value& item : v.list()) list.push_back(map_tensors(item, change));
  return Value(std::move(list));
}

std::vector<Value> map_tensors(const std::vector<Value>& values, const std::function<Tensor(const Tensor&)>& change) {
  std::vector<Value> out;
  for (const Value& v : values) out.push_back(map_tensors(v, change));
  return out;
}

Tensor fresh(const Tensor& t) {
  Tensor copy = make_tensor(t.sizes(), t.scalar_type());
  const NoGradGuard off;
  copy.copy_(t.detach());
  return copy;
}

std::vector<uint8_t> bytes_of(const Tensor& t) {
  const Tensor c = fresh(t);
  const auto* data = static_cast<const uint8_t*>(c.const_data_ptr());
  return c.numel() == 0 ? std::vector<uint8_t>() : std::vector<uint8_t>(data, data + c.nbytes());
}

namespace {

int64_t total_numel(const std::vector<Value>& args) {
  int64_t n = 0;
  map_tensors(args, [&](const Tensor& t) {
    n += t.numel();
    return t;
  });
  return n;
}

/// Whether the call runs on copies of its arguments.
bool works(const Sample& sample) {
  Sample copy = sample;
  copy.args = map_tensors(sample.args, fresh);
  try {
    (void)copy.call();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The calls of the reference that give a result, by row.
void add_reference_cases(std::map<const OpInfo*, std::vector<Sample>>& rows) {
  for (const auto& [op, cases] : operator_cases()) {
    const std::string name = registry_name(op);
    if (is_special(op) || name.empty()) continue;
    for (const Json& c : cases) {
      if (c.contains("error")) continue;
      Call call;
      for (size_t i = 0; i < c["args"].size(); ++i) call.args.push_back(call.value(c["args"][i], {"args", i}));
      for (const auto& [key, v] : c["kwargs"].items()) call.kwargs.emplace_back(key, call.value(v, {"kwargs", key}));
      adapt_python(op, call.args, call.kwargs);
      try {
        BoundCall bound = bind_call(name, call.args, call.kwargs);
        bound.args = map_tensors(bound.args, [](const Tensor& t) { return t.detach(); });
        rows[bound.op].push_back({bound.op, std::move(bound.args), c["id"].get<std::string>()});
      } catch (const Error&) {  // a form of Python's wrapper
      }
    }
  }
}

/// The calls of `add` serve `add_`, where they fit.
void add_inplace_forms(std::map<const OpInfo*, std::vector<Sample>>& rows) {
  for (const OpInfo* op : built_in_ops()) {
    const std::string name = op->name;
    if (op->kind != OpKind::kInplace || !name.ends_with('_') || rows.contains(op)) continue;
    for (const OpInfo* plain : find_ops(name.substr(0, name.size() - 1))) {
      if (std::string_view(plain->overload) != op->overload || !rows.contains(plain)) continue;
      for (Sample s : rows.at(plain)) {
        s.op = op;
        rows[op].push_back(std::move(s));
      }
    }
  }
}

Tensor numbers(IntArrayRef sizes, ScalarType type, int64_t modulus) {
  const Tensor t = make_tensor(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i) {
    const double v = modulus > 0 ? static_cast<double>(i * 7 % modulus) : 0.11 + static_cast<double>(i * 37 % 101) / 113;
    static_cast<double*>(t.mutable_data_ptr())[i] = v;
  }
  return t.to(type);
}

/// A value for a schema type; `variant` chooses among several.
Value made_up(const SchemaArg& arg, int variant) {
  static const std::vector<std::vector<int64_t>> shapes{{3, 3}, {2, 3, 4}, {4}, {1, 2, 4, 4}, {2, 2, 3, 4, 4}, {}, {1}};
  const auto n = static_cast<int>(shapes.size());
  const bool index = arg.name == "index" || arg.name == "indices" || arg.name == "target" || arg.name == "targets" ||
                     arg.name == "labels";
  const bool mask = arg.name == "mask" || arg.name == "condition";
  if (arg.has_default) return arg.default_value;
  std::string type = arg.type;
  if (type.ends_with('?')) return Value();
  const IntArrayRef shape(shapes[static_cast<size_t>(variant % n)]);
  if (type == "Tensor") {
    const ScalarType types[]{kFloat, kLong, kBool};
    const int kind = index ? 1 : mask ? 2 : variant / n % 3;
    return Value(numbers(shape, types[kind], kind == 0 ? 0 : kind == 1 ? 2 : 2));
  }
  if (type == "Tensor[]" || type == "Tensor?[]") {
    return Value(Value::List{Value(numbers(shape, kFloat, 0)), Value(numbers(shape, kFloat, 0))});
  }
  if (type == "Scalar" || type == "float") return Value(0.5);
  if (type == "int") return Value(arg.name.starts_with("dim") || arg.name == "offset" ? 0 : 2);
  if (type == "bool") return Value(false);
  if (type == "str") return Value("sum");
  if (type == "ScalarType") return Value(kDouble);
  if (type.starts_with("int[")) return Value(std::vector<int64_t>(variant % 2 ? 1 : std::max<size_t>(shape.size(), 1), arg.name == "dim" ? 0 : 1));
  if (type.starts_with("float[")) return Value(std::vector<double>{1, 2});
  if (type.starts_with("bool[")) return Value(Value::List{Value(true), Value(true), Value(true)});
  return Value();
}

void add_made_up_calls(std::map<const OpInfo*, std::vector<Sample>>& rows) {
  for (const OpInfo* op : built_in_ops()) {
    if (rows.contains(op)) continue;
    const std::vector<SchemaArg> schema = parse_schema_args(op->schema);
    for (int variant = 0; variant < 21; ++variant) {
      Sample s{op, {}, std::string(op->name) + "/made" + std::to_string(variant)};
      for (const SchemaArg& arg : schema) s.args.push_back(made_up(arg, variant));
      if (works(s)) rows[op].push_back(std::move(s));
    }
  }
}

}  // namespace

const std::vector<const OpInfo*>& built_in_ops() {
  static const auto* list = [] {
    auto* found = new std::vector<const OpInfo*>;
    for (const OpInfo* op : all_ops()) {
      if (!op->custom) found->push_back(op);
    }
    return found;
  }();
  return *list;
}

const std::map<const OpInfo*, std::vector<Sample>>& samples() {
  static const auto* rows = [] {
    auto* found = new std::map<const OpInfo*, std::vector<Sample>>;
    add_reference_cases(*found);
    add_inplace_forms(*found);
    for (auto& [op, list] : *found) {
      std::stable_sort(list.begin(), list.end(),
                       [](const Sample& a, const Sample& b) { return total_numel(a.args) < total_numel(b.args); });
      // The larger ones of the small: empty and 0-dim samples say little about layouts.
      std::vector<Sample> kept;
      const auto take = [&](int64_t least, int64_t most) {
        for (const Sample& s : list) {
          const int64_t n = total_numel(s.args);
          const bool taken = std::any_of(kept.begin(), kept.end(), [&](const Sample& k) { return k.id == s.id; });
          if (n >= least && n <= most && kept.size() < kSamplesPerRow && !taken && works(s)) kept.push_back(s);
        }
      };
      take(6, 2000);
      take(0, 100000);
      list = std::move(kept);
    }
    std::erase_if(*found, [](const auto& row) { return row.second.empty(); });
    add_made_up_calls(*found);
    return found;
  }();
  return *rows;
}

namespace {

std::string compare_tensors(const Tensor& got, const Tensor& want, double tolerance) {
  std::ostringstream text;
  if (got.defined() != want.defined()) return "one is undefined";
  if (!got.defined()) return "";
  if (got.scalar_type() != want.scalar_type()) {
    text << "dtype " << got.scalar_type() << " instead of " << want.scalar_type();
    return text.str();
  }
  if (got.sizes() != want.sizes()) {
    text << "shape " << got.sizes() << " instead of " << want.sizes();
    return text.str();
  }
  const bool exact = tolerance == 0 || !is_floating_type(want.scalar_type());
  if (exact && bytes_of(got) == bytes_of(want)) return "";
  const std::vector<double> g = elements(got);
  const std::vector<double> w = elements(want);
  double scale = 0;
  for (const double v : w) scale = std::isfinite(v) ? std::max(scale, std::fabs(v)) : scale;
  for (size_t i = 0; i < w.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (exact ? g[i] == w[i] && std::signbit(g[i]) == std::signbit(w[i])
              : g[i] == w[i] || (std::isfinite(w[i]) && std::fabs(g[i] - w[i]) <= tolerance * std::max(scale, 1.0))) {
      continue;
    }
    text.precision(17);
    text << "[" << i << "] " << g[i] << " instead of " << w[i];
    return text.str();
  }
  return "";
}

}  // namespace

std::string difference(const Value& got, const Value& want, double tolerance) {
  std::vector<Value> a, b;
  flatten(got, a);
  flatten(want, b);
  if (a.size() != b.size()) return std::to_string(a.size()) + " results instead of " + std::to_string(b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    std::string text;
    if (a[i].is_tensor() && b[i].is_tensor()) {
      text = compare_tensors(a[i].tensor(), b[i].tensor(), tolerance);
    } else if (a[i].is_number() && b[i].is_number()) {
      if (a[i].to_double() != b[i].to_double()) text = a[i].describe() + " instead of " + b[i].describe();
    } else if (a[i].describe() != b[i].describe()) {
      text = a[i].describe() + " instead of " + b[i].describe();
    }
    if (!text.empty()) return "result " + std::to_string(i) + ": " + text;
  }
  return "";
}

std::string difference(const Value& got, const Value& want) { return difference(got, want, 0); }

}  // namespace taeda::test
