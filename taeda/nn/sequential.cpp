// SPDX-License-Identifier: Apache-2.0
// Containers: copying and printing.
#include "taeda/nn/sequential.h"

#include <ostream>

#include "taeda/nn/module_list.h"

namespace taeda::nn {

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}
void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

}  // namespace taeda::nn
