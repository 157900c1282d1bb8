// SPDX-License-Identifier: Apache-2.0
// The models that the program trains by name.
#pragma once

#include <memory>

#include "taeda/cli/config.h"
#include "taeda/cli/dataset.h"
#include "taeda/nn/module.h"

namespace taeda::cli {

/// A model with one input and one output.
struct Network : nn::Module {
  using nn::Module::Module;
  virtual Tensor forward(const Tensor& input) = 0;
};

/// `linear`, `mlp`, `cnn`, `resnet8`, `resnet18`, `resnet50`, `mobilenet_v2`, `lstm`, `gpt`. Throws ValueError for another name, or a
/// model that does not fit the data.
std::shared_ptr<Network> make_network(const RunConfig& config, const DataSet& data);
/// The learning rate used when none is given.
double default_lr(const std::string& model);

}  // namespace taeda::cli
