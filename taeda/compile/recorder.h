// SPDX-License-Identifier: Apache-2.0
// Follows one call of a compiled function along the recorded steps.
#pragma once

#include "taeda/compile/plan.h"
#include "taeda/compile/record_step.h"

namespace taeda::lazy {

class State;

/// Addresses of storages to their numbers in the segment.
class StorageMap {
 public:
  /// The number of `s`, or -1.
  int32_t find(const StorageImpl* s) const;
  void insert(const StorageImpl* s, int32_t number);
  void clear();

 private:
  struct Slot {
    const StorageImpl* key = nullptr;
    int32_t number = 0;
  };
  size_t place(const StorageImpl* s) const;
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::vector<size_t> used_;
};

/// Invariant: a storage is watched by the recorder exactly when its contents wait for pending steps, or when a step of the
/// current segment has produced or written it. `mutex_` guards everything; the owner's thread and any thread that looks at a
/// watched storage take it.
class CallRecorder final : public capture::Recorder, public StorageWatcher {
 public:
  /// One for the calling thread's next call; recorders are kept for reuse and never destroyed.
  static CallRecorder& take();
  /// Ends what `start` began.
  void give_back() noexcept;

  /// Stands in for kernels on this thread from here on.
  void start(State& state);
  State& state() const { return *state_; }
  /// Ends the last segment. False when the call would have been faster without recording.
  bool stop();

  capture::Answer begin(capture::Call& call) override;
  void record(capture::Call& call) override;
  void drop(capture::Call& call) noexcept override;
  void finish() override;
  void touch(StorageImpl& storage) override;

 private:
  const char* refusal(const capture::Call& call);
  void number(const capture::Call& call);
  int32_t known_number(const StorageImpl* s) const;
  int32_t new_number(const IntrusivePtr<StorageImpl>& storage);
  Step* likely_follower(const capture::Call& call);
  Step* find_follower(const capture::Call& call);
  capture::Answer follow(Step& step, capture::Call& call);
  bool equal(const Step& step, const capture::Call& call) const;
  void take_step(Step& step, capture::Call& call);
  void prepare_record(const capture::Call& call);
  bool place_results(Step& step, const capture::Call& call);
  void note_writes(Step& step, const capture::Call& call);
  void watch(int32_t value);
  void run_pending();
  const Plan* make_plan(Step& end, std::vector<bool> alive);
  void carry_out(const Plan& plan);
  void close(const char* note, Step* end = nullptr);
  void forget_values() noexcept;
  void drop_dead();

  std::mutex mutex_;
  const void* owner_ = nullptr;  ///< identifies the thread
  std::shared_ptr<State> state_;  ///< a call may outlive the last handle to the function
  uint32_t outer_active_ = 0;     ///< the modes before this call
  void* outer_capture_ = nullptr;
  Trace* trace_ = nullptr;
  Step* segment_start_ = nullptr;
  Step* cursor_ = nullptr;
  uint64_t now_ = 0;
  uint64_t matched_ = 0;
  double gain_ = 0;      ///< of the plans of this call
  bool all_matched_ = true;
  bool failed_ = false;  ///< an operator threw when its turn came: the rest of the call runs eagerly
  std::atomic<bool> kernel_runs_{false};  ///< a kernel that is being recorded runs
  Segment segment_;
  StorageMap numbers_;
  AliveWords alive_;
  SmallVector<int32_t, 16> operand_values_;  ///< of the call at hand
  bool escaped_ = false;                     ///< the call at hand has a tensor whose raw pointer the program holds
  std::vector<Operand> recorded_operands_;
  std::vector<Counters> before_;              ///< of the arguments, before the kernel ran
  std::vector<uint8_t> generator_before_;
  CleaningDue due_;
};

}  // namespace taeda::lazy
