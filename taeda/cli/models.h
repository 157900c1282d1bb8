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

/// The model of a resolved configuration. Throws ValueError for one that does not fit the data.
std::shared_ptr<Network> make_network(const RunConfig& config, const DataInfo& data);

}  // namespace taeda::cli
