// SPDX-License-Identifier: Apache-2.0
// The commands of the program. Each adds itself to the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace taeda::cli {

void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
/// info, ops, version.
void add_information(CLI::App& app);

}  // namespace taeda::cli
