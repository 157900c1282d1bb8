// SPDX-License-Identifier: Apache-2.0
// Reading and writing of run folders.
#include "taeda/cli/run_folder.h"

#include <filesystem>
#include <fstream>

#include "taeda/io/archive.h"
#include "taeda/io/file.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace fs = std::filesystem;

void write_config(const std::string& dir, const RunConfig& config) {
  fs::create_directories(dir);
  const std::string text = nlohmann::json(config).dump(2) + "\n";
  std::ofstream(fs::path(dir) / "config.json") << text;
}

RunConfig read_config(const std::string& dir) {
  std::ifstream file(fs::path(dir) / "config.json");
  TAEDA_CHECK_IO(file.good(), "[run] the folder must hold a run (config.json): got \"", dir, "\"; pass the --out of a training");
  try {
    return nlohmann::json::parse(file).get<RunConfig>();
  } catch (const nlohmann::json::exception& error) {
    TAEDA_CHECK_IO(false, "[run] config.json is damaged: ", error.what(), "; train again");
  }
  return {};
}

std::string find_checkpoint(const std::string& dir) {
  std::string best;
  std::string last;
  fs::file_time_type best_time{};
  for (const fs::path& root : {fs::path(dir), fs::path(dir) / "checkpoints"}) {
    if (!fs::is_directory(root)) continue;
    for (const auto& entry : fs::directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".pt" && entry.path().extension() != ".ckpt") continue;
      if (name.starts_with("last")) {
        last = entry.path().string();
      } else if (name.starts_with("best") && (best.empty() || entry.last_write_time() > best_time)) {
        best = entry.path().string();
        best_time = entry.last_write_time();
      }
    }
  }
  const std::string found = best.empty() ? last : best;
  TAEDA_CHECK_IO(!found.empty(), "[run] the folder holds no checkpoint: got \"", dir, "\"; train first");
  return found;
}

std::shared_ptr<Learner> load_learner(const RunConfig& config, const DataSet& data, const std::string& checkpoint) {
  auto learner = std::make_shared<Learner>(config, data);
  serialize::InputArchive archive;
  archive.load_from(checkpoint);
  serialize::InputArchive model;
  archive.read("model", model);
  learner->load(model);
  return learner;
}

}  // namespace taeda::cli
