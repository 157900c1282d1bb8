// SPDX-License-Identifier: Apache-2.0
// taeda train, taeda eval.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>

#include "taeda/cli/commands.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/generator.h"
#include "taeda/core/parallel.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/loggers.h"
#include "taeda/train/report.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace {

constinit std::atomic<bool> interrupted{false};
void on_interrupt(int) { interrupted.store(true); }

struct TrainArguments {
  RunConfig config;
  std::string out = "taeda-run";
  std::string resume;
  int threads = 0;
  int64_t limit_batches = 0, overfit = 0;
  bool fast_dev_run = false, quiet = false, json = false, print_config = false;
};

void print_metrics(const std::map<std::string, double>& metrics, bool as_json) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, value] : metrics) {
    const std::string plain = name.starts_with("val_") ? name.substr(4) : name.starts_with("test_") ? name.substr(5) : name;
    if (as_json) {
      object[plain] = value;
    } else {
      std::cout << "  " << plain << ": " << value << "\n";
    }
  }
  if (as_json) std::cout << object.dump() << "\n";
}

void run_train(const TrainArguments& a) {
  if (a.print_config) {
    std::cout << nlohmann::json(a.config).dump(2) << "\n";
    return;
  }
  if (a.threads > 0) set_num_threads(a.threads);
  manual_seed(a.config.seed);
  const DataSet data = open_data(a.config);
  auto learner = std::make_shared<Learner>(a.config, data);
  if (!a.quiet && !a.json) {
    std::cout << "data   " << a.config.data << ": " << data.train_size << " training, " << data.val_size << " validation samples\n"
              << "model  " << a.config.model << "\n" << std::flush;
  }
  train::TrainerOptions options;
  options.max_epochs = a.config.epochs > 0 ? a.config.epochs : a.config.max_steps > 0 ? -1 : data.usual_epochs;
  options.max_steps = a.config.max_steps;
  options.gradient_clip = a.config.clip;
  options.quiet = a.quiet || a.json;
  options.out_dir = a.fast_dev_run ? "" : a.out;
  options.resume_from = a.resume;
  options.interrupt = &interrupted;
  if (a.limit_batches > 0) options.limit_train_batches = options.limit_val_batches = a.limit_batches;
  options.overfit_batches = a.overfit;
  options.fast_dev_run = a.fast_dev_run ? 1 : 0;
  if (!a.fast_dev_run) {
    write_config(a.out, a.config);
    options.callbacks.push_back(std::make_shared<train::ModelCheckpoint>(
        train::CheckpointOptions{.monitor = data.task == Task::kClassification ? "val_accuracy" : "val_loss"}));
    train::ReportOptions report{.title = a.config.model + " on " + a.config.data};
    const nlohmann::json values = a.config;
    for (const auto& [name, value] : values.items()) report.config.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    report.class_names = data.classes;
    options.loggers = {std::make_shared<train::CSVLogger>(a.out + "/log.csv"), std::make_shared<train::TensorBoardLogger>(a.out)};
    options.callbacks.push_back(std::make_shared<train::Report>(std::move(report)));
  }
  std::signal(SIGINT, on_interrupt);
  train::Trainer trainer(options);
  const train::FitResult result = trainer.fit(learner, data.train, data.val);
  if (a.json) {
    nlohmann::json object = {{"epochs", result.epochs}, {"steps", result.steps}, {"seconds", result.seconds},
                             {"best_checkpoint", result.best_checkpoint}, {"last_checkpoint", result.last_checkpoint}};
    for (const auto& [name, value] : result.metrics) object[name] = value;
    std::cout << object.dump() << "\n";
  } else if (!a.quiet) {
    std::cout << "done in " << result.seconds << " s: " << result.epochs << " epochs, " << result.steps << " steps\n";
    print_metrics(result.metrics, false);
    if (!result.best_checkpoint.empty()) std::cout << "best   " << result.best_checkpoint << "\n";
    if (!a.fast_dev_run) std::cout << "report " << a.out << "/report.html\n";
    if (interrupted.load()) std::cout << "interrupted; go on with: taeda train --resume " << result.last_checkpoint << " …\n";
  }
}

}  // namespace

void add_train(CLI::App& app) {
  auto a = std::make_shared<TrainArguments>();
  CLI::App* c = app.add_subcommand("train", "Train a model on data");
  c->add_option("--data", a->config.data, "digits, mnist:DIR, cifar:DIR, folder:DIR, csv:FILE or text:FILE")->capture_default_str();
  c->add_option("--target", a->config.target, "csv: the column to predict");
  c->add_option("--model", a->config.model, "linear, mlp, cnn, resnet8, resnet18, resnet50, mobilenet_v2, lstm or gpt")
      ->capture_default_str();
  c->add_option("--epochs", a->config.epochs, "Passes over the data; 0: by data")->check(CLI::NonNegativeNumber);
  c->add_option("--max-steps", a->config.max_steps, "Optimizer steps; -1: no limit")->capture_default_str();
  c->add_option("--batch-size", a->config.batch_size, "Samples of a step; 0: by data")->check(CLI::NonNegativeNumber);
  c->add_option("--lr", a->config.lr, "Learning rate; 0: by model")->check(CLI::NonNegativeNumber);
  c->add_option("--weight-decay", a->config.weight_decay, "AdamW's weight decay")->capture_default_str();
  c->add_option("--schedule", a->config.schedule, "onecycle, cosine or none")->capture_default_str();
  c->add_option("--clip", a->config.clip, "Largest joint norm of the gradients; 0: none");
  c->add_option("--width", a->config.width, "Width of the model; 0: its default");
  c->add_option("--depth", a->config.depth, "Layers of mlp, lstm and gpt; 0: the default");
  c->add_option("--heads", a->config.heads, "Attention heads of gpt")->capture_default_str()->check(CLI::PositiveNumber);
  c->add_option("--block", a->config.block, "Characters that lstm and gpt see at once")->capture_default_str()->check(CLI::PositiveNumber);
  c->add_option("--dropout", a->config.dropout, "Dropout probability")->check(CLI::Range(0.0, 1.0));
  c->add_option("--image-size", a->config.image_size, "folder: side of the images; 0: 64");
  c->add_flag("--augment,!--no-augment", a->config.augment, "Shift training images by a few pixels (on by default)");
  c->add_option("--seed", a->config.seed, "Seed of weights, order and dropout")->capture_default_str();
  c->add_option("--threads", a->threads, "Compute threads; 0: all cores");
  c->add_option("--out", a->out, "Folder for checkpoints, logs and the report")->capture_default_str();
  c->add_option("--resume", a->resume, "A checkpoint to go on from");
  c->add_option("--limit-batches", a->limit_batches, "At most so many batches an epoch");
  c->add_option("--overfit", a->overfit, "Train and validate on the first so many batches");
  c->add_flag("--fast-dev-run", a->fast_dev_run, "One batch of everything, nothing written");
  c->add_flag("--quiet", a->quiet, "Print nothing");
  c->add_flag("--json", a->json, "Print one JSON object at the end");
  c->add_flag("--print-config", a->print_config, "Print the configuration and stop");
  c->set_config("--config", "", "A TOML file with these options; the command line wins");
  c->footer("Examples:\n  taeda train --data digits --model cnn\n  taeda train --data csv:houses.csv --target price --model mlp\n"
            "  taeda train --data text:book.txt --model gpt --max-steps 2000");
  c->callback([a] { run_train(*a); });
}

void add_eval(CLI::App& app) {
  struct Arguments {
    std::string dir, data;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* c = app.add_subcommand("eval", "Measure a trained model on validation data");
  c->add_option("dir", a->dir, "Folder of the run")->required();
  c->add_option("--data", a->data, "Other data of the same kind; by default the run's");
  c->add_flag("--json", a->json, "Print one JSON object");
  c->callback([a] {
    RunConfig config = read_config(a->dir);
    if (!a->data.empty()) config.data = a->data;
    const DataSet data = open_data(config);
    auto learner = load_learner(config, data, find_checkpoint(a->dir));
    train::TrainerOptions options;
    options.quiet = true;
    train::Trainer trainer(options);
    print_metrics(trainer.validate(learner, data.val), a->json);
  });
}

}  // namespace taeda::cli
