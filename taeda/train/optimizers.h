// SPDX-License-Identifier: Apache-2.0
// What configure_optimizers gives: one or several optimizers, and their schedules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/optim/optim.h"
#include "taeda/optim/schedulers.h"

namespace taeda::train {

/// When a schedule moves.
enum class Interval { kEpoch, kStep };

struct ScheduleConfig {
  std::shared_ptr<optim::LRScheduler> scheduler = nullptr;
  std::shared_ptr<optim::ReduceLROnPlateauScheduler> plateau = nullptr;
  Interval interval = Interval::kEpoch;
  int64_t frequency = 1;
  std::string monitor = {};  ///< of a plateau schedule: the metric it follows
};

/// `return optim::SGD(parameters(), 0.1);` is enough. With schedules:
/// `return train::Optimizers(optim::Adam(parameters(), 1e-3)).schedule<optim::StepLR>(10, 0.5);`
class Optimizers {
 public:
  Optimizers() = default;
  template <class O>
    requires(std::is_base_of_v<optim::Optimizer, std::remove_cvref_t<O>> && !std::is_lvalue_reference_v<O>)
  Optimizers(O&& optimizer) : Optimizers(std::make_shared<O>(std::forward<O>(optimizer))) {}  // NOLINT(google-explicit-constructor)
  template <class O>
    requires(std::is_base_of_v<optim::Optimizer, O>)
  Optimizers(std::shared_ptr<O> optimizer) : optimizers{std::move(optimizer)} {}  // NOLINT(google-explicit-constructor)

  /// One more optimizer; the schedules that follow are for it.
  template <class O>
  Optimizers& add(O&& optimizer) {
    Optimizers other(std::forward<O>(optimizer));
    optimizers.push_back(std::move(other.optimizers[0]));
    return *this;
  }
  /// A schedule for the optimizer added last, moved after each epoch.
  template <class S, class... Args>
  Optimizers& schedule(Args&&... args) {
    return add_schedule({.scheduler = std::make_shared<S>(*optimizers.back(), std::forward<Args>(args)...)});
  }
  /// As `schedule`, moved after each optimizer step.
  template <class S, class... Args>
  Optimizers& schedule_by_step(Args&&... args) {
    return add_schedule({.scheduler = std::make_shared<S>(*optimizers.back(), std::forward<Args>(args)...), .interval = Interval::kStep});
  }
  /// Reduces the rate when `monitor` no longer improves.
  Optimizers& plateau(const optim::PlateauOptions& options, std::string monitor = "val_loss") {
    return add_schedule({.plateau = std::make_shared<optim::ReduceLROnPlateauScheduler>(*optimizers.back(), options),
                         .monitor = std::move(monitor)});
  }
  Optimizers& add_schedule(ScheduleConfig config) {
    schedules.push_back(std::move(config));
    return *this;
  }

  std::vector<std::shared_ptr<optim::Optimizer>> optimizers;
  std::vector<ScheduleConfig> schedules;
};

}  // namespace taeda::train
