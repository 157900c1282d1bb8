// SPDX-License-Identifier: Apache-2.0
// Growth and retirement of recorded steps.
#include "taeda/compile/trace.h"

#include <algorithm>

#include "taeda/compile/log.h"
#include "taeda/compile/plan.h"

namespace taeda::lazy {

Geometry::Geometry(const TensorImpl& t)
    : dtype(t.dtype), contiguous(t.contiguous), wrapped_number((t.flags & kFlagWrappedNumber) != 0), untracked(t.untracked),
      ndim(t.ndim), offset(t.offset), numel(t.numel) {
  dims.resize(2 * static_cast<size_t>(capacity()));
  std::copy(t.sizes().begin(), t.sizes().end(), dims.begin());
  std::copy(t.strides().begin(), t.strides().end(), dims.begin() + capacity());
}

Tensor Geometry::over(IntrusivePtr<StorageImpl> storage) const {
  Tensor result(IntrusivePtr<TensorImpl>::adopt(TensorImpl::make(std::move(storage), dtype, Device())));
  put(result.mutable_impl());
  return result;
}

namespace {
/// Sizes of one step beyond which the one unused for longest goes.
constexpr size_t kMaxSizes = 512;

bool equal_but_for_sizes(const std::vector<Operand>& a, const std::vector<Operand>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Operand& x, const Operand& y) {
    const Geometry &g = x.geometry, &h = y.geometry;
    return x.value == y.value && g.dtype == h.dtype && g.ndim == h.ndim && g.wrapped_number == h.wrapped_number && g.untracked == h.untracked;
  });
}
}  // namespace

bool equal_but_for_sizes(const Step& a, const Step& b) {
  if (a.kind != b.kind || a.note != b.note || a.target.info != b.target.info || a.target.run != b.target.run ||
      a.target.detail != b.target.detail || a.target.variant != b.target.variant || a.default_dtype != b.default_dtype ||
      a.number_count != b.number_count || a.values_before != b.values_before || a.words.size() != b.words.size() ||
      !equal_but_for_sizes(a.operands, b.operands) || !equal_but_for_sizes(a.results, b.results)) {
    return false;
  }
  // Words of both signs of zero, kinds and flags are small; a size follows a size.
  std::vector<std::pair<int64_t, int64_t>> sizes;
  const auto gather = [&](const std::vector<Operand>& from, const std::vector<Operand>& to) {
    for (size_t i = 0; i < from.size(); ++i) {
      for (size_t d = 0; d < from[i].geometry.ndim; ++d) sizes.emplace_back(from[i].geometry.sizes()[d], to[i].geometry.sizes()[d]);
      sizes.emplace_back(from[i].geometry.numel, to[i].geometry.numel);
    }
  };
  gather(a.operands, b.operands);
  gather(a.results, b.results);
  for (size_t i = 0; i < a.words.size(); ++i) {
    if (a.words[i] == b.words[i]) continue;
    const std::pair<int64_t, int64_t> word{static_cast<int64_t>(a.words[i]), static_cast<int64_t>(b.words[i])};
    if (std::find(sizes.begin(), sizes.end(), word) == sizes.end()) return false;
  }
  return true;
}

Trace::Trace(const TraceOptions& options, const LoopOptions& loops) : options_(options), loops_(loops) {}

Step::~Step() {
  for (Plan* p = plans.load(); p;) delete std::exchange(p, p->next);
}

Trace::~Trace() {
  for (Step* s : retired_) free_below(s);
  for (Step* s = root_.first_child.load(); s;) free_below(std::exchange(s, s->sibling.load()));
}

void Trace::free_below(Step* top) {
  // Iterative: a path may be long.
  std::vector<Step*> waiting{top};
  while (!waiting.empty()) {
    Step* step = waiting.back();
    waiting.pop_back();
    for (Step* c = step->first_child.load(); c; c = c->sibling.load()) waiting.push_back(c);
    delete step;
    steps_.fetch_sub(1, std::memory_order_relaxed);
  }
}

Step* Trace::link(Step& parent, std::unique_ptr<Step> step) {
  const std::lock_guard lock(mutex_);
  for (Step* c = parent.first_child.load(std::memory_order_relaxed); c; c = c->sibling.load(std::memory_order_relaxed)) {
    if (step->kind == StepKind::kBoundary && c->kind == StepKind::kBoundary) return c;
    if (options_.dynamic && step->kind != StepKind::kBoundary && !step->other_sizes) step->other_sizes = equal_but_for_sizes(*step, *c);
  }
  retire_oldest(parent, *step);
  step->parent = &parent;
  step->last_used.store(tick(), std::memory_order_relaxed);
  step->sibling.store(parent.first_child.load(std::memory_order_relaxed), std::memory_order_relaxed);
  Step* linked = step.release();
  parent.first_child.store(linked, std::memory_order_release);
  steps_.fetch_add(1, std::memory_order_relaxed);
  return linked;
}

/// Makes room for one more way to go on. Unlinked steps stay intact until no call runs that may stand on them.
void Trace::retire_oldest(Step& parent, const Step& added) {
  size_t rivals = 0;
  Step* oldest = nullptr;
  for (Step* c = parent.first_child.load(std::memory_order_relaxed); c; c = c->sibling.load(std::memory_order_relaxed)) {
    if (added.other_sizes ? !equal_but_for_sizes(*c, added) : c->other_sizes) continue;
    ++rivals;
    if (c->kind != StepKind::kBoundary && (!oldest || c->last_used.load() < oldest->last_used.load())) oldest = c;
  }
  if (rivals < (added.other_sizes ? kMaxSizes : options_.max_versions) || !oldest) return;
  std::atomic<Step*>* at = &parent.first_child;
  while (at->load() != oldest) at = &at->load()->sibling;
  at->store(oldest->sibling.load(), std::memory_order_release);
  retired_.push_back(oldest);
  any_retired_.store(true);
  retired.fetch_add(1, std::memory_order_relaxed);
  log(*this, "retired a version: ", call_text(*oldest));
}

void Trace::note_recompile(const std::string& reason) {
  constexpr uint64_t kMany = 16;
  constexpr size_t kReasons = 8;
  {
    const std::lock_guard lock(mutex_);
    if (reasons_.size() == kReasons) reasons_.erase(reasons_.begin());
    reasons_.push_back(reason);
  }
  log(*this, "recompile: ", reason);
  const uint64_t n = recompiles.fetch_add(1, std::memory_order_relaxed) + 1;
  if (n < kMany || (n & (n - 1)) != 0 || count_versions(*this) < kMany || warned.exchange(true)) return;
  TAEDA_WARN("[compile] a compiled function should go few ways: got ", n, " recompiles, the last one because of ", reason,
             "; keep what varies in tensors or numbers, or raise max_versions and see explain()");
}

void Trace::free_retired() {
  const std::lock_guard lock(mutex_);
  // A call that begins from here on starts at the root, from which retired steps cannot be reached.
  if (running_.load() > 0) return;
  for (Step* s : retired_) free_below(s);
  retired_.clear();
  any_retired_.store(false);
}

}  // namespace taeda::lazy
