// SPDX-License-Identifier: Apache-2.0
// A lock with a condition, and a group of threads, for templates: the standard's headers for them stay in one source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "taeda/core/export.h"

namespace taeda::data::detail {

/// A mutex and the condition that what it guards has changed.
class TAEDA_API Monitor {
 public:
  Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();

  void lock();
  void unlock();
  void notify_all();
  /// Waits, with the lock given up meanwhile, until `ready()` holds. The caller holds the lock.
  template <class Ready>
  void wait(const Ready& ready) {
    while (!ready()) wait_once();
  }
  /// As `wait`, for at most that long; the last value of `ready()`.
  template <class Ready>
  bool wait_for(int64_t milliseconds, const Ready& ready) {
    const int64_t end = now() + milliseconds;
    while (!ready()) {
      if (!wait_until(end)) return ready();
    }
    return true;
  }

 private:
  void wait_once();
  /// False when the time has come.
  bool wait_until(int64_t milliseconds);
  static int64_t now();
  struct State;
  std::unique_ptr<State> state_;
};

/// Holds a monitor's lock for a scope.
class MonitorLock {
 public:
  explicit MonitorLock(Monitor& monitor) : monitor_(monitor) { monitor_.lock(); }
  ~MonitorLock() { monitor_.unlock(); }
  MonitorLock(const MonitorLock&) = delete;
  MonitorLock& operator=(const MonitorLock&) = delete;

 private:
  Monitor& monitor_;
};

/// Threads that are waited for together.
class TAEDA_API ThreadGroup {
 public:
  ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  ~ThreadGroup();  ///< none may run any more: call `join` before what they use goes

  void start(std::function<void()> body);
  /// Waits for all of them; the group is empty afterwards.
  void join();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taeda::data::detail
