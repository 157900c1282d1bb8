// SPDX-License-Identifier: Apache-2.0
// Everything that describes a run of the program; kept beside its checkpoints as config.json.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace taeda::cli {

struct RunConfig {
  std::string data = "digits";
  std::string target;  ///< CSV: the column to predict
  std::string model = "cnn";
  int64_t width = 0;   ///< 0: the model's default
  int64_t depth = 0;
  int64_t heads = 4;
  int64_t block = 64;
  double dropout = 0;
  int64_t epochs = 0;  ///< 0: by data
  int64_t max_steps = -1;
  int64_t batch_size = 0;  ///< 0: by data
  double lr = 0;           ///< 0: by model
  double weight_decay = 0.01;
  double clip = 0;
  std::string schedule = "onecycle";
  uint64_t seed = 0;
  int64_t image_size = 0;
  bool augment = true;  ///< images: training batches are shifted by a few pixels
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RunConfig, data, target, model, width, depth, heads, block, dropout, epochs,
                                                max_steps, batch_size, lr, weight_decay, clip, schedule, seed, image_size, augment)

}  // namespace taeda::cli
