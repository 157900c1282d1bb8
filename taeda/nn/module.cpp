// SPDX-License-Identifier: Apache-2.0
// Registration, traversal, state and printing of modules.
#include "taeda/nn/module.h"

#include <cxxabi.h>

#include <atomic>
#include <cstdlib>
#include <ostream>
#include <set>

#include "taeda/autograd/autograd.h"
#include "taeda/core/host_watch.h"
#include "taeda/io/archive.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

namespace {

std::string join(const std::string& prefix, const std::string& name) { return prefix.empty() ? name : prefix + "." + name; }

std::string demangle(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : symbol;
  std::free(text);  // NOLINT: allocated by the ABI with malloc
  return name;
}

}  // namespace

Module::Module()
    : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule"),
      made_in_(taeda::detail::tls_host_watch ? taeda::detail::tls_host_watch->number : 0) {}
Module::Module(std::string name) : Module() { name_ = std::move(name); }
Module::~Module() {
  if (!is_watched_) return;
  if (taeda::detail::HostWatch* watch = taeda::detail::tls_host_watch) {
    watch->ends(this);
    if (made_in_ == watch->number) return;  // only this call has known it
  }
  taeda::detail::note_host_change("a module ends");
}

void Module::note(const void* place, size_t bytes) const {
  if (TAEDA_LIKELY(!taeda::detail::tls_host_watch)) return;
  std::atomic_ref<bool>(is_watched_).store(true, std::memory_order_relaxed);  // several recorded calls may share a module
  taeda::detail::tls_host_watch->reads({this, place, bytes, [](const void* module) {
    return static_cast<size_t>(static_cast<const Module*>(module)->weak_from_this().use_count());
  }});
}

const std::string& Module::name() const noexcept {
  // The dynamic type is not known in the constructor, so the name is found on first use.
  if (!name_.has_value()) {
    name_ = demangle(typeid(*this).name());
    // Modules of the library carry the names of the compatible interface.
    if (name_->starts_with("taeda::")) name_->replace(0, 5, "torch");
  }
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>& /*device*/) const {
  TAEDA_CHECK(false, "[clone] clone() has not been implemented for ", name(),
              ". Subclass torch::nn::Cloneable<", name(), "> instead of torch::nn::Module to inherit the ability to clone");
  return nullptr;
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  std::shared_ptr<const Module> self = weak_from_this().lock();
  TAEDA_CHECK(self != nullptr, "[Module] the module is not stored in a shared_ptr: got ", name(),
              "; make it with std::make_shared or a holder");
  return std::const_pointer_cast<Module>(self);
}

void Module::apply_to_children(const std::string& prefix, const NamedModulePointerApplyFunction& function) const {
  for (const auto& child : children_) {
    const std::string path = join(prefix, child.key());
    function(path, child.value());
    child.value()->apply_to_children(path, function);
  }
}

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  apply_to_children("", [&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}
void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  apply_to_children("", [&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}
void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  apply_to_children(name_prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, *m); });
}
void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, *this);
  apply_to_children(name_prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, *m); });
}
void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  apply_to_children("", [&](const std::string&, const std::shared_ptr<Module>& m) { function(m); });
}
void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, shared_from_this_checked());
  apply_to_children(name_prefix, function);
}

std::vector<Tensor> Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  const auto collect = [&](const std::string& path, const Module& m) {
    for (const auto& p : m.parameters_) {
      if (p.value().defined()) result.insert(join(path, p.key()), p.value());
    }
  };
  collect("", *this);
  if (recurse) apply_to_children("", [&](const std::string& path, const std::shared_ptr<Module>& m) { collect(path, *m); });
  return result;
}

std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  const auto collect = [&](const std::string& path, const Module& m) {
    for (const auto& b : m.buffers_) {
      if (b.value().defined()) result.insert(join(path, b.key()), b.value());
    }
  };
  collect("", *this);
  if (recurse) apply_to_children("", [&](const std::string& path, const std::shared_ptr<Module>& m) { collect(path, *m); });
  return result;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> result;
  if (include_self) result.push_back(shared_from_this_checked());
  apply_to_children("", [&](const std::string&, const std::shared_ptr<Module>& m) { result.push_back(m); });
  return result;
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& name_prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  if (include_self) result.insert(name_prefix, shared_from_this_checked());
  apply_to_children(name_prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { result.insert(path, m); });
  return result;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }

void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  if (is_training_ != on) taeda::detail::refuse_replay("train() or eval() changes a module's mode");
  is_training_ = on;
}
void Module::eval() { train(false); }
bool Module::is_training() const noexcept { return noted(is_training_); }

template <class Change>
void Module::change_tensors(const Change& change) {
  for (auto& child : children_) child.value()->change_tensors(change);
  const NoGradGuard no_grad;
  for (auto& p : parameters_) {
    if (p.value().defined()) p.value().set_data(change(p.value()));
  }
  for (auto& b : buffers_) {
    if (b.value().defined()) b.value().set_data(change(b.value()));
  }
}
void Module::to(Device device, Dtype dtype, bool non_blocking) {
  TAEDA_CHECK(is_floating_type(dtype), "[to] a module can only be converted to floating dtypes: got ", dtype,
              "; choose a floating dtype");
  change_tensors([&](const Tensor& t) {
    return t.is_floating_point() ? t.to(device, dtype, non_blocking) : t.to(device, non_blocking);
  });
}
void Module::to(Dtype dtype, bool non_blocking) { to(Device(), dtype, non_blocking); }
void Module::to(Device device, bool non_blocking) {
  change_tensors([&](const Tensor& t) { return t.to(device, non_blocking); });
}

void Module::zero_grad(bool set_to_none) {
  for (Tensor& p : parameters_.values()) {
    if (!p.defined() || !p.grad().defined()) continue;
    if (set_to_none) {
      p.mutable_grad().reset();
    } else {
      p.mutable_grad() = p.grad().detach();
      p.mutable_grad().zero_();
    }
  }
  for (auto& child : children_) child.value()->zero_grad(set_to_none);
}

OrderedDict<std::string, Tensor> Module::state_dict() const {
  OrderedDict<std::string, Tensor> state;
  const auto collect = [&](const std::string& path, const Module& m) {
    for (const auto& p : m.parameters_) {
      if (p.value().defined()) state.insert(join(path, p.key()), p.value());
    }
    for (const auto& b : m.buffers_) {
      if (b.value().defined()) state.insert(join(path, b.key()), b.value());
    }
  };
  collect("", *this);
  apply_to_children("", [&](const std::string& path, const std::shared_ptr<Module>& m) { collect(path, *m); });
  return state;
}

void Module::load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict) {
  OrderedDict<std::string, Tensor> own = state_dict();
  std::string missing;
  std::string unexpected;
  std::string misshapen;
  for (const auto& item : own) {
    const Tensor* value = state.find(item.key());
    if (!value) {
      missing += (missing.empty() ? "" : ", ") + item.key();
    } else if (value->sizes() != item.value().sizes()) {
      misshapen += str(misshapen.empty() ? "" : ", ", item.key(), " (", value->sizes(), " into ", item.value().sizes(), ")");
    }
  }
  for (const auto& item : state) {
    if (!own.contains(item.key())) unexpected += (unexpected.empty() ? "" : ", ") + item.key();
  }
  TAEDA_CHECK(misshapen.empty(), "[load_state_dict] shapes must match: got ", misshapen, "; build the model with the same sizes");
  TAEDA_CHECK(!strict || (missing.empty() && unexpected.empty()), "[load_state_dict] names must match: missing ",
              missing.empty() ? "none" : missing, "; unexpected ", unexpected.empty() ? "none" : unexpected,
              "; pass strict=false to load what fits");
  const NoGradGuard no_grad;
  for (auto& item : own) {
    if (const Tensor* value = state.find(item.key())) item.value().copy_(*value);
  }
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& p : parameters_) {
    if (p.value().defined()) archive.write(p.key(), p.value().detach());  // as a state dictionary has it
  }
  for (const auto& b : buffers_) {
    if (b.value().defined()) archive.write(b.key(), b.value(), /*is_buffer=*/true);
  }
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    if (!nested.is_empty()) archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  for (auto& p : parameters_) {
    if (p.value().defined()) archive.read(p.key(), p.value());
  }
  for (auto& b : buffers_) {
    if (b.value().defined()) archive.read(b.key(), b.value(), /*is_buffer=*/true);
  }
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive nested;
    (void)archive.try_read(child.key(), nested);  // not there for a module without tensors
    child.value()->load(nested);
  }
}

bool Module::is_serializable() const { return true; }

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  TAEDA_CHECK(!name.empty(), "[register_parameter] Parameter name must not be empty; give it a name");
  TAEDA_CHECK(name.find('.') == std::string::npos, "[register_parameter] Parameter name must not contain a dot (got '", name,
              "'); use letters and underscores");
  if (tensor.defined()) {
    tensor.set_requires_grad(requires_grad);
    autograd::set_name(tensor, name);
  }
  taeda::detail::note_host_change("a module registers a parameter");
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  TAEDA_CHECK(!name.empty(), "[register_buffer] Buffer name must not be empty; give it a name");
  TAEDA_CHECK(name.find('.') == std::string::npos, "[register_buffer] Buffer name must not contain a dot (got '", name,
              "'); use letters and underscores");
  taeda::detail::note_host_change("a module registers a buffer");
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  TAEDA_CHECK(!name.empty(), "[register_module] Submodule name must not be empty; give it a name");
  TAEDA_CHECK(name.find('.') == std::string::npos, "[register_module] Submodule name must not contain a dot (got '", name,
              "'); use letters and underscores");
  // Errors of autograd name a parameter by its path from the module that was built last around it.
  for (const auto& parameter : module ? module->named_parameters() : OrderedDict<std::string, Tensor>()) {
    if (parameter.value().defined()) autograd::set_name(parameter.value(), name + "." + parameter.key());
  }
  taeda::detail::note_host_change("a module registers another");
  children_.insert(std::move(name), std::move(module));
}

void Module::unregister_module(const std::string& name) {
  TAEDA_CHECK(children_.contains(name), "[unregister_module] No Module with name `", name, "` is registered; check the name");
  taeda::detail::note_host_change("a module gives another up");
  children_.erase(name);
}

void Module::clone_(Module& /*other*/, const std::optional<Device>& /*device*/) {}

std::shared_ptr<Module> Module::finish_clone(Module* made, void (*reset)(Module&), const std::optional<Device>& device) const {
  std::shared_ptr<Module> copy(made);
  copy->parameters_.clear();
  copy->buffers_.clear();
  copy->children_.clear();
  reset(*copy);
  copy->copy_state_from(*this, device);
  return copy;
}

void Module::check_same_type(bool same) {
  TAEDA_CHECK(same, "[clone] attempted to clone submodule, but it is of a different type than the submodule it was to be cloned "
              "into; register the same type in reset()");
}

void Module::copy_state_from(const Module& source, const std::optional<Device>& device) {
  const NoGradGuard no_grad;
  const auto copy_of = [&](const Tensor& t) {
    return device && t.device() != *device ? t.to(*device) : t.clone();
  };
  TAEDA_CHECK(parameters_.size() == source.parameters_.size(), "[clone] the cloned module does not have the same number of "
              "parameters as the original module after calling reset(): got ", parameters_.size(), " and ",
              source.parameters_.size(), ". Are you sure you called register_parameter() inside reset() and not the constructor?");
  for (const auto& p : source.parameters_) {
    if (parameters_[p.key()].defined() && p.value().defined()) {
      parameters_[p.key()].set_data(copy_of(p.value()));
    }
  }
  TAEDA_CHECK(buffers_.size() == source.buffers_.size(), "[clone] the cloned module does not have the same number of buffers "
              "as the original module after calling reset(): got ", buffers_.size(), " and ", source.buffers_.size(),
              ". Are you sure you called register_buffer() inside reset() and not the constructor?");
  for (const auto& b : source.buffers_) {
    if (buffers_[b.key()].defined() && b.value().defined()) buffers_[b.key()].set_data(copy_of(b.value()));
  }
  TAEDA_CHECK(children_.size() == source.children_.size(), "[clone] the cloned module does not have the same number of child "
              "modules as the original module after calling reset(): got ", children_.size(), " and ", source.children_.size(),
              ". Are you sure you called register_module() inside reset() and not the constructor?");
  for (const auto& c : source.children_) children_[c.key()]->clone_(*c.value(), device);
  is_training_ = source.is_training_;
}

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

void Module::pretty_print_recursive(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string next = indentation + "  ";
  for (const auto& child : children_) {
    stream << next << "(" << child.key() << "): ";
    child.value()->pretty_print_recursive(stream, next);
    stream << '\n';
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.pretty_print_recursive(stream, "");
  return stream;
}

}  // namespace taeda::nn
