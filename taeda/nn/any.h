// SPDX-License-Identifier: Apache-2.0
// Type-erased values and modules: what Sequential stores.
#pragma once

#include <memory>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "taeda/nn/module.h"

namespace taeda::nn {

/// A value of any copyable type; `get` checks the type.
class TAEDA_API AnyValue {
 public:
  AnyValue(AnyValue&&) noexcept;
  AnyValue& operator=(AnyValue&&) noexcept;
  ~AnyValue();
  AnyValue(const AnyValue& other);
  AnyValue& operator=(const AnyValue& other);
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, AnyValue>)
  explicit AnyValue(T&& value) : content_(std::make_unique<Holder<std::decay_t<T>>>(std::forward<T>(value))) {}

  /// The value when it is of type T, else null.
  template <class T>
  T* try_get() {
    static_assert(!std::is_reference_v<T>, "AnyValue holds decayed types; give a type without a reference");
    if (typeid(T) != content_->type) return nullptr;
    return &static_cast<Holder<T>&>(*content_).value;
  }
  template <class T>
  T get() {
    if (T* value = try_get<T>()) return *value;
    TAEDA_CHECK(false, "[AnyValue] attempted to cast AnyValue to ", typeid(T).name(), ", but its actual type is ",
                type_info().name(), "; ask for the type it holds");
    __builtin_unreachable();
  }
  const std::type_info& type_info() const noexcept { return content_->type; }

 private:
  struct Placeholder {
    explicit Placeholder(const std::type_info& t) : type(t) {}
    virtual ~Placeholder() = default;
    virtual std::unique_ptr<Placeholder> clone() const = 0;
    const std::type_info& type;
  };
  template <class T>
  struct Holder final : Placeholder {
    template <class U>
    explicit Holder(U&& v) : Placeholder(typeid(T)), value(std::forward<U>(v)) {}
    std::unique_ptr<Placeholder> clone() const override { return std::make_unique<Holder<T>>(value); }
    T value;
  };
  std::unique_ptr<Placeholder> content_;
};

namespace detail {

template <class F>
struct ForwardTraits;
template <class R, class C, class... A>
struct ForwardTraits<R (C::*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <class R, class C, class... A>
struct ForwardTraits<R (C::*)(A...) const> : ForwardTraits<R (C::*)(A...)> {};

template <class M>
concept has_forward = requires { &M::forward; };

/// Access to the default arguments that a module declares with FORWARD_HAS_DEFAULT_ARGS.
struct DefaultArgumentAccess {
  template <class M>
  static std::vector<std::pair<unsigned, AnyValue>> get(M& m) {
    if constexpr (requires { m._forward_populate_default_args_list(); }) {
      return m._forward_populate_default_args_list();
    } else {
      return {};
    }
  }
};

struct AnyModulePlaceholder {
  explicit AnyModulePlaceholder(const std::type_info& t) : type(t) {}
  virtual ~AnyModulePlaceholder() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& arguments) = 0;
  virtual std::shared_ptr<Module> ptr() = 0;
  virtual std::unique_ptr<AnyModulePlaceholder> copy() const = 0;
  virtual std::unique_ptr<AnyModulePlaceholder> clone_module(const std::optional<Device>& device) const = 0;
  const std::type_info& type;
};

template <class T>
using stored = std::remove_cvref_t<T>;

template <class ModuleType>
struct AnyModuleHolder final : AnyModulePlaceholder {
  explicit AnyModuleHolder(std::shared_ptr<ModuleType> m) : AnyModulePlaceholder(typeid(ModuleType)), module(std::move(m)) {}
  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    using Traits = ForwardTraits<decltype(&ModuleType::forward)>;
    constexpr size_t n = std::tuple_size_v<typename Traits::Arguments>;
    add_defaults(arguments, n);
    return invoke(arguments, std::make_index_sequence<n>(), static_cast<typename Traits::Arguments*>(nullptr));
  }
  std::shared_ptr<Module> ptr() override { return module; }
  std::unique_ptr<AnyModulePlaceholder> copy() const override { return std::make_unique<AnyModuleHolder>(*this); }
  std::unique_ptr<AnyModulePlaceholder> clone_module(const std::optional<Device>& device) const override {
    return std::make_unique<AnyModuleHolder>(std::dynamic_pointer_cast<ModuleType>(module->clone(device)));
  }
  std::shared_ptr<ModuleType> module;

 private:
  void add_defaults(std::vector<AnyValue>& arguments, size_t wanted) {
    if (arguments.size() < wanted) {
      for (auto& [index, value] : DefaultArgumentAccess::get(*module)) {
        if (index == arguments.size()) arguments.push_back(std::move(value));
      }
    }
    TAEDA_CHECK(arguments.size() == wanted, "[AnyModule] ", module->name(), "'s forward() method expects ", wanted,
                " argument(s), but received ", arguments.size(),
                ". If its forward() has default arguments, declare them with FORWARD_HAS_DEFAULT_ARGS");
  }
  template <class T>
  static T take(AnyValue& argument, size_t index) {
    if (auto* value = argument.try_get<stored<T>>()) {
      if constexpr (std::is_lvalue_reference_v<T>) {
        return *value;
      } else {
        return std::move(*value);
      }
    }
    TAEDA_CHECK(false, "[AnyModule] expected argument #", index, " to be of type ", typeid(stored<T>).name(),
                ", but received value of type ", argument.type_info().name(), "; pass the declared type");
    __builtin_unreachable();
  }
  template <size_t... I, class... A>
  AnyValue invoke(std::vector<AnyValue>& arguments, std::index_sequence<I...>, std::tuple<A...>*) {
    return AnyValue(module->forward(take<A>(arguments[I], I)...));
  }
};

}  // namespace detail

/// A module of any class with a `forward` method, called with checked arguments.
class TAEDA_API AnyModule {
 public:
  AnyModule() noexcept;
  ~AnyModule();
  template <class ModuleType>
  explicit AnyModule(std::shared_ptr<ModuleType> module) : content_(make(std::move(module))) {}
  template <class ModuleType>
    requires(std::is_base_of_v<Module, std::decay_t<ModuleType>>)
  explicit AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}
  template <class ModuleType>
  explicit AnyModule(const ModuleHolder<ModuleType>& holder) : AnyModule(holder.ptr()) {}
  AnyModule(AnyModule&&) noexcept;
  AnyModule& operator=(AnyModule&&) noexcept;
  AnyModule(const AnyModule& other);
  AnyModule& operator=(const AnyModule& other);
  template <class ModuleType>
  AnyModule& operator=(std::shared_ptr<ModuleType> module) {
    return *this = AnyModule(std::move(module));
  }
  AnyModule clone(std::optional<Device> device = std::nullopt) const;

  template <class... Arguments>
  AnyValue any_forward(Arguments&&... arguments) {
    check();
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Arguments));
    (values.push_back(to_value(std::forward<Arguments>(arguments))), ...);
    return content_->forward(std::move(values));
  }
  template <class ReturnType = Tensor, class... Arguments>
  ReturnType forward(Arguments&&... arguments) {
    return any_forward(std::forward<Arguments>(arguments)...).template get<ReturnType>();
  }
  /// The module as T (a module class or a holder).
  template <class T>
    requires(std::is_base_of_v<Module, T>)
  T& get() {
    check();
    return *typed<T>();
  }
  template <class T>
    requires(detail::is_module_holder<T>)
  T get() const {
    check();
    return T(typed<typename T::ContainedType>());
  }
  std::shared_ptr<Module> ptr() const;
  template <class T>
    requires(std::is_base_of_v<Module, T>)
  std::shared_ptr<T> ptr() const {
    check();
    return typed<T>();
  }
  const std::type_info& type_info() const;
  bool is_empty() const noexcept { return content_ == nullptr; }

 private:
  template <class ModuleType>
  static std::unique_ptr<detail::AnyModulePlaceholder> make(std::shared_ptr<ModuleType> module) {
    static_assert(detail::has_forward<ModuleType>,
                  "AnyModule needs a module with one forward() method that is neither overloaded nor a template");
    return std::make_unique<detail::AnyModuleHolder<ModuleType>>(std::move(module));
  }
  template <class T>
  static AnyValue to_value(T&& argument) {
    if constexpr (std::is_same_v<std::decay_t<T>, AnyValue>) {
      return std::forward<T>(argument);
    } else {
      return AnyValue(std::decay_t<T>(std::forward<T>(argument)));
    }
  }
  template <class T>
  std::shared_ptr<T> typed() const {
    auto module = std::dynamic_pointer_cast<T>(content_->ptr());
    TAEDA_CHECK(module != nullptr, "[AnyModule] attempted to cast module of type ", content_->type.name(), " to type ",
                typeid(T).name(), "; ask for the type it holds");
    return module;
  }
  void check() const;

  std::unique_ptr<detail::AnyModulePlaceholder> content_;
};

/// A module with the name under which a container registers it.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, M&& module) : name_(std::move(name)), module_(wrap(std::forward<M>(module))) {}
  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  template <class M>
  static AnyModule wrap(M&& module) {
    if constexpr (std::is_same_v<std::decay_t<M>, AnyModule>) {
      return std::forward<M>(module);
    } else {
      return AnyModule(std::forward<M>(module));
    }
  }
  std::string name_;
  AnyModule module_;
};

}  // namespace taeda::nn

/// Inside a module class: default values of trailing `forward` arguments, as {index, AnyValue(value)}, for AnyModule.
#define TAEDA_FORWARD_HAS_DEFAULT_ARGS(...)                                                                     \
  template <class M>                                                                                            \
  friend struct ::taeda::nn::detail::AnyModuleHolder;                                                           \
  friend struct ::taeda::nn::detail::DefaultArgumentAccess;                                                     \
  template <class = void> /* compiled only where an AnyModule asks for it */                                    \
  std::vector<std::pair<unsigned, ::taeda::nn::AnyValue>> _forward_populate_default_args_list() { /* NOLINT */  \
    return {__VA_ARGS__};                                                                                       \
  }
