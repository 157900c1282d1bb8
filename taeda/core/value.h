// SPDX-License-Identifier: Apache-2.0
// A value of any type that operators take or give: for calls by name, capture, archives and AnyModule.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda {

class Dict;  // taeda/core/dict.h

/// Tagged union of None, Tensor, bool, int, double, string, list, dict, Generator, Device (`c10::IValue`).
/// Dtypes, layouts and memory formats travel as integers, as in PyTorch's schemas.
class TAEDA_API Value {
 public:
  using List = std::vector<Value>;

  Value() noexcept {}
  Value(std::nullopt_t) noexcept {}
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value() { clear(); }
  Value(Tensor tensor);
  Value(bool b) : kind_(Kind::kBool), int_(b) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Value(T i) : kind_(Kind::kInt), int_(static_cast<int64_t>(i)) {}
  Value(double d) : kind_(Kind::kDouble), double_(d) {}
  Value(float d) : Value(static_cast<double>(d)) {}
  Value(std::string s);
  Value(std::string_view s);
  Value(const char* s);
  Value(List list);
  Value(Dict dict);
  Value(std::shared_ptr<List> list);
  Value(std::shared_ptr<Dict> dict);
  Value(Generator generator);
  Value(Device device) : kind_(Kind::kDevice), device_(device) {}
  Value(ScalarType type) : Value(static_cast<int64_t>(type)) {}
  Value(Layout layout) : Value(static_cast<int64_t>(layout)) {}
  Value(MemoryFormat format) : Value(static_cast<int64_t>(format)) {}
  Value(const Scalar& scalar);
  template <class T>
  Value(const std::optional<T>& v) {
    if (v) *this = Value(*v);
  }
  template <class T>
  Value(ArrayRef<T> list) : Value(ListTag(), list.size()) {
    for (const T& item : list) append(Value(item));
  }
  template <class T>
    requires(!std::is_same_v<T, Value>)
  Value(const std::vector<T>& list) : Value(ListTag(), list.size()) {
    for (const auto& item : list) append(Value(item));
  }
  template <class T>
  Value(OptionalArrayRef<T> list) {
    if (list.has_value()) *this = Value(*list);
  }
  template <class... T>
  Value(std::tuple<T...> items) : Value(ListTag(), sizeof...(T)) {
    std::apply([&](auto&... item) { (append(Value(std::move(item))), ...); }, items);
  }

  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_int() const { return kind_ == Kind::kInt; }
  bool is_double() const { return kind_ == Kind::kDouble; }
  bool is_number() const { return is_bool() || is_int() || is_double(); }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_list() const { return kind_ == Kind::kList; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  bool is_generator() const { return kind_ == Kind::kGenerator; }
  bool is_device() const { return kind_ == Kind::kDevice; }

  const Tensor& tensor() const { return expect(Kind::kTensor, "a tensor"), tensor_; }
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  Scalar to_scalar() const;
  const std::string& string() const { return expect(Kind::kString, "a string"), string_; }
  const List& list() const { return *shared_list(); }
  List& mutable_list() { return *shared_list(); }
  /// Lists and dicts are shared: copies of a Value see the same one.
  const std::shared_ptr<List>& shared_list() const { return expect(Kind::kList, "a list"), list_; }
  const Dict& dict() const { return *shared_dict(); }
  Dict& mutable_dict() { return *shared_dict(); }
  const std::shared_ptr<Dict>& shared_dict() const { return expect(Kind::kDict, "a dict"), dict_; }
  const Generator& generator() const { return expect(Kind::kGenerator, "a generator"), generator_; }
  Device device() const { return expect(Kind::kDevice, "a device"), device_; }
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
  std::vector<int64_t> toIntList() const { return int_list(); }
  std::vector<double> toDoubleList() const { return double_list(); }
  std::vector<bool> toBoolList() const { return bool_list(); }
  std::vector<Tensor> toTensorList() const { return tensor_list(); }

 private:
  enum class Kind : uint8_t { kNone, kTensor, kBool, kInt, kDouble, kString, kList, kGenerator, kDevice, kDict };
  struct ListTag {};
  Value(ListTag, size_t capacity);
  void append(Value item);
  void clear() noexcept {
    if (kind_ != Kind::kNone) destroy();
  }
  void destroy() noexcept;
  void expect(Kind wanted, const char* words) const {
    if (TAEDA_UNLIKELY(kind_ != wanted)) throw_wrong(words);
  }
  [[noreturn]] void throw_wrong(const char* wanted) const;

  // A union by hand: this type stands in nearly every header, where the instantiations of std::variant would be made again.
  Kind kind_ = Kind::kNone;
  union {  // the member that kind_ names lives; bool lives in int_
    int64_t int_;
    double double_;
    Device device_;
    Tensor tensor_;
    std::string string_;
    std::shared_ptr<List> list_;
    Generator generator_;
    std::shared_ptr<Dict> dict_;
  };
};
using IValue = Value;

}  // namespace taeda
