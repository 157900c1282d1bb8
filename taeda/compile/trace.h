// SPDX-License-Identifier: Apache-2.0
// What was recorded of a compiled function: a tree of steps, one path for each way its calls went.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taeda/ops/capture.h"

namespace taeda::lazy {

/// Sizes and strides of one tensor of a step.
struct Geometry {
  ScalarType dtype = kFloat;
  bool contiguous = true;
  bool wrapped_number = false;
  bool untracked = false;
  uint8_t ndim = 0;
  int64_t offset = 0;
  int64_t numel = 1;
  SmallVector<int64_t, 2 * kInlineDims> dims{2 * kInlineDims};  ///< as a tensor's: sizes, from capacity() on strides

  Geometry() = default;
  explicit Geometry(const TensorImpl& t);
  bool matches(const TensorImpl& t) const {
    if (t.dtype != dtype || t.ndim != ndim || t.offset != offset || t.untracked != untracked ||
        ((t.flags & kFlagWrappedNumber) != 0) != wrapped_number) {
      return false;
    }
    const int64_t *sizes = dims.data(), *strides = sizes + capacity(), *other_strides = t.dims + capacity();
    for (size_t d = 0; d < ndim; ++d) {
      if (t.dims[d] != sizes[d] || other_strides[d] != strides[d]) return false;
    }
    return true;
  }
  int64_t capacity() const { return ndim <= kInlineDims ? kInlineDims : ndim; }
  IntArrayRef sizes() const { return {dims.data(), ndim}; }
  IntArrayRef strides() const { return {dims.data() + capacity(), ndim}; }
  /// A tensor of this geometry over `storage`, unknown to autograd.
  Tensor over(IntrusivePtr<StorageImpl> storage) const;
  /// Gives `t` this geometry.
  void put(TensorImpl& t) const {
    t.flags = static_cast<uint8_t>((tls_modes.inference ? kFlagInference : 0) | (wrapped_number ? kFlagWrappedNumber : 0));
    t.dtype = dtype;
    t.contiguous = contiguous;
    t.offset = offset;
    t.numel = numel;
    if (TAEDA_LIKELY(ndim <= kInlineDims && t.ndim <= kInlineDims)) {
      t.ndim = ndim;
      std::memcpy(t.dims, dims.data(), sizeof t.inline_dims);
    } else {
      t.set_ndim(ndim);
      std::copy(dims.begin(), dims.end(), t.dims);
    }
  }
};

/// A tensor argument: value number `value` of the segment seen through a geometry. Storages are numbered in the order in
/// which a segment first meets them, inputs and results alike.
struct Operand {
  int32_t value = -1;  ///< -1: undefined
  Geometry geometry;
};

/// What the match of a step does to an argument's counters, as the kernel did.
struct Write {
  uint32_t operand;
  uint32_t versions, writes, own_versions;
};

enum class StepKind : uint8_t {
  kRoot,
  kCall,      ///< recorded, and done later when matched
  kDirect,    ///< ends the segment; the operator runs by itself each time
  kBoundary,  ///< ends the segment
};

/// A storage that a step brings.
struct ResultStorage {
  size_t bytes;
  uint32_t version;  ///< kernels may write their results in several goes
};

struct Plan;

/// One recorded call, and what came after it in different calls of the function. Steps are immutable once they are linked;
/// the list of followers only grows while calls are running.
struct Step {
  StepKind kind = StepKind::kCall;
  Step* parent = nullptr;
  std::atomic<Step*> first_child{nullptr};
  std::atomic<Step*> sibling{nullptr};
  std::atomic<uint64_t> last_used{0};
  std::atomic<Plan*> plans{nullptr};  ///< of segments that end here

  capture::Target target{""};
  ScalarType default_dtype = kFloat;
  std::vector<uint64_t> words;
  std::vector<Operand> operands;
  size_t number_count = 0;
  std::vector<Scalar> numbers;      ///< of the recorded call
  std::shared_ptr<capture::NumberSource> source;
  std::vector<Generator> generators;  ///< that the words point to
  int32_t values_before = 0;        ///< numbered before this step
  int32_t first_result_value = 0;   ///< numbered before its results
  std::vector<Operand> results;
  std::vector<ResultStorage> result_storages;  ///< that the results bring, by number from first_result_value
  std::vector<Write> writes;
  bool random = false;              ///< draws from a generator
  std::string note;                 ///< of kBoundary and kDirect: why the segment ends
  std::vector<void*> site;          ///< of kBoundary and kDirect: where in the program
  bool other_sizes = false;         ///< when it was linked, a step beside it differed in sizes only

  ~Step();
};

/// How the loops of a plan are made.
struct LoopOptions {
  bool fuse = false;
  bool generate_code = false;
  int64_t code_from_elements = 0;
  std::string cache_dir = {};
  bool alone = false;  ///< a small pointwise step that shares no loop gets one of its own, which is interpreted: less to do for each run
};

/// Whether two steps are one step at two sizes: they differ in sizes and strides, and in words that may follow from them.
bool equal_but_for_sizes(const Step& a, const Step& b);

/// What the steps of a trace keep to.
struct TraceOptions {
  size_t max_versions = 64;
  bool dynamic = true;     ///< sizes do not count as versions
  bool background = false; ///< plans are made on another thread
  bool log = false;        ///< on the standard error stream
};

/// The tree of one compiled function.
class Trace {
 public:
  Trace(const TraceOptions& options, const LoopOptions& loops);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  Step& root() { return root_; }
  const LoopOptions& loops() const { return loops_; }
  const TraceOptions& options() const { return options_; }
  /// Links `step` after `parent`. Returns it, or an equal boundary that another thread linked first. When `parent` has too
  /// many followers, the one unused for longest is retired.
  Step* link(Step& parent, std::unique_ptr<Step> step);
  /// A call of the function begins or ends; retired steps are freed when none runs.
  void enter() {
    calls.fetch_add(1, std::memory_order_relaxed);
    running_.fetch_add(1);
  }
  void leave() {
    if (running_.fetch_sub(1) == 1 && TAEDA_UNLIKELY(any_retired_.load())) free_retired();
  }
  /// Steps stay until `unpin`, whatever is retired.
  void pin() { running_.fetch_add(1); }
  void unpin() { leave(); }
  uint64_t tick() { return ticks_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// A fork that is no other size; `reason` says what differed. Warns once when there are many.
  void note_recompile(const std::string& reason);
  /// The last recompiles' reasons.
  std::vector<std::string> reasons() {
    const std::lock_guard lock(mutex_);
    return reasons_;
  }
  size_t step_count() const { return steps_.load(std::memory_order_relaxed); }

  // Counters for explain().
  std::atomic<uint64_t> calls{0}, segments{0}, recorded{0}, matched{0}, retired{0}, aside{0};
  std::atomic<uint64_t> recompiles{0};  ///< forks, not counting other sizes
  std::atomic<bool> warned{false};
  /// Calls that are still to run without recording.
  std::atomic<int> aside_left{0};

 private:
  void free_below(Step* step);
  void retire_oldest(Step& parent, const Step& added);
  void free_retired();

  std::mutex mutex_;
  Step root_;
  const TraceOptions options_;
  const LoopOptions loops_;
  std::vector<Step*> retired_;
  std::vector<std::string> reasons_;
  std::atomic<bool> any_retired_{false};
  std::atomic<size_t> running_{0};
  std::atomic<uint64_t> ticks_{0};
  std::atomic<size_t> steps_{0};
};

}  // namespace taeda::lazy
