// SPDX-License-Identifier: Apache-2.0
// taeda info, ops, version.
#include <filesystem>
#include <iostream>

#include <oneapi/dnnl/dnnl_version.h>
#include <openblas_config.h>

#include "taeda/cli/commands.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/parallel.h"
#include "taeda/core/version.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/io/describe.h"
#include "taeda/ops/registry.h"

namespace taeda::cli {

namespace {

void print_version() {
  std::cout << "taeda " << TAEDA_VERSION_MAJOR << "." << TAEDA_VERSION_MINOR << "." << TAEDA_VERSION_PATCH << "\n"
            << "processor  " << cpu::simd_target_name(cpu::best_simd_target()) << ", kernels for " << cpu::simd_target_name(cpu::simd_target()) << "\n"
            << "threads    " << get_num_threads() << "\n"
#if defined(__clang__)
            << "compiler   clang " << __clang_version__ << "\n"
#elif defined(__GNUC__)
            << "compiler   gcc " << __VERSION__ << "\n"
#endif
            << "libraries  oneDNN " << DNNL_VERSION_MAJOR << "." << DNNL_VERSION_MINOR << "." << DNNL_VERSION_PATCH << "," OPENBLAS_VERSION "\n"
            << "operators  " << all_ops().size() << "\n";
}

/// A run's folder: its checkpoint.
std::string file_of(const std::string& path) { return std::filesystem::is_directory(path) ? find_checkpoint(path) : path; }

}  // namespace

void add_information(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  CLI::App* info = app.add_subcommand("info", "Say what a checkpoint, .safetensors, .pt, .npy, .npz or image file holds");
  info->add_option("file", *file, "The file, or the folder of a run")->required();
  info->footer("Example:\n  taeda info taeda-run/checkpoints/best.safetensors");
  info->callback([file] { std::cout << io::describe_file(file_of(*file)); });
  auto word = std::make_shared<std::string>();
  CLI::App* ops = app.add_subcommand("ops", "List the operators and their schemas");
  ops->add_option("word", *word, "Only those with this in their names");
  ops->footer("Example:\n  taeda ops softmax");
  ops->callback([word] {
    size_t shown = 0;
    for (const OpInfo* op : all_ops()) {
      const std::string schema(op->schema);
      if (schema.substr(0, schema.find('(')).find(*word) == std::string::npos) continue;
      std::cout << schema << "\n";
      ++shown;
    }
    if (shown == 0) {
      std::cerr << "taeda: no operator has \"" << *word << "\" in its name\n";
      throw Exit{1};
    }
  });
  app.add_subcommand("version", "Say the version, processor, libraries and threads")->callback(print_version);
}

}  // namespace taeda::cli
