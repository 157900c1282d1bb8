// SPDX-License-Identifier: Apache-2.0
// A run's folder, and the trained model in a checkpoint.
#pragma once

#include <memory>

#include "taeda/cli/learner.h"

namespace taeda::cli {

/// The best checkpoint of a run's folder, else the last; a file is taken as it is. Throws IoError when there is none.
std::string find_checkpoint(const std::string& path);
/// The checkpoint at which a run stopped: `last.pt` of a folder, or the file itself. Throws IoError when there is none.
std::string find_last_checkpoint(const std::string& path);
/// The settings of the run that wrote a checkpoint. Throws IoError when it was not written by this program.
RunConfig config_of(const std::string& checkpoint);
/// The optimizer steps that a checkpoint's run had done.
int64_t steps_of(const std::string& checkpoint);
/// The model of a checkpoint, ready to be used.
std::shared_ptr<Learner> load_learner(const std::string& checkpoint);
/// Moves a folder that holds an earlier run out of the way, to the first free of `dir`.1, `dir`.2, …; returns its new name, or "" when there
/// was none.
std::string put_aside(const std::string& dir);

}  // namespace taeda::cli
