// SPDX-License-Identifier: Apache-2.0
// A run's folder: its configuration and its best or last checkpoint.
#pragma once

#include <memory>

#include "taeda/cli/learner.h"

namespace taeda::cli {

void write_config(const std::string& dir, const RunConfig& config);
/// Throws IoError when the folder holds no run.
RunConfig read_config(const std::string& dir);
/// The best checkpoint of a run, else the last. Throws IoError when there is none.
std::string find_checkpoint(const std::string& dir);
/// Loads a checkpoint's weights into a model built from `config`.
std::shared_ptr<Learner> load_learner(const RunConfig& config, const DataSet& data, const std::string& checkpoint);

}  // namespace taeda::cli
