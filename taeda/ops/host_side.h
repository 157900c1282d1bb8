// SPDX-License-Identifier: Apache-2.0
// The host side of a recorded call that moves from call to call, such as an optimizer's: what a replay without the program's code
// needs besides the kernel.
#pragma once

#include <vector>

#include "taeda/ops/capture.h"

namespace taeda::capture {

/// `refresh` gives the numbers of the next call, and moves counters on as that call would.
struct HostSide : NumberSource {
  /// Whether the next call is the recorded one, numbers aside. Asked before every `refresh`, with nothing in between that could change it.
  virtual bool is_unchanged() = 0;
  /// What the program may set: a call that changes it on its way cannot be replayed.
  virtual std::vector<double> settings() const = 0;
};

}  // namespace taeda::capture
