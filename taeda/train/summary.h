// SPDX-License-Identifier: Apache-2.0
// What a model consists of: layers, output shapes, parameters, memory.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "taeda/train/callback.h"

namespace taeda::train {

/// A layer of a model.
struct LayerInfo {
  std::string name, type;
  std::string shapes;  ///< of its parameters
  std::string output;  ///< shape of its result for the example; empty where it is not known
  int64_t parameters = 0, trainable = 0;
};

struct ModelInfo {
  std::vector<LayerInfo> layers;  ///< those that own parameters or have no children, in order
  int64_t parameters = 0, trainable = 0;
  int64_t parameter_bytes = 0, buffer_bytes = 0;
  int64_t activation_bytes = 0;  ///< kept for the backward pass of the example; 0 without one
  Tensor output;                 ///< of the example, with its graph; undefined without one
};

/// `example`: an input of `predict_step`. It runs once in evaluation mode; weights, buffers and random numbers stay as they are. Shapes are
/// known of layers in a Sequential and of those that own parameters.
TAEDA_API ModelInfo inspect(Module& model, const Tensor& example);
TAEDA_API ModelInfo inspect(const nn::Module& model);
/// A table of the layers, with totals.
TAEDA_API std::string summary_table(const ModelInfo& info);
/// 98218 as "98,218".
TAEDA_API std::string grouped(int64_t number);
/// 1536 as "1.5 KiB".
TAEDA_API std::string human_bytes(int64_t bytes);

/// Prints the table when a fit starts, with output shapes where the model has an `example_input`.
class TAEDA_API ModelSummary : public Callback {
 public:
  explicit ModelSummary(std::FILE* stream = stderr) : stream_(stream) {}
  void on_fit_start(Trainer& trainer, Module& model) override;

 private:
  std::FILE* stream_;
};

}  // namespace taeda::train
