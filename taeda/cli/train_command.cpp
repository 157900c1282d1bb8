// SPDX-License-Identifier: Apache-2.0
// taeda train.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "taeda/cli/board_details.h"
#include "taeda/cli/commands.h"
#include "taeda/cli/run_folder.h"
#include "taeda/core/generator.h"
#include "taeda/core/parallel.h"
#include "taeda/io/file.h"
#include "taeda/io/folder.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/callbacks_more.h"
#include "taeda/train/loggers.h"
#include "taeda/train/progress.h"
#include "taeda/train/report.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace {

namespace fs = std::filesystem;

constinit std::atomic<bool> interrupted{false};
void on_interrupt(int signal) {
  interrupted.store(true);
  std::signal(signal, SIG_DFL);  // the second one ends the program at once
}

struct TrainArguments {
  SettingOptions settings;
  std::string resume;
  bool resumes = false, fast_dev_run = false, quiet = false, json = false, print_config = false;
  bool silent() const { return quiet || json; }
};

/// One run of the command, from settings to results.
class TrainRun {
 public:
  explicit TrainRun(const TrainArguments& arguments) : a_(arguments) {}

  int run() {
    settle();
    if (a_.print_config) return std::cout << write_toml(config_), 0;
    if (config_.threads > 0) set_num_threads(static_cast<int>(config_.threads));
    manual_seed(static_cast<uint64_t>(config_.seed));
    const DataSet data = open_data(config_);
    learner_ = std::make_shared<Learner>(config_, data);
    if (config_.lr == "find") find_rate(data);
    introduce(data);
    train::TrainerOptions options = make_options();
    if (!a_.fast_dev_run) add_outputs(options);
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    train::Trainer trainer(options);
    const train::FitResult result = trainer.fit(learner_, data.train, data.val);
    if (a_.json) std::cout << as_json(result).dump() << "\n";
    else if (!a_.quiet) tell(result);
    return result.stopped_by == "interrupt" ? 130 : 0;
  }

 private:
  /// The settings: of the run to go on with, of the file, of the command line.
  void settle() {
    RunConfig base;
    if (a_.resumes) {
      const std::string from = a_.resume.empty() ? a_.settings.merge(base).out : a_.resume;
      checkpoint_ = find_last_checkpoint(from);
      base = config_of(checkpoint_);
      steps_before_ = steps_of(checkpoint_);
      const fs::path folder = fs::path(checkpoint_).parent_path();
      if (fs::is_directory(from)) base.out = from;
      else if (folder.filename() == "checkpoints") base.out = folder.parent_path().string();  // wherever the run has been moved
    }
    config_ = a_.settings.merge(base);
    resolve_config(config_);
  }

  void find_rate(const DataSet& data) {
    const train::LRFinderResult found = train::find_lr(*learner_, data.train, {.min_lr = 1e-6, .max_lr = 1, .steps = 100});
    char text[32];
    std::snprintf(text, sizeof(text), "%.3g", found.suggestion);
    TAEDA_CHECK_VALUE(found.suggestion > 0, "[--lr] no rate was found at which the loss falls: tried ", found.lrs.size(),
                      "; give one, for example --lr 0.001");
    config_.lr = text;
    learner_->set_lr(config_.lr);
    if (!a_.silent()) std::cout << "rate    " << text << " is where the loss falls fastest, of " << found.lrs.size() << " tried\n" << std::flush;
  }

  void introduce(const DataSet& data) {
    info_ = train::inspect(*learner_, learner_->example_input());
    if (a_.silent()) return;
    std::cout << "data    " << config_.data << ": " << train::grouped(data.train_size) << " training samples, " << train::grouped(data.val_size)
              << " for validation (" << data.val_name << ")\n"
              << "model   " << config_.model << "\n"
              << summary_table(info_);
    std::cout << "run     ";
    if (config_.epochs > 0) std::cout << config_.epochs << (config_.epochs == 1 ? " epoch" : " epochs");
    if (config_.max_steps > 0) std::cout << (config_.epochs > 0 ? ", at most " : "") << train::grouped(config_.max_steps) << " steps";
    std::cout << ", batches of " << config_.batch_size << ", AdamW, rate " << config_.lr << " (" << config_.schedule << "), seed " << config_.seed << ", "
              << get_num_threads() << (get_num_threads() == 1 ? " thread\n" : " threads\n");
    if (!checkpoint_.empty()) std::cout << "resume  " << checkpoint_ << "\n";
    std::cout << std::flush;
  }

  train::TrainerOptions make_options() const {
    train::TrainerOptions options;
    options.max_epochs = config_.epochs > 0 ? config_.epochs : -1;
    options.max_steps = config_.max_steps > 0 ? config_.max_steps : -1;
    options.gradient_clip = config_.clip;
    if (config_.val_every > 0) {
      options.val_check_interval = config_.val_every;
      options.check_val_every_n_epoch = 0;
    }
    options.validate_at_end = true;
    if (config_.limit_batches > 0) options.limit_train_batches = options.limit_val_batches = config_.limit_batches;
    options.overfit_batches = config_.overfit;
    options.compile = config_.compile;
    options.fast_dev_run = a_.fast_dev_run ? 1 : 0;
    options.resume_from = checkpoint_;
    options.interrupt = &interrupted;
    options.quiet = a_.silent();
    options.model_summary = false;
    if (!options.quiet) options.callbacks.push_back(std::make_shared<train::ProgressBar>(stdout));
    if (config_.ema > 0) options.callbacks.push_back(std::make_shared<train::EMA>(config_.ema));
    return options;
  }

  /// Checkpoints, logs and the report.
  void add_outputs(train::TrainerOptions& options) {
    if (checkpoint_.empty()) {
      const std::string aside = put_aside(config_.out);
      if (!aside.empty() && !a_.silent()) std::cout << "out     the earlier run in " << config_.out << " is now " << aside << "\n" << std::flush;
    }
    io::make_folder(config_.out);
    io::write_file(config_.out + "/config.toml", write_toml(config_));
    options.out_dir = config_.out;
    best_ = std::make_shared<train::ModelCheckpoint>(train::CheckpointOptions{.monitor = learner_->monitor()});
    train::ReportOptions report{.title = config_.model + " on " + config_.data, .class_names = learner_->data().classes};
    for_each_setting([&](const char* name, auto member, const char*, const char*) { report.config.emplace_back(name, str(std::boolalpha, config_.*member)); });
    options.hyperparameters = report.config;
    const auto board = std::make_shared<train::TensorBoardLogger>(config_.out);
    options.loggers = {std::make_shared<train::CSVLogger>(config_.out + "/log.csv"), board};
    if (checkpoint_.empty()) board->add_graph(*learner_, info_.output);
    info_.output = Tensor();
    options.callbacks.push_back(best_);
    options.callbacks.push_back(std::make_shared<BoardDetails>(board));
    options.callbacks.push_back(std::make_shared<train::Report>(std::move(report)));
  }

  nlohmann::json as_json(const train::FitResult& result) const {
    nlohmann::json object = {{"epochs", result.epochs}, {"steps", result.steps}, {"seconds", result.seconds}, {"stopped_by", result.stopped_by},
                             {"lr", std::strtod(config_.lr.c_str(), nullptr)}, {"parameters", info_.parameters},
                             {"best_checkpoint", result.best_checkpoint}, {"last_checkpoint", result.last_checkpoint}};
    if (has_best()) {
      object["best_metric"] = best_->monitor();
      object["best_value"] = best_->best_value();
      object["report"] = config_.out + "/report.html";
    }
    for (const auto& [name, value] : result.metrics) object[name] = value;
    return object;
  }

  bool has_best() const { return best_ && !best_->best_path().empty(); }

  void tell(const train::FitResult& result) const {
    if (has_best()) std::cout << "best    " << best_->monitor() << " " << best_->best_value() << ": " << best_->best_path() << "\n";
    if (!a_.fast_dev_run) std::cout << "report  " << config_.out << "/report.html\n";
    if (result.stopped_by == "interrupt") {
      std::cout << (a_.fast_dev_run ? "stopped" : "stopped; go on with: taeda train --resume " + config_.out) << "\n";
    } else if (!checkpoint_.empty() && result.steps == steps_before_) {
      std::cout << "nothing was left to do; raise " << (result.stopped_by == "max_steps" ? "--max-steps" : "--epochs") << " to go on\n";
    } else if (!a_.fast_dev_run) {
      const bool text = learner_->data().task == Task::kLanguage;
      std::cout << "next    taeda predict " << config_.out << (text ? " --length 500\n" : learner_->data().is_image() ? " IMAGE.png\n" : " FILE.csv\n");
    }
  }

  const TrainArguments& a_;
  RunConfig config_;
  std::string checkpoint_;
  int64_t steps_before_ = 0;  ///< of the run that goes on
  std::shared_ptr<Learner> learner_;
  train::ModelInfo info_;
  std::shared_ptr<train::ModelCheckpoint> best_;
};

}  // namespace

void add_train(CLI::App& app) {
  auto a = std::make_shared<TrainArguments>();
  CLI::App* c = app.add_subcommand("train", "Train a model on data");
  a->settings.add(*c);
  CLI::Option* resume = c->add_option("--resume", a->resume, "Go on with the run in --out, or with this run's folder or checkpoint")
                            ->expected(0, 1)
                            ->type_name("[RUN]")
                            ->group("Run");
  c->add_flag("--fast-dev-run", a->fast_dev_run, "Try one batch of everything; write nothing")->group("Run");
  c->add_flag("--quiet", a->quiet, "Print nothing")->group("Run");
  c->add_flag("--json", a->json, "Print one JSON object at the end, and nothing else")->group("Run");
  c->add_flag("--print-config", a->print_config, "Print all settings as TOML, as --config takes them, and stop")->group("Run");
  c->footer("Examples:\n"
            "  taeda train                                       reads the built-in digits with a small network\n"
            "  taeda train --data mnist:DIR --epochs 5\n"
            "  taeda train --data csv:houses.csv --target price\n"
            "  taeda train --data text:book.txt --max-steps 2000 --val-every 500\n"
            "  taeda train --resume taeda-run --epochs 40        goes on, for longer\n"
            "  taeda train --print-config > run.toml; taeda train --config run.toml --lr find");
  c->callback([a, resume] {
    a->resumes = resume->count() > 0;
    const int status = TrainRun(*a).run();
    if (status != 0) throw Exit{status};
  });
}

}  // namespace taeda::cli
