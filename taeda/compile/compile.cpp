// SPDX-License-Identifier: Apache-2.0
// Beginning and end of a compiled call; checks of the options.
#include "taeda/compile/compile.h"

#include <unistd.h>

#include <filesystem>

#include "taeda/compile/recorder.h"
#include "taeda/compile/state.h"

namespace taeda::lazy {

namespace {
/// Calls that run without recording before it is tried again whether recording is worth it.
constexpr int kCallsAside = 255;

void check_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) std::filesystem::permissions(path, std::filesystem::perms::owner_all, std::filesystem::perm_options::add, error);
  TAEDA_CHECK_IO(!error && ::access(path.c_str(), W_OK | X_OK) == 0, "[compile] cache_dir must be a folder that can be written: got ", path,
                 error ? " (" + error.message() + ")" : std::string(), "; name another one, or none");
}
}  // namespace

Scope::Scope(State& state) {
  if (state.options.backend == CompileBackend::kEager || capture::active()) return;
  if (state.trace.aside_left.load(std::memory_order_relaxed) > 0 && state.trace.aside_left.fetch_sub(1, std::memory_order_relaxed) > 0) {
    state.trace.aside.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  state.trace.enter();
  recorder_ = &CallRecorder::take();
  recorder_->start(state);
}

void Scope::finish() {
  if (!recorder_) return;
  struct Leave {
    Scope& scope;
    ~Leave() { scope.leave(); }
  } leave{*this};
  State& state = recorder_->state();
  if (!recorder_->stop() && state.options.step_aside && state.options.backend != CompileBackend::kDebug) {
    state.trace.aside_left.store(kCallsAside, std::memory_order_relaxed);
  }
}

Scope::~Scope() {
  if (!recorder_) return;
  // The function threw: what came before must have happened. An error of that work is second to the one on its way.
  try {
    recorder_->stop();
  } catch (...) {
  }
  leave();
}

void Scope::leave() noexcept { std::exchange(recorder_, nullptr)->give_back(); }

std::shared_ptr<State> make_state(const CompileOptions& options) {
  TAEDA_CHECK_VALUE(options.max_versions >= 1, "[compile] max_versions must be at least 1: got ", options.max_versions,
                    "; leave it at its default");
  TAEDA_CHECK_VALUE(options.code_from_elements >= 0, "[compile] code_from_elements must be 0 or more: got ", options.code_from_elements,
                    "; leave it at its default");
  TAEDA_CHECK_VALUE(options.mode == CompileMode::kDynamic || !options.background,
                    "[compile] background must be off in static mode: a plan is made in the second of two equal calls; leave one of them out");
  if (!options.cache_dir.empty()) check_folder(options.cache_dir);
  return std::make_shared<State>(options);
}

}  // namespace taeda::lazy

namespace taeda {
CompileError::~CompileError() = default;
}  // namespace taeda
