// SPDX-License-Identifier: Apache-2.0
// Modules from the class names and constructor arguments of the reference files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "taeda/nn/module.h"

namespace taeda::test {

/// Arguments of `forward` given by name.
struct NamedArguments {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, bool> flags;

  Tensor tensor(const std::string& name) const;
  bool flag(const std::string& name, bool usual) const;
};

/// A module and its forward over flat lists of inputs and outputs.
struct MadeModule {
  std::shared_ptr<nn::Module> module;
  std::function<std::vector<Tensor>(nn::Module&, const std::vector<Tensor>&, const NamedArguments&)> call;
};

/// The module of a class with the given constructor arguments; every argument is used, or std::runtime_error is thrown. `load` turns
/// a tensor reference into a tensor. An unknown class gives a null module.
MadeModule make_module(const std::string& class_name, const nlohmann::json& kwargs,
                       const std::function<Tensor(const nlohmann::json&)>& load);

}  // namespace taeda::test
