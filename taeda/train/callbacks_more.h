// SPDX-License-Identifier: Apache-2.0
// More callbacks: averages of weights, learning-rate tools, schedules of accumulation, time.
#pragma once

#include <chrono>
#include <map>

#include "taeda/train/callback.h"
#include "taeda/train/callbacks.h"
#include "taeda/train/loader_ref.h"

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

/// An exponential moving average of the parameters: average = decay · average + (1 - decay) · parameter after each optimizer step, with a
/// smaller decay (1 + n) / (10 + n) in the first steps n. Validation runs on the average, and the model keeps it at the end.
class TAEDA_API EMA : public Callback {
 public:
  explicit EMA(double decay = 0.999, bool keep = true) : decay_(decay), keep_(keep) {}
  const std::vector<Tensor>& averages() const { return averages_; }
  void on_fit_start(Trainer& trainer, Module& model) override;
  void on_after_optimizer_step(Trainer& trainer, Module& model) override;
  void on_validation_start(Trainer& trainer, Module& model) override;
  void on_validation_end(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;
  void on_exception(Trainer& trainer, Module& model, std::exception_ptr error) override;
  std::string state_name() const override { return "EMA"; }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  void exchange(Module& model);
  double decay_;
  bool keep_;
  int64_t steps_ = 0;
  std::vector<Tensor> averages_;
  bool exchanged_ = false;
};

/// Stochastic weight averaging (Izmailov et al. 2018): the mean of the parameters at the ends of the epochs from `start` on (a part of
/// all epochs, or an epoch's number when it is above 1). The model has it at the end. Statistics of batch norms stay those of the run.
class TAEDA_API SWA : public Callback {
 public:
  explicit SWA(double start = 0.75) : start_(start) {}
  void on_train_epoch_end(Trainer& trainer, Module& model) override;
  void on_fit_end(Trainer& trainer, Module& model) override;
  std::string state_name() const override { return "SWA"; }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  double start_;
  int64_t count_ = 0;
  std::vector<Tensor> averages_;
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
/// Parameter groups by layer with rates that grow from `lr / factor` at the first child to `lr` at the last (discriminative rates).
TAEDA_API std::vector<std::vector<Tensor>> parameters_by_layer(const nn::Module& model);
TAEDA_API std::vector<double> layer_rates(size_t layers, double lr, double factor = 10);

}  // namespace taeda::train
