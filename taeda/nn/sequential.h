// SPDX-License-Identifier: Apache-2.0
// Modules called one after the other.
#pragma once

#include "taeda/nn/any.h"

namespace taeda::nn {

namespace detail {
template <class T>
inline constexpr bool is_shared_pointer = false;
template <class T>
inline constexpr bool is_shared_pointer<std::shared_ptr<T>> = true;
/// What a container of modules accepts: a module by value, a holder, a shared pointer, or an AnyModule.
template <class T>
concept module_like = std::is_base_of_v<Module, std::decay_t<T>> || is_module_holder<T> ||
                      std::is_same_v<std::decay_t<T>, AnyModule> || is_shared_pointer<std::decay_t<T>>;
}  // namespace detail

/// Holds modules of any class and passes each one's result to the next. Its own forward may take several arguments, as its
/// first module does.
class TAEDA_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl();
  template <class... Modules>
    requires(sizeof...(Modules) > 0 && (... && detail::module_like<Modules>))
  explicit SequentialImpl(Modules&&... modules) {
    modules_.reserve(sizeof...(Modules));
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& ordered_dict);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> named_modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  template <class ReturnType = Tensor, class... InputTypes>
  ReturnType forward(InputTypes&&... inputs) {
    TAEDA_CHECK(!is_empty(), "[Sequential] Cannot call forward() on an empty Sequential; add modules first");
    auto iterator = modules_.begin();
    AnyValue value = iterator->any_forward(std::forward<InputTypes>(inputs)...);
    for (++iterator; iterator != modules_.end(); ++iterator) value = iterator->any_forward(std::move(value));
    if (auto* result = value.template try_get<ReturnType>()) return std::move(*result);
    TAEDA_CHECK(false, "[Sequential] the type of the return value is ", value.type_info().name(), ", but you asked for type ",
                typeid(ReturnType).name(), "; write forward<Type>(…)");
    __builtin_unreachable();
  }

  template <class ModuleType>
  void push_back(std::shared_ptr<ModuleType> module) {
    push_back(std::to_string(modules_.size()), std::move(module));
  }
  template <class ModuleType>
  void push_back(std::string name, std::shared_ptr<ModuleType> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <class M>
    requires(std::is_base_of_v<Module, std::decay_t<M>>)
  void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), std::forward<M>(module));
  }
  template <class M>
    requires(std::is_base_of_v<Module, std::decay_t<M>>)
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::to_string(modules_.size()), holder);
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), holder.ptr());
  }
  void push_back(AnyModule any_module);
  void push_back(std::string name, AnyModule any_module);
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(size_t index) {
    check_index(index);
    return modules_[index].get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    check_index(index);
    return modules_[index].ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void check_index(size_t index) const;
  std::vector<AnyModule> modules_;
};

class TAEDA_API Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> named_modules);
};

}  // namespace taeda::nn
