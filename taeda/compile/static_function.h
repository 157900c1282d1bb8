// SPDX-License-Identifier: Apache-2.0
// What the static calls of one function share: plans by the kinds of arguments.
#pragma once

#include "taeda/compile/static_plan.h"

namespace taeda::lazy {

/// One tensor argument as far as a plan depends on it.
struct ArgumentKind {
  ScalarType dtype;
  uint8_t flags;
  bool untracked;
  SmallVector<int64_t, 8> dims;  ///< sizes, then strides
  int shares = -1;               ///< an earlier argument in the same memory
  int64_t distance = 0;          ///< from that one, in bytes

  ArgumentKind(const ArgumentList& all, size_t number);
  bool matches(const ArgumentList& all, size_t number) const;
};

/// Calls whose arguments are of one kind.
struct StaticGroup {
  const void* types;
  std::vector<uint64_t> words;  ///< modes of the thread, then numbers, texts and lengths in the arguments
  std::vector<ArgumentKind> kinds;
  std::vector<std::unique_ptr<StaticPlan>> plans;
  std::vector<std::unique_ptr<Record>> kept;  ///< of calls of which no plan was made yet
  std::string obstacle;          ///< why the last such call could not be kept
  int fruitless = 0;             ///< recorded calls since the last plan or replay
  std::string refusal;           ///< why there will be none

  bool matches(const void* call_types, ArrayRef<uint64_t> call_words, const ArgumentList& tensors) const;
};

/// Invariant: `turn` guards the rest.
struct StaticFunction {
  std::mutex turn;
  std::vector<std::unique_ptr<StaticGroup>> groups;
  size_t plans = 0;
  uint64_t recorded = 0, replayed = 0;

  /// After a recorded call: what the function holds itself has changed. `renewed`: the plan that is this call's, or null.
  void settle(StaticPlan* renewed);
};

}  // namespace taeda::lazy
