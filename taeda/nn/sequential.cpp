// SPDX-License-Identifier: Apache-2.0
// Containers: copying and printing.
#include "taeda/nn/sequential.h"

#include <ostream>
#include <string>

#include "taeda/nn/module_list.h"

namespace taeda::nn {

SequentialImpl::SequentialImpl() = default;
SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& ordered_dict) {
  for (auto& item : ordered_dict) push_back(item.key(), std::move(item.value()));
}
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> named_modules) {
  for (const auto& named : named_modules) push_back(named.name(), named.module());
}
std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  for (size_t i = 0; i < modules_.size(); ++i) copy->push_back(named_children()[i].key(), modules_[i].clone(device));
  return copy;
}
void SequentialImpl::push_back(AnyModule any_module) { push_back(std::to_string(modules_.size()), std::move(any_module)); }
void SequentialImpl::push_back(std::string name, AnyModule any_module) {
  modules_.push_back(std::move(any_module));
  register_module(std::move(name), modules_.back().ptr());
}
std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const {
  check_index(index);
  return modules_[index].ptr();
}
void SequentialImpl::check_index(size_t index) const {
  TAEDA_CHECK(index < size(), "[Sequential] index out of range: got ", index, " of ", size(), "; check the index");
}
void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

Sequential::Sequential(std::initializer_list<NamedAnyModule> named_modules)
    : ModuleHolder<SequentialImpl>(std::make_shared<SequentialImpl>(named_modules)) {}

ModuleListImpl::ModuleListImpl() = default;
void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  modules_.push_back(std::move(module));
  register_module(std::to_string(modules_.size() - 1), modules_.back());
}
std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const {
  TAEDA_CHECK(index < size(), "[ModuleList] index out of range: got ", index, " of ", size(), "; check the index");
  return modules_[index];
}
std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}
void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  TAEDA_CHECK(index <= size(), "[ModuleList] insert needs an index up to the size: got ", index, " of ", size(), "; check the index");
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  children_.clear();
  for (size_t i = 0; i < modules_.size(); ++i) register_module(std::to_string(i), modules_[i]);
}
void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

}  // namespace taeda::nn
