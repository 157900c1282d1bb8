// SPDX-License-Identifier: Apache-2.0
// The thread-local word of active modes, read by every operator's door.
#pragma once

#include <cstdint>

#include "taeda/core/export.h"

namespace taeda {

/// Flag bits of a tensor that an operator's door looks at.
enum TensorFlag : uint8_t {
  kFlagRequiresGrad = 1,   ///< a leaf that requires grad, or has a grad_fn
  kFlagView = 2,           ///< a differentiable view: its base may require grad
  kFlagNotCpu = 4,
  kFlagInference = 8,      ///< made in inference mode
  kFlagWrappedNumber = 16, ///< made from a number: takes part in promotion as one
};

/// Modes that send a call to the slow side.
enum ModeFlag : uint32_t {
  kModeIntercept = 1,   ///< an interceptor (autocast) sees every call before autograd
  kModeAnomaly = 2,     ///< results are checked for NaN and Inf
  kModeInference = 4,
  kModeCapture = 8,     ///< below autograd, `Modes::capture` sees every call in place of the kernels
};

/// Per-thread state that decides how an operator runs. Small and trivially copyable: it travels with pool tasks.
/// Invariant: `mask` holds kFlagRequiresGrad and kFlagView exactly when gradients are recorded (grad mode is on and
/// no operator's own forward is running).
struct Modes {
  uint32_t active = 0;
  uint32_t mask = 0xff;
  bool grad_enabled = true;     ///< what `GradMode::is_enabled()` reports
  bool inference = false;
  uint8_t anomaly_level = 0;
  bool forward_ad = false;
  void* interceptor = nullptr;  ///< owner-defined, valid while kModeIntercept is set
  void* capture = nullptr;      ///< a capture::Recorder (taeda/ops/capture.h), valid while kModeCapture is set
};

#if defined(__GNUC__)
// Initial-exec keeps an access at one instruction also inside a shared library.
extern TAEDA_API thread_local constinit Modes tls_modes __attribute__((tls_model("initial-exec")));
#else
extern TAEDA_API thread_local constinit Modes tls_modes;
#endif

inline constexpr uint32_t kGradMask = kFlagRequiresGrad | kFlagView;

/// Sets the recording bits of `mask` from the other fields.
inline void refresh_mask(Modes& modes) {
  modes.mask = modes.grad_enabled && !modes.inference ? modes.mask | kGradMask : modes.mask & ~kGradMask;
}

/// Restores all modes of the thread at the end of the scope.
class ModesGuard {
 public:
  ModesGuard() : saved_(tls_modes) {}
  ~ModesGuard() { tls_modes = saved_; }
  ModesGuard(const ModesGuard&) = delete;
  ModesGuard& operator=(const ModesGuard&) = delete;

 private:
  Modes saved_;
};

/// While it lives, operators called on this thread run their kernels at once: nothing is recorded or intercepted.
class BelowDoorGuard {
 public:
  BelowDoorGuard() : active_(tls_modes.active), mask_(tls_modes.mask) {
    tls_modes.active = 0;
    tls_modes.mask &= ~kGradMask;
  }
  ~BelowDoorGuard() {
    tls_modes.active = active_;
    tls_modes.mask = mask_;
  }
  BelowDoorGuard(const BelowDoorGuard&) = delete;
  BelowDoorGuard& operator=(const BelowDoorGuard&) = delete;

 private:
  uint32_t active_;
  uint32_t mask_;
};

/// While it lives, operators called on this thread are neither recorded nor intercepted; a capture still sees them.
class BelowAutogradGuard {
 public:
  BelowAutogradGuard() : active_(tls_modes.active), mask_(tls_modes.mask) {
    tls_modes.active &= kModeCapture;
    tls_modes.mask &= ~kGradMask;
  }
  ~BelowAutogradGuard() {
    tls_modes.active = active_;
    tls_modes.mask = mask_;
  }
  BelowAutogradGuard(const BelowAutogradGuard&) = delete;
  BelowAutogradGuard& operator=(const BelowAutogradGuard&) = delete;

 private:
  uint32_t active_;
  uint32_t mask_;
};

}  // namespace taeda
