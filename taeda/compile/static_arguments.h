// SPDX-License-Identifier: Apache-2.0
// The tensors inside arguments and results, whatever their nesting: for calls in static mode, which must find all of them.
#pragma once

#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda::lazy {

/// The tensors of a call's arguments that are defined, in order.
using ArgumentList = SmallVector<const Tensor*, 8>;

/// Types that `walk` knows: tensors, numbers, texts, and lists, tuples, optionals and maps of them.
template <class T>
struct Walkable : std::bool_constant<std::is_same_v<T, Tensor> || std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Scalar> ||
                                     std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view> || std::is_same_v<T, const char*>> {};
template <class T>
struct Walkable<std::vector<T>> : std::bool_constant<Walkable<T>::value && !std::is_same_v<T, bool>> {};
template <class T, size_t N>
struct Walkable<std::array<T, N>> : Walkable<T> {};
template <class T>
struct Walkable<std::optional<T>> : Walkable<T> {};
template <class A, class B>
struct Walkable<std::pair<A, B>> : std::bool_constant<Walkable<A>::value && Walkable<B>::value> {};
template <class... T>
struct Walkable<std::tuple<T...>> : std::bool_constant<(Walkable<T>::value && ...)> {};
template <class K, class T>
struct Walkable<std::map<K, T>> : std::bool_constant<Walkable<K>::value && Walkable<T>::value> {};

/// Walkable types whose values are tensors alone: a result that is a number would stay what it was in the recorded call.
template <class T>
struct HoldsTensors : std::is_same<T, Tensor> {};
template <class T>
struct HoldsTensors<std::vector<T>> : HoldsTensors<T> {};
template <class T, size_t N>
struct HoldsTensors<std::array<T, N>> : HoldsTensors<T> {};
template <class T>
struct HoldsTensors<std::optional<T>> : HoldsTensors<T> {};
template <class A, class B>
struct HoldsTensors<std::pair<A, B>> : std::bool_constant<HoldsTensors<A>::value && HoldsTensors<B>::value> {};
template <class... T>
struct HoldsTensors<std::tuple<T...>> : std::bool_constant<(HoldsTensors<T>::value && ...)> {};
template <class K, class T>
struct HoldsTensors<std::map<K, T>> : std::bool_constant<Walkable<K>::value && HoldsTensors<T>::value> {};
template <>
struct HoldsTensors<void> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Calls `on_tensor(tensor)` for each tensor in `value`, and `on_word(word)` for numbers, texts and lengths: two values with equal words
/// differ in their tensors alone.
template <class T, class OnTensor, class OnWord>
void walk(T& value, const OnTensor& on_tensor, const OnWord& on_word) {
  using V = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<V, Tensor>) {
    on_tensor(value);
  } else if constexpr (std::is_floating_point_v<V>) {
    on_word(std::bit_cast<uint64_t>(static_cast<double>(value)));
  } else if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
    on_word(static_cast<uint64_t>(value));
  } else if constexpr (std::is_same_v<V, Scalar>) {
    on_word(static_cast<uint64_t>(value.type()));
    on_word(value.isFloatingPoint() ? std::bit_cast<uint64_t>(value.template unchecked<double>()) : static_cast<uint64_t>(value.template unchecked<int64_t>()));
  } else if constexpr (std::is_convertible_v<const V&, std::string_view>) {
    const std::string_view text = value;
    on_word(text.size());
    for (const char c : text) on_word(static_cast<uint64_t>(c));
  } else if constexpr (IsOptional<V>::value) {
    on_word(value.has_value());
    if (value) walk(*value, on_tensor, on_word);
  } else if constexpr (requires { std::tuple_size<V>::value; }) {
    std::apply([&](auto&... item) { (walk(item, on_tensor, on_word), ...); }, value);
  } else {
    on_word(value.size());
    for (auto& item : value) walk(item, on_tensor, on_word);
  }
}

}  // namespace taeda::lazy
