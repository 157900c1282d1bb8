// SPDX-License-Identifier: Apache-2.0
// Value-like handles to modules: `Linear` is a shared pointer to `LinearImpl`.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "taeda/core/error.h"

namespace taeda::nn {

namespace detail {
struct ModuleHolderIndicator {};
template <class T>
concept is_module_holder = std::is_base_of_v<ModuleHolderIndicator, std::decay_t<T>>;
}  // namespace detail

/// Shared handle to a module of type `Contained`; copying shares. `nullptr` makes an empty holder.
template <class Contained>
class ModuleHolder : detail::ModuleHolderIndicator {
 protected:
  std::shared_ptr<Contained> impl_;

 public:
  using ContainedType = Contained;
  using Impl [[maybe_unused]] = Contained;

  /// Builds the module with its default constructor.
  ModuleHolder() : impl_(default_construct()) {
    static_assert(std::is_default_constructible_v<Contained>,
                  "You are trying to default construct a module which has no default constructor. Use = nullptr to give it "
                  "the empty state (e.g. `Linear linear = nullptr;` instead of `Linear linear;`).");
  }
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}
  template <class Head, class... Tail>
    requires(!(std::is_base_of_v<ModuleHolder, std::decay_t<Head>> && sizeof...(Tail) == 0) &&
             !(std::is_convertible_v<Head, std::shared_ptr<Contained>> && sizeof...(Tail) == 0))
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    check();
    return impl_;
  }
  Contained* get() {
    check();
    return impl_.get();
  }
  const Contained* get() const {
    check();
    return impl_.get();
  }
  template <class... Args, class M = Contained>
  auto operator()(Args&&... args) -> decltype(std::declval<M&>().forward(std::forward<Args>(args)...)) {
    return get()->forward(std::forward<Args>(args)...);
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*impl_)[std::forward<Arg>(arg)];
  }
  bool is_empty() const noexcept { return impl_ == nullptr; }

 private:
  void check() const { TAEDA_CHECK(!is_empty(), "[ModuleHolder] Accessing empty ModuleHolder; assign a module first"); }
  static std::shared_ptr<Contained> default_construct() {
    if constexpr (std::is_default_constructible_v<Contained>) {
      return std::make_shared<Contained>();
    } else {
      return nullptr;
    }
  }
};

}  // namespace taeda::nn

/// Names the handle of a module class of this library: `TAEDA_MODULE(Linear);` after `class LinearImpl`. A name for the
/// template's instance, not a class of its own, and `clone` is compiled in taeda/nn/instantiate.cpp alone: a program
/// compiles nothing for the modules it does not use.
#define TAEDA_MODULE(Name)                              \
  TAEDA_EXTERN_MODULE template class Cloneable<Name##Impl>; \
  using Name = ::taeda::nn::ModuleHolder<Name##Impl>
#ifndef TAEDA_EXTERN_MODULE
#define TAEDA_EXTERN_MODULE extern
#endif
/// Defines the handle class `Name` of the module class `ImplType`, for modules outside this library.
#define TAEDA_MODULE_IMPL(Name, ImplType)                                 \
  class Name : public ::taeda::nn::ModuleHolder<ImplType> { /* NOLINT */  \
   public:                                                                \
    using ::taeda::nn::ModuleHolder<ImplType>::ModuleHolder;              \
    using Impl [[maybe_unused]] = ImplType;                               \
  }
