// SPDX-License-Identifier: Apache-2.0
// Binding of arguments, the run, and what must hold before it.
#include "taeda/compile/static_plan.h"

#include <algorithm>
#include <cstring>

#include "taeda/compile/check.h"
#include "taeda/core/node.h"
#include "taeda/ops/host_side.h"

namespace taeda::lazy {

namespace {

/// Blocks up to this size stay from run to run; larger ones are taken from the allocator and given back.
constexpr size_t kKeptBytes = 1 << 16;

capture::HostSide* source_of(const Step& step) { return static_cast<capture::HostSide*>(step.source.get()); }

}  // namespace

StaticPlan::StaticPlan(std::unique_ptr<Record> record, const LoopOptions& loops, bool check) : record_(std::move(record)), check_(check) {
  const Record& r = *record_;
  std::vector<bool> alive;
  for (const RecordedValue& v : r.values) {
    SegmentValue& value = segment_.values.emplace_back();
    value.produced = value.result = v.origin == Origin::kMade;
    alive.push_back(!value.produced);
  }
  const auto keep = [&](const Outcome& o) {
    if (o.kind == Outcome::Kind::kMade) alive[static_cast<size_t>(o.number)] = true;
  };
  for (const RecordedLeaf& l : r.leaves) keep(l.after);
  for (const Outcome& o : r.results) keep(o);
  for (const auto& step : r.steps) {
    segment_.pending.push_back({step.get(), segment_.numbers.size()});
    segment_.numbers.insert(segment_.numbers.end(), step->numbers.begin(), step->numbers.end());
  }
  written_.resize(r.values.size());
  widest_.resize(r.values.size(), 1);
  for (const auto& step : r.steps) {
    for (const Write& w : step->writes) written_[static_cast<size_t>(step->operands[w.operand].value)] = true;
    for (const Operand& o : step->operands) {
      if (o.value >= 0) widest_[static_cast<size_t>(o.value)] = std::max(widest_[static_cast<size_t>(o.value)], item_size(o.geometry.dtype));
    }
  }
  if (!segment_.pending.empty()) plan_ = std::make_unique<Plan>(nullptr, segment_, alive, loops);
  memory_.resize(r.values.size());
  kept_.resize(r.values.size());
  made_.resize(r.values.size());
  shift_of_.resize(r.values.size());
  for (size_t v = 0; v < r.values.size(); ++v) memory_[v] = r.values[v].storage;
  used_up_.resize(r.results.size());
  results_.resize(r.results.size());
  make_tasks();
  for (size_t v = 0; v < r.values.size(); ++v) {
    const RecordedValue& value = r.values[v];
    if (value.origin == Origin::kMade && !kept_[v]) passing_.push_back(v);
    if (value.origin == Origin::kArgument) arguments_.push_back(v);
    if (value.origin == Origin::kGradient) gradients_.push_back(v);
    if (value.origin == Origin::kCaptured) captured_.push_back(v);
    if (value.origin != Origin::kMade && (value.version || value.writes)) counted_.push_back(v);
  }
}

void StaticPlan::make_tasks() {
  if (!plan_) return;
  for (const Unit& unit : plan_->units) tasks_.push_back(unit.fused ? loop_task(unit) : single_task(unit));
}

StaticPlan::Task StaticPlan::loop_task(const Unit& unit) {
  Task task;
  task.unit = &unit;
  std::vector<const FusedSteps*> loops{unit.fused.get()};
  for (const auto& more : unit.more) loops.push_back(more.get());
  for (const FusedSteps* fused : loops) {
    task.launches.push_back(fused->space);
    task.places.insert(task.places.end(), fused->places.begin(), fused->places.end());
    task.operands.insert(task.operands.end(), fused->operands.begin(), fused->operands.end());
    for (const FusedSteps::Param& p : fused->params) task.params.push_back(segment_.numbers[segment_.pending[p.step].first_number + p.number]);
    task.made.insert(task.made.end(), fused->made.begin(), fused->made.end());
  }
  // Launches point into both, which no longer grow and keep their memory when the task is moved.
  size_t place = 0, param = 0;
  for (size_t n = 0; n < loops.size(); ++n) {
    task.launches[n].places = task.places.data() + std::exchange(place, place + loops[n]->places.size());
    task.launches[n].params = task.params.data() + std::exchange(param, param + loops[n]->params.size());
  }
  for (const auto& [value, bytes] : task.made) kept_[static_cast<size_t>(value)] = !plan_->alive[static_cast<size_t>(value)] && bytes <= kKeptBytes;
  return task;
}

StaticPlan::Task StaticPlan::single_task(const Unit& unit) {
  Task task;
  task.unit = &unit;
  const Pending& pending = segment_.pending[unit.steps[0]];
  task.step = pending.step;
  task.numbers = segment_.numbers.data() + pending.first_number;
  for (const Operand& o : task.step->operands) {
    Tensor& frame = task.frames.emplace_back();
    if (o.value < 0) continue;
    const auto v = static_cast<size_t>(o.value);
    const bool captured = record_->values[v].origin == Origin::kCaptured;
    frame = o.geometry.over(captured ? memory_[v] : nullptr);
    frame.mutable_impl().untracked = true;  // counters move at the end
    const auto number = static_cast<uint32_t>(task.frames.size() - 1);
    if (!captured) task.borrowed.push_back(number);
    if (record_->values[v].origin == Origin::kArgument) task.moving.push_back(number);
  }
  const auto unchanging = [&](const Operand& r) {
    return r.value >= 0 && !written_[static_cast<size_t>(r.value)] && !plan_->alive[static_cast<size_t>(r.value)];
  };
  task.constant = task.step->operands.empty() && !task.step->random && std::all_of(task.step->results.begin(), task.step->results.end(), unchanging);
  if (task.constant) {
    for (const Operand& r : task.step->results) kept_[static_cast<size_t>(r.value)] = true;
  }
  return task;
}

void StaticPlan::renew(Record&& later) {
  record_->host_changes = later.host_changes;
  for (size_t i = 0; i < record_->steps.size(); ++i) record_->steps[i]->source = std::move(later.steps[i]->source);
  record_->captured = std::move(later.captured);
  record_->leaves = std::move(later.leaves);
  record_->reads = std::move(later.reads);
}

void StaticPlan::count_handles(const HandleCounts& own) {
  const auto others = [&](const void* p, size_t all) {
    const auto at = own.find(p);
    return all - (at == own.end() ? 0 : at->second);
  };
  const auto is_result = [&](const Tensor& t) {
    return std::any_of(record_->results.begin(), record_->results.end(), [&](const Outcome& o) { return o.tensor.is_same(t); });
  };
  for (CapturedTensor& c : record_->captured) c.handles = is_result(c.tensor) ? 0 : others(c.tensor.unsafeGetTensorImpl(), c.tensor.use_count());
  if (record_->host_changes == detail::host_changes.load()) {  // else owners may have ended, and the plan fits no call
    for (ReadBytes& r : record_->reads) r.held = r.handles ? r.handles(r.owner) : 0;
  }
  others_storage_handles_.clear();
  for (const size_t v : captured_) others_storage_handles_.push_back(others(memory_[v].get(), memory_[v]->use_count()));
}

void StaticPlan::expect_handles(const HandleCounts& own) {
  const auto ours = [&](const void* p) {
    const auto at = own.find(p);
    return at == own.end() ? 0 : at->second;
  };
  tensor_handles_.clear();
  storage_handles_.clear();
  for (const CapturedTensor& c : record_->captured) tensor_handles_.push_back(c.handles == 0 ? 0 : c.handles + ours(c.tensor.unsafeGetTensorImpl()));
  for (size_t i = 0; i < captured_.size(); ++i) storage_handles_.push_back(others_storage_handles_[i] + ours(memory_[captured_[i]].get()));
}

void StaticPlan::add_handles(HandleCounts& counts) const {
  record_->count_handles(counts);
  for (const size_t v : captured_) ++counts[memory_[v].get()];
  for (const Task& task : tasks_) {
    for (const Tensor& frame : task.frames) {
      if (frame.defined() && frame.impl().storage) ++counts[frame.impl().storage.get()];
    }
  }
}

/// The gradient that a leaf has now can take the place of the recorded one.
bool StaticPlan::gradient_fits(const RecordedLeaf& leaf, const Tensor& now, const ArgumentList& arguments) const {
  const TensorImpl& g = now.impl();
  if (!leaf.geometry.matches(g) || g.flags != leaf.flags || g.extension || !g.device_.is_cpu()) return false;
  const auto shares = [&](const Tensor* t) { return t->impl().storage == g.storage; };
  if (std::any_of(arguments.begin(), arguments.end(), shares)) return false;
  if (TAEDA_LIKELY(now.use_count() == 1 && g.storage->use_count() == 1)) return true;
  const auto is_captured = [&](size_t v) { return memory_[v] == g.storage; };
  const auto is_other = [&](const RecordedLeaf& l) {
    return &l != &leaf && l.leaf.impl().autograd && l.leaf.impl().autograd->grad.defined() && l.leaf.impl().autograd->grad.impl().storage == g.storage;
  };
  return std::none_of(captured_.begin(), captured_.end(), is_captured) &&
         std::none_of(record_->leaves.begin(), record_->leaves.end(), is_other);
}

bool StaticPlan::leaves_fit(const ArgumentList& arguments) const {
  for (const RecordedLeaf& l : record_->leaves) {
    const autograd::AutogradMeta* meta = l.leaf.impl().autograd;
    const Tensor* now = meta && meta->grad.defined() ? &meta->grad : nullptr;
    if ((now != nullptr) != l.defined_before || detail::has_gradient_hooks(l.leaf.impl())) return false;
    if (l.value >= 0) {
      if (!gradient_fits(l, *now, arguments)) return false;
    } else if (l.after.kind == Outcome::Kind::kKept &&
               (!now->is_alias_of(l.before) || now->requires_grad() || !Geometry(l.before.impl()).matches(now->impl()))) {
      return false;
    }
  }
  return true;
}

bool StaticPlan::captured_fit() const {
  for (size_t i = 0; i < record_->captured.size(); ++i) {
    const CapturedTensor& c = record_->captured[i];
    const TensorImpl& t = c.tensor.impl();
    if ((tensor_handles_[i] != 0 && t.use_count() != tensor_handles_[i]) || t.flags != c.flags || t.storage.get() != memory_[static_cast<size_t>(c.value)].get() ||
        !c.geometry.matches(t)) {
      return false;
    }
  }
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (memory_[captured_[i]]->use_count() != storage_handles_[i]) return false;
  }
  return true;
}

int64_t StaticPlan::shift(size_t value, const ArgumentList& arguments) const {
  const auto argument = static_cast<size_t>(record_->values[value].argument);
  const TensorImpl& now = arguments[argument]->impl();
  return now.offset * static_cast<int64_t>(now.itemsize()) - record_->offsets[argument];
}

bool StaticPlan::arguments_fit(const ArgumentList& arguments) const {
  for (const size_t v : arguments_) {
    const int64_t by = shift(v, arguments);
    if (by != 0 && (check_ || by % static_cast<int64_t>(widest_[v]) != 0)) return false;
    const IntrusivePtr<StorageImpl>& memory = arguments[static_cast<size_t>(record_->values[v].argument)]->impl().storage;
    for (const size_t c : captured_) {
      if (memory_[c] == memory && (written_[v] || written_[c])) return false;  // what one of them writes the other would read
    }
  }
  return true;
}

bool StaticPlan::fits(const ArgumentList& arguments) {
  const Record& r = *record_;
  return r.host_changes == detail::host_changes.load(std::memory_order_relaxed) &&
         std::all_of(r.reads.begin(), r.reads.end(), [](const ReadBytes& bytes) { return bytes.fit(); }) && leaves_fit(arguments) && captured_fit() &&
         arguments_fit(arguments) &&
         std::all_of(r.steps.begin(), r.steps.end(), [](const auto& step) { return !step->source || source_of(*step)->is_unchanged(); });
}

void StaticPlan::bind(const ArgumentList& arguments) {
  given_ = &arguments;
  for (const size_t v : arguments_) {
    memory_[v] = arguments[static_cast<size_t>(record_->values[v].argument)]->impl().storage;
    shift_of_[v] = shift(v, arguments);
    memory_[v]->bytes();  // what another compiled call has recorded for it happens first
  }
  for (const size_t v : gradients_) {
    memory_[v] = record_->leaves[static_cast<size_t>(record_->values[v].argument)].leaf.impl().autograd->grad.impl().storage;
    memory_[v]->bytes();
  }
  for (const size_t v : captured_) memory_[v]->bytes();
}

/// Lets go of what belongs to one run.
void StaticPlan::release() noexcept {
  for (const size_t v : arguments_) memory_[v].reset();
  for (const size_t v : gradients_) memory_[v].reset();
  for (const size_t v : passing_) {
    memory_[v].reset();
    made_[v].reset();
  }
  given_ = nullptr;
}

void StaticPlan::run(const ArgumentList& arguments) {
  struct End {
    StaticPlan& plan;
    bool done = false;
    ~End() {
      if (!done) {
        plan.clear_gradients();
        plan.count_writes();  // of which some may have happened
      }
      plan.release();
    }
  };
  const BelowDoorGuard below;
  bind(arguments);
  End end{*this};
  clear_gradients();  // those that the call replaces
  run_all();
  count_writes();
  give_gradients();
  make_results();
  end.done = true;
}

void StaticPlan::run_all() {
  if (TAEDA_LIKELY(!check_ || !plan_)) {
    for (Task& task : tasks_) run_task(task);
    return;
  }
  for (const Pending& p : segment_.pending) {
    if (p.step->source) p.step->source->refresh(segment_.numbers.data() + p.first_number);
  }
  Check check(*plan_, segment_, memory_);
  for (Task& task : tasks_) {
    check.before(*task.unit, memory_);
    run_task(task);
    check.after(*task.unit, memory_);
  }
  check.finish(memory_);
}

void StaticPlan::run_task(Task& task) {
  if (task.unit->fused) {
    run_loop(task);
  } else if (!task.done) {
    run_single(task);
    task.done = task.constant;
  }
  for (const int32_t v : task.unit->last_uses) {
    if (!kept_[static_cast<size_t>(v)]) memory_[static_cast<size_t>(v)].reset();
  }
}

void StaticPlan::run_loop(Task& task) {
  for (const auto& [value, bytes] : task.made) {
    IntrusivePtr<StorageImpl>& m = memory_[static_cast<size_t>(value)];
    if (!m) m = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(bytes, Device()));
  }
  for (size_t k = 0; k < task.operands.size(); ++k) {
    const auto v = static_cast<size_t>(task.operands[k].value);
    task.places[k].data = static_cast<char*>(memory_[v]->data) + task.operands[k].offset + shift_of_[v];
  }
  task.unit->fused->kernel->run(std::span<const kernel::Launch>(task.launches.data(), task.launches.size()));
}

void StaticPlan::run_single(Task& task) {
  struct Borrow {  // frames hold storages without a reference of their own
    StaticPlan& plan;
    Task& task;
    Borrow(StaticPlan& p, Task& t) : plan(p), task(t) {
      for (const uint32_t k : task.borrowed) {
        const auto v = static_cast<size_t>(task.step->operands[k].value);
        task.frames[k].mutable_impl().storage = IntrusivePtr<StorageImpl>::adopt(plan.memory_[v].get());
      }
      for (const uint32_t k : task.moving) {
        const Operand& o = task.step->operands[k];
        TensorImpl& frame = task.frames[k].mutable_impl();
        frame.offset = o.geometry.offset + plan.shift_of_[static_cast<size_t>(o.value)] / static_cast<int64_t>(frame.itemsize());
      }
    }
    ~Borrow() {
      for (const uint32_t k : task.borrowed) {
        TensorImpl& frame = task.frames[k].mutable_impl();
        if (TAEDA_LIKELY(frame.use_count() == 1)) {
          frame.storage.detach();
          continue;
        }
        StorageImpl::retain(frame.storage.get());  // the kernel keeps it
        task.frames[k] = task.step->operands[k].geometry.over(nullptr);
        task.frames[k].mutable_impl().untracked = true;
      }
      task.results.clear();
    }
  };
  const Step& step = *task.step;
  if (step.source && !check_) step.source->refresh(task.numbers);
  const Borrow borrow(*this, task);
  step.target.run({task.frames.data(), task.frames.size(), step.words.data(), task.numbers, step.target.variant, step.target.detail, task.results});
  TAEDA_CHECK(step.results.empty() || task.results.size() == step.results.size(), "[compile] ", step.target.name,
              " gave another number of results than when it was recorded: got ", task.results.size(), "; report this operator");
  for (size_t k = 0; k < step.results.size(); ++k) {
    if (step.results[k].value >= 0) place_result(step.results[k], task.results[k], step.results.size());
  }
}

void StaticPlan::place_result(const Operand& made, Tensor& result, size_t results) {
  const auto is_as_recorded = [&](const TensorImpl& t) {
    return made.geometry.contiguous && t.contiguous ? t.sizes() == made.geometry.sizes() && t.dtype == made.geometry.dtype && t.offset == made.geometry.offset
                                                    : made.geometry.matches(t);
  };
  TAEDA_CHECK(result.defined() && is_as_recorded(result.impl()), "[compile] an operator gave another shape than when it was recorded: got ",
              result.defined() ? str(result.sizes()) : "nothing", " for ", made.geometry.sizes(), "; its definition must say shape_from = \"values\"");
  const auto v = static_cast<size_t>(made.value);
  if (memory_[v] && !kept_[v]) return;  // a second result over the same memory
  IntrusivePtr<StorageImpl>& storage = result.mutable_impl().storage;
  if (plan_->alive[v]) {
    if (TAEDA_UNLIKELY(storage->use_count() > 1)) {  // shared with something that outlives the call
      auto copy = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(storage->nbytes, storage->device));
      if (storage->nbytes) std::memcpy(copy->data, storage->bytes(), storage->nbytes);
      memory_[v] = std::move(copy);
      return;
    }
    memory_[v] = storage;
    if (result.use_count() == 1) made_[v] = std::move(result);
    return;
  }
  if (TAEDA_LIKELY(result.use_count() == 1 && results == 1)) memory_[v] = std::move(storage);
  else memory_[v] = storage;
}

void StaticPlan::count_writes() const {
  for (const size_t v : counted_) {
    const RecordedValue& value = record_->values[v];
    if (value.version) memory_[v]->version.fetch_add(value.version, std::memory_order_relaxed);
    if (value.writes) memory_[v]->writes.fetch_add(value.writes, std::memory_order_relaxed);
  }
}

void StaticPlan::clear_gradients() noexcept {
  for (const RecordedLeaf& l : record_->leaves) {
    if (l.after.kind != Outcome::Kind::kKept && l.leaf.impl().autograd) l.leaf.impl().autograd->grad.reset();
  }
}

void StaticPlan::give_gradients() {
  for (const RecordedLeaf& l : record_->leaves) {
    if (l.after.kind == Outcome::Kind::kMade) autograd::meta_of(l.leaf.mutable_impl()).grad = made_tensor(l.after);
  }
}

Tensor StaticPlan::made_tensor(const Outcome& outcome) {
  const auto v = static_cast<size_t>(outcome.number);
  Tensor t = made_[v].defined() && outcome.geometry.matches(made_[v].impl()) ? std::move(made_[v]) : outcome.geometry.over(memory_[v]);
  TensorImpl& impl = t.mutable_impl();
  impl.flags = outcome.flags & static_cast<uint8_t>(~(kFlagView | kFlagRequiresGrad));
  impl.untracked = outcome.geometry.untracked;
  impl.storage->version.store(record_->values[v].version, std::memory_order_relaxed);
  return t;
}

void StaticPlan::make_results() {
  for (size_t i = 0; i < results_.size(); ++i) {
    const Outcome& o = record_->results[i];
    Tensor& r = results_[i];
    r.reset();
    switch (o.kind) {
      case Outcome::Kind::kNothing:
      case Outcome::Kind::kKept: break;
      case Outcome::Kind::kCaptured: r = o.tensor; break;
      case Outcome::Kind::kGradient: r = record_->leaves[static_cast<size_t>(o.number)].leaf.impl().autograd->grad; break;
      case Outcome::Kind::kArgument: {
        if (o.whole) {
          r = *(*given_)[static_cast<size_t>(o.number)];
          break;
        }
        const auto v = static_cast<size_t>(o.number);
        r = o.geometry.over(memory_[v]);
        TensorImpl& impl = r.mutable_impl();
        impl.offset += shift_of_[v] / static_cast<int64_t>(impl.itemsize());
        impl.flags = o.flags;
        impl.untracked = o.geometry.untracked;
        impl.view_kind = o.view;
        if (o.flags & kFlagView) impl.view_base = (*given_)[static_cast<size_t>(record_->values[v].argument)]->getIntrusivePtr();
        break;
      }
      case Outcome::Kind::kMade:
        if (o.same_as >= 0) {
          r = results_[static_cast<size_t>(o.same_as)];
          break;
        }
        if (o.gradient >= 0) {
          r = record_->leaves[static_cast<size_t>(o.gradient)].leaf.impl().autograd->grad;
          break;
        }
        r = made_tensor(o);
        if (!o.had_graph) break;
        if (!used_up_[i]) used_up_[i] = used_up_history(r);
        autograd::meta_of(r.mutable_impl()).grad_fn = used_up_[i];
        r.mutable_impl().flags |= kFlagRequiresGrad;
        break;
    }
  }
}

}  // namespace taeda::lazy
