// SPDX-License-Identifier: Apache-2.0
// Growth and retirement of recorded steps.
#include "taeda/compile/trace.h"

#include "taeda/compile/plan.h"

namespace taeda::lazy {

Geometry::Geometry(const TensorImpl& t)
    : dtype(t.dtype), contiguous(t.contiguous), wrapped_number((t.flags & kFlagWrappedNumber) != 0), untracked(t.untracked),
      ndim(t.ndim), offset(t.offset), numel(t.numel) {
  dims.append(t.sizes().begin(), t.sizes().end());
  dims.append(t.strides().begin(), t.strides().end());
}

Tensor Geometry::over(IntrusivePtr<StorageImpl> storage) const {
  TensorImpl* t = TensorImpl::make(std::move(storage), dtype, Device());
  Tensor result(IntrusivePtr<TensorImpl>::adopt(t));
  t->offset = offset;
  t->set_ndim(ndim);
  std::copy_n(dims.data(), ndim, t->sizes_data());
  std::copy_n(dims.data() + ndim, ndim, t->strides_data());
  t->numel = numel;
  t->contiguous = contiguous;
  if (wrapped_number) t->flags |= kFlagWrappedNumber;
  return result;
}

Trace::Trace(size_t max_versions, const LoopOptions& loops) : max_versions_(max_versions), loops_(loops) {}

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
  size_t followers = 0;
  Step* oldest = nullptr;
  for (Step* c = parent.first_child.load(std::memory_order_relaxed); c; c = c->sibling.load(std::memory_order_relaxed)) {
    if (step->kind == StepKind::kBoundary && c->kind == StepKind::kBoundary) return c;
    ++followers;
    if (c->kind != StepKind::kBoundary && (!oldest || c->last_used.load() < oldest->last_used.load())) oldest = c;
  }
  if (followers >= max_versions_ && oldest) {
    // Unlinked steps stay intact until no call runs that may stand on them.
    std::atomic<Step*>* at = &parent.first_child;
    while (at->load() != oldest) at = &at->load()->sibling;
    at->store(oldest->sibling.load(), std::memory_order_release);
    retired_.push_back(oldest);
    any_retired_.store(true);
    retired.fetch_add(1, std::memory_order_relaxed);
  }
  step->parent = &parent;
  step->last_used.store(tick(), std::memory_order_relaxed);
  step->sibling.store(parent.first_child.load(std::memory_order_relaxed), std::memory_order_relaxed);
  Step* linked = step.release();
  parent.first_child.store(linked, std::memory_order_release);
  steps_.fetch_add(1, std::memory_order_relaxed);
  return linked;
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
