// SPDX-License-Identifier: Apache-2.0
// A value of any type that operators take or give: for calls by name, capture, archives and AnyModule.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda {

class Dict;  // taeda/core/dict.h

/// Tagged union of None, Tensor, bool, int, double, string, list, dict, Generator, Device (`c10::IValue`).
/// Dtypes, layouts and memory formats travel as integers, as in PyTorch's schemas.
class TAEDA_API Value {
 public:
  using List = std::vector<Value>;

  Value() = default;
  Value(std::nullopt_t) {}
  Value(Tensor tensor) : v_(std::move(tensor)) {}
  Value(bool b) : v_(b) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Value(T i) : v_(static_cast<int64_t>(i)) {}
  Value(double d) : v_(d) {}
  Value(float d) : v_(static_cast<double>(d)) {}
  Value(std::string s) : v_(std::move(s)) {}
  Value(std::string_view s) : v_(std::string(s)) {}
  Value(const char* s) : v_(std::string(s)) {}
  Value(List list) : v_(std::make_shared<List>(std::move(list))) {}
  Value(Dict dict);
  Value(std::shared_ptr<List> list) : v_(std::move(list)) {}
  Value(std::shared_ptr<Dict> dict) : v_(std::move(dict)) {}
  Value(Generator generator) : v_(std::move(generator)) {}
  Value(Device device) : v_(device) {}
  Value(ScalarType type) : v_(static_cast<int64_t>(type)) {}
  Value(Layout layout) : v_(static_cast<int64_t>(layout)) {}
  Value(MemoryFormat format) : v_(static_cast<int64_t>(format)) {}
  Value(const Scalar& scalar);
  template <class T>
  Value(const std::optional<T>& v) {
    if (v) *this = Value(*v);
  }
  template <class T>
  Value(ArrayRef<T> list) {
    List values;
    values.reserve(list.size());
    for (const T& item : list) values.emplace_back(item);
    *this = Value(std::move(values));
  }
  template <class T>
    requires(!std::is_same_v<T, Value>)
  Value(const std::vector<T>& list) : Value(ArrayRef<T>(list)) {}
  template <class T>
  Value(OptionalArrayRef<T> list) {
    if (list.has_value()) *this = Value(*list);
  }
  template <class... T>
  Value(std::tuple<T...> items) {
    std::apply([&](auto&... item) { *this = Value(List{Value(std::move(item))...}); }, items);
  }

  bool is_none() const { return v_.index() == 0; }
  bool is_tensor() const { return std::holds_alternative<Tensor>(v_); }
  bool is_bool() const { return std::holds_alternative<bool>(v_); }
  bool is_int() const { return std::holds_alternative<int64_t>(v_); }
  bool is_double() const { return std::holds_alternative<double>(v_); }
  bool is_number() const { return is_bool() || is_int() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(v_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<List>>(v_); }
  bool is_dict() const { return std::holds_alternative<std::shared_ptr<Dict>>(v_); }
  bool is_generator() const { return std::holds_alternative<Generator>(v_); }
  bool is_device() const { return std::holds_alternative<Device>(v_); }

  const Tensor& tensor() const { return get<Tensor>("a tensor"); }
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  Scalar to_scalar() const;
  const std::string& string() const { return get<std::string>("a string"); }
  const List& list() const { return *get<std::shared_ptr<List>>("a list"); }
  List& mutable_list() { return *std::get<std::shared_ptr<List>>(v_); }
  /// Lists and dicts are shared: copies of a Value see the same one.
  const std::shared_ptr<List>& shared_list() const { return get<std::shared_ptr<List>>("a list"); }
  const Dict& dict() const { return *get<std::shared_ptr<Dict>>("a dict"); }
  Dict& mutable_dict() { return *get<std::shared_ptr<Dict>>("a dict"); }
  const std::shared_ptr<Dict>& shared_dict() const { return get<std::shared_ptr<Dict>>("a dict"); }
  const Generator& generator() const { return get<Generator>("a generator"); }
  Device device() const { return get<Device>("a device"); }
  std::vector<int64_t> int_list() const;
  std::vector<double> double_list() const;
  std::vector<bool> bool_list() const;
  std::vector<Tensor> tensor_list() const;
  std::vector<std::optional<Tensor>> optional_tensor_list() const;
  std::vector<Scalar> scalar_list() const;
  /// For error messages: "Tensor Float[2, 3]", "int 5", …
  std::string describe() const;

  // The names of the compatible interface.
  bool isTensor() const { return is_tensor(); }
  bool isNone() const { return is_none(); }
  bool isInt() const { return is_int(); }
  bool isDouble() const { return is_double(); }
  bool isBool() const { return is_bool(); }
  bool isString() const { return is_string(); }
  bool isList() const { return is_list(); }
  Tensor toTensor() const { return tensor(); }
  int64_t toInt() const { return to_int(); }
  double toDouble() const { return to_double(); }
  bool toBool() const { return to_bool(); }
  const std::string& toStringRef() const { return string(); }
  Scalar toScalar() const { return to_scalar(); }
  std::vector<Tensor> toTensorVector() const { return tensor_list(); }
  std::vector<int64_t> toIntVector() const { return int_list(); }
  std::vector<double> toDoubleVector() const { return double_list(); }

 private:
  template <class T>
  const T& get(const char* wanted) const {
    if (const T* p = std::get_if<T>(&v_)) return *p;
    throw_wrong(wanted);
  }
  [[noreturn]] void throw_wrong(const char* wanted) const;

  std::variant<std::monostate, Tensor, bool, int64_t, double, std::string, std::shared_ptr<List>, Generator, Device,
               std::shared_ptr<Dict>>
      v_;
};
using IValue = Value;

}  // namespace taeda
