// SPDX-License-Identifier: Apache-2.0
// The lock and the threads of loaders.
#include "taeda/data/sync.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace taeda::data::detail {

using Clock = std::chrono::steady_clock;

struct Monitor::State {
  std::mutex mutex;
  std::condition_variable changed;
};

Monitor::Monitor() : state_(std::make_unique<State>()) {}
Monitor::~Monitor() = default;
void Monitor::lock() { state_->mutex.lock(); }
void Monitor::unlock() { state_->mutex.unlock(); }
void Monitor::notify_all() { state_->changed.notify_all(); }

void Monitor::wait_once() {
  std::unique_lock<std::mutex> lock(state_->mutex, std::adopt_lock);
  state_->changed.wait(lock);
  lock.release();  // the caller goes on holding it
}

bool Monitor::wait_until(int64_t milliseconds) {
  std::unique_lock<std::mutex> lock(state_->mutex, std::adopt_lock);
  const auto status = state_->changed.wait_until(lock, Clock::time_point(std::chrono::milliseconds(milliseconds)));
  lock.release();
  return status == std::cv_status::no_timeout;
}

int64_t Monitor::now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

struct ThreadGroup::State {
  std::vector<std::thread> threads;
};

ThreadGroup::ThreadGroup() : state_(std::make_unique<State>()) {}
ThreadGroup::~ThreadGroup() = default;
void ThreadGroup::start(std::function<void()> body) { state_->threads.emplace_back(std::move(body)); }
void ThreadGroup::join() {
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

}  // namespace taeda::data::detail
