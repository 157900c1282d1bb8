// SPDX-License-Identifier: Apache-2.0
// Everything that describes a run of the program: from the command line, a TOML file or a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taeda::cli {

struct RunConfig {
  std::string data = "digits";
  std::string target;
  std::string task = "auto";
  int64_t image_size = 0;
  bool augment = true;
  int64_t batch_size = 0;
  std::string model = "auto";
  int64_t width = 0;
  int64_t depth = 0;
  int64_t heads = 4;
  int64_t block = 64;
  double dropout = -1;
  std::string precision = "float32";
  int64_t epochs = 0;
  int64_t max_steps = 0;
  std::string lr = "auto";
  std::string schedule = "onecycle";
  double weight_decay = 0.01;
  double label_smoothing = 0;
  double ema = 0;
  double clip = 0;
  int64_t val_every = 0;
  int64_t limit_batches = 0;
  int64_t overfit = 0;
  std::string out = "taeda-run";
  int64_t seed = 0;
  int64_t threads = 0;
  bool compile = false;
};

/// Calls f(name, member, group, help) for every setting, in the order in which they are shown.
template <class F>
void for_each_setting(F&& f) {
  const char* group = "Data";
  f("data", &RunConfig::data, group, "digits, mnist:DIR, cifar:DIR, folder:DIR, csv:FILE or text:FILE");
  f("target", &RunConfig::target, group, "csv: the column to predict");
  f("task", &RunConfig::task, group, "csv: classification, regression, or auto (by the target's values)");
  f("image-size", &RunConfig::image_size, group, "folder: side of the images in pixels; 0: 64");
  f("augment", &RunConfig::augment, group, "Images: turn, move and size those trained on at random");
  f("batch-size", &RunConfig::batch_size, group, "Samples of a step; 0: by data");
  group = "Model";
  f("model", &RunConfig::model, group, "linear, mlp, cnn, resnet8, resnet18, resnet50, mobilenet_v2, lstm, gpt, or auto (by data)");
  f("width", &RunConfig::width, group, "Width of the model; 0: its default");
  f("depth", &RunConfig::depth, group, "Layers of mlp, lstm and gpt; 0: the default");
  f("heads", &RunConfig::heads, group, "Attention heads of gpt");
  f("block", &RunConfig::block, group, "Characters that lstm and gpt see at once");
  f("dropout", &RunConfig::dropout, group, "Dropout probability; -1: the model's default");
  f("precision", &RunConfig::precision, group, "Numbers that the model computes with: float32");
  group = "Training";
  f("epochs", &RunConfig::epochs, group, "Passes over the data; 0: by data, or no limit beside --max-steps");
  f("max-steps", &RunConfig::max_steps, group, "Optimizer steps; 0: no limit");
  f("lr", &RunConfig::lr, group, "Highest learning rate, auto (by model), or find (try rates first)");
  f("schedule", &RunConfig::schedule, group, "onecycle, cosine or none");
  f("weight-decay", &RunConfig::weight_decay, group, "AdamW's decay of weight matrices");
  f("label-smoothing", &RunConfig::label_smoothing, group, "Classification: probability spread over the other classes");
  f("ema", &RunConfig::ema, group, "Decay of a moving average of the weights, which is what is measured and kept; 0: none");
  f("clip", &RunConfig::clip, group, "Largest joint norm of the gradients; 0: no limit");
  f("val-every", &RunConfig::val_every, group, "Validate after so many batches; 0: after each epoch");
  f("limit-batches", &RunConfig::limit_batches, group, "At most so many batches an epoch; 0: all");
  f("overfit", &RunConfig::overfit, group, "Train and validate on the first so many batches; 0: off");
  group = "Run";
  f("out", &RunConfig::out, group, "Folder for checkpoints, logs and the report");
  f("seed", &RunConfig::seed, group, "Seed of weights, order and augmentation");
  f("threads", &RunConfig::threads, group, "Compute threads; 0: one a core");
  f("compile", &RunConfig::compile, group, "Run each training step as a compiled function (same numbers, larger models gain)");
}

/// What comes before the colon of `--data`.
std::string data_kind(const RunConfig& config);
/// Throws ValueError, naming the option, for a value out of its range or an unknown word.
void check_config(const RunConfig& config);
/// Puts values in place of those that depend on data and model (0, auto), so that a run's record says what it did.
void resolve_config(RunConfig& config);

/// A TOML document that `read_toml` takes.
std::string write_toml(const RunConfig& config);
/// Sets what the document holds, in `config`. Throws ValueError with `source` and the line for bad syntax, unknown names, and values of another type.
void read_toml(std::string_view text, const std::string& source, RunConfig& config);

}  // namespace taeda::cli
