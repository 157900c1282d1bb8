// SPDX-License-Identifier: Apache-2.0
// Fields of option structs: chained setters and a getter of one name.
#pragma once

#include <utility>

/// Declares a field `name` of type T: `name(value)` sets it and returns the object, `name()` reads it. The default follows
/// the macro: `TAEDA_ARG(double, eps) = 1e-5;`.
#define TAEDA_ARG(T, name)                                                  \
 public:                                                                    \
  inline auto name(const T& new_##name) -> decltype(*this) { /* NOLINT */   \
    this->name##_ = new_##name;                                             \
    return *this;                                                           \
  }                                                                         \
  inline auto name(T&& new_##name) -> decltype(*this) { /* NOLINT */        \
    this->name##_ = std::move(new_##name);                                  \
    return *this;                                                           \
  }                                                                         \
  inline const T& name() const noexcept { return this->name##_; }           \
  inline T& name() noexcept { return this->name##_; }                       \
                                                                            \
 private:                                                                   \
  T name##_ /* NOLINT */
