// SPDX-License-Identifier: Apache-2.0
// Beginning and end of a compiled call; explain().
#include "taeda/compile/compile.h"

#include "taeda/compile/recorder.h"
#include "taeda/compile/state.h"

namespace taeda::lazy {

struct Scope::Frame {
  std::shared_ptr<State> state;  ///< a call may outlive the last handle to the function
  CallRecorder& recorder;
  uint32_t active;
  void* capture;
};

Scope::Scope(State& state) {
  if (state.options.backend == CompileBackend::kEager || capture::active()) return;
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
  frame_->recorder.stop();
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

void describe(const Step& step, size_t depth, std::string& text) {
  // A path without forks is listed at one depth; each fork indents.
  for (const Step* s = &step; s;) {
    if (s->kind == StepKind::kCall) {
      text += str(std::string(2 * depth, ' '), s->target.name, '\n');
    } else if (s->kind != StepKind::kRoot) {
      text += str(std::string(2 * depth, ' '), "-- segment ends: ", s->note, '\n');
    }
    const Step* child = s->first_child.load(std::memory_order_acquire);
    if (child && child->sibling.load(std::memory_order_acquire)) {
      for (size_t n = 1; child; child = child->sibling.load(std::memory_order_acquire), ++n) {
        text += str(std::string(2 * depth, ' '), "version ", n, ":\n");
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
  describe(const_cast<Trace&>(trace).root(), 0, text);
  return text;
}

}  // namespace taeda::lazy
