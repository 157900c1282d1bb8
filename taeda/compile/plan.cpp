// SPDX-License-Identifier: Apache-2.0
// Which steps of a segment must be done, and their execution one by one.
#include "taeda/compile/check.h"
#include "taeda/compile/fuse.h"
#include "taeda/compile/outer.h"

#include <algorithm>
#include <cstring>

#include "taeda/core/modes.h"
#include "taeda/ops/registry.h"

namespace taeda::lazy {

namespace {
bool is_alive(const SegmentValue& value) {
  return value.storage && (!value.produced || value.storage->use_count() > 1);  // the segment holds one reference
}
AliveWords words_of(const std::vector<bool>& bits) {
  AliveWords words((bits.size() + 63) / 64);
  for (size_t v = 0; v < bits.size(); ++v) words[v / 64] |= static_cast<uint64_t>(bits[v]) << v % 64;
  return words;
}
}  // namespace

std::vector<bool> alive_values(const Segment& segment) {
  std::vector<bool> alive(segment.values.size());
  for (size_t v = 0; v < alive.size(); ++v) alive[v] = is_alive(segment.values[v]);
  return alive;
}

void find_alive(const Segment& segment, AliveWords& alive) {
  alive.clear();
  uint64_t word = 0;
  for (size_t v = 0; v < segment.values.size(); ++v) {
    word |= static_cast<uint64_t>(is_alive(segment.values[v])) << v % 64;
    if (v % 64 == 63) alive.push_back(std::exchange(word, 0));
  }
  if (segment.values.size() % 64 != 0) alive.push_back(word);
}

namespace {
std::vector<Unit> single_units(const std::vector<bool>& needed) {
  std::vector<Unit> units;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) units.push_back({{i}, nullptr, {}, {}, 0});
  }
  return units;
}
}  // namespace

namespace {
// Nanoseconds, measured on current x86 cores.
constexpr double kSegment = 400;  ///< what a run of a plan costs beyond its steps
constexpr double kMatch = 265;    ///< what a matched step costs beyond its kernel
constexpr double kJoined = 245;   ///< saved by a step that shares a loop
constexpr double kOmitted = 260, kOmittedElement = 0.1;  ///< saved by one that is not needed, and by each element of its results
/// Saved by each element that is neither written nor read again: by generated and by interpreted code, and beyond the caches.
constexpr double kCode = 0.09, kInterpreted = 0.03, kStreamed = 0.15;
constexpr int64_t kCacheElements = 1 << 18;

double gain_of_omission(const Step& step) {
  int64_t elements = 0;
  for (const Operand& r : step.results) elements += r.value < 0 ? 0 : r.geometry.numel;
  return kOmitted + kOmittedElement * static_cast<double>(elements);
}

double gain_of(const Unit& unit) {
  if (unit.outer) return static_cast<double>(unit.steps.size() - 1) * (kJoined + kCode * static_cast<double>(unit.elements));
  const kernel::CompiledKernel& code = *unit.fused->kernel;
  const auto launches = static_cast<double>(unit.more.size() + 1), steps = static_cast<double>(unit.steps.size());
  const double elements = static_cast<double>(unit.elements) / launches;
  // The interpreter writes what is needed elsewhere as the operators do, not faster where that is done in place, and works on rows as they do.
  const bool interpreted = code.backend() == kernel::Backend::kInterpreter;
  const double outputs = launches * static_cast<double>(code.kernel().outputs().size());
  const double unwritten = !interpreted ? steps - 1 : code.kernel().has_rows() ? 0 : std::max(0.0, steps - 2 * outputs);
  const double each = unit.elements >= kCacheElements ? kStreamed : interpreted ? kInterpreted : kCode;
  return (steps - 1) * kJoined + unwritten * elements * each;
}
}  // namespace

Plan::Plan(const Step* before, const Segment& segment, std::vector<bool> alive_values, const LoopOptions& loops)
    : start(before), first(segment.pending.front().step), alive(std::move(alive_values)), alive_words(words_of(alive)) {
  std::vector<bool> wanted = alive;
  std::vector<bool> needed(segment.pending.size());
  for (size_t i = segment.pending.size(); i-- > 0;) {
    const Step& step = *segment.pending[i].step;
    bool need = step.random;
    for (const Write& w : step.writes) need |= wanted[static_cast<size_t>(step.operands[w.operand].value)];
    for (const Operand& r : step.results) need |= r.value >= 0 && wanted[static_cast<size_t>(r.value)];
    needed[i] = need;
    if (!need) continue;
    for (const Operand& o : step.operands) {
      if (o.value >= 0) wanted[static_cast<size_t>(o.value)] = true;
    }
    for (const Operand& r : step.results) {
      if (r.value >= 0) wanted[static_cast<size_t>(r.value)] = true;
    }
  }
  units = loops.fuse ? fused_units(segment, alive, needed, loops) : single_units(needed);
  note_last_uses(segment);
  note_handed_over(segment);
  for (size_t i = 0; i < needed.size(); ++i) gain += needed[i] ? 0 : gain_of_omission(*segment.pending[i].step);
  for (const Unit& unit : units) {
    if (unit.fused || unit.outer) gain += gain_of(unit);
  }
  gain -= kSegment + kMatch * static_cast<double>(segment.pending.size());
}

void Plan::note_last_uses(const Segment& segment) {
  std::vector<bool> seen(alive.size());
  for (size_t u = units.size(); u-- > 0;) {
    for (const size_t i : units[u].steps) {
      const Step& step = *segment.pending[i].step;
      const auto use = [&](const Operand& o) {
        if (o.value < 0 || seen[static_cast<size_t>(o.value)]) return;
        const auto v = static_cast<size_t>(o.value);
        seen[v] = true;
        if (segment.values[v].produced && !alive[v]) units[u].last_uses.push_back(o.value);
      };
      for (const Operand& o : step.operands) use(o);
      for (const Operand& r : step.results) use(r);
    }
  }
}

void Plan::note_handed_over(const Segment& segment) {
  for (Unit& unit : units) {
    for (const size_t i : unit.steps) {
      const Step& step = *segment.pending[i].step;
      for (size_t n = 0; n < step.result_storages.size(); ++n) {
        const int32_t v = step.first_result_value + static_cast<int32_t>(n);
        if (alive[static_cast<size_t>(v)]) unit.handed_over.push_back(v);
      }
    }
  }
}

const Tensor* Operands::set(const Step& step, const Memory& memory) {
  given_.clear();
  for (const Operand& o : step.operands) {
    Tensor& t = given_.emplace_back();
    if (o.value < 0) continue;
    if (spare_.empty()) {
      t = Tensor(IntrusivePtr<TensorImpl>::adopt(TensorImpl::make(nullptr, kFloat, Device())));
    } else {
      t = std::move(spare_.back());
      spare_.pop_back();
    }
    TensorImpl& impl = t.mutable_impl();
    o.geometry.put(impl);
    impl.untracked = true;  // the counters moved when the call was recorded
    impl.storage = IntrusivePtr<StorageImpl>::adopt(memory[static_cast<size_t>(o.value)].get());
  }
  spare_.reserve(spare_.size() + given_.size());
  return given_.data();
}

void Operands::clear() noexcept {
  for (Tensor& t : given_) {
    if (!t.defined()) continue;
    TensorImpl& impl = t.mutable_impl();
    if (impl.use_count() == 1 && !impl.view_base && !impl.autograd && !impl.extension && !impl.python_object) {
      impl.storage.detach();
      spare_.push_back(std::move(t));
    } else {
      StorageImpl::retain(impl.storage.get());
    }
  }
  given_.clear();
}

namespace {

/// Stands at storages whose computation failed.
struct FailedWatcher final : StorageWatcher {
  void touch(StorageImpl&) override {
    TAEDA_CHECK(false, "[compile] this tensor was never computed: an operator recorded before it failed when it ran; see that "
                       "operator's error");
  }
};
FailedWatcher& failed_watcher() {
  static auto* watcher = new FailedWatcher;  // never destroyed: storages point to it
  return *watcher;
}

/// Puts the memory of the results where their values are.
void place_results(const Step& step, Memory& memory, std::vector<Tensor>& results) {
  TAEDA_CHECK(results.size() == step.results.size(), "[compile] ", step.target.name, " gave another number of results than when it was "
              "recorded: got ", results.size(), " for ", step.results.size(), "; report this operator");
  for (size_t k = 0; k < results.size(); ++k) {
    const Operand& r = step.results[k];
    if (r.value < 0) continue;
    TAEDA_CHECK(results[k].defined() && r.geometry.matches(results[k].impl()), "[compile] ", step.target.name,
                " gave another shape than when it was recorded: got ", results[k].defined() ? str(results[k].sizes()) : "nothing", " for ",
                r.geometry.sizes(), "; its definition must say shape_from = \"values\"");
    TensorImpl& made = results[k].mutable_impl();
    IntrusivePtr<StorageImpl>& to = memory[static_cast<size_t>(r.value)];
    if (made.use_count() == 1) to = std::move(made.storage);
    else to = made.storage;
  }
  results.clear();
}

/// Carries a segment out. While it lives, the storages that the segment knows lie in its memory, by value number.
class Run {
 public:
  Run(const Plan& plan, Segment& segment) : plan_(plan), segment_(segment), memory_(segment.memory) {
    memory_.resize(segment.values.size());
    for (size_t v = 0; v < memory_.size(); ++v) {
      SegmentValue& value = segment.values[v];
      if (value.produced) continue;
      unwatch(value);
      memory_[v] = std::move(value.storage);
    }
  }
  ~Run() {
    for (size_t v = 0; v < memory_.size(); ++v) {
      SegmentValue& value = segment_.values[v];
      if (!value.storage) value.storage = std::move(memory_[v]);
    }
    memory_.clear();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void do_unit(const Unit& unit, Check* check) {
    if (TAEDA_UNLIKELY(check != nullptr)) check->before(unit, memory_);
    if (unit.fused) {
      run_fused(unit, segment_, memory_);
    } else if (unit.outer) {
      run_outer_sum(*unit.outer, segment_, memory_, segment_.operands);
    } else {
      const Pending& pending = segment_.pending[unit.steps[0]];
      run_step(*pending.step, segment_.numbers.data() + pending.first_number, memory_, segment_.operands);
    }
    for (const int32_t v : unit.handed_over) hand_over(static_cast<size_t>(v));
    if (TAEDA_UNLIKELY(check != nullptr)) check->after(unit, memory_);
    for (const int32_t v : unit.last_uses) memory_[static_cast<size_t>(v)].reset();
  }

  void fail() noexcept {
    for (SegmentValue& value : segment_.values) {
      if (!value.produced || !value.watched) continue;
      value.watched = false;
      value.storage->watcher.store(&failed_watcher(), std::memory_order_release);
    }
  }

 private:
  static void unwatch(SegmentValue& value) {
    if (!value.watched) return;
    value.watched = false;
    value.storage->watcher.store(nullptr, std::memory_order_release);
  }

  /// The storage that the program holds takes the computed memory.
  void hand_over(size_t v) {
    IntrusivePtr<StorageImpl>& computed = memory_[v];
    SegmentValue& value = segment_.values[v];
    if (computed->use_count() > 1) {  // shared with something that outlives the call
      auto copy = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(computed->nbytes, computed->device));
      if (computed->nbytes) std::memcpy(copy->data, computed->bytes(), computed->nbytes);
      computed = std::move(copy);
    }
    value.storage->take_memory(*computed);
    unwatch(value);
    computed = std::move(value.storage);
  }

  const Plan& plan_;
  Segment& segment_;
  Memory& memory_;
};

}  // namespace

void run_step(const Step& step, const Scalar* numbers, Memory& memory, Operands& operands) {
  struct Clear {
    Operands& operands;
    ~Clear() { operands.clear(); }
  };
  operands.results.clear();
  {
    const Clear clear{operands};
    const Tensor* tensors = operands.set(step, memory);
    step.target.run({tensors, step.operands.size(), step.words.data(), numbers, step.target.variant, step.target.detail, operands.results});
  }
  if (!step.results.empty()) place_results(step, memory, operands.results);
}

void run(const Plan& plan, Segment& segment) {
  const BelowDoorGuard below;
  Run state(plan, segment);
  try {
    std::unique_ptr<Check> check;
    if (TAEDA_UNLIKELY(segment.check)) check = std::make_unique<Check>(plan, segment, segment.memory);
    for (const Unit& unit : plan.units) state.do_unit(unit, check.get());
    if (TAEDA_UNLIKELY(check != nullptr)) check->finish(segment.memory);
  } catch (...) {
    state.fail();
    segment.pending.clear();
    segment.operands.results.clear();
    throw;
  }
  segment.pending.clear();
  segment.numbers.clear();
}

}  // namespace taeda::lazy
