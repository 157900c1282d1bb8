// SPDX-License-Identifier: Apache-2.0
// Matching of calls with recorded steps, recording of new ones, and the ends of segments.
#include "taeda/compile/recorder.h"

#include <cstring>

#include "taeda/compile/background.h"
#include "taeda/compile/log.h"
#include "taeda/compile/record_step.h"
#include "taeda/compile/state.h"
#include "taeda/core/call_site.h"
#include "taeda/ops/registry.h"

namespace taeda::lazy {

namespace {

thread_local constinit char tls_thread_mark = 0;

/// Recorders that no call uses. Never destroyed, and neither are recorders: another thread may be about to look at a storage
/// that one watched.
struct Spare {
  std::mutex mutex;
  std::vector<CallRecorder*> recorders;

  void add(CallRecorder* r) {
    const std::lock_guard lock(mutex);
    recorders.push_back(r);
  }
};
Spare& spare() {
  static auto* s = new Spare;
  return *s;
}
/// The thread keeps one for itself.
struct Own {
  CallRecorder* recorder = nullptr;
  constexpr Own() = default;
  ~Own() {
    if (recorder) spare().add(std::exchange(recorder, nullptr));
  }
};
thread_local constinit Own tls_own;

}  // namespace

size_t StorageMap::place(const StorageImpl* s) const {
  const size_t mask = slots_.size() - 1;
  size_t at = (reinterpret_cast<uintptr_t>(s) >> 5) * 0x9e3779b97f4a7c15u >> 20 & mask;
  while (slots_[at].key && slots_[at].key != s) at = (at + 1) & mask;
  return at;
}
int32_t StorageMap::find(const StorageImpl* s) const {
  const Slot& slot = slots_[place(s)];
  return slot.key ? slot.number : -1;
}
void StorageMap::insert(const StorageImpl* s, int32_t number) {
  if (2 * (used_.size() + 1) > slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    used_.clear();
    for (const Slot& slot : old) {
      if (slot.key) insert(slot.key, slot.number);
    }
  }
  const size_t at = place(s);
  if (!slots_[at].key) used_.push_back(at);
  slots_[at] = {s, number};
}
void StorageMap::clear() {
  for (const size_t at : used_) slots_[at].key = nullptr;
  used_.clear();
}

CallRecorder& CallRecorder::take() {
  if (CallRecorder* own = std::exchange(tls_own.recorder, nullptr)) return *own;
  Spare& s = spare();
  const std::lock_guard lock(s.mutex);
  if (s.recorders.empty()) return *new CallRecorder;
  CallRecorder* r = s.recorders.back();
  s.recorders.pop_back();
  return *r;
}
void CallRecorder::give_back() noexcept {
  tls_modes.active = (tls_modes.active & ~static_cast<uint32_t>(kModeCapture)) | (outer_active_ & kModeCapture);
  tls_modes.capture = outer_capture_;
  state_->trace.leave();
  state_.reset();
  if (!tls_own.recorder) tls_own.recorder = this;
  else spare().add(this);
}

void CallRecorder::start(State& state) {
  outer_active_ = tls_modes.active;
  outer_capture_ = tls_modes.capture;
  tls_modes.active |= kModeCapture;
  tls_modes.capture = static_cast<capture::Recorder*>(this);
  const std::lock_guard lock(mutex_);
  owner_ = &tls_thread_mark;
  state_ = state.shared_from_this();
  trace_ = &state.trace;
  matched_ = 0;
  segment_.check = state.options.backend == CompileBackend::kDebug;
  segment_start_ = cursor_ = &trace_->root();
  now_ = trace_->tick();
  failed_ = false;
  gain_ = 0;
  all_matched_ = true;
}

bool CallRecorder::stop() {
  const std::lock_guard lock(mutex_);
  struct Reset {
    CallRecorder& r;
    ~Reset() {
      r.trace_->matched.fetch_add(r.matched_, std::memory_order_relaxed);
      r.trace_ = nullptr;
      r.owner_ = nullptr;
    }
  } reset{*this};
  close("the call ended");
  return !all_matched_ || failed_ || gain_ >= 0;
}

/// Why the call cannot be recorded. What other threads have recorded for its tensors is done first.
const char* CallRecorder::refusal(const capture::Call& call) {
  const OpInfo* info = call.target.info;
  if (info && *info->shape_from) {
    if (std::strcmp(info->shape_from, "masks") != 0) return "the shape of a result depends on values";
    for (size_t i = 1; i < call.tensors.size(); ++i) {
      const TensorImpl* t = call.tensors[i];
      if (t && (t->dtype == kBool || t->dtype == kByte)) return "the shape of a result depends on a mask's values";
    }
  }
  bool on_cpu = true;
  for (const TensorImpl* t : call.tensors) {
    if (!t) continue;
    on_cpu = on_cpu && t->device_.is_cpu();
    const StorageWatcher* other = t->storage->watcher.load(std::memory_order_acquire);
    if (TAEDA_UNLIKELY(other && other != this)) t->storage->bytes();
  }
  return on_cpu ? nullptr : "a tensor is not on the CPU";
}

capture::Answer CallRecorder::begin(capture::Call& call) {
  if (owner_ != &tls_thread_mark) {  // a task of the pool that runs for the owner
    finish();
    return capture::Answer::kRun;
  }
  {
    const std::lock_guard lock(mutex_);
    Step* step = failed_ ? nullptr : likely_follower(call);
    if (step) return follow(*step, call);
  }
  const char* refused = refusal(call);
  const std::lock_guard lock(mutex_);
  if (refused) {
    close(refused);
    return capture::Answer::kRun;
  }
  if (failed_) return capture::Answer::kRun;
  number(call);
  if (Step* step = find_follower(call)) return follow(*step, call);
  all_matched_ = false;
  run_pending();
  prepare_record(call);
  kernel_runs_.store(true, std::memory_order_relaxed);
  return capture::Answer::kRecord;
}

/// The call goes the way of `step`.
capture::Answer CallRecorder::follow(Step& step, capture::Call& call) {
  if (step.kind == StepKind::kDirect) {
    close(nullptr, &step);
    return capture::Answer::kRun;
  }
  take_step(step, call);
  if (escaped_) close("the program holds a raw pointer to a tensor");
  return capture::Answer::kTaken;
}

/// The number of a storage that the call at hand has, or -1.
int32_t CallRecorder::known_number(const StorageImpl* s) const {
  return s->watcher.load(std::memory_order_relaxed) == this ? static_cast<int32_t>(s->watch_number) : numbers_.find(s);
}
int32_t CallRecorder::new_number(const IntrusivePtr<StorageImpl>& storage) {
  const auto value = static_cast<int32_t>(segment_.values.size());
  segment_.values.push_back({storage});
  numbers_.insert(storage.get(), value);
  return value;
}

/// Gives every storage of the call a number.
void CallRecorder::number(const capture::Call& call) {
  operand_values_.clear();
  escaped_ = false;
  for (const TensorImpl* t : call.tensors) {
    if (!t) {
      operand_values_.push_back(-1);
      continue;
    }
    escaped_ = escaped_ || t->storage->pointer_escaped.load(std::memory_order_relaxed);
    const int32_t value = known_number(t->storage.get());
    operand_values_.push_back(value < 0 ? new_number(t->storage) : value);
  }
}

namespace {
/// What two equal calls have in common besides tensors.
bool is_same(const Step& step, const capture::Call& call) {
  const capture::Target &a = step.target, &b = call.target;
  return a.run == b.run && a.info == b.info && a.detail == b.detail && a.variant == b.variant && step.kind != StepKind::kBoundary &&
         step.words.size() == call.words.size() && step.operands.size() == call.tensors.size() &&
         step.number_count == call.numbers.size() && step.default_dtype == default_scalar_type() &&
         std::equal(step.words.begin(), step.words.end(), call.words.begin());
}
}  // namespace

/// The newest way to go on, when the call goes it. Most calls do: they are numbered and compared in one walk. A call that does
/// not may leave numbers behind, those that it would get anyhow.
Step* CallRecorder::likely_follower(const capture::Call& call) {
  Step* step = cursor_->first_child.load(std::memory_order_acquire);
  if (!step || !is_same(*step, call)) return nullptr;
  escaped_ = false;
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const TensorImpl* t = call.tensors[i];
    const Operand& o = step->operands[i];
    if (!t || o.value < 0) {
      if (t || o.value >= 0) return nullptr;
      continue;
    }
    StorageImpl* s = t->storage.get();
    const StorageWatcher* watcher = s->watcher.load(std::memory_order_acquire);
    if ((watcher && watcher != this) || !t->device_.is_cpu()) return nullptr;
    escaped_ = escaped_ || s->pointer_escaped.load(std::memory_order_relaxed);
    const auto value = static_cast<size_t>(o.value);
    if (value >= segment_.values.size()) {
      if (value > segment_.values.size() || known_number(s) >= 0) return nullptr;
      new_number(t->storage);
    } else if (segment_.values[value].storage.get() != s) {
      return nullptr;
    }
    if (!o.geometry.matches(*t)) return nullptr;
  }
  return step->values_before == static_cast<int32_t>(segment_.values.size()) ? step : nullptr;
}

bool CallRecorder::equal(const Step& step, const capture::Call& call) const {
  if (!is_same(step, call) || step.values_before != static_cast<int32_t>(segment_.values.size())) return false;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Operand& o = step.operands[i];
    if (o.value != operand_values_[i]) return false;
    if (o.value >= 0 && !o.geometry.matches(*call.tensors[i])) return false;
  }
  return true;
}

Step* CallRecorder::find_follower(const capture::Call& call) {
  for (Step* c = cursor_->first_child.load(std::memory_order_acquire); c; c = c->sibling.load(std::memory_order_acquire)) {
    if (equal(*c, call)) return c;
  }
  return nullptr;
}

/// The call is what the step recorded: its results are announced, the step waits.
void CallRecorder::take_step(Step& step, capture::Call& call) {
  step.last_used.store(now_, std::memory_order_relaxed);
  for (const Write& w : step.writes) {
    TensorImpl& t = *call.tensors[w.operand];
    if (w.versions) t.storage->version.fetch_add(w.versions, std::memory_order_relaxed);
    if (w.writes) t.storage->writes.fetch_add(w.writes, std::memory_order_relaxed);
    if (w.own_versions) counted(t).own_version.fetch_add(w.own_versions, std::memory_order_relaxed);
    watch(step.operands[w.operand].value);
  }
  for (const ResultStorage& s : step.result_storages) {
    StorageImpl* storage = StorageImpl::announce(s.bytes, Device());
    storage->version.store(s.version, std::memory_order_relaxed);
    storage->watch_number = static_cast<uint32_t>(segment_.values.size());
    storage->watcher.store(this, std::memory_order_release);
    segment_.values.push_back({IntrusivePtr<StorageImpl>::adopt(storage), true, true, true});
  }
  call.results.reserve(step.results.size());
  for (const Operand& r : step.results) {
    call.results.push_back(r.value < 0 ? Tensor() : r.geometry.over(segment_.values[static_cast<size_t>(r.value)].storage));
  }
  segment_.pending.push_back({&step, segment_.numbers.size()});
  for (const Scalar& number : call.numbers) segment_.numbers.push_back(number);
  cursor_ = &step;
  ++matched_;
}

void CallRecorder::watch(int32_t number) {
  SegmentValue& value = segment_.values[static_cast<size_t>(number)];
  if (value.watched) return;
  value.watched = true;
  value.storage->watch_number = static_cast<uint32_t>(number);
  value.storage->watcher.store(this, std::memory_order_release);
}

void CallRecorder::prepare_record(const capture::Call& call) {
  recorded_operands_.clear();
  before_.clear();
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const TensorImpl* t = call.tensors[i];
    Operand& o = recorded_operands_.emplace_back();
    o.value = operand_values_[i];
    before_.push_back({});
    if (!t) continue;
    o.geometry = Geometry(*t);
    before_.back() = counters_of(*t);
  }
  generator_before_ = generator_state();
}

void CallRecorder::record(capture::Call& call) {
  kernel_runs_.store(false, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  std::unique_ptr<Step> step = make_step(call, recorded_operands_, segment_.values.size(), generator_before_);
  note_writes(*step, call);
  const bool fresh = place_results(*step, call);
  if (!fresh) {
    step->kind = StepKind::kDirect;
    step->note = str(call.target.name, " returns or reshapes one of its arguments");
    step->site = taeda::detail::call_site_here();
    step->results.clear();
    step->result_storages.clear();
  }
  trace_->recorded.fetch_add(1, std::memory_order_relaxed);
  Step* before = cursor_->first_child.load(std::memory_order_acquire);
  while (before && before->kind == StepKind::kBoundary) before = before->sibling.load(std::memory_order_acquire);
  cursor_ = trace_->link(*cursor_, std::move(step));
  log(*trace_, "recorded ", call_text(*cursor_));
  if (before && !cursor_->other_sizes) trace_->note_recompile(difference(*cursor_, *before));
  if (!fresh) {
    close(nullptr, cursor_);
    return;
  }
  for (const Write& w : cursor_->writes) watch(cursor_->operands[w.operand].value);
  if (escaped_) close("the program holds a raw pointer to a tensor");
  if (due_.after(*cursor_)) drop_dead();
}

/// What the kernel wrote: what the call says, and arguments whose counters moved.
void CallRecorder::note_writes(Step& step, const capture::Call& call) {
  std::vector<const StorageImpl*> seen;
  for (uint32_t i = 0; i < call.tensors.size(); ++i) {
    std::optional<Write> w = write_of(call, i, before_[i]);
    if (!w) continue;
    const StorageImpl* storage = call.tensors[i]->storage.get();
    if (std::find(seen.begin(), seen.end(), storage) != seen.end()) {
      w->versions = w->writes = 0;  // counted with the first view of the storage
      if (w->own_versions == 0) continue;
    }
    seen.push_back(storage);
    step.writes.push_back(*w);
  }
}

/// Numbers the results' storages. False when a result shares memory with an argument, or an argument changed its geometry or
/// storage.
bool CallRecorder::place_results(Step& step, const capture::Call& call) {
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const TensorImpl* t = call.tensors[i];
    if (!t) continue;
    const Operand& o = recorded_operands_[i];
    if (!o.geometry.matches(*t) || segment_.values[static_cast<size_t>(o.value)].storage != t->storage) return false;
  }
  for (const Tensor& r : call.results) {
    if (!r.defined()) continue;
    StorageImpl* s = r.impl().storage.get();
    if (!r.device().is_cpu() || s->watcher.load() != nullptr || numbers_.find(s) >= 0 || s->deleter != nullptr || !s->resizable) return false;
  }
  step.first_result_value = static_cast<int32_t>(segment_.values.size());
  for (const Tensor& r : call.results) {
    Operand& result = step.results.emplace_back();
    if (!r.defined()) continue;
    StorageImpl* s = r.impl().storage.get();
    result.geometry = Geometry(r.impl());
    if (s->watcher.load() == this) {  // a second result over the same storage
      result.value = static_cast<int32_t>(s->watch_number);
      continue;
    }
    result.value = static_cast<int32_t>(segment_.values.size());
    SegmentValue& value = segment_.values.emplace_back();
    value.storage = r.impl().storage;
    value.result = true;
    watch(result.value);
    step.result_storages.push_back({s->nbytes, s->version.load(std::memory_order_relaxed)});
  }
  return true;
}

void CallRecorder::drop(capture::Call&) noexcept { kernel_runs_.store(false, std::memory_order_relaxed); }

void CallRecorder::finish() {
  const std::lock_guard lock(mutex_);
  if (trace_) close("memory was written, or a generator looked at, outside the operators");
}

void CallRecorder::touch(StorageImpl& storage) {
  if (kernel_runs_.load(std::memory_order_relaxed)) return;  // nothing waits while a kernel is recorded
  const std::lock_guard lock(mutex_);
  if (storage.watcher.load(std::memory_order_acquire) == this) close("a value was looked at");
}

/// Does what waits; the segment goes on.
void CallRecorder::run_pending() {
  if (segment_.pending.empty()) return;
  const Plan plan(segment_start_, segment_, alive_values(segment_), {});
  carry_out(plan);
  // Storages that have their memory now are still known by their numbers.
  for (size_t v = 0; v < segment_.values.size(); ++v) {
    SegmentValue& value = segment_.values[v];
    value.produced = false;
    if (value.result && plan.alive[v]) watch(static_cast<int32_t>(v));
  }
}

void CallRecorder::carry_out(const Plan& plan) {
  try {
    run(plan, segment_);
  } catch (...) {
    failed_ = true;
    segment_start_ = cursor_;
    forget_values();
    throw;
  }
}

/// Ends the segment at `end`, or at a boundary that is made when there is none.
void CallRecorder::close(const char* note, Step* end) {
  if (!trace_) return;
  if (cursor_ == segment_start_ && !end) {
    forget_values();
    return;
  }
  if (!end) {
    for (end = cursor_->first_child.load(std::memory_order_acquire); end && end->kind != StepKind::kBoundary;) {
      end = end->sibling.load(std::memory_order_acquire);
    }
    if (!end) {
      auto boundary = std::make_unique<Step>();
      boundary->kind = StepKind::kBoundary;
      boundary->note = note;
      boundary->site = taeda::detail::call_site_here();
      log(*trace_, "segment ends: ", note);
      end = trace_->link(*cursor_, std::move(boundary));
    }
  }
  trace_->segments.fetch_add(1, std::memory_order_relaxed);
  if (!segment_.pending.empty()) {
    find_alive(segment_, alive_);
    const Plan* plan = end->plans.load(std::memory_order_acquire);
    while (plan && !(plan->start == segment_start_ && plan->first == segment_.pending.front().step && plan->alive_words == alive_)) {
      plan = plan->next;
    }
    if (!plan) plan = make_plan(*end, alive_values(segment_));
    cursor_ = end;
    gain_ += plan->gain;
    carry_out(*plan);
  }
  segment_start_ = cursor_ = end;
  forget_values();
}

const Plan* CallRecorder::make_plan(Step& end, std::vector<bool> alive) {
  if (trace_->options().background) {
    const Plan* plan = add_plan(end, new Plan(segment_start_, segment_, alive, {}));
    make_plan_later(*state_, end, segment_start_, segment_, alive);  // goes before it in the list
    return plan;
  }
  const Plan* plan = add_plan(end, new Plan(segment_start_, segment_, std::move(alive), trace_->loops()));
  log(*trace_, "plan of ", plan->units.size(), " kernels for ", segment_.pending.size(), " operators");
  return plan;
}

void CallRecorder::forget_values() noexcept {
  for (SegmentValue& value : segment_.values) {
    if (value.watched) value.storage->watcher.store(nullptr, std::memory_order_release);
  }
  segment_.values.clear();
  segment_.pending.clear();
  segment_.numbers.clear();
  numbers_.clear();
}

/// While recording, results that nobody holds any more are freed.
void CallRecorder::drop_dead() {
  for (SegmentValue& value : segment_.values) {
    if (!value.result || value.produced || !value.watched || value.storage->owners() > 0) continue;
    value.watched = false;
    value.storage->watcher.store(nullptr, std::memory_order_release);
    value.storage.reset();
  }
}

}  // namespace taeda::lazy
