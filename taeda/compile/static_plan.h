// SPDX-License-Identifier: Apache-2.0
// A recorded call that can be carried out again without the program's code.
#pragma once

#include "taeda/compile/fuse.h"
#include "taeda/compile/static_arguments.h"
#include "taeda/compile/static_record.h"
#include "taeda/core/node.h"

namespace taeda::lazy {

/// Not thread-safe: static calls take their turns.
class StaticPlan {
 public:
  /// `check`: every run is compared with the operators' own kernels.
  StaticPlan(std::unique_ptr<Record> record, const LoopOptions& loops, bool check);

  const Record& record() const { return *record_; }
  /// The record of a later call that equals this one's: what it found is what must still hold from then on.
  void renew(Record&& later);
  /// Captured tensors must keep the number of handles that they have now; another number means that a variable may hold another
  /// tensor. `own`: handles of the function's records and plans, which come and go.
  void count_handles(const HandleCounts& own);
  /// Only the function's own handles have changed.
  void expect_handles(const HandleCounts& own);
  /// Adds the handles of the plan itself.
  void add_handles(HandleCounts& counts) const;

  /// Whether a run with these arguments does what the function would do, as far as that can be seen.
  bool fits(const ArgumentList& arguments);
  /// Carries the call out, after `fits`. When an operator throws, gradients that the call makes are undefined.
  void run(const ArgumentList& arguments);
  /// Result `i` of the run; each can be taken once.
  Tensor result(size_t i) { return std::move(results_[i]); }
  size_t kernels() const { return tasks_.size(); }
  std::shared_ptr<const void> prototype;  ///< what the function returned, without its tensors
  uint64_t replays = 0;

 private:
  /// A unit of the plan, ready to run.
  struct Task {
    const Unit* unit = nullptr;
    const Step* step = nullptr;           ///< of a single one
    Scalar* numbers = nullptr;
    std::vector<Tensor> frames;           ///< the operands
    std::vector<uint32_t> borrowed;       ///< frames whose storage is set at each run
    std::vector<uint32_t> moving;         ///< those over arguments, which may lie elsewhere at each run
    bool constant = false;                ///< gives the same at each run
    bool done = false;
    std::vector<Tensor> results;
    std::vector<kernel::Launch> launches;  ///< of a loop
    std::vector<kernel::Place> places;
    std::vector<FusedSteps::Place> operands;
    std::vector<Scalar> params;
    std::vector<std::pair<int32_t, size_t>> made;
  };
  void make_tasks();
  Task loop_task(const Unit& unit);
  Task single_task(const Unit& unit);
  void bind(const ArgumentList& arguments);
  void release() noexcept;
  void run_all();
  void run_task(Task& task);
  void run_loop(Task& task);
  void run_single(Task& task);
  /// `results`: of the operator.
  void place_result(const Operand& made, Tensor& result, size_t results);
  void count_writes() const;
  void clear_gradients() noexcept;
  void give_gradients();
  void make_results();
  Tensor made_tensor(const Outcome& outcome);
  bool leaves_fit(const ArgumentList& arguments) const;
  bool gradient_fits(const RecordedLeaf& leaf, const Tensor& now, const ArgumentList& arguments) const;
  bool captured_fit() const;
  bool arguments_fit(const ArgumentList& arguments) const;
  int64_t shift(size_t value, const ArgumentList& arguments) const;

  std::unique_ptr<Record> record_;
  const bool check_;
  Segment segment_;
  std::unique_ptr<Plan> plan_;
  std::vector<Task> tasks_;
  std::vector<IntrusivePtr<StorageImpl>> memory_;  ///< by value number
  std::vector<bool> kept_;                         ///< made values whose memory stays from run to run
  std::vector<bool> written_;                      ///< values that some step writes in place
  std::vector<Tensor> made_;                       ///< the kernels' results that become tensors of the program, by value
  std::vector<size_t> arguments_, gradients_, captured_, counted_, passing_;  ///< values: of arguments, of gradients, captured, whose counters move, made and given away or freed
  std::vector<size_t> tensor_handles_;             ///< of the record's captured tensors, 0: any number
  std::vector<size_t> storage_handles_, others_storage_handles_;  ///< of `captured_`; those that are not the function's own
  std::vector<int64_t> shift_of_;  ///< by value number: the bytes by which an argument lies elsewhere in its memory than recorded
  std::vector<size_t> widest_;     ///< by value number: the largest element as which it is read
  std::vector<IntrusivePtr<autograd::Node>> used_up_;  ///< by result
  std::vector<Tensor> results_;
  const ArgumentList* given_ = nullptr;  ///< the arguments of the run
};

}  // namespace taeda::lazy
