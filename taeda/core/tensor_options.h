// SPDX-License-Identifier: Apache-2.0
// The properties with which a tensor is created.
#pragma once

#include <optional>

#include "taeda/core/device.h"
#include "taeda/core/scalar_type.h"

namespace taeda {

/// A dtype as an object (`caffe2::TypeMeta`): converts to and from ScalarType.
class TypeMeta final {
 public:
  constexpr TypeMeta() = default;
  constexpr TypeMeta(ScalarType type) : type_(type) {}
  static constexpr TypeMeta fromScalarType(ScalarType type) { return TypeMeta(type); }
  template <class T>
  static constexpr TypeMeta Make() {
    return TypeMeta(scalar_type_of<T>);
  }
  constexpr operator ScalarType() const { return type_; }
  constexpr ScalarType toScalarType() const { return type_; }
  constexpr size_t itemsize() const { return item_size(type_); }
  TAEDA_API std::string_view name() const;
  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend constexpr bool operator==(TypeMeta a, ScalarType b) { return a.type_ == b; }

 private:
  ScalarType type_ = ScalarType::Undefined;
};
TAEDA_API std::ostream& operator<<(std::ostream& stream, TypeMeta type);

/// Each property is optional; what is not given takes its default (or, for `*_like`, the other tensor's).
class TensorOptions final {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  constexpr TensorOptions(TypeMeta dtype) : dtype_(dtype.toScalarType()) {}
  constexpr TensorOptions(Device device) : device_(device) {}
  constexpr TensorOptions(DeviceType device) : device_(Device(device)) {}
  constexpr TensorOptions(Layout layout) : layout_(layout) {}
  constexpr TensorOptions(MemoryFormat format) : memory_format_(format) {}

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> v) const { return with(&TensorOptions::dtype_, v); }
  [[nodiscard]] constexpr TensorOptions dtype(ScalarType v) const { return dtype(std::optional<ScalarType>(v)); }
  [[nodiscard]] constexpr TensorOptions dtype(TypeMeta v) const { return dtype(std::optional<ScalarType>(v.toScalarType())); }
  template <class T>
  [[nodiscard]] constexpr TensorOptions dtype() const {
    return dtype(std::optional<ScalarType>(scalar_type_of<T>));
  }
  [[nodiscard]] constexpr TensorOptions device(std::optional<Device> v) const { return with(&TensorOptions::device_, v); }
  [[nodiscard]] constexpr TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(std::optional<Device>(Device(type, index)));
  }
  [[nodiscard]] TensorOptions device(const char* text) const { return device(std::optional<Device>(Device(text))); }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout> v) const { return with(&TensorOptions::layout_, v); }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> v) const {
    return with(&TensorOptions::requires_grad_, v);
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> v) const {
    return with(&TensorOptions::pinned_memory_, v);
  }
  [[nodiscard]] constexpr TensorOptions memory_format(std::optional<MemoryFormat> v) const {
    return with(&TensorOptions::memory_format_, v);
  }

  TypeMeta dtype() const { return dtype_.value_or(default_scalar_type()); }
  ScalarType scalar_type() const { return dtype_.value_or(default_scalar_type()); }
  constexpr Device device() const { return device_.value_or(Device()); }
  constexpr Layout layout() const { return layout_.value_or(Layout::Strided); }
  constexpr bool requires_grad() const { return requires_grad_.value_or(false); }
  constexpr bool pinned_memory() const { return pinned_memory_.value_or(false); }
  constexpr std::optional<ScalarType> dtype_opt() const { return dtype_; }
  constexpr std::optional<Device> device_opt() const { return device_; }
  constexpr std::optional<Layout> layout_opt() const { return layout_; }
  constexpr std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  constexpr std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  constexpr std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }
  constexpr bool has_dtype() const { return dtype_.has_value(); }
  constexpr bool has_device() const { return device_.has_value(); }
  constexpr bool has_layout() const { return layout_.has_value(); }
  constexpr bool has_requires_grad() const { return requires_grad_.has_value(); }
  constexpr bool has_memory_format() const { return memory_format_.has_value(); }
  /// What `other` gives wins.
  [[nodiscard]] constexpr TensorOptions merge_in(const TensorOptions& other) const {
    TensorOptions merged = *this;
    if (other.dtype_) merged.dtype_ = other.dtype_;
    if (other.device_) merged.device_ = other.device_;
    if (other.layout_) merged.layout_ = other.layout_;
    if (other.requires_grad_) merged.requires_grad_ = other.requires_grad_;
    if (other.pinned_memory_) merged.pinned_memory_ = other.pinned_memory_;
    if (other.memory_format_) merged.memory_format_ = other.memory_format_;
    return merged;
  }

 private:
  template <class T>
  constexpr TensorOptions with(std::optional<T> TensorOptions::* field, std::optional<T> value) const {
    TensorOptions copy = *this;
    copy.*field = value;
    return copy;
  }
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<MemoryFormat> memory_format_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_memory_;
};
TAEDA_API std::ostream& operator<<(std::ostream& stream, const TensorOptions& options);

inline TensorOptions dtype(ScalarType type) { return TensorOptions().dtype(type); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
inline TensorOptions device(Device where) { return TensorOptions().device(std::optional<Device>(where)); }
inline TensorOptions device(DeviceType type, DeviceIndex index = -1) { return TensorOptions().device(type, index); }
inline TensorOptions layout(Layout value) { return TensorOptions().layout(value); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }
inline TensorOptions memory_format(MemoryFormat value) { return TensorOptions().memory_format(value); }
inline TensorOptions pinned_memory(bool value) { return TensorOptions().pinned_memory(value); }

}  // namespace taeda
