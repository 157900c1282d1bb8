// SPDX-License-Identifier: Apache-2.0
// The base of all neural network modules: named parameters, buffers and submodules.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "taeda/core/tensor.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/ordered_dict.h"

namespace taeda {

namespace serialize {
class OutputArchive;
class InputArchive;
}  // namespace serialize

namespace nn {

/// A part of a model. Derived classes register what they own; names of nested members are joined with dots.
class TAEDA_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  explicit Module(std::string name);
  Module();
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  virtual ~Module();

  /// The name given at construction, else the class's name.
  const std::string& name() const noexcept;
  /// A deep copy. Only classes derived from Cloneable have one; others throw Error.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  /// Calls the function on this module and all below it.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = std::string()) const;

  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = std::string(),
                                                                  bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  virtual void train(bool on = true);
  void eval();
  virtual bool is_training() const noexcept;
  virtual void to(Device device, Dtype dtype, bool non_blocking = false);
  virtual void to(Dtype dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);

  /// Parameters and buffers under their dotted names, in state-dict order: own parameters, own buffers, then children.
  OrderedDict<std::string, Tensor> state_dict() const;
  /// Copies values by name. `strict`: throws Error listing missing and unexpected names, or a shape that differs.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict = true);

  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  virtual void pretty_print(std::ostream& stream) const;
  virtual bool is_serializable() const;

  template <class ModuleType>
    requires detail::is_module_holder<ModuleType>
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <class ModuleType>
    requires detail::is_module_holder<ModuleType>
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <class ModuleType>
    requires(!detail::is_module_holder<ModuleType>)
  ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <class ModuleType>
    requires(!detail::is_module_holder<ModuleType>)
  const ModuleType* as() const noexcept {
    return dynamic_cast<const ModuleType*>(this);
  }

  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, std::shared_ptr<ModuleType> module) {
    children_[name] = module;
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, ModuleHolder<ModuleType> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);

  /// Options that forward() reads, themselves: static calls of compile() notice when they change.
  template <class Options>
  const Options& noted(const Options& options) const {
    note(&options, sizeof options);
    return options;
  }

 protected:
  OrderedDict<std::string, Tensor> parameters_;
  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;

  /// Used by `clone`: takes over copies of the other's parameters, buffers and children's.
  virtual void clone_(Module& other, const std::optional<Device>& device);

 private:
  template <class Derived>
  friend class Cloneable;
  friend TAEDA_API std::ostream& operator<<(std::ostream& stream, const Module& module);
  void note(const void* place, size_t bytes) const;
  void copy_state_from(const Module& source, const std::optional<Device>& device);
  // What clones of all classes share, kept out of the template: it is compiled for every module class.
  std::shared_ptr<Module> finish_clone(Module* copy, void (*reset)(Module&), const std::optional<Device>& device) const;
  static void check_same_type(bool same);
  void add_child(std::string name, std::shared_ptr<Module> module);
  void pretty_print_recursive(std::ostream& stream, const std::string& indentation) const;
  void apply_to_children(const std::string& prefix, const NamedModulePointerApplyFunction& function) const;
  std::shared_ptr<Module> shared_from_this_checked() const;
  template <class Change>
  void change_tensors(const Change& change);

  mutable std::optional<std::string> name_;
  bool is_training_ = true;
  mutable bool is_watched_ = false;  ///< static calls know where its options lie
  uint64_t made_in_ = 0;             ///< the static call that made it while it was recorded
};

TAEDA_API std::ostream& operator<<(std::ostream& stream, const Module& module);
template <class ModuleType>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<ModuleType>& module) {
  return stream << *module;
}

/// Gives a module class `clone()`: `reset()` makes parameters anew, then values are copied.
template <class Derived>
class TAEDA_API Cloneable : public Module {
 public:
  using Module::Module;
  /// Registers parameters, buffers and submodules; called by the constructor and by `clone`.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto* copy = new Derived(static_cast<const Derived&>(*this));
    return finish_clone(copy, [](Module& made) { static_cast<Derived&>(made).reset(); }, device);
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    const std::shared_ptr<Module> made = other.clone(device);
    auto* same = dynamic_cast<Derived*>(made.get());
    check_same_type(same != nullptr);
    static_cast<Derived&>(*this) = *same;
  }
};

}  // namespace nn
}  // namespace taeda
