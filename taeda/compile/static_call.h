// SPDX-License-Identifier: Apache-2.0
// Calls of a compiled function in static mode: recorded twice, then replayed without the function's code.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/compile/static_arguments.h"

namespace taeda::lazy {

class State;
class StaticPlan;
class StaticRecorder;
struct StaticGroup;
struct Record;

/// One call. The calls of a function take their turns; a call made inside of another capture runs the function.
class TAEDA_API StaticCall {
 public:
  enum class How : uint8_t { kPlain, kReplay, kRecord };

  /// `types`: an address that stands for the types of arguments and result.
  StaticCall(State& state, const void* types);
  ~StaticCall();
  StaticCall(const StaticCall&) = delete;
  StaticCall& operator=(const StaticCall&) = delete;

  template <class T>
  void add(const T& argument) {
    walk(argument, [&](const Tensor& t) { add_tensor(t); }, [&](uint64_t word) { words_.push_back(word); });
  }
  /// Throws CompileError where earlier calls have shown that these cannot be replayed.
  How begin();

  /// What the function returned in the recorded call, its tensors left out.
  const void* prototype() const;
  void replay();
  Tensor result(size_t i);

  /// What the function gets for argument tensor `i` while it is recorded.
  const Tensor& stand_in(size_t i) const;
  /// Makes stand-ins the program's tensors again.
  void restore(Tensor& t) const;
  /// True when a plan was made of it, which then wants a prototype. `numbers_stay`: the arguments hold the numbers that they held.
  bool end(const std::vector<Tensor*>& results, const std::vector<uint64_t>& words, bool numbers_stay);
  void keep_prototype(std::shared_ptr<const void> prototype);

 private:
  void add_tensor(const Tensor& t);
  void record();
  const Record* last_record() const;

  State* state_;
  std::shared_ptr<State> kept_;  ///< a recorded call may outlive the last handle to the function
  const void* types_;
  std::unique_lock<std::mutex> turn_;
  SmallVector<uint64_t, 16> words_;
  ArgumentList tensors_;
  StaticGroup* group_ = nullptr;
  StaticPlan* plan_ = nullptr;
  StaticPlan* renewed_ = nullptr;  ///< was made, or found to hold, by this call
  std::unique_ptr<StaticRecorder> recorder_;
  std::vector<std::vector<double>> settings_;  ///< of optimizers, when the recorded call began
};

/// What the function gets for one argument of a recorded call: the program's object where it may assign to it, else a copy.
template <class Argument>
class StandInFor {
  static constexpr bool kByReference = std::is_lvalue_reference_v<Argument> && !std::is_const_v<std::remove_reference_t<Argument>>;
  using Value = std::decay_t<Argument>;

 public:
  StandInFor(StaticCall& call, size_t& next, std::remove_reference_t<Argument>& given) : call_(call), value_(given) {
    if constexpr (!std::is_convertible_v<const Value&, std::string_view>) {
      walk(value_, [&](Tensor& t) {
        if (t.defined()) t = call.stand_in(next++);
      }, [](uint64_t) {});
    }
  }
  ~StandInFor() {
    if constexpr (kByReference && !std::is_convertible_v<const Value&, std::string_view>) walk(value_, [&](Tensor& t) { call_.restore(t); }, [](uint64_t) {});
  }
  StandInFor(const StandInFor&) = delete;
  StandInFor& operator=(const StandInFor&) = delete;
  /// The numbers and texts that the function may have changed.
  void add_words(std::vector<uint64_t>& words) const {
    if constexpr (kByReference) walk(value_, [&](const Tensor& t) { words.push_back(t.defined()); }, [&](uint64_t word) { words.push_back(word); });
  }
  decltype(auto) pass() {
    if constexpr (kByReference) {
      return static_cast<Value&>(value_);
    } else if constexpr (std::is_lvalue_reference_v<Argument>) {
      return static_cast<const Value&>(value_);
    } else {
      return static_cast<Value&&>(value_);
    }
  }

 private:
  StaticCall& call_;
  std::conditional_t<kByReference, Value&, Value> value_;
};

/// The stand-ins of all arguments, made from left to right.
template <size_t I, class Argument>
struct StandInAt : StandInFor<Argument> {
  using StandInFor<Argument>::StandInFor;
};
template <class Indices, class... Arguments>
struct StandIns;
template <size_t... I, class... Arguments>
struct StandIns<std::index_sequence<I...>, Arguments...> : StandInAt<I, Arguments>... {
  StandIns([[maybe_unused]] StaticCall& call, [[maybe_unused]] size_t next, std::remove_reference_t<Arguments>&... given) : StandInAt<I, Arguments>(call, next, given)... {}
  template <class F>
  decltype(auto) pass_to(const F& f) {
    return f(StandInAt<I, Arguments>::pass()...);
  }
  /// What the function gets by a reference that it may write through, tensors left out.
  std::vector<uint64_t> words() const {
    std::vector<uint64_t> all;
    (StandInAt<I, Arguments>::add_words(all), ...);
    return all;
  }
};

/// Its address stands for a list of types.
template <class... T>
inline constexpr char kTypes = 0;
[[noreturn]] TAEDA_API TAEDA_COLD void refuse_static_types(const char* function);

/// Calls `f` with `arguments` in static mode.
template <class Result, class F, class... Arguments>
Result static_call(State& state, const F& f, Arguments&&... arguments) {
  if constexpr (!HoldsTensors<Result>::value || !(Walkable<std::decay_t<Arguments>>::value && ...)) {
    refuse_static_types(__PRETTY_FUNCTION__);
  } else {
    StaticCall call(state, &kTypes<Result, std::decay_t<Arguments>...>);
    (call.add(arguments), ...);
    const StaticCall::How how = call.begin();
    if (how == StaticCall::How::kPlain) return f(std::forward<Arguments>(arguments)...);
    if (how == StaticCall::How::kReplay) {
      call.replay();
      if constexpr (std::is_void_v<Result>) {
        return;
      } else {
        Result result(*static_cast<const Result*>(call.prototype()));
        size_t next = 0;
        walk(result, [&](Tensor& t) { t = call.result(next++); }, [](uint64_t) {});
        return result;
      }
    }
    StandIns<std::index_sequence_for<Arguments...>, Arguments...> stands(call, 0, arguments...);
    std::vector<Tensor*> tensors;
    std::vector<uint64_t> words;
    const std::vector<uint64_t> given = stands.words();
    if constexpr (std::is_void_v<Result>) {
      stands.pass_to(f);
      call.end(tensors, words, given == stands.words());
    } else {
      Result result = stands.pass_to(f);
      walk(result, [&](Tensor& t) { tensors.push_back(&t); }, [&](uint64_t word) { words.push_back(word); });
      if (call.end(tensors, words, given == stands.words())) {
        auto prototype = std::make_shared<Result>(result);
        walk(*prototype, [](Tensor& t) { t.reset(); }, [](uint64_t) {});
        call.keep_prototype(std::move(prototype));
      }
      return result;
    }
  }
}

}  // namespace taeda::lazy
