// SPDX-License-Identifier: Apache-2.0
// Dictionaries and lists of modules and parameters, and functions as modules.
#include "taeda/nn/containers.h"

#include <ostream>

#include "taeda/autograd/grad_mode.h"
#include "taeda/ops/functions.h"

namespace taeda::nn {

namespace {
Tensor copy_parameter(const Tensor& t, const std::optional<Device>& device) {
  const NoGradGuard no_grad;
  return (device && t.device() != *device ? t.to(*device) : t.clone()).set_requires_grad(t.requires_grad());
}
void print_parameters(std::ostream& stream, const char* name, const OrderedDict<std::string, Tensor>& parameters) {
  stream << "torch::nn::" << name << "(\n";
  for (const auto& item : parameters) {
    stream << "(" << item.key() << "): Parameter containing: [" << item.value().scalar_type() << " of size "
           << item.value().sizes() << "]\n";
  }
  stream << ")";
}
}  // namespace

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& item : children_) copy->insert(item.key(), item.value()->clone(device));
  copy->train(is_training());
  return copy;
}
void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }
std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = children_[key];
  unregister_module(key);
  return module;
}
void ModuleDictImpl::insert(const std::string& key, const std::shared_ptr<Module>& module) {
  if (contains(key)) {
    replace_module(key, module);
  } else {
    register_module(key, module);
  }
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  for (const auto& item : parameters_) copy->insert(item.key(), copy_parameter(item.value(), device));
  copy->train(is_training());
  return copy;
}
void ParameterDictImpl::pretty_print(std::ostream& stream) const { print_parameters(stream, "ParameterDict", parameters_); }
Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor param = parameters_[key];
  parameters_.erase(key);
  return param;
}

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const auto& item : parameters_) copy->append(copy_parameter(item.value(), device));
  copy->train(is_training());
  return copy;
}
void ParameterListImpl::pretty_print(std::ostream& stream) const { print_parameters(stream, "ParameterList", parameters_); }

Tensor FunctionalImpl::forward(Tensor input) { return function_(std::move(input)); }
void FunctionalImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Functional()"; }

}  // namespace taeda::nn
