// SPDX-License-Identifier: Apache-2.0
// Beginning and end of a compiled call; explain().
#include "taeda/compile/compile.h"

#include "taeda/compile/fuse.h"
#include "taeda/compile/recorder.h"
#include "taeda/compile/state.h"

namespace taeda::lazy {

namespace {
/// Calls that run without recording before it is tried again whether recording is worth it.
constexpr int kCallsAside = 255;
}  // namespace

struct Scope::Frame {
  std::shared_ptr<State> state;  ///< a call may outlive the last handle to the function
  CallRecorder& recorder;
  uint32_t active;
  void* capture;
};

Scope::Scope(State& state) {
  if (state.options.backend == CompileBackend::kEager || capture::active()) return;
  if (state.trace.aside_left.load(std::memory_order_relaxed) > 0 && state.trace.aside_left.fetch_sub(1, std::memory_order_relaxed) > 0) {
    state.trace.aside.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  state.trace.enter();
  frame_ = new Frame{state.shared_from_this(), CallRecorder::take(), tls_modes.active, tls_modes.capture};
  frame_->recorder.start(state.trace);
  tls_modes.active |= kModeCapture;
  tls_modes.capture = static_cast<capture::Recorder*>(&frame_->recorder);
}

void Scope::finish() {
  if (!frame_) return;
  struct Leave {
    Scope& scope;
    ~Leave() { scope.leave(); }
  } leave{*this};
  if (!frame_->recorder.stop() && frame_->state->options.step_aside) {
    frame_->state->trace.aside_left.store(kCallsAside, std::memory_order_relaxed);
  }
}

Scope::~Scope() {
  if (!frame_) return;
  // The function threw: what came before must have happened. An error of that work is second to the one on its way.
  try {
    frame_->recorder.stop();
  } catch (...) {
  }
  leave();
}

void Scope::leave() noexcept {
  tls_modes.active = (tls_modes.active & ~static_cast<uint32_t>(kModeCapture)) | (frame_->active & kModeCapture);
  tls_modes.capture = frame_->capture;
  frame_->recorder.give_back();
  frame_->state->trace.leave();
  delete std::exchange(frame_, nullptr);
}

std::shared_ptr<State> make_state(const CompileOptions& options) {
  TAEDA_CHECK_VALUE(options.max_versions >= 1, "[compile] max_versions must be at least 1: got ", options.max_versions,
                    "; leave it at its default");
  return std::make_shared<State>(options);
}

namespace {

void describe_plans(const Step& end, const std::string& indent, std::string& text) {
  for (const Plan* p = end.plans.load(std::memory_order_acquire); p; p = p->next) {
    // The steps of the segment, from its end back.
    std::vector<const Step*> steps;
    for (const Step* s = end.parent; s && s != p->start; s = s->parent) steps.insert(steps.begin(), s);
    text += str(indent, "   plan of ", p->units.size(), " kernels for ", steps.size(), " operators\n");
    for (const Unit& unit : p->units) {
      if (!unit.fused) continue;
      text += str(indent, "     fused (", unit.fused->kernel->backend() == kernel::Backend::kJit ? "code" : "interpreted", ", ", unit.elements,
                  " elements):");
      for (const size_t i : unit.steps) text += i < steps.size() ? str(' ', steps[i]->target.name) : std::string();
      text += '\n';
    }
  }
}

void describe(const Step& step, size_t depth, std::string& text) {
  // A path without forks is listed at one depth; each fork indents.
  const std::string indent(2 * depth, ' ');
  for (const Step* s = &step; s;) {
    if (s->kind == StepKind::kCall) {
      text += str(indent, s->target.name, '\n');
    } else if (s->kind != StepKind::kRoot) {
      text += str(indent, "-- segment ends: ", s->note, '\n');
      describe_plans(*s, indent, text);
    }
    const Step* child = s->first_child.load(std::memory_order_acquire);
    if (child && child->sibling.load(std::memory_order_acquire)) {
      for (size_t n = 1; child; child = child->sibling.load(std::memory_order_acquire), ++n) {
        text += str(indent, "version ", n, ":\n");
        describe(*child, depth + 1, text);
      }
      return;
    }
    s = child;
  }
}

}  // namespace

std::string explain(const State& state) {
  const Trace& trace = state.trace;
  std::string text = str("calls ", trace.calls.load(), ", segments run ", trace.segments.load(), ", operators matched ", trace.matched.load(),
                         ", recorded ", trace.recorded.load(), ", steps kept ", trace.step_count(), ", versions retired ",
                         trace.retired.load(), '\n');
  if (trace.aside.load() > 0) {
    text += str("calls that ran without recording, because their plans cost more than they save: ", trace.aside.load(), '\n');
  }
  describe(const_cast<Trace&>(trace).root(), 0, text);
  return text;
}

}  // namespace taeda::lazy
