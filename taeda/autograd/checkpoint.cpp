// SPDX-License-Identifier: Apache-2.0
// Checkpointing by saved-tensor packing: the graph is recorded as ever, but its saved tensors are numbered and dropped;
// the first one that backward asks for makes the function run again, which gives all of them.
#include "taeda/autograd/checkpoint.h"

#include <mutex>

#include "taeda/core/generator.h"
#include "taeda/core/tensor.h"

namespace taeda::autograd {

/// Invariant: `slots[i]` is the i-th tensor that the function saves, or undefined while it is not recomputed.
struct CheckpointFrame : std::enable_shared_from_this<CheckpointFrame> {
  std::mutex mutex;
  std::vector<uint8_t> generator_state;  ///< empty: not kept
  std::vector<SavedTensor> inputs;
  std::vector<bool> inputs_require_grad;
  std::function<void(variable_list)> again;
  size_t saved = 0;
  std::vector<Tensor> slots;
  std::vector<bool> wanted;  ///< the tensor may still be asked for

  void recompute(const Node& owner);
};

namespace {

struct Placeholder final : PackedTensor {
  Placeholder(std::shared_ptr<CheckpointFrame> f, size_t i) : frame(std::move(f)), index(i) {}
  ~Placeholder() override {
    const std::lock_guard lock(frame->mutex);
    if (index < frame->slots.size()) frame->slots[index].reset();
    frame->wanted[index] = false;
  }
  Tensor unpack() override;
  std::shared_ptr<CheckpointFrame> frame;
  size_t index;
};

/// Numbers what the first run saves.
struct CountingPacker final : TensorPacker {
  explicit CountingPacker(std::shared_ptr<CheckpointFrame> f) : frame(std::move(f)) {}
  PackedTensor* pack(const Tensor&) override {
    frame->wanted.push_back(true);
    return new Placeholder(frame, frame->saved++);
  }
  std::shared_ptr<CheckpointFrame> frame;
};

/// Stands in a node of the recomputation, which is never walked.
struct Nothing final : PackedTensor {
  Tensor unpack() override { return {}; }
};

/// Collects what the second run saves.
struct CollectingPacker final : TensorPacker {
  explicit CollectingPacker(CheckpointFrame& f) : frame(f) {}
  PackedTensor* pack(const Tensor& tensor) override {
    const size_t i = count++;
    if (i < frame.wanted.size() && frame.wanted[i]) frame.slots[i] = tensor;
    return new Nothing;
  }
  CheckpointFrame& frame;
  size_t count = 0;
};

class PackerGuard {
 public:
  explicit PackerGuard(TensorPacker* packer) : outer_(std::exchange(detail::tls_packer, packer)) {}
  ~PackerGuard() { detail::tls_packer = outer_; }
  PackerGuard(const PackerGuard&) = delete;
  PackerGuard& operator=(const PackerGuard&) = delete;

 private:
  TensorPacker* outer_;
};

class GeneratorGuard {
 public:
  explicit GeneratorGuard(const std::vector<uint8_t>& state) {
    if (state.empty()) return;
    before_ = default_generator_state();
    set_default_generator_state(state);
  }
  ~GeneratorGuard() {
    if (!before_.empty()) set_default_generator_state(before_);
  }
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  std::vector<uint8_t> before_;
};

/// Nodes made in a recomputation are not walked, so `unpack` never asks who owns an input.
struct InputsNode final : Node {
  void backward(std::span<Tensor>, std::span<Tensor>) override {}
  std::string name() const override { return "checkpoint"; }
};

Tensor Placeholder::unpack() {
  const std::lock_guard lock(frame->mutex);
  if (index >= frame->slots.size() || !frame->slots[index].defined()) frame->recompute(InputsNode());
  return frame->slots[index];
}

}  // namespace

void CheckpointFrame::recompute(const Node& owner) {
  variable_list list;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor input = inputs[i].unpack(owner);
    if (input.defined()) {
      input = make_alias(input);
      if (inputs_require_grad[i]) input.requires_grad_();
    }
    list.push_back(std::move(input));
  }
  slots.resize(saved);
  CollectingPacker packer(*this);
  {
    const ModesGuard restore;
    tls_modes.grad_enabled = true;
    tls_modes.inference = false;
    refresh_mask(tls_modes);
    const PackerGuard packing(&packer);
    const GeneratorGuard generator(generator_state);
    again(std::move(list));
  }
  TAEDA_CHECK(packer.count == saved, "[checkpoint] the function must save the same tensors when it runs again: got ",
              packer.count, " for ", saved, "; its result may depend only on its inputs and the default generator");
  // Whatever this walk does not use is not kept for longer.
  if (in_backward()) {
    queue_callback([frame = shared_from_this()] {
      const std::lock_guard lock(frame->mutex);
      for (Tensor& t : frame->slots) t.reset();
    });
  }
}

namespace detail {

CheckpointScope::CheckpointScope(const CheckpointOptions& options, const variable_list& inputs,
                                 std::function<void(variable_list)> again)
    : frame_(std::make_shared<CheckpointFrame>()) {
  frame_->again = std::move(again);
  if (options.preserve_rng_state) frame_->generator_state = default_generator_state();
  for (const Tensor& t : inputs) {
    frame_->inputs.emplace_back(t, false);  // an outer checkpoint forgets them too
    frame_->inputs_require_grad.push_back(t.requires_grad());
  }
  packer_ = std::make_unique<CountingPacker>(frame_);
  outer_ = std::exchange(tls_packer, packer_.get());
}

CheckpointScope::~CheckpointScope() { tls_packer = outer_; }

}  // namespace detail

Tensor checkpoint_sequential(const std::vector<std::function<Tensor(const Tensor&)>>& functions, int64_t segments,
                             const Tensor& input, const CheckpointOptions& options) {
  const auto n = static_cast<int64_t>(functions.size());
  TAEDA_CHECK_VALUE(segments >= 1 && segments <= n, "[checkpoint_sequential] segments must be from 1 to the number of "
                    "functions: got ", segments, " for ", n, "; use fewer segments");
  const auto run = [&functions](int64_t begin, int64_t end) {
    std::vector<std::function<Tensor(const Tensor&)>> part(functions.begin() + begin, functions.begin() + end);
    return [part = std::move(part)](const Tensor& x) {
      Tensor y = x;
      for (const auto& f : part) y = f(y);
      return y;
    };
  };
  const int64_t length = n / segments;
  Tensor x = input;
  int64_t begin = 0;
  for (int64_t s = 0; s + 1 < segments; ++s, begin += length) x = checkpoint(options, run(begin, begin + length), x);
  return run(begin, n)(x);
}

}  // namespace taeda::autograd
