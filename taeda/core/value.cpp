// SPDX-License-Identifier: Apache-2.0
// Conversions of Value to the types operators take.
#include "taeda/core/value.h"

#include "taeda/core/dict.h"

namespace taeda {

Value::Value(const Value& other) {
  switch (other.kind_) {
    case Kind::kNone: break;
    case Kind::kBool:
    case Kind::kInt: int_ = other.int_; break;
    case Kind::kDouble: double_ = other.double_; break;
    case Kind::kDevice: new (&device_) Device(other.device_); break;
    case Kind::kTensor: new (&tensor_) Tensor(other.tensor_); break;
    case Kind::kString: new (&string_) std::string(other.string_); break;
    case Kind::kList: new (&list_) std::shared_ptr<List>(other.list_); break;
    case Kind::kGenerator: new (&generator_) Generator(other.generator_); break;
    case Kind::kDict: new (&dict_) std::shared_ptr<Dict>(other.dict_); break;
  }
  kind_ = other.kind_;  // last: a copy may throw
}

Value::Value(Value&& other) noexcept {
  switch (other.kind_) {
    case Kind::kNone: break;
    case Kind::kBool:
    case Kind::kInt: int_ = other.int_; break;
    case Kind::kDouble: double_ = other.double_; break;
    case Kind::kDevice: new (&device_) Device(other.device_); break;
    case Kind::kTensor: new (&tensor_) Tensor(std::move(other.tensor_)); break;
    case Kind::kString: new (&string_) std::string(std::move(other.string_)); break;
    case Kind::kList: new (&list_) std::shared_ptr<List>(std::move(other.list_)); break;
    case Kind::kGenerator: new (&generator_) Generator(std::move(other.generator_)); break;
    case Kind::kDict: new (&dict_) std::shared_ptr<Dict>(std::move(other.dict_)); break;
  }
  kind_ = other.kind_;
}

Value& Value::operator=(const Value& other) {
  if (this != &other) *this = Value(other);
  return *this;
}

Value& Value::operator=(Value&& other) noexcept {
  if (this != &other) {
    Value old(std::move(*this));  // dies last: it may hold `other`
    clear();
    new (this) Value(std::move(other));
  }
  return *this;
}

void Value::destroy() noexcept {
  switch (kind_) {
    case Kind::kTensor: tensor_.~Tensor(); break;
    case Kind::kString: string_.~basic_string(); break;
    case Kind::kList: list_.~shared_ptr(); break;
    case Kind::kGenerator: generator_.~Generator(); break;
    case Kind::kDict: dict_.~shared_ptr(); break;
    default: break;
  }
  kind_ = Kind::kNone;
}

Value::Value(Tensor tensor) : kind_(Kind::kTensor), tensor_(std::move(tensor)) {}
Value::Value(std::string s) : kind_(Kind::kString), string_(std::move(s)) {}
Value::Value(std::string_view s) : Value(std::string(s)) {}
Value::Value(const char* s) : Value(std::string(s)) {}
Value::Value(List list) : Value(std::make_shared<List>(std::move(list))) {}
Value::Value(Dict dict) : Value(std::make_shared<Dict>(std::move(dict))) {}
Value::Value(std::shared_ptr<List> list) : kind_(Kind::kList), list_(std::move(list)) {}
Value::Value(std::shared_ptr<Dict> dict) : kind_(Kind::kDict), dict_(std::move(dict)) {}
Value::Value(Generator generator) : kind_(Kind::kGenerator), generator_(std::move(generator)) {}

Value::Value(const Scalar& scalar) {
  if (scalar.isFloatingPoint()) {
    *this = Value(scalar.toDouble());
  } else if (scalar.isBoolean()) {
    *this = Value(scalar.toBool());
  } else {
    *this = Value(scalar.toLong());
  }
}

Value::Value(ListTag, size_t capacity) : Value(List()) { list_->reserve(capacity); }
void Value::append(Value item) { list_->push_back(std::move(item)); }

void Value::throw_wrong(const char* wanted) const {
  TAEDA_CHECK_TYPE(false, "[Value] the value must be ", wanted, ": got ", describe(), "; pass ", wanted);
  __builtin_unreachable();
}

bool Value::to_bool() const {
  if (!is_bool() && !is_int()) throw_wrong("a bool");
  return int_ != 0;
}
int64_t Value::to_int() const {
  if (!is_bool() && !is_int()) throw_wrong("an integer");
  return int_;
}
double Value::to_double() const {
  if (is_double()) return double_;
  if (!is_number()) throw_wrong("a number");
  return static_cast<double>(int_);
}
Scalar Value::to_scalar() const {
  if (is_int()) return Scalar(int_);
  if (is_bool()) return Scalar(int_ != 0);
  if (is_tensor()) return tensor().item();
  return Scalar(to_double());
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
  switch (kind_) {
    case Kind::kNone: return "None";
    case Kind::kTensor: return tensor().defined() ? str("Tensor ", tensor().scalar_type(), tensor().sizes()) : "undefined Tensor";
    case Kind::kBool: return str("bool ", to_bool());
    case Kind::kInt: return str("int ", to_int());
    case Kind::kDouble: return str("float ", to_double());
    case Kind::kString: return str("string \"", string(), "\"");
    case Kind::kList: return str("list of ", list().size());
    case Kind::kGenerator: return "Generator";
    case Kind::kDevice: return str("device ", device());
    case Kind::kDict: break;
  }
  return str("dict of ", dict().size());
}

}  // namespace taeda
