// SPDX-License-Identifier: Apache-2.0
// The commands of the program. Each adds itself to the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "taeda/cli/config.h"

namespace taeda::cli {

void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_bench(CLI::App& app);
void add_graph(CLI::App& app);
/// info, ops, version.
void add_information(CLI::App& app);
/// To be added last: it knows the commands that are there.
void add_completion(CLI::App& app);

/// The settings of a run as options of a command, and `--config FILE`.
class SettingOptions {
 public:
  /// Only settings of these groups; none: all.
  void add(CLI::App& command, const std::vector<std::string>& groups = {});
  /// `base` with what the file says, and above that what the command line says; checked.
  RunConfig merge(RunConfig base) const;

 private:
  RunConfig given_;
  std::string file_;
  std::vector<std::pair<CLI::Option*, std::function<void(RunConfig& to, const RunConfig& from)>>> options_;
};

/// The command ends with this exit status, everything said already.
struct Exit {
  int status;
};

}  // namespace taeda::cli
