// SPDX-License-Identifier: Apache-2.0
// What one call of a function did, for static mode: its operators run at once and are written down, with everything that lies
// between them and the program.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "taeda/compile/record_step.h"
#include "taeda/core/host_watch.h"

namespace taeda::lazy {

enum class Origin : uint8_t {
  kMade,      ///< by a step
  kArgument,  ///< memory of an argument
  kGradient,  ///< of a gradient that is there when the call begins, and that nobody but its leaf holds
  kCaptured,  ///< memory that the function knows otherwise: parameters, buffers, constants, states
};

/// A block of memory of a call.
struct RecordedValue {
  Origin origin = Origin::kMade;
  int argument = -1;                  ///< the first tensor argument over it; of kGradient the leaf's number
  IntrusivePtr<StorageImpl> storage;  ///< while the call is recorded; afterwards of captured ones
  size_t bytes = 0;
  uint32_t version = 0, writes = 0;   ///< counters when first seen; afterwards how far they moved, and of made ones where they end
};

/// A captured tensor as it was at the end of the call.
struct CapturedTensor {
  Tensor tensor;
  int32_t value;
  Geometry geometry;
  uint8_t flags;
  size_t handles;  ///< to the tensor, those of its function's records and plans not counted; of a result 0
};

/// What a call leaves in a tensor's `.grad`, or returns.
struct Outcome {
  enum class Kind : uint8_t { kNothing, kKept, kArgument, kGradient, kCaptured, kMade } kind = Kind::kNothing;
  int32_t number = -1;  ///< of the value; of the argument that is returned whole; of the leaf whose gradient it is
  Geometry geometry;    ///< of kMade, and of views of arguments
  Tensor tensor;        ///< of kCaptured
  uint8_t flags = 0;
  ViewKind view = ViewKind::kOrdinary;
  bool whole = false;     ///< the argument itself
  bool had_graph = false; ///< backward has used its history up
  int same_as = -1;       ///< an earlier result that is the same tensor
  int gradient = -1;      ///< the leaf whose gradient is the same tensor
};

/// A tensor whose gradient the call looked at or changed.
struct RecordedLeaf {
  Tensor leaf;
  bool defined_before = false;
  Tensor before;       ///< while the call is recorded, and where it is kept, unless it has a value of its own
  int32_t value = -1;  ///< of kGradient
  Geometry geometry;   ///< of that one
  uint8_t flags = 0;   ///< of that one
  Outcome after;
};

/// Bytes of the host's memory that the call read: options and modes of modules, their owners.
struct ReadBytes {
  const void* owner;
  const char* place;
  std::string bytes;
  size_t (*handles)(const void* owner);  ///< null where an earlier one has the same owner
  size_t held = 0;                       ///< handles when the plan was made
  bool stay() const { return std::memcmp(place, bytes.data(), bytes.size()) == 0; }
  bool fit() const { return stay() && (!handles || handles(owner) == held); }
};

/// How often tensors and storages are held.
using HandleCounts = std::unordered_map<const void*, size_t>;

struct Record {
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<RecordedValue> values;
  std::vector<CapturedTensor> captured;
  std::vector<RecordedLeaf> leaves;
  std::vector<Outcome> results;
  std::vector<ReadBytes> reads;
  std::vector<uint64_t> result_words;  ///< lengths and keys of what was returned
  std::vector<int64_t> offsets;  ///< of the arguments in their memory, in bytes
  uint64_t host_changes = 0;  ///< when the call began
  std::string refusal;        ///< why the call cannot be replayed; empty: nothing was seen

  void count_handles(HandleCounts& counts) const;
};

/// Empty, or how two calls differ. Numbers of steps that have a source may differ.
std::string difference(const Record& a, const Record& b);

/// Whether a replay of one, by what is looked at before it, would not have been taken for the other.
bool begin_apart(const Record& a, const Record& b);

/// The history of a result whose graph backward() has freed inside of the call: it holds nothing, and refuses a second backward.
IntrusivePtr<autograd::Node> used_up_history(const Tensor& result);

/// An argument of the recorded call, and the tensor over memory of its own name that the function gets in its place: so that the recorder
/// can tell arguments from tensors that the function knows otherwise.
struct StandIn {
  Tensor given, stands;
};

/// Writes down one call of the thread that made it. Operators run at once.
class StaticRecorder final : public capture::Recorder, public StorageWatcher, public detail::HostWatch {
 public:
  StaticRecorder();
  ~StaticRecorder();
  StaticRecorder(const StaticRecorder&) = delete;
  StaticRecorder& operator=(const StaticRecorder&) = delete;

  void add_argument(const Tensor& given);
  const std::vector<StandIn>& arguments() const { return arguments_; }
  /// From here on operators, gradients and looks at values are noted.
  void start();
  void stop() noexcept;
  /// After `stop`: `results` are the tensors in what the function returned; stand-ins among them become the arguments again.
  std::unique_ptr<Record> end(const std::vector<Tensor*>& results);
  /// A reason of the caller's why the call cannot be replayed.
  void refuse_with(std::string why);

  capture::Answer begin(capture::Call& call) override;
  void record(capture::Call& call) override;
  void drop(capture::Call& call) noexcept override;
  void finish() override;
  void touch(StorageImpl& storage) override;
  void gradient(TensorImpl& leaf) override;
  void backward(TensorImpl& root, bool keeps_graph) override;
  void read(TensorImpl& tensor) override;
  void reads(const detail::HostBytes& bytes) override;
  void ends(const void* owner) override;
  void refuse(const char* what) override;

 private:
  int32_t number_of(const IntrusivePtr<StorageImpl>& storage, Origin origin);
  void watch(const IntrusivePtr<StorageImpl>& storage);
  void forget_dead();
  void check_history(const capture::Call& call) const;
  bool note_results(Step& step, const capture::Call& call);
  void end_leaves();
  void end_captured();
  void end_arguments();
  bool is_used_up(const Tensor& t) const;
  Outcome outcome_of(const Tensor& t, bool result);
  void check_kept(const std::vector<Tensor*>& results);
  const StandIn* stand_in(const TensorImpl* t) const;
  const Step* maker_of(int32_t value) const;

  std::unique_ptr<Record> record_;
  const void* owner_;
  uint32_t outer_active_ = 0;
  void* outer_capture_ = nullptr;
  bool grad_enabled_ = true, inference_ = false;  ///< when the call began
  ScalarType default_dtype_ = kFloat;
  bool started_ = false;
  bool kernel_runs_ = false;
  std::vector<StandIn> arguments_;
  std::unordered_map<const StorageImpl*, int32_t> numbers_;
  std::unordered_map<const TensorImpl*, int32_t> seen_;  ///< captured tensors, held by `tensors_`
  std::vector<Tensor> tensors_;
  std::vector<Tensor> used_up_;  ///< roots of a backward that freed the graph
  std::vector<int32_t> operands_;
  std::vector<Geometry> geometries_;
  std::vector<Counters> before_;
  std::vector<uint8_t> generator_before_;
  CleaningDue due_;
  std::mutex mutex_;  ///< guards the refusal, which other threads may set
};

}  // namespace taeda::lazy
