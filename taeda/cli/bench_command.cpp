// SPDX-License-Identifier: Apache-2.0
// taeda bench: where the time of a training step goes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

#include "taeda/autograd/grad_mode.h"
#include "taeda/cli/commands.h"
#include "taeda/cli/learner.h"
#include "taeda/core/allocator.h"
#include "taeda/core/generator.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/functions.h"
#include "taeda/train/summary.h"
#include "taeda/train/trainer.h"

namespace taeda::cli {

namespace {

struct BenchArguments {
  SettingOptions settings;
  int64_t steps = 30;
  bool json = false;
};

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Times the parts of steps as the trainer does them.
struct StepTimer : train::Callback {
  void on_train_batch_start(train::Trainer&, train::Module&, const train::Batch&) override {
    const auto now = Clock::now();
    if (started) loading.push_back(std::chrono::duration<double, std::milli>(now - end).count());
    start = now;
    started = true;
  }
  void on_before_optimizer_step(train::Trainer&, train::Module&) override { before = Clock::now(); }
  void on_after_optimizer_step(train::Trainer&, train::Module&) override { optimizer.push_back(milliseconds_since(before)); }
  void on_train_batch_end(train::Trainer&, train::Module&, const train::Batch&, const Tensor&) override {
    end = Clock::now();
    step.push_back(std::chrono::duration<double, std::milli>(end - start).count());
  }
  bool started = false;
  Clock::time_point start, before, end;
  std::vector<double> loading, optimizer, step;
};

double time_inference(Learner& model, const Tensor& input, int64_t times) {
  const NoGradGuard no_grad;
  model.eval();
  std::vector<double> each;
  for (int64_t i = 0; i < times; ++i) {
    const auto start = Clock::now();
    model.forward(input);
    each.push_back(milliseconds_since(start));
  }
  return median(each);
}

void run_bench(const BenchArguments& a) {
  RunConfig config = a.settings.merge({});
  resolve_config(config);
  if (config.lr == "find") config.lr = "0.001";
  if (config.threads > 0) set_num_threads(static_cast<int>(config.threads));
  manual_seed(static_cast<uint64_t>(config.seed));
  const DataSet data = open_data(config);
  auto model = std::make_shared<Learner>(config, data);
  const auto timer = std::make_shared<StepTimer>();
  train::TrainerOptions options{.max_steps = a.steps, .quiet = true};
  options.callbacks = {timer};
  reset_peak_stats();
  train::Trainer(options).fit(model, data.train);
  const auto peak = static_cast<int64_t>(memory_stats().peak);
  const Tensor one = example_of(data);
  const Tensor batch = taeda::cat(std::vector<Tensor>(static_cast<size_t>(config.batch_size), one), 0);
  const double step = median(timer->step), optimizer = median(timer->optimizer), loading = median(timer->loading);
  nlohmann::ordered_json object = {{"data", config.data}, {"model", config.model}, {"batch_size", config.batch_size},
                                   {"threads", get_num_threads()}, {"steps", timer->step.size()}, {"step_ms", step},
                                   {"forward_backward_ms", step - optimizer}, {"optimizer_ms", optimizer}, {"loading_ms", loading},
                                   {"samples_per_second", 1000 * static_cast<double>(config.batch_size) / (step + loading)},
                                   {"inference_1_ms", time_inference(*model, one, a.steps)},
                                   {"inference_batch_ms", time_inference(*model, batch, a.steps)}, {"peak_memory_bytes", peak}};
  if (a.json) {
    std::cout << object.dump() << "\n";
    return;
  }
  std::printf("%s on %s, batches of %lld, %d threads, medians of %zu steps\n\n", config.model.c_str(), config.data.c_str(),
              static_cast<long long>(config.batch_size), get_num_threads(), timer->step.size());
  const auto line = [&](const char* what, const char* name) { std::printf("%-28s %10.3f ms\n", what, object[name].get<double>()); };
  line("making a batch", "loading_ms");
  line("forward and backward", "forward_backward_ms");
  line("optimizer", "optimizer_ms");
  line("inference, one sample", "inference_1_ms");
  line("inference, a batch", "inference_batch_ms");
  std::printf("%-28s %10.0f a second\n%-28s %10s\n", "samples trained on", object["samples_per_second"].get<double>(), "largest memory of tensors",
              train::human_bytes(peak).c_str());
}

}  // namespace

void add_bench(CLI::App& app) {
  auto a = std::make_shared<BenchArguments>();
  CLI::App* c = app.add_subcommand("bench", "Time the training steps and the inference of a model");
  a->settings.add(*c);
  c->add_option("--steps", a->steps, "Steps to time")->capture_default_str()->check(CLI::Range(1, 1000000));
  c->add_flag("--json", a->json, "Print one JSON object");
  c->footer("Examples:\n  taeda bench --model resnet8\n  taeda bench --data text:book.txt --model gpt --threads 1 --json");
  c->callback([a] { run_bench(*a); });
}

}  // namespace taeda::cli
