// SPDX-License-Identifier: Apache-2.0
// The program taeda: train, evaluate and use models from a terminal.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <utility>

#include "taeda/cli/commands.h"
#include "taeda/core/error.h"
#include "taeda/core/version.h"

namespace {

/// Exit status of a command line that cannot be understood, as of the shell's own commands.
constexpr int kUsage = 2;

/// Single changes of characters between two words (Levenshtein 1966).
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) diagonal = std::exchange(row[k], std::min({row[k] + 1, row[k - 1] + 1, diagonal + (a[i - 1] != b[k - 1])}));
  }
  return row[b.size()];
}

/// The command that was meant by a word; the word itself when it is one.
std::string nearest_command(const CLI::App& app, const std::string& word) {
  std::string best;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (best.empty() || distance(word, command->get_name()) < distance(word, best)) best = command->get_name();
  }
  return best;
}

/// A whole number is one that fits: CLI11 takes the nearest instead. A file has a name.
std::string check_value(const CLI::Option& option, const std::string& text) {
  const std::string full = option.get_type_name(), type = full.substr(0, full.find(':'));
  if (type == "INT" || type == "UINT") {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return "the number must fit 64 bits: got " + text + "; correct it";
  }
  const bool names_a_file = type == "FILE" || (option.get_positional() && option.get_name() != "files");
  if (text.empty() && names_a_file) return "the value must not be empty; give one, or leave the option out";
  return {};
}

void check_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) continue;  // a flag
      option->check([option](const std::string& text) { return check_value(*option, text); }, "");
    }
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Train, evaluate and use neural networks."};
  app.name("taeda");
  app.require_subcommand(1);
  app.set_version_flag("--version", taeda::str("taeda ", TAEDA_VERSION_MAJOR, ".", TAEDA_VERSION_MINOR, ".", TAEDA_VERSION_PATCH));
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return taeda::str("taeda: ", error.what(), "\nSee `taeda ", command->get_subcommands().empty() ? "" : command->get_subcommands()[0]->get_name() + " ",
                      "--help`.\n");
  });
  app.footer("`taeda COMMAND --help` explains each command. Begin with:  taeda train");
  taeda::cli::add_train(app);
  taeda::cli::add_eval(app);
  taeda::cli::add_predict(app);
  taeda::cli::add_bench(app);
  taeda::cli::add_graph(app);
  taeda::cli::add_information(app);
  taeda::cli::add_completion(app);
  check_values(app);
  if (argc > 1 && argv[1][0] != '-') {
    const std::string nearest = nearest_command(app, argv[1]);
    if (nearest != argv[1]) {
      std::cerr << "taeda: unknown command: got \"" << argv[1] << "\"; did you mean " << nearest << "? See `taeda --help`.\n";
      return kUsage;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const taeda::cli::Exit& exit) {
    return exit.status;
  }
  std::cout << std::flush;
  return std::cout.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cout << std::flush;
    std::cerr << "taeda: " << error.what() << "\n";
    return 1;
  }
}
