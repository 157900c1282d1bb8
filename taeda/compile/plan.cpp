// SPDX-License-Identifier: Apache-2.0
// Which steps of a segment must be done, and their execution one by one.
#include "taeda/compile/check.h"
#include "taeda/compile/fuse.h"

#include <algorithm>
#include <cstring>

#include "taeda/core/modes.h"
#include "taeda/ops/registry.h"

namespace taeda::lazy {

std::vector<bool> alive_values(const Segment& segment) {
  std::vector<bool> alive(segment.values.size());
  for (size_t v = 0; v < alive.size(); ++v) {
    const SegmentValue& value = segment.values[v];
    alive[v] = value.storage && (!value.produced || value.storage->owners() > (value.watched ? 0u : 1u));
  }
  return alive;
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

Plan::Plan(const Step* before, const Segment& segment, std::vector<bool> alive_values, const LoopOptions& loops)
    : start(before), first(segment.pending.front().step), alive(std::move(alive_values)) {
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
  // Measured on current x86 cores: what a matched step costs beyond its kernel, what one saves that is joined with others or not
  // needed, and what each element saves that is neither written nor read again: in the caches by generated and by interpreted
  // code, and beyond them.
  constexpr double kMatch = 330, kJoined = 300, kNotDone = 900, kCode = 0.09, kInterpreted = 0.01, kStreamed = 0.15;
  constexpr int64_t kCacheElements = 1 << 18;
  gain = -kMatch * static_cast<double>(segment.pending.size());
  gain += kNotDone * static_cast<double>(std::count(needed.begin(), needed.end(), false));
  for (const Unit& unit : units) {
    if (!unit.fused) continue;
    const auto n = static_cast<double>(unit.elements) / static_cast<double>(unit.more.size() + 1);
    const double cached = unit.fused->kernel->backend() == kernel::Backend::kJit ? kCode : kInterpreted;
    gain += static_cast<double>(unit.steps.size() - 1) * (kJoined + n * (unit.elements < kCacheElements ? cached : kStreamed));
  }
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
void place_results(const Step& step, std::vector<IntrusivePtr<StorageImpl>>& memory, std::vector<Tensor>& results) {
  TAEDA_CHECK(results.size() == step.results.size(), "[compile] ", step.target.name, " gave another number of results than when it was "
              "recorded: got ", results.size(), " for ", step.results.size(), "; report this operator");
  for (size_t k = 0; k < results.size(); ++k) {
    const Operand& r = step.results[k];
    if (r.value < 0) continue;
    TAEDA_CHECK(results[k].defined() && r.geometry.matches(results[k].impl()), "[compile] ", step.target.name,
                " gave another shape than when it was recorded: got ", results[k].defined() ? str(results[k].sizes()) : "nothing", " for ",
                r.geometry.sizes(), "; its definition must say shape_from = \"values\"");
    memory[static_cast<size_t>(r.value)] = results[k].impl().storage;
  }
  results.clear();
}

struct Run {
  const Plan& plan;
  Segment& segment;
  std::vector<IntrusivePtr<StorageImpl>> memory;  ///< by value number
  std::vector<Tensor> tensors;
  std::vector<Tensor> results;

  Run(const Plan& p, Segment& s) : plan(p), segment(s), memory(s.values.size()) {
    for (size_t v = 0; v < memory.size(); ++v) {
      SegmentValue& value = segment.values[v];
      if (value.produced) continue;
      memory[v] = value.storage;
      unwatch(value);
    }
  }

  static void unwatch(SegmentValue& value) {
    if (!value.watched) return;
    value.watched = false;
    value.storage->watcher.store(nullptr, std::memory_order_release);
  }

  void do_unit(const Unit& unit, Check* check) {
    if (TAEDA_UNLIKELY(check != nullptr)) check->before(unit, memory);
    if (unit.fused) {
      run_fused(unit, segment, memory);
      for (const size_t i : unit.steps) hand_over_results(*segment.pending[i].step);
    } else {
      const Pending& pending = segment.pending[unit.steps[0]];
      run_step(*pending.step, segment.numbers.data() + pending.first_number, memory, tensors, results);
      hand_over_results(*pending.step);
    }
    if (TAEDA_UNLIKELY(check != nullptr)) check->after(unit, memory);
    for (const int32_t v : unit.last_uses) memory[static_cast<size_t>(v)].reset();
  }

  void hand_over_results(const Step& step) {
    for (size_t n = 0; n < step.result_storages.size(); ++n) {
      const size_t v = static_cast<size_t>(step.first_result_value) + n;
      if (plan.alive[v]) hand_over(v);
    }
  }

  /// The storage that the program holds takes the computed memory.
  void hand_over(size_t v) {
    IntrusivePtr<StorageImpl>& computed = memory[v];
    SegmentValue& value = segment.values[v];
    if (computed->use_count() > 1) {  // shared with something that outlives the call
      auto copy = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(computed->nbytes, computed->device));
      if (computed->nbytes) std::memcpy(copy->data, computed->bytes(), computed->nbytes);
      computed = std::move(copy);
    }
    value.storage->take_memory(*computed);
    unwatch(value);
    computed = value.storage;
  }

  void fail() noexcept {
    for (SegmentValue& value : segment.values) {
      if (!value.produced || !value.watched) continue;
      value.watched = false;
      value.storage->watcher.store(&failed_watcher(), std::memory_order_release);
    }
  }
};

}  // namespace

void run_step(const Step& step, const Scalar* numbers, std::vector<IntrusivePtr<StorageImpl>>& memory, std::vector<Tensor>& tensors,
              std::vector<Tensor>& results) {
  tensors.clear();
  results.clear();
  for (const Operand& o : step.operands) {
    if (o.value < 0) {
      tensors.emplace_back();
      continue;
    }
    Tensor t = o.geometry.over(memory[static_cast<size_t>(o.value)]);
    t.mutable_impl().untracked = true;  // the counters moved when the call was recorded
    tensors.push_back(std::move(t));
  }
  step.target.run({tensors.data(), tensors.size(), step.words.data(), numbers, step.target.variant, step.target.detail, results});
  tensors.clear();
  if (!step.results.empty()) place_results(step, memory, results);
}

void run(const Plan& plan, Segment& segment) {
  const BelowDoorGuard below;
  Run state(plan, segment);
  try {
    std::unique_ptr<Check> check;
    if (TAEDA_UNLIKELY(segment.check)) check = std::make_unique<Check>(plan, segment, state.memory);
    for (const Unit& unit : plan.units) state.do_unit(unit, check.get());
    if (TAEDA_UNLIKELY(check != nullptr)) check->finish(state.memory);
  } catch (...) {
    state.fail();
    segment.pending.clear();
    throw;
  }
  segment.pending.clear();
  segment.numbers.clear();
}

}  // namespace taeda::lazy
