// SPDX-License-Identifier: Apache-2.0
// Operators from outside the library: a schema and a C++ function make one that `call_op`, the registry and the graph know
// like any other. Gradients follow from the operators that the function calls, or from a custom autograd function.
//
//     register_op("mine::scaled(Tensor x, float by=2.0) -> Tensor", [](const Tensor& x, double by) { return x * by; });
//     Tensor y = call_op("mine::scaled", {x}).tensor();
#pragma once

#include <functional>
#include <string>

#include "taeda/ops/registry.h"

namespace taeda {

/// Which of an operator's implementations a function is (`c10::DispatchKey`): `Autograd` ones are called when an argument
/// requires grad and gradients are recorded, all others else. Those for other devices are accepted and not used.
enum class DispatchKey : uint8_t {
  Undefined, CatchAll, CPU, CUDA, Meta, Autograd, AutogradCPU, AutogradCUDA, CompositeImplicitAutograd, CompositeExplicitAutograd
};

namespace detail {

using BoxedFunction = std::function<Value(const Value*)>;

/// How a Value becomes a C++ argument: the type that holds it during the call, and the schema's word for it.
template <class T>
struct FromValue;
#define TAEDA_FROM_VALUE(T, word, expression)                           \
  template <>                                                           \
  struct FromValue<T> {                                                 \
    static auto get(const Value& v) { return expression; }              \
    static std::string schema() { return word; }                        \
  }
TAEDA_FROM_VALUE(Tensor, "Tensor", v.is_none() ? Tensor() : v.tensor());
TAEDA_FROM_VALUE(int64_t, "int", v.to_int());
TAEDA_FROM_VALUE(double, "float", v.to_double());
TAEDA_FROM_VALUE(bool, "bool", v.to_bool());
TAEDA_FROM_VALUE(std::string, "str", v.string());
TAEDA_FROM_VALUE(std::string_view, "str", v.string());
TAEDA_FROM_VALUE(Scalar, "Scalar", v.to_scalar());
TAEDA_FROM_VALUE(Device, "Device", v.device());
TAEDA_FROM_VALUE(ScalarType, "ScalarType", static_cast<ScalarType>(v.to_int()));
TAEDA_FROM_VALUE(Generator, "Generator", v.generator());
TAEDA_FROM_VALUE(std::vector<Tensor>, "Tensor[]", v.tensor_list());
TAEDA_FROM_VALUE(TensorList, "Tensor[]", v.tensor_list());
TAEDA_FROM_VALUE(std::vector<int64_t>, "int[]", v.int_list());
TAEDA_FROM_VALUE(IntArrayRef, "int[]", v.int_list());
TAEDA_FROM_VALUE(std::vector<double>, "float[]", v.double_list());
TAEDA_FROM_VALUE(ArrayRef<double>, "float[]", v.double_list());
TAEDA_FROM_VALUE(Value, "Any", v);
#undef TAEDA_FROM_VALUE
template <class T>
struct FromValue<std::optional<T>> {
  static auto get(const Value& v) {
    using Held = decltype(FromValue<T>::get(v));
    return v.is_none() ? std::optional<Held>() : std::optional<Held>(FromValue<T>::get(v));
  }
  static std::string schema() { return FromValue<T>::schema() + "?"; }
};

template <class T>
std::string result_schema() {
  if constexpr (std::is_void_v<T>) {
    return "()";
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return []<size_t... I>(std::index_sequence<I...>) {
      std::string text;
      ((text += (I ? ", " : "") + FromValue<std::decay_t<std::tuple_element_t<I, T>>>::schema()), ...);
      return "(" + text + ")";
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return FromValue<T>::schema();
  }
}

/// A function with typed arguments as one over Values.
template <class R, class... Args>
struct Boxing {
  static constexpr size_t kArity = sizeof...(Args);
  template <class F>
  static BoxedFunction box(F function) {
    return [function = std::move(function)]([[maybe_unused]] const Value* args) mutable -> Value {
      return [&]<size_t... I>(std::index_sequence<I...>) -> Value {
        // The holders live until the call is over: views of them may be passed.
        auto holders = std::make_tuple(FromValue<std::decay_t<Args>>::get(args[I])...);
        if constexpr (std::is_void_v<R>) {
          function(as_argument<Args>(std::get<I>(holders))...);
          return Value();
        } else {
          return Value(function(as_argument<Args>(std::get<I>(holders))...));
        }
      }(std::index_sequence_for<Args...>());
    };
  }
  template <class Arg, class Held>
  static decltype(auto) as_argument(Held& held) {
    if constexpr (std::is_same_v<std::decay_t<Arg>, Held>) {
      return static_cast<Held&>(held);
    } else {
      return std::decay_t<Arg>(held);
    }
  }
  /// "(Tensor _0, int _1) -> Tensor"
  static std::string signature() {
    std::string text = "(";
    [[maybe_unused]] size_t i = 0;
    ((text += (i ? ", " : "") + FromValue<std::decay_t<Args>>::schema() + " _" + std::to_string(i), ++i), ...);
    return text + ") -> " + result_schema<std::decay_t<R>>();
  }
};
template <class F>
struct SignatureOf : SignatureOf<decltype(&std::decay_t<F>::operator())> {};
template <class R, class... Args>
struct SignatureOf<R (*)(Args...)> {
  using type = Boxing<R, Args...>;
};
template <class C, class R, class... Args>
struct SignatureOf<R (C::*)(Args...)> {
  using type = Boxing<R, Args...>;
};
template <class C, class R, class... Args>
struct SignatureOf<R (C::*)(Args...) const> {
  using type = Boxing<R, Args...>;
};
template <class F>
using BoxingOf = typename SignatureOf<std::decay_t<F>>::type;

/// Declares an operator. Throws Error when it is declared already, ValueError when the schema is malformed.
TAEDA_API const OpInfo& define_op(std::string schema, std::string doc);
/// Sets an implementation of a declared (or yet to be declared) operator, named "ns::name" or "ns::name.overload".
/// Throws TypeError when the function does not take as many arguments as the schema has.
TAEDA_API void implement_op(const std::string& name, DispatchKey key, BoxedFunction function, size_t arity);
/// The operator's name in front of the schema's parenthesis, with its overload.
TAEDA_API std::string schema_name(std::string_view schema);

}  // namespace detail

/// Makes an operator of a schema ("ns::name(Tensor x, int n=1) -> Tensor") and a function with the matching C++ types.
/// Safe to call from any thread, at any time. The operator stays for the rest of the process.
template <class F>
const OpInfo& register_op(std::string_view schema, F&& function, std::string_view doc = "") {
  const OpInfo& info = detail::define_op(std::string(schema), std::string(doc));
  using Boxing = detail::BoxingOf<F>;
  detail::implement_op(detail::schema_name(schema), DispatchKey::CatchAll, Boxing::box(std::decay_t<F>(std::forward<F>(function))),
                       Boxing::kArity);
  return info;
}

/// Collects the operators of one namespace (`torch::Library`).
class Library {
 public:
  explicit Library(std::string space, DispatchKey key = DispatchKey::Undefined) : space_(std::move(space)), key_(key) {}

  /// Declares an operator by its schema.
  Library& def(std::string_view schema) {
    detail::define_op(qualified(schema), "");
    return *this;
  }
  /// Declares an operator by schema, or by its name alone when the schema follows from the function, and implements it.
  template <class F>
  Library& def(std::string_view schema_or_name, F&& function) {
    std::string schema = qualified(schema_or_name);
    if (schema.find('(') == std::string::npos) schema += detail::BoxingOf<F>::signature();
    detail::define_op(schema, "");
    return implement(detail::schema_name(schema), DispatchKey::CatchAll, std::forward<F>(function));
  }
  /// Implements a declared operator.
  template <class F>
  Library& impl(std::string_view name, F&& function) {
    return implement(qualified(name), key_, std::forward<F>(function));
  }
  template <class F>
  Library& impl(std::string_view name, DispatchKey key, F&& function) {
    return implement(qualified(name), key, std::forward<F>(function));
  }

 private:
  std::string qualified(std::string_view name) const {
    const bool has_space = name.substr(0, name.find('(')).find("::") != std::string_view::npos;
    return has_space || space_ == "_" ? std::string(name) : space_ + "::" + std::string(name);
  }
  template <class F>
  Library& implement(const std::string& name, DispatchKey key, F&& function) {
    using Boxing = detail::BoxingOf<F>;
    detail::implement_op(name, key, Boxing::box(std::decay_t<F>(std::forward<F>(function))), Boxing::kArity);
    return *this;
  }

  std::string space_;
  DispatchKey key_;
};

namespace detail {
/// Runs the body of a TORCH_LIBRARY block when the program or its plug-in is loaded.
struct LibraryInit {
  LibraryInit(const char* space, DispatchKey key, void (*body)(Library&)) {
    Library library(space, key);
    body(library);
  }
};
}  // namespace detail

/// An operator looked up by name, to be called with typed arguments (`c10::OperatorHandle`).
template <class Signature>
class TypedOperator;
template <class R, class... Args>
class TypedOperator<R(Args...)> {
 public:
  explicit TypedOperator(std::string name) : name_(std::move(name)) {}
  R call(Args... args) const {
    const Value result = call_op(name_, {Value(args)...});
    if constexpr (!std::is_void_v<R>) return static_cast<R>(detail::FromValue<std::decay_t<R>>::get(result));
  }

 private:
  std::string name_;
};

}  // namespace taeda

#define TAEDA_JOIN_(a, b) a##b
#define TAEDA_JOIN(a, b) TAEDA_JOIN_(a, b)
#define TAEDA_LIBRARY_BLOCK(ns, key, m, uid)                                                                       \
  static void TAEDA_JOIN(taeda_library_body_, uid)(::taeda::Library&);                                             \
  static const ::taeda::detail::LibraryInit TAEDA_JOIN(taeda_library_init_, uid)(#ns, key,                         \
                                                                                  &TAEDA_JOIN(taeda_library_body_, uid)); \
  void TAEDA_JOIN(taeda_library_body_, uid)([[maybe_unused]] ::taeda::Library & m)

/// TAEDA_LIBRARY(ns, m) { m.def("twice(Tensor x) -> Tensor", twice); }
#define TAEDA_LIBRARY(ns, m) TAEDA_LIBRARY_BLOCK(ns, ::taeda::DispatchKey::Undefined, m, TAEDA_JOIN(ns##_, __COUNTER__))
#define TAEDA_LIBRARY_IMPL(ns, key, m) \
  TAEDA_LIBRARY_BLOCK(ns, ::taeda::DispatchKey::key, m, TAEDA_JOIN(ns##_##key##_, __COUNTER__))
