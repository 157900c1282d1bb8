// SPDX-License-Identifier: Apache-2.0
// taeda eval.
#include <cmath>
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

#include "taeda/cli/commands.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/parallel.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace {

struct EvalArguments {
  std::string run, data;
  int64_t batch_size = 0;
  int threads = 0;
  bool json = false;
};

void run_eval(const EvalArguments& a) {
  if (a.threads > 0) set_num_threads(a.threads);
  const std::string checkpoint = find_checkpoint(a.run);
  const auto learner = load_learner(checkpoint);
  RunConfig config = learner->config();
  const bool other = !a.data.empty() && a.data != config.data;
  if (other) config.data = a.data;
  if (a.batch_size > 0) config.batch_size = a.batch_size;
  check_config(config);
  const DataSet data = open_eval_data(config, learner->data(), other);
  train::TrainerOptions options;
  options.quiet = true;
  nlohmann::ordered_json object;
  for (const auto& [name, value] : train::Trainer(options).test(learner, data.val)) {
    object[name.starts_with("test_") ? name.substr(5) : name] = value;
  }
  if (data.task == Task::kRegression) object["rmse"] = std::sqrt(object["loss"].get<double>()) * data.encoder.target_spread();
  if (data.task == Task::kLanguage) object["perplexity"] = std::exp(object["loss"].get<double>());
  if (a.json) {
    object["samples"] = data.val_size;
    object["checkpoint"] = checkpoint;
    std::cout << object.dump() << "\n";
    return;
  }
  std::cout << "model   " << checkpoint << "\ndata    " << config.data << ": " << data.val_size << " samples (" << data.val_name << ")\n";
  for (const auto& [name, value] : object.items()) std::printf("%-12s  %.6g\n", name.c_str(), value.get<double>());
}

}  // namespace

void add_eval(CLI::App& app) {
  auto a = std::make_shared<EvalArguments>();
  CLI::App* c = app.add_subcommand("eval", "Measure a trained model");
  c->add_option("run", a->run, "Folder of a run (its best checkpoint is used), or a checkpoint")->required();
  c->add_option("--data", a->data, "Other data of the same kind, all of it; by default the validation part of the run's data");
  c->add_option("--batch-size", a->batch_size, "Samples at a time; 0: as in training")->check(CLI::NonNegativeNumber);
  c->add_option("--threads", a->threads, "Compute threads; 0: one a core")->check(CLI::Range(0, 1024));
  c->add_flag("--json", a->json, "Print one JSON object");
  c->footer("Examples:\n  taeda eval taeda-run\n  taeda eval taeda-run --data csv:more-houses.csv --json");
  c->callback([a] { run_eval(*a); });
}

}  // namespace taeda::cli
