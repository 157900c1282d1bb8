// SPDX-License-Identifier: Apache-2.0
// How the steps of one segment are carried out, and the carrying out.
#pragma once

#include <span>

#include "taeda/compile/trace.h"

namespace taeda::lazy {

/// A matched step that waits to be done.
struct Pending {
  const Step* step;
  size_t first_number;  ///< of this call's numbers
};

/// A storage as a segment knows it.
struct SegmentValue {
  IntrusivePtr<StorageImpl> storage;
  bool produced = false;  ///< a pending step will make its memory
  bool result = false;    ///< came from a step of this segment
  bool watched = false;
};

/// Memory by value number.
using Memory = std::vector<IntrusivePtr<StorageImpl>>;

/// Tensors that stand for a step's operands while its kernel runs. They are used again and again, and borrow their storages.
class Operands {
 public:
  Operands() = default;
  ~Operands() { clear(); }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  /// Those of `step` over `memory`, which must outlive the next `clear`; undefined ones where none was given.
  const Tensor* set(const Step& step, const Memory& memory);
  /// A tensor that somebody else holds by now owns its storage from here on.
  void clear() noexcept;
  std::vector<Tensor> results;  ///< of the kernel

 private:
  std::vector<Tensor> given_, spare_;
};

/// What a run needs of one call.
struct Segment {
  std::vector<SegmentValue> values;
  std::vector<Pending> pending;
  std::vector<Scalar> numbers;
  bool check = false;  ///< runs are compared with the operators' own kernels
  // Of the run.
  Memory memory;
  Operands operands;
};

/// One bit for each value.
using AliveWords = SmallVector<uint64_t, 8>;

struct FusedSteps;
struct OuterSum;

/// Steps that are done together.
struct Unit {
  std::vector<size_t> steps;          ///< indices of pending steps
  std::shared_ptr<FusedSteps> fused;  ///< null for a single step
  std::vector<std::shared_ptr<FusedSteps>> more;  ///< of the same kernel over other tensors, in the same launch
  std::vector<int32_t> last_uses;     ///< values whose memory is free afterwards
  int64_t elements = 0;               ///< that a fused loop runs over
  std::shared_ptr<OuterSum> outer = nullptr;  ///< a sum of outer products
  std::vector<int32_t> handed_over = {};  ///< values that it makes and somebody holds
};

/// One way to carry out a range of steps, for one set of values that somebody still holds.
/// Invariant: immutable after construction.
struct Plan {
  Plan* next = nullptr;
  const Step* start;             ///< the step before the segment
  const Step* first;             ///< the first pending step: others of the segment were done before
  std::vector<bool> alive;       ///< by value number: looked at after the segment
  AliveWords alive_words;        ///< the same
  std::vector<Unit> units;       ///< the needed steps, in order
  double gain = 0;               ///< nanoseconds that its loops save, less what matching costs; by rule, not by clock

  /// Joining steps into loops is worth it for a plan that is kept.
  Plan(const Step* before, const Segment& segment, std::vector<bool> alive_values, const LoopOptions& loops);

 private:
  void note_last_uses(const Segment& segment);
  void note_handed_over(const Segment& segment);
};

/// The values that somebody besides the segment holds.
std::vector<bool> alive_values(const Segment& segment);
void find_alive(const Segment& segment, AliveWords& alive);

/// Runs one step by the operator's kernel over `memory`, which gets its results.
void run_step(const Step& step, const Scalar* numbers, Memory& memory, Operands& operands);

/// Does the pending steps by `plan`, gives the results' storages their memory, and forgets the steps. When an operator
/// throws, storages that were not computed throw from then on when they are looked at.
void run(const Plan& plan, Segment& segment);

}  // namespace taeda::lazy
