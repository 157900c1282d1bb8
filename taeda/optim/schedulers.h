// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules. Each moves the rates (some also the momentum) of one optimizer; `step()` is called once an epoch or once a batch.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

/// Base of the schedules. Making one sets the optimizer's rates to those of step 0; each `step()` moves on by one. A derived class gives the
/// rates of step `step_count_`, from the current ones where the schedule is a recurrence, so that several can act on one optimizer. A class
/// whose constructor does not call `begin`, as those written for LibTorch, sets the rates of step 0 in its first `step()`.
class TAEDA_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler();

  virtual void step();
  /// Sets the rates of step 0, as when the schedule was made.
  virtual void restart();
  /// The rates set last, one for each group.
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  /// Steps taken since the schedule was made.
  int64_t step_count() const { return step_count_; }
  Optimizer& optimizer() const { return optimizer_; }

  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  void set_lrs(const std::vector<double>& lrs);
  /// To be called at the end of a derived constructor: sets the rates of step 0.
  void begin();
  /// One value for each group, from one value for all or one each. Throws ValueError for other lengths.
  std::vector<double> per_group(const std::vector<double>& values, const char* name) const;
  /// Numbers that a derived class keeps beside the step count, by name; read and written in place.
  using Numbers = std::vector<std::pair<const char*, double*>>;
  virtual Numbers numbers() { return {}; }

  Optimizer& optimizer_;
  std::vector<double> base_lrs_;
  int64_t step_count_ = 0;

 private:
  friend class SequentialLR;
  bool has_begun_ = false;
};

/// Times `gamma` every `step_size` steps.
class TAEDA_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 protected:
  std::vector<double> get_lrs() override;

 private:
  int64_t step_size_;
  double gamma_;
};

/// Times `gamma` at each milestone (once for each time it is listed).
class TAEDA_API MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 protected:
  std::vector<double> get_lrs() override;

 private:
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// Times `gamma` every step.
class TAEDA_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 protected:
  std::vector<double> get_lrs() override;

 private:
  double gamma_;
};

/// Half a cosine from the base rate to `eta_min` over `T_max` steps, then back (Loshchilov, Hutter 2017, eq. 5, without restarts).
class TAEDA_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0);

 protected:
  std::vector<double> get_lrs() override;

 private:
  int64_t T_max_;
  double eta_min_;
};

/// As CosineAnnealingLR, starting anew after `T_0` steps, and then after periods that are `T_mult` times as long each.
class TAEDA_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0);
  void step() override;
  void restart() override;

 protected:
  std::vector<double> get_lrs() override;
  Numbers numbers() override { return {{"t_cur", &t_cur_}, {"t_i", &t_i_}}; }

 private:
  double t_0_, t_mult_, eta_min_;
  double t_cur_ = 0, t_i_;
};

enum class Anneal { kCosine, kLinear };

struct OneCycleOptions {
  std::vector<double> max_lr = {};  ///< one for all groups or one each
  int64_t total_steps = 0;
  double pct_start = 0.3;  ///< the part of the steps in which the rate rises
  Anneal anneal_strategy = Anneal::kCosine;
  bool cycle_momentum = true;  ///< ignored for optimizers without momentum
  double base_momentum = 0.85;
  double max_momentum = 0.95;
  double div_factor = 25;         ///< the first rate is max_lr / div_factor
  double final_div_factor = 1e4;  ///< the last rate is the first one / final_div_factor
  bool three_phase = false;
};

/// One rise and one fall over `total_steps` (Smith, Topin 2018). A step beyond the last throws ValueError.
class TAEDA_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleOptions options);
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps);

 protected:
  std::vector<double> get_lrs() override;

 private:
  OneCycleOptions options_;
  std::vector<double> max_lrs_;
};

enum class CyclicMode { kTriangular, kTriangular2, kExpRange };

struct CyclicOptions {
  std::vector<double> base_lr = {};  ///< one for all groups or one each
  std::vector<double> max_lr = {};
  double step_size_up = 2000;
  double step_size_down = 0;  ///< 0: as step_size_up
  CyclicMode mode = CyclicMode::kTriangular;
  double gamma = 1;  ///< of kExpRange
  bool cycle_momentum = true;
  double base_momentum = 0.8;
  double max_momentum = 0.9;
};

/// Up and down between two rates (Smith 2017).
class TAEDA_API CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, CyclicOptions options);

 protected:
  std::vector<double> get_lrs() override;

 private:
  double scale(double cycle) const;
  CyclicOptions options_;
  std::vector<double> max_lrs_;
};

/// A warm-up: the factor goes linearly from `start_factor` to `end_factor` in `total_iters` steps.
class TAEDA_API LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1, int64_t total_iters = 5);

 protected:
  std::vector<double> get_lrs() override;

 private:
  double start_, end_;
  int64_t total_;
};

/// Times `factor` until step `total_iters`.
class TAEDA_API ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);

 protected:
  std::vector<double> get_lrs() override;

 private:
  double factor_;
  int64_t total_;
};

/// (1 - step / total_iters)^power.
class TAEDA_API PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1);

 protected:
  std::vector<double> get_lrs() override;

 private:
  int64_t total_;
  double power_;
};

using LRLambda = std::function<double(int64_t step)>;

/// The base rate times a function of the step; one function for all groups or one each.
class TAEDA_API LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, LRLambda lr_lambda) : LambdaLR(optimizer, std::vector<LRLambda>{std::move(lr_lambda)}) {}
  LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas);

 protected:
  std::vector<double> get_lrs() override;

 private:
  std::vector<LRLambda> lambdas_;
};

/// The current rate times a function of the step.
class TAEDA_API MultiplicativeLR : public LRScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda) : MultiplicativeLR(optimizer, std::vector<LRLambda>{std::move(lr_lambda)}) {}
  MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambdas);
  void restart() override;

 protected:
  std::vector<double> get_lrs() override;

 private:
  std::vector<LRLambda> lambdas_;
};

/// One schedule after the other: the next one starts at each milestone. All act on the same optimizer.
class TAEDA_API SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers, std::vector<int64_t> milestones);
  void step() override;
  void restart() override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  std::vector<double> get_lrs() override { return get_current_lrs(); }

 private:
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

/// Several schedules at once, stepped in order.
class TAEDA_API ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers);
  void step() override;
  void restart() override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  std::vector<double> get_lrs() override { return get_current_lrs(); }

 private:
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
};

struct PlateauOptions;

/// Times `factor` when the metric has not improved for more than `patience` steps.
class TAEDA_API ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1f, int patience = 10,
                                      double threshold = 1e-4, ThresholdMode threshold_mode = rel, int cooldown = 0,
                                      const std::vector<float>& min_lr = std::vector<float>(), double eps = 1e-8, bool verbose = false);
  ReduceLROnPlateauScheduler(Optimizer& optimizer, const PlateauOptions& options);
  virtual ~ReduceLROnPlateauScheduler();

  void step(double metric);
  std::vector<double> get_last_lr() const;
  Optimizer& optimizer() const { return optimizer_; }
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  bool is_better(double metric) const;
  void reduce();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  ThresholdMode threshold_mode_;
  double factor_, threshold_, eps_;
  std::vector<double> min_lrs_;
  int64_t patience_, cooldown_;
  bool verbose_;
  double best_;
  int64_t bad_ = 0, cooldown_left_ = 0, steps_ = 0;
};

/// The options by name, in double precision.
struct PlateauOptions {
  ReduceLROnPlateauScheduler::SchedulerMode mode = ReduceLROnPlateauScheduler::min;
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  ReduceLROnPlateauScheduler::ThresholdMode threshold_mode = ReduceLROnPlateauScheduler::rel;
  int64_t cooldown = 0;
  std::vector<double> min_lr = {};  ///< none: 0; one for all groups or one each
  double eps = 1e-8;
  bool verbose = false;
};

}  // namespace taeda::optim
