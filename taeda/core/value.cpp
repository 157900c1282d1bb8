// SPDX-License-Identifier: Apache-2.0
// Conversions of Value to the types operators take.
#include "taeda/core/value.h"

#include "taeda/core/dict.h"

namespace taeda {

Value::Value(const Scalar& scalar) {
  if (scalar.isFloatingPoint()) {
    v_ = scalar.toDouble();
  } else if (scalar.isBoolean()) {
    v_ = scalar.toBool();
  } else {
    v_ = scalar.toLong();
  }
}

Value::Value(Dict dict) : v_(std::make_shared<Dict>(std::move(dict))) {}

void Value::throw_wrong(const char* wanted) const {
  TAEDA_CHECK_TYPE(false, "[Value] the value must be ", wanted, ": got ", describe(), "; pass ", wanted);
  __builtin_unreachable();
}

bool Value::to_bool() const {
  if (is_int()) return std::get<int64_t>(v_) != 0;
  return get<bool>("a bool");
}
int64_t Value::to_int() const {
  if (is_bool()) return std::get<bool>(v_);
  return get<int64_t>("an integer");
}
double Value::to_double() const {
  if (is_int()) return static_cast<double>(std::get<int64_t>(v_));
  if (is_bool()) return std::get<bool>(v_);
  return get<double>("a number");
}
Scalar Value::to_scalar() const {
  if (is_int()) return Scalar(std::get<int64_t>(v_));
  if (is_bool()) return Scalar(std::get<bool>(v_));
  if (is_tensor()) return tensor().item();
  return Scalar(get<double>("a number"));
}

std::vector<int64_t> Value::int_list() const {
  if (is_int() || is_bool()) return {to_int()};
  std::vector<int64_t> out;
  for (const Value& v : list()) out.push_back(v.to_int());
  return out;
}
std::vector<double> Value::double_list() const {
  if (is_number()) return {to_double()};
  std::vector<double> out;
  for (const Value& v : list()) out.push_back(v.to_double());
  return out;
}
std::vector<bool> Value::bool_list() const {
  std::vector<bool> out;
  for (const Value& v : list()) out.push_back(v.to_bool());
  return out;
}
std::vector<Tensor> Value::tensor_list() const {
  std::vector<Tensor> out;
  for (const Value& v : list()) out.push_back(v.is_none() ? Tensor() : v.tensor());
  return out;
}
std::vector<std::optional<Tensor>> Value::optional_tensor_list() const {
  std::vector<std::optional<Tensor>> out;
  for (const Value& v : list()) {
    if (v.is_none()) {
      out.emplace_back(std::nullopt);
    } else {
      out.emplace_back(v.tensor());
    }
  }
  return out;
}
std::vector<Scalar> Value::scalar_list() const {
  if (is_number()) return {to_scalar()};
  std::vector<Scalar> out;
  for (const Value& v : list()) out.push_back(v.to_scalar());
  return out;
}

std::string Value::describe() const {
  switch (v_.index()) {
    case 0: return "None";
    case 1: return tensor().defined() ? str("Tensor ", tensor().scalar_type(), tensor().sizes()) : "undefined Tensor";
    case 2: return str("bool ", to_bool());
    case 3: return str("int ", to_int());
    case 4: return str("float ", to_double());
    case 5: return str("string \"", string(), "\"");
    case 6: return str("list of ", list().size());
    case 7: return "Generator";
    case 8: return str("device ", device());
    default: return str("dict of ", dict().size());
  }
}

}  // namespace taeda
