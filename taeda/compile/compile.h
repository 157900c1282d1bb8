// SPDX-License-Identifier: Apache-2.0
// compile(): a function of tensors that runs as recorded plans. The function's own code runs at every call; its operators
// are recorded, compared with what earlier calls did, and carried out together when a value is looked at or the call ends.
//
//     auto fast = taeda::compile([&](const Tensor& x) { return model->forward(x).tanh(); });
//     Tensor y = fast(x);
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "taeda/compile/static_call.h"
#include "taeda/core/error.h"

namespace taeda {

enum class CompileBackend : uint8_t {
  kJit,          ///< recorded plans; fused loops become machine code where that is worth it and the code generator is there
  kInterpreter,  ///< recorded plans; fused loops are interpreted block by block
  kEager,        ///< the function as it is
  kDebug,        ///< as kJit, and everything is compared with the operators' own kernels; the first difference throws CompileError
};

enum class CompileMode : uint8_t {
  kDynamic,  ///< the function's own code runs at every call
  kStatic,   ///< calls are recorded until two are equal, and replayed from then on: the function's own code is skipped
};

/// A compiled function made something else than the function would have, which `CompileBackend::kDebug` looks for; or it cannot be
/// replayed as `CompileMode::kStatic` does.
class TAEDA_API CompileError : public Error {
 public:
  using Error::Error;
  CompileError(const CompileError&) = default;
  CompileError& operator=(const CompileError&) = default;
  ~CompileError() override;
};

struct CompileOptions {
  CompileMode mode = CompileMode::kDynamic;
  CompileBackend backend = CompileBackend::kJit;
  /// Calls that differ in sizes alone are one version. Otherwise each set of sizes is one of its own.
  bool dynamic = true;
  /// Plans are made on another thread. Until one is there, operators run one by one; no call waits.
  bool background = false;
  /// How many ways to go on are kept after each recorded operator; the one unused for longest goes first.
  int max_versions = 64;
  /// Calls whose plans cost more than they save run the function as it is, and try again now and then.
  bool step_aside = true;
  /// Loops over fewer elements are interpreted: generating code takes milliseconds.
  int64_t code_from_elements = 1024;
  /// A folder for generated code, so that later processes need not generate it; empty: none.
  std::string cache_dir = {};
};

namespace lazy {
class State;
class CallRecorder;

/// Records the operators of this thread while it lives. Nested ones join the outermost.
class TAEDA_API Scope {
 public:
  explicit Scope(State& state);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  /// Carries out what waits. To be called when the function has returned.
  void finish();

 private:
  void leave() noexcept;
  CallRecorder* recorder_ = nullptr;  ///< null where the outer scope, or nobody, records
};

TAEDA_API std::shared_ptr<State> make_state(const CompileOptions& options);
TAEDA_API std::string explain(const State& state);
TAEDA_API size_t versions(const State& state);
}  // namespace lazy

/// A compiled function. Copies share the function and what was recorded; calls may come from many threads at once.
template <class F>
class Compiled {
 public:
  Compiled(F function, const CompileOptions& options)
      : function_(std::make_shared<F>(std::move(function))),
        state_(lazy::make_state(options)),
        static_(options.mode == CompileMode::kStatic && options.backend != CompileBackend::kEager) {}

  template <class... Args>
  decltype(auto) operator()(Args&&... args) const {
    using Result = decltype(call(std::forward<Args>(args)...));
    if (static_) {
      const auto plain = [this](auto&&... a) -> decltype(auto) { return call(std::forward<decltype(a)>(a)...); };
      return lazy::static_call<Result>(*state_, plain, std::forward<Args>(args)...);
    }
    lazy::Scope scope(*state_);
    if constexpr (std::is_void_v<Result>) {
      call(std::forward<Args>(args)...);
      scope.finish();
    } else {
      Result result = call(std::forward<Args>(args)...);
      scope.finish();
      return result;
    }
  }
  template <class... Args>
  decltype(auto) forward(Args&&... args) const {
    return (*this)(std::forward<Args>(args)...);
  }

  /// The function; for modules and holders the module, so that `fast->parameters()`, `fast->eval()` work.
  auto operator->() const {
    if constexpr (requires(F& f) { f.operator->(); }) {
      return function_->operator->();
    } else {
      return function_.get();
    }
  }
  F& function() const { return *function_; }
  /// What was recorded, where segments end and why, as text.
  std::string explain() const { return lazy::explain(*state_); }
  /// Ways that calls went so far; other sizes are no other way unless `dynamic` is off.
  size_t versions() const { return lazy::versions(*state_); }

 private:
  template <class... Args>
  decltype(auto) call(Args&&... args) const {
    if constexpr (std::is_invocable_v<F&, Args&&...>) {
      return (*function_)(std::forward<Args>(args)...);
    } else if constexpr (requires(F& f) { f.forward(std::forward<Args>(args)...); }) {
      return function_->forward(std::forward<Args>(args)...);
    } else {
      return (*function_)->forward(std::forward<Args>(args)...);
    }
  }

  std::shared_ptr<F> function_;
  std::shared_ptr<lazy::State> state_;
  bool static_;
};

/// Compiles any callable: a function, a lambda, a module or its holder, a shared pointer to a module.
template <class F>
Compiled<std::decay_t<F>> compile(F&& function, const CompileOptions& options = {}) {
  return Compiled<std::decay_t<F>>(std::forward<F>(function), options);
}

}  // namespace taeda
