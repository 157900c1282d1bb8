// SPDX-License-Identifier: Apache-2.0
// Thread-local modes that decide whether operators record gradients, and the guards that set them for a scope.
#pragma once

#include "taeda/core/modes.h"

namespace taeda {

/// Whether operators of this thread record gradients. Pool tasks and backward threads inherit it.
struct GradMode {
  static bool is_enabled() { return tls_modes.grad_enabled && !tls_modes.inference; }
  static void set_enabled(bool enabled) {
    tls_modes.grad_enabled = enabled;
    refresh_mask(tls_modes);
  }
};

/// Switches recording on or off until the end of the scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : enabled_(tls_modes.grad_enabled), mask_(tls_modes.mask) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() {
    tls_modes.grad_enabled = enabled_;
    tls_modes.mask = mask_;
  }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool enabled_;
  uint32_t mask_;
};

/// Nothing is recorded until the end of the scope.
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Until the end of the scope results are inference tensors: no history, no version count, less cost. They may not be
/// saved for a backward nor changed in place outside the mode. `InferenceMode(false)` leaves the mode for a scope.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true)
      : enabled_(tls_modes.grad_enabled), inference_(tls_modes.inference), mask_(tls_modes.mask) {
    tls_modes.inference = enabled;
    tls_modes.grad_enabled = !enabled;
    refresh_mask(tls_modes);
  }
  ~InferenceMode() {
    tls_modes.grad_enabled = enabled_;
    tls_modes.inference = inference_;
    tls_modes.mask = mask_;
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() { return tls_modes.inference; }

 private:
  bool enabled_;
  bool inference_;
  uint32_t mask_;
};

inline bool is_grad_enabled() { return GradMode::is_enabled(); }
inline void set_grad_enabled(bool enabled) { GradMode::set_enabled(enabled); }

}  // namespace taeda
