// SPDX-License-Identifier: Apache-2.0
// Finding the first operator, forward or backward, that made NaN or Inf.
#pragma once

#include <string_view>

#include "taeda/core/node.h"

namespace taeda::autograd {

enum class AnomalyLevel : uint8_t {
  kOff,    ///< nothing is checked and nothing is paid
  kCheap,  ///< every result of an operator and every gradient is checked
  kFull,   ///< also, each node remembers where its operator was called
};

/// Sets the level for this thread; pool tasks and nested backwards inherit it. A result that is NaN, or infinite while no
/// input was, throws Error with the operator, the first bad element and the ranges of the operator's inputs.
TAEDA_API void set_detect_anomaly(AnomalyLevel level);
/// true: the full level.
inline void set_detect_anomaly(bool enabled) {
  set_detect_anomaly(enabled ? AnomalyLevel::kFull : AnomalyLevel::kOff);
}
/// "off", "cheap" or "full". Throws ValueError on any other word.
TAEDA_API void set_detect_anomaly(std::string_view level);
inline void set_detect_anomaly(const char* level) { set_detect_anomaly(std::string_view(level)); }
inline AnomalyLevel anomaly_level() { return static_cast<AnomalyLevel>(tls_modes.anomaly_level); }

/// Sets a level until the end of the scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(AnomalyLevel level = AnomalyLevel::kFull) : before_(anomaly_level()) {
    set_detect_anomaly(level);
  }
  /// check_nan: false leaves out the checks (call sites of nodes are not kept either).
  explicit DetectAnomalyGuard(bool check_nan)
      : DetectAnomalyGuard(check_nan ? AnomalyLevel::kFull : AnomalyLevel::kOff) {}
  ~DetectAnomalyGuard() { set_detect_anomaly(before_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  AnomalyLevel before_;
};

/// The mode by the names of the compatible interface.
struct AnomalyMode {
  static bool is_enabled() { return anomaly_level() != AnomalyLevel::kOff; }
  static bool should_check_nan() { return is_enabled(); }
  static void set_enabled(bool enabled, bool check_nan = true) { set_detect_anomaly(enabled && check_nan); }
};

namespace anomaly {

/// Runs `node` and checks the gradients it computes.
void run_node(Node& node, std::span<Tensor> in, std::span<Tensor> out);
/// Keeps the return addresses of the running call in the node.
void keep_call_site(Node& node);
/// Where the node's operator was called, one frame a line; empty when it was not kept.
TAEDA_API std::string call_site(const Node& node);

}  // namespace anomaly
}  // namespace taeda::autograd
