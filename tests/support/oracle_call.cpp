// SPDX-License-Identifier: Apache-2.0
// The operator cases of the reference values as calls.
#include "tests/support/oracle_call.h"

#include <algorithm>
#include <map>

#include "taeda/ops/functions.h"

namespace taeda::test {

const OracleTensors& stored() {
  static const OracleTensors tensors("ops.safetensors");
  return tensors;
}

ScalarType dtype_of(const std::string& name) {
  static const std::map<std::string, ScalarType> names{
      {"float32", kFloat}, {"float64", kDouble}, {"float16", kHalf}, {"bfloat16", kBFloat16}, {"int64", kLong}, {"int32", kInt},
      {"int16", kShort},   {"int8", kChar},      {"uint8", kByte},   {"bool", kBool},         {"F32", kFloat},  {"F64", kDouble},
      {"F16", kHalf},      {"BF16", kBFloat16},  {"I64", kLong},     {"I32", kInt},           {"I16", kShort},  {"I8", kChar},
      {"U8", kByte},       {"BOOL", kBool}};
  return names.at(name);
}

Tensor make(const OracleTensor& t) {
  Tensor tensor = make_tensor(t.shape, dtype_of(t.dtype));
  if (!t.bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), t.bytes.data(), t.bytes.size());
  return tensor;
}

std::vector<double> elements(const Tensor& tensor) {
  const Tensor wide = tensor.detach().to(kDouble).contiguous();
  const double* data = wide.const_data_ptr<double>();
  return {data, data + wide.numel()};
}

Value Call::value(const Json& j, const Json& path) {
  if (j.is_null()) return Value();
  if (j.is_boolean()) return Value(j.get<bool>());
  if (j.is_number()) return Value(j.get<int64_t>());
  if (j.is_string()) return Value(j.get<std::string>());
  if (j.is_array()) {
    Value::List list;
    for (size_t i = 0; i < j.size(); ++i) {
      Json inner = path;
      inner.push_back(i);
      list.push_back(value(j[i], inner));
    }
    return Value(std::move(list));
  }
  if (j.contains("f")) return Value(test::oracle_number(j));
  if (j.contains("dtype")) return Value(dtype_of(j["dtype"].get<std::string>()));
  return tensor(j, path);
}

Value Call::tensor(const Json& j, const Json& path) {
  Tensor t = make(stored().of(j));
  if (j.contains("strides")) {
    const Tensor laid_out = make_tensor_strided(t.sizes(), j["strides"].get<std::vector<int64_t>>(), t.scalar_type());
    laid_out.copy_(t);
    t = laid_out;
  }
  if (j.contains("rg")) t.requires_grad_(true);
  tensors.emplace_back(path, t);
  return Value(t);
}

Tensor Call::at(const Json& path) const {
  for (const auto& [p, t] : tensors) {
    if (p == path) return t;
  }
  throw std::runtime_error("no argument at " + path.dump());
}

std::string registry_name(std::string op) {
  static const std::map<std::string, std::string> attributes{{"Tensor.T", "numpy_T"}, {"Tensor.H", "matrix_H"}};
  if (const auto found = attributes.find(op); found != attributes.end()) op = found->second;
  if (op.starts_with("Tensor.")) op = op.substr(7);
  std::string flat = op;
  std::replace(flat.begin(), flat.end(), '.', '_');
  if (!find_ops(flat).empty()) return flat;
  const std::string last = op.substr(op.rfind('.') + 1);
  return op.starts_with("nn.functional.") && !find_ops(last).empty() ? last : "";
}

bool is_special(const std::string& op) {
  static const std::vector<std::string> names{"Tensor.__getitem__", "Tensor.item", "Tensor.to", "broadcast_shapes"};
  static const std::vector<std::string> casts{"Tensor.bfloat16", "Tensor.bool", "Tensor.byte", "Tensor.char", "Tensor.double",
                                              "Tensor.float", "Tensor.half", "Tensor.int", "Tensor.long", "Tensor.short"};
  return std::find(names.begin(), names.end(), op) != names.end() || std::find(casts.begin(), casts.end(), op) != casts.end();
}

namespace {

/// Operators that Python calls with any number of tensors, where the schema has a list.
void collect_variadic(const std::string& op, std::vector<Value>& args) {
  static const std::vector<std::string> variadic{"meshgrid", "block_diag", "broadcast_tensors", "cartesian_prod"};
  const bool always = std::find(variadic.begin(), variadic.end(), op) != variadic.end();
  const bool several = op.starts_with("atleast_") && args.size() > 1;
  if (!(always || several) || args.empty() || !args[0].is_tensor()) return;
  Value::List list(args.begin(), args.end());
  args.assign(1, Value(std::move(list)));
}

}  // namespace

void adapt_python(const std::string& op, std::vector<Value>& args, Kwargs& kwargs) {
  collect_variadic(op, args);
  if (op.starts_with("nn.functional.adaptive_") && args.size() > 1 && args[1].is_list()) {  // None keeps the input's size
    const Tensor& input = args[0].tensor();
    Value::List sizes = args[1].list();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].is_none()) sizes[i] = Value(input.size(static_cast<int64_t>(i) - static_cast<int64_t>(sizes.size())));
    }
    args[1] = Value(std::move(sizes));
  }
  if (op == "tensordot" && !kwargs.empty() && kwargs[0].second.is_list()) {  // dims is a pair of lists
    const Value::List dims = kwargs[0].second.list();
    kwargs.clear();
    args.push_back(dims.at(0));
    args.push_back(dims.at(1));
  }
}

void flatten(const Value& v, std::vector<Value>& out) {
  if (v.is_list()) {
    for (const Value& item : v.list()) flatten(item, out);
  } else {
    out.push_back(v);
  }
}

const std::map<std::string, std::vector<Json>>& operator_cases() {
  static const auto* all = [] {
    auto* found = new std::map<std::string, std::vector<Json>>;
    for_each_oracle_case("ops.json", [&](const Json& c) { (*found)[c["op"].get<std::string>()].push_back(c); });
    return found;
  }();
  return *all;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto& entry : operator_cases()) names.push_back(entry.first);
  return names;
}

}  // namespace taeda::test
