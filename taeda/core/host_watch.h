// SPDX-License-Identifier: Apache-2.0
// What the library's own host code tells a static call of compile() while that records: a replay skips this code.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "taeda/core/export.h"
#include "taeda/core/modes.h"

namespace taeda {

struct TensorImpl;

namespace detail {

/// Memory whose owner counts `host_changes` up when it ends.
struct HostBytes {
  const void* owner;
  const void* place;
  size_t size;
  size_t (*handles)(const void* owner);  ///< how many there are: a variable that holds another owner gives one up
};

/// Told what the host code of a call does besides calling operators.
struct TAEDA_API HostWatch {
  /// The gradient of `leaf` is about to be looked at or changed.
  virtual void gradient(TensorImpl& leaf) = 0;
  /// Backward begins at `root`; `keeps_graph`: it may begin there again.
  virtual void backward(TensorImpl& root, bool keeps_graph) = 0;
  /// The value of `tensor` is read.
  virtual void read(TensorImpl& tensor) = 0;
  /// What the call does depends on bytes of the host's memory.
  virtual void reads(const HostBytes& bytes) = 0;
  /// An owner of such bytes ends.
  virtual void ends(const void* owner) = 0;
  /// Something that no replay can do. `what` is a clause: "a scheduler's step sets learning rates".
  virtual void refuse(const char* what) = 0;

  const uint64_t number;  ///< of the call among all; not 0

 protected:
  HostWatch();
  ~HostWatch() = default;
};

/// The watch of this thread's call, or null.
extern TAEDA_API thread_local constinit HostWatch* tls_host_watch
#if defined(__GNUC__)
    __attribute__((tls_model("initial-exec")))
#endif
    ;

inline void refuse_replay(const char* what) {
  if (tls_host_watch) tls_host_watch->refuse(what);
}

/// Runs `f` with operators that are kernels alone, which nobody sees but a static call that records.
template <class F>
auto below_door(const F& f) {
  if (TAEDA_UNLIKELY(tls_host_watch != nullptr)) {
    const BelowAutogradGuard recorded;
    return f();
  }
  const BelowDoorGuard below;
  return f();
}

/// Whether the program's code runs when a gradient of `leaf` is there (taeda/autograd).
TAEDA_API bool has_gradient_hooks(const TensorImpl& leaf);

/// Counts changes of modules and optimizers that the operators of a call may depend on: parameters, groups, their end.
extern TAEDA_API std::atomic<uint64_t> host_changes;
/// Notes one. `what`: the clause for the static call that makes it.
inline void note_host_change(const char* what) {
  host_changes.fetch_add(1, std::memory_order_relaxed);
  refuse_replay(what);
}

}  // namespace detail
}  // namespace taeda
