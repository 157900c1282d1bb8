// SPDX-License-Identifier: Apache-2.0
// Settings on the command line.
#include <algorithm>
#include <memory>

#include "taeda/cli/commands.h"
#include "taeda/core/error.h"
#include "taeda/io/file.h"

namespace taeda::cli {

void SettingOptions::add(CLI::App& command, const std::vector<std::string>& groups) {
  for_each_setting([&](const char* name, auto member, const char* group, const char* help) {
    if (!groups.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) return;
    auto& value = given_.*member;
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, bool>) {
      option = command.add_flag(str("--", name, ",!--no-", name), value, help);
    } else {
      option = command.add_option(str("--", name), value, help)->capture_default_str();
    }
    option->group(group);
    options_.emplace_back(option, [member](RunConfig& to, const RunConfig& from) { to.*member = from.*member; });
  });
  command.add_option("--config", file_, "A TOML file with settings; the command line wins")->type_name("FILE")->group("Run");
}

RunConfig SettingOptions::merge(RunConfig base) const {
  constexpr uint64_t kMostBytes = 1 << 20;
  if (!file_.empty()) read_toml(io::read_file(file_, kMostBytes), file_, base);
  for (const auto& [option, copy] : options_) {
    if (option->count() > 0) copy(base, given_);
  }
  check_config(base);
  return base;
}

}  // namespace taeda::cli
