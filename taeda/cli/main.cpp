// SPDX-License-Identifier: Apache-2.0
// The program taeda: train, evaluate and use models from a terminal.
#include <iostream>

#include "taeda/cli/commands.h"
#include "taeda/core/parallel.h"
#include "taeda/core/version.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/io/describe.h"
#include "taeda/ops/registry.h"

namespace taeda::cli {

void add_information(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  CLI::App* info = app.add_subcommand("info", "Say what a checkpoint, .safetensors, .pt, .npy or .npz file holds");
  info->add_option("file", *file, "The file")->required();
  info->callback([file] { std::cout << io::describe_file(*file); });
  app.add_subcommand("ops", "List the operators and their schemas")->callback([] {
    for (const OpInfo* op : all_ops()) std::cout << op->schema << "\n";
  });
  app.add_subcommand("version", "Version, instruction set and threads")->callback([] {
    std::cout << "taeda " << TAEDA_VERSION_MAJOR << "." << TAEDA_VERSION_MINOR << "." << TAEDA_VERSION_PATCH << "\ninstruction set: " << cpu::simd_target_name(cpu::simd_target())
              << "\nthreads: " << get_num_threads() << "\n";
  });
}

}  // namespace taeda::cli

int main(int argc, char** argv) {
  CLI::App app{"Train, evaluate and use neural networks."};
  app.name("taeda");
  app.require_subcommand(1);
  taeda::cli::add_train(app);
  taeda::cli::add_eval(app);
  taeda::cli::add_predict(app);
  taeda::cli::add_information(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "taeda: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
