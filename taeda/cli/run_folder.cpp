// SPDX-License-Identifier: Apache-2.0
// Finding checkpoints in run folders, and loading models from them.
#include "taeda/cli/run_folder.h"

#include <filesystem>

#include "taeda/core/allocator.h"
#include "taeda/io/archive.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace fs = std::filesystem;

namespace {

/// Where the trainer's checkpoint in `last.pt` says that the best one lies, if it is there.
std::string best_of(const std::string& last) {
  serialize::InputArchive archive;
  archive.load_from(last);
  for (const std::string& key : archive.all_keys()) {
    if (!key.starts_with("callbacks.ModelCheckpoint_") || !key.ends_with(".paths")) continue;
    Value paths;
    archive.read(key, paths);
    if (!paths.is_list() || paths.list().empty()) continue;
    // The folder may have been moved since.
    const fs::path best = fs::path(last).parent_path() / fs::path(paths.list()[0].string()).filename();
    if (fs::is_regular_file(best)) return best.string();
  }
  return {};
}

serialize::InputArchive open_checkpoint(const std::string& checkpoint) {
  serialize::InputArchive archive;
  archive.load_from(checkpoint);
  Value config;
  TAEDA_CHECK_IO(archive.try_read("user.config", config) && config.is_string(), "[run] ", checkpoint,
                 ": the file must be a checkpoint written by taeda train: got one without a configuration; give a run's folder, or see taeda info");
  return archive;
}

RunConfig config_of(const serialize::InputArchive& archive, const std::string& checkpoint) {
  Value text;
  archive.read("user.config", text);
  RunConfig config;
  try {
    read_toml(text.string(), checkpoint, config);
    check_config(config);
  } catch (const ValueError& error) {
    TAEDA_CHECK_IO(false, "[run] ", checkpoint, ": the configuration inside is damaged: ", error.what());
  }
  return config;
}

/// While it lives, tensors may take so many bytes more.
class MemoryBound {
 public:
  explicit MemoryBound(size_t bytes) : before_(memory_stats().limit) { set_memory_limit(memory_stats().reserved + bytes + (size_t{64} << 20)); }
  ~MemoryBound() { set_memory_limit(before_); }
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  size_t before_;
};

}  // namespace

std::string find_last_checkpoint(const std::string& path) {
  if (fs::is_regular_file(path)) return path;
  const fs::path last = fs::path(path) / "checkpoints" / "last.pt";
  TAEDA_CHECK_IO(fs::is_regular_file(last), "[run] there must be a run to use: got no ", last.string(),
                 "; name the --out folder of taeda train, or a checkpoint");
  return last.string();
}

std::string find_checkpoint(const std::string& path) {
  const std::string last = find_last_checkpoint(path);
  if (last == path) return path;
  const std::string best = best_of(last);
  return best.empty() ? last : best;
}

RunConfig config_of(const std::string& checkpoint) { return config_of(open_checkpoint(checkpoint), checkpoint); }

int64_t steps_of(const std::string& checkpoint) {
  Value steps;
  open_checkpoint(checkpoint).read("progress.global_step", steps);
  return steps.to_int();
}

std::shared_ptr<Learner> load_learner(const std::string& checkpoint) {
  const serialize::InputArchive archive = open_checkpoint(checkpoint);
  Value data;
  archive.read("user.data", data);
  const RunConfig config = config_of(archive, checkpoint);
  const DataInfo info = DataInfo::from_value(data);
  std::shared_ptr<Learner> learner;
  try {
    const MemoryBound bound(8 * static_cast<size_t>(fs::file_size(checkpoint)));
    learner = std::make_shared<Learner>(config, info);
  } catch (const OutOfMemoryError&) {
    TAEDA_CHECK_IO(false, "[run] ", checkpoint, ": the model that it describes is larger than the file; the file is damaged");
  }
  serialize::InputArchive model;
  archive.read("model", model);
  learner->load(model);
  learner->eval();
  return learner;
}

std::string put_aside(const std::string& dir) {
  if (!fs::exists(fs::path(dir) / "config.toml")) return {};
  std::string plain = dir;
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  for (int i = 1;; ++i) {
    const std::string aside = plain + "." + std::to_string(i);
    if (fs::exists(aside)) continue;
    std::error_code error;
    fs::rename(plain, aside, error);
    TAEDA_CHECK_IO(!error, "[--out] the earlier run in ", plain, " cannot be moved to ", aside, ": ", error.message(), "; choose another folder");
    return aside;
  }
}

}  // namespace taeda::cli
