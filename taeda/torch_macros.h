// SPDX-License-Identifier: Apache-2.0
// Macros under the names of LibTorch: checks, dispatch over dtypes, small compiler hints, registration of operators.
#pragma once

#include "taeda/core/error.h"
#include "taeda/core/scalar_type.h"

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.13.0"

#define TORCH_API
#define C10_API
#define C10_EXPORT
#define C10_UNUSED [[maybe_unused]]
#define C10_NODISCARD [[nodiscard]]
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_NOINLINE __attribute__((noinline))
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#define C10_HOST_DEVICE
#define C10_RESTRICT __restrict
#define C10_CONCATENATE_(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_(a, b)
#define C10_STRINGIZE_(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_(x)

#define TORCH_CHECK(...) TAEDA_CHECK(__VA_ARGS__)
#define TORCH_CHECK_INDEX(...) TAEDA_CHECK_INDEX(__VA_ARGS__)
#define TORCH_CHECK_VALUE(...) TAEDA_CHECK_VALUE(__VA_ARGS__)
#define TORCH_CHECK_TYPE(...) TAEDA_CHECK_TYPE(__VA_ARGS__)
#define TORCH_CHECK_LINALG(...) TAEDA_CHECK_LINALG(__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) TAEDA_CHECK_NOT_IMPLEMENTED(__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(...) TAEDA_CHECK(__VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) static_cast<void>(0)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TAEDA_CHECK(__VA_ARGS__)
#endif
#define TORCH_COMPARE_(a, b, op, ...) \
  TAEDA_CHECK((a)op(b), "Check failed: " #a " " #op " " #b " (", (a), " vs. ", (b), "). " __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_EQ(a, b, ...) TORCH_COMPARE_(a, b, ==, __VA_ARGS__)
#define TORCH_CHECK_NE(a, b, ...) TORCH_COMPARE_(a, b, !=, __VA_ARGS__)
#define TORCH_CHECK_LT(a, b, ...) TORCH_COMPARE_(a, b, <, __VA_ARGS__)
#define TORCH_CHECK_LE(a, b, ...) TORCH_COMPARE_(a, b, <=, __VA_ARGS__)
#define TORCH_CHECK_GT(a, b, ...) TORCH_COMPARE_(a, b, >, __VA_ARGS__)
#define TORCH_CHECK_GE(a, b, ...) TORCH_COMPARE_(a, b, >=, __VA_ARGS__)
#define TORCH_WARN(...) TAEDA_WARN(__VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                                        \
  do {                                                                              \
    static const bool taeda_warned = [&] { return TAEDA_WARN(__VA_ARGS__), true; }(); \
    static_cast<void>(taeda_warned);                                                \
  } while (false)
#define AT_ASSERT(...) TAEDA_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) TAEDA_CHECK(__VA_ARGS__)
#define AT_ERROR(...) TAEDA_CHECK(false, __VA_ARGS__)

// Inside `serialize` of the options and states of an optimizer, and inside its `save` and `load`.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) archive.write(#name, torch::optim::detail::to_value(name()))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)               \
  do {                                                            \
    torch::IValue taeda_value;                                    \
    T taeda_field = name();                                       \
    if (!archive.try_read(#name, taeda_value)) break;             \
    torch::optim::detail::from_value(taeda_value, taeda_field);   \
    name(taeda_field);                                            \
  } while (false)
#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Name) torch::optim::serialize<Name##Options, Name##ParamState>(archive, self)

// Dispatch: runs the lambda with `scalar_t` as the C++ type of TYPE. The last argument is the lambda.
#define AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, ...)                      \
  case enum_type: {                                                                \
    using HINT [[maybe_unused]] = ::taeda::detail::CppType<enum_type>;             \
    return __VA_ARGS__();                                                          \
  }
#define AT_DISPATCH_CASE(enum_type, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                       \
  [&] {                                                                                           \
    const ::taeda::ScalarType taeda_type = ::taeda::detail::dispatch_type(TYPE);                  \
    constexpr const char* at_dispatch_name = NAME;                                                \
    switch (taeda_type) {                                                                         \
      __VA_ARGS__                                                                                 \
      default:                                                                                    \
        ::taeda::detail::throw_dtype(at_dispatch_name, taeda_type, "the dtypes of this dispatch"); \
    }                                                                                             \
  }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                      \
  AT_DISPATCH_CASE(::taeda::ScalarType::Double, __VA_ARGS__)      \
  AT_DISPATCH_CASE(::taeda::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...)              \
  AT_DISPATCH_CASE(::taeda::ScalarType::Half, __VA_ARGS__)        \
  AT_DISPATCH_CASE(::taeda::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                      \
  AT_DISPATCH_CASE(::taeda::ScalarType::Byte, __VA_ARGS__)        \
  AT_DISPATCH_CASE(::taeda::ScalarType::Char, __VA_ARGS__)        \
  AT_DISPATCH_CASE(::taeda::ScalarType::Int, __VA_ARGS__)         \
  AT_DISPATCH_CASE(::taeda::ScalarType::Long, __VA_ARGS__)        \
  AT_DISPATCH_CASE(::taeda::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)            \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)     \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::taeda::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(S1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(S1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(S1, S2, TYPE, NAME, ...)                                                     \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(S1, __VA_ARGS__)      \
                                     AT_DISPATCH_CASE(S2, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(S1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(S1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(S1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(S1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(S1, S2, TYPE, NAME, ...)                                                          \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(S1, __VA_ARGS__)           \
                                     AT_DISPATCH_CASE(S2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(S1, S2, S3, TYPE, NAME, ...)                                                      \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(S1, __VA_ARGS__)           \
                                     AT_DISPATCH_CASE(S2, __VA_ARGS__) AT_DISPATCH_CASE(S3, __VA_ARGS__))
// There are no complex dtypes: these are the forms without them.
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) AT_DISPATCH_ALL_TYPES(TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                                                    \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_PRIVATE_CASE_TYPE_USING_HINT(::taeda::ScalarType::Int, index_t, __VA_ARGS__)    \
                                     AT_PRIVATE_CASE_TYPE_USING_HINT(::taeda::ScalarType::Long, index_t, __VA_ARGS__))

// Registration of operators (taeda/ops/custom.h).
#define TORCH_LIBRARY(ns, m) TAEDA_LIBRARY(ns, m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) TAEDA_LIBRARY(ns, m)
#define TORCH_LIBRARY_IMPL(ns, key, m) TAEDA_LIBRARY_IMPL(ns, key, m)
#define TORCH_FN(function) (&function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

namespace taeda::detail {

template <ScalarType kType>
struct CppTypeOf;
#define TAEDA_CPP_TYPE(T, Name)          \
  template <>                            \
  struct CppTypeOf<ScalarType::Name> {   \
    using type = T;                      \
  };
TAEDA_FOR_EACH_DTYPE(TAEDA_CPP_TYPE)
#undef TAEDA_CPP_TYPE
template <ScalarType kType>
using CppType = typename CppTypeOf<kType>::type;

/// What dispatch macros accept: a dtype, or something with one.
template <class T>
constexpr ScalarType dispatch_type(const T& type) {
  if constexpr (requires { type.scalar_type(); }) {
    return type.scalar_type();
  } else {
    return static_cast<ScalarType>(type);
  }
}

}  // namespace taeda::detail

// Modules and option structs (taeda/nn/holder.h, taeda/nn/any.h, taeda/core/arg.h say what each does).
#define TORCH_MODULE_IMPL(Name, ImplType) TAEDA_MODULE_IMPL(Name, ImplType)
#define TORCH_MODULE(Name) TAEDA_MODULE_IMPL(Name, Name##Impl)
#define TORCH_ARG(T, name) TAEDA_ARG(T, name)
#define FORWARD_HAS_DEFAULT_ARGS(...) TAEDA_FORWARD_HAS_DEFAULT_ARGS(__VA_ARGS__)
