// SPDX-License-Identifier: Apache-2.0
// Dictionaries and lists of modules and parameters, and functions as modules.
#pragma once

#include <functional>
#include <utility>

#include "taeda/nn/module.h"

namespace taeda::nn {

/// Modules under names. Does not define forward.
class TAEDA_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, std::shared_ptr<Module>>::Iterator;
  using ConstIterator = OrderedDict<std::string, std::shared_ptr<Module>>::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) { update(modules); }
  explicit ModuleDictImpl(const OrderedDict<std::string, std::shared_ptr<Module>>& modules) { update(modules); }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const { return children_.pairs(); }
  std::vector<std::string> keys() const { return children_.keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return children_.values(); }
  Iterator begin() { return children_.begin(); }
  ConstIterator begin() const { return children_.begin(); }
  Iterator end() { return children_.end(); }
  ConstIterator end() const { return children_.end(); }
  size_t size() const noexcept { return children_.size(); }
  bool empty() const noexcept { return children_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return children_.contains(key); }
  void clear() { children_.clear(); }
  std::shared_ptr<Module> operator[](const std::string& key) const { return children_[key]; }
  /// The module as T; throws Error when it is of another class.
  template <class T>
  T& at(const std::string& key) {
    auto* module = children_[key]->as<T>();
    TAEDA_CHECK(module != nullptr, "[ModuleDict] the module '", key, "' is of another type: got ", children_[key]->name(),
                "; ask for that type");
    return *module;
  }
  /// Removes and returns the module.
  std::shared_ptr<Module> pop(const std::string& key);
  /// Adds modules, or puts them in the place of those with the same key.
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
    for (const auto& [key, module] : modules) insert(key, module);
  }
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) insert(item.key(), item.value());
  }

 private:
  void insert(const std::string& key, const std::shared_ptr<Module>& module);
};
TAEDA_MODULE(ModuleDict);

/// Parameters under names.
class TAEDA_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& params) { update(params); }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override { parameters_.clear(); }
  void pretty_print(std::ostream& stream) const override;

  /// Registers the parameter under the key, which must be new.
  Tensor& insert(std::string key, Tensor param) {
    const bool requires_grad = param.requires_grad();
    return register_parameter(std::move(key), std::move(param), requires_grad);
  }
  /// Removes and returns the parameter.
  Tensor pop(const std::string& key);
  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  void clear() { parameters_.clear(); }
  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }
  const Tensor& get(const std::string& key) const { return parameters_[key]; }
  Tensor& get(const std::string& key) { return parameters_[key]; }
  Tensor& operator[](const std::string& key) { return parameters_[key]; }
  const Tensor& operator[](const std::string& key) const { return parameters_[key]; }
  /// Adds parameters, or puts them in the place of those with the same key.
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) {
      if (contains(item.key())) {
        parameters_[item.key()] = item.value();
      } else {
        insert(item.key(), item.value());
      }
    }
  }
};
TAEDA_MODULE(ParameterDict);

/// Parameters under their index.
class TAEDA_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = std::vector<OrderedDict<std::string, Tensor>::Item>::iterator;
  using ConstIterator = std::vector<OrderedDict<std::string, Tensor>::Item>::const_iterator;

  ParameterListImpl() = default;
  template <class... Tensors>
    requires(sizeof...(Tensors) > 0 && (... && std::is_convertible_v<Tensors, Tensor>))
  explicit ParameterListImpl(Tensors&&... params) {
    (append(Tensor(std::forward<Tensors>(params))), ...);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override { parameters_.clear(); }
  void pretty_print(std::ostream& stream) const override;

  void append(const Tensor& param) { register_parameter(std::to_string(size()), param, param.requires_grad()); }
  void append(const OrderedDict<std::string, Tensor>::Item& pair) { append(pair.value()); }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& param : container) append(param);
  }
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t idx) { return parameters_[idx].value(); }
  const Tensor& at(size_t idx) const { return parameters_[idx].value(); }
  Tensor& operator[](size_t idx) { return at(idx); }
  const Tensor& operator[](size_t idx) const { return at(idx); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
  template <class Container>
  void operator+=(const Container& other) {
    extend(other);
  }
};
TAEDA_MODULE(ParameterList);

/// A function from tensor to tensor as a module. Further arguments are bound: `Functional(torch::elu, 1, 0, 1)`.
class TAEDA_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;
  explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  template <class SomeFunction, class... Args>
    requires(sizeof...(Args) > 0)
  explicit FunctionalImpl(SomeFunction original_function, Args&&... args)
      : function_([original_function, ... bound = std::decay_t<Args>(std::forward<Args>(args))](const Tensor& input) {
          return original_function(input, bound...);
        }) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  /// Functions have no state to write.
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
TAEDA_MODULE(Functional);

}  // namespace taeda::nn
