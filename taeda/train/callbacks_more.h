// SPDX-License-Identifier: Apache-2.0
// More callbacks: averages of weights, learning-rate tools, schedules of accumulation, time.
#pragma once

#include <chrono>
#include <map>

#include "taeda/train/callback.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/loader_ref.h"
#include "taeda/train/trainer.h"

namespace taeda::train {

/// Logs the rate of every group of every optimizer ("lr_0_1": optimizer 0, group 1) every `every_n_steps` steps.
class TAEDA_API LRMonitor : public Callback {
 public:
  explicit LRMonitor(int64_t every_n_steps = 50) : every_(every_n_steps) {}
  void on_after_optimizer_step(Trainer& trainer, Module& model) override;

 private:
  int64_t every_;
};

/// Accumulates over more batches from given epochs on: {{0, 8}, {4, 1}} is 8 batches a step, and from the fifth epoch on one.
class TAEDA_API GradientAccumulationSchedule : public Callback {
 public:
  explicit GradientAccumulationSchedule(std::map<int64_t, int64_t> schedule);
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_train_epoch_start(Trainer& trainer, Module& model) override;

 private:
  void apply(Trainer& trainer) const;
  std::map<int64_t, int64_t> schedule_;
};

/// Ends the run after so many seconds.
class TAEDA_API Timer : public Callback {
 public:
  explicit Timer(double seconds) : limit_(seconds) {}
  void on_train_batch_end(Trainer& trainer, Module& model, const Batch& batch, const Tensor& loss) override;

 private:
  double limit_;
};

namespace detail {

/// Averages beside a model's parameters. Exchanged with them, the model has the averages, and the parameters of the run wait here: whatever
/// checkpoint is written then holds both, and a run goes on from the right ones.
class TAEDA_API WeightAverages {
 public:
  const std::vector<Tensor>& tensors() const { return tensors_; }
  bool empty() const { return tensors_.empty(); }
  bool exchanged() const { return exchanged_; }
  /// Copies of the parameters.
  void start(const nn::Module& model);
  /// average += part · (parameter - average).
  void move_towards(const nn::Module& model, double part);
  void exchange(nn::Module& model);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  std::vector<Tensor> tensors_;
  bool exchanged_ = false;
};

}  // namespace detail

/// An exponential moving average of the parameters: average = decay · average + (1 - decay) · parameter after each optimizer step, with a
/// smaller decay (1 + n) / (10 + n) in the first steps n. Validation runs on the average, the checkpoints written after it hold it as the model's
/// weights, and the model keeps it at the end of a run that was not interrupted (`keep`).
class TAEDA_API EMA : public Callback {
 public:
  explicit EMA(double decay = 0.999, bool keep = true);
  /// The averages; after the run, when the model has them, the parameters of the last step.
  const std::vector<Tensor>& averages() const { return averages_.tensors(); }
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_after_optimizer_step(Trainer& trainer, Module& model) override;
  void on_validation_start(Trainer& trainer, Module& model) override;
  void after_validation(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;
  void on_exception(Trainer& trainer, Module& model, std::exception_ptr error) override;
  std::string state_name() const override { return "EMA"; }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  double decay_;
  bool keep_;
  int64_t steps_ = 0;
  detail::WeightAverages averages_;
};

/// Stochastic weight averaging (Izmailov et al. 2018): the mean of the parameters at the ends of the epochs from `start` on (a part of
/// all epochs, or an epoch's number when it is above 1). At the end of a run that was not interrupted the model has it, and the batch norms have
/// learned their statistics anew from the training batches.
class TAEDA_API SWA : public Callback {
 public:
  explicit SWA(double start = 0.75);
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_train_epoch_end(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;
  std::string state_name() const override { return "SWA"; }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  double start_;
  int64_t count_ = 0;
  detail::WeightAverages averages_;
  std::vector<Tensor> buffers_;  ///< of the run, while the model has the averages
};

struct LRFinderOptions {
  double min_lr = 1e-7;
  double max_lr = 1;
  int64_t steps = 100;
  double stop_factor = 4;  ///< ends when the smoothed loss is so many times the best
};

/// The loss at growing rates, and the rate where it falls fastest (Smith 2017).
struct LRFinderResult {
  std::vector<double> lrs, losses;
  double suggestion = 0;  ///< 0: there were too few points
};

/// Trains `steps` batches at growing rates and puts model, default generator and loader back exactly as they were.
TAEDA_API LRFinderResult find_lr(Module& model, LoaderRef loader, const LRFinderOptions& options);
inline LRFinderResult find_lr(Module& model, LoaderRef loader) { return find_lr(model, std::move(loader), LRFinderOptions()); }
template <class M>
  requires(!std::is_base_of_v<Module, std::remove_cvref_t<M>>)
LRFinderResult find_lr(const M& model, LoaderRef loader, const LRFinderOptions& options = {}) {
  return find_lr(*model, std::move(loader), options);
}

/// Turns gradients of a module's parameters off and on, as for training a new head first.
TAEDA_API void freeze(nn::Module& module);
TAEDA_API void unfreeze(nn::Module& module);
/// Freezes the first `layers` of a model's layers (`parameters_by_layer`; negative: all but the last -layers), and unfreezes the others.
TAEDA_API void freeze_to(nn::Module& model, int64_t layers);
/// Parameter groups by layer with rates that grow from `lr / factor` at the first child to `lr` at the last (discriminative rates).
TAEDA_API std::vector<std::vector<Tensor>> parameters_by_layer(const nn::Module& model);
TAEDA_API std::vector<double> layer_rates(size_t layers, double lr, double factor = 10);
/// Both for an optimizer: `optim::AdamW(layer_groups<optim::AdamWOptions>(*this, 1e-3))`.
template <class Options>
std::vector<optim::OptimizerParamGroup> layer_groups(const nn::Module& model, double lr, double factor = 10) {
  std::vector<std::vector<Tensor>> layers = parameters_by_layer(model);
  const std::vector<double> rates = layer_rates(layers.size(), lr, factor);
  std::vector<optim::OptimizerParamGroup> groups;
  for (size_t i = 0; i < layers.size(); ++i) groups.emplace_back(std::move(layers[i]), std::make_unique<Options>(rates[i]));
  return groups;
}

/// The one-cycle policy (Smith, Topin 2018): the rate rises to its maximum and falls to almost nothing, the momentum the other way round.
struct OneCyclePolicy {
  int64_t epochs = 1;
  std::vector<double> max_lr = {};  ///< one for all parameter groups or one each; none: the groups' own rates
  double pct_start = 0.25;
  double div = 25;         ///< the first rate is the maximum / div
  double div_final = 1e5;  ///< the last one is the maximum / div_final
  double max_momentum = 0.95, min_momentum = 0.85;
};

/// Trains for `policy.epochs` by the policy, which replaces the model's own schedules.
TAEDA_API FitResult fit_one_cycle(Module& model, LoaderRef train, LoaderRef val, const OneCyclePolicy& policy, TrainerOptions options = {});

}  // namespace taeda::train
