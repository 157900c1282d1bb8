// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing: activations are computed again in backward instead of being kept (Chen et al. 2016).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>

#include "taeda/autograd/autograd.h"

namespace taeda::autograd {

struct CheckpointOptions {
  /// The recomputation draws the random numbers of the first run, and leaves the default generator as it found it.
  bool preserve_rng_state = true;
};

struct CheckpointFrame;

namespace detail {

/// One checkpointed call. While it lives, tensors saved on this thread are forgotten, to be recomputed when needed.
class TAEDA_API CheckpointScope {
 public:
  /// `again` computes the function anew from its tensor inputs.
  CheckpointScope(const CheckpointOptions& options, const variable_list& inputs,
                  std::function<void(variable_list)> again);
  ~CheckpointScope();
  CheckpointScope(const CheckpointScope&) = delete;
  CheckpointScope& operator=(const CheckpointScope&) = delete;

 private:
  std::shared_ptr<CheckpointFrame> frame_;
  std::unique_ptr<TensorPacker> packer_;
  TensorPacker* outer_;
};

// Tensor arguments leave the stored argument list and come back from the list of recomputed inputs.
inline void take_tensors(Tensor& t, variable_list& list) { list.push_back(std::exchange(t, Tensor())); }
inline void take_tensors(variable_list& ts, variable_list& list) {
  for (Tensor& t : ts) take_tensors(t, list);
}
inline void take_tensors(std::optional<Tensor>& t, variable_list& list) {
  if (t) take_tensors(*t, list);
}
template <class T>
void take_tensors(T&, variable_list&) {}
inline void put_tensors(Tensor& t, variable_list& list, size_t& at) { t = std::move(list[at++]); }
inline void put_tensors(variable_list& ts, variable_list& list, size_t& at) {
  for (Tensor& t : ts) put_tensors(t, list, at);
}
inline void put_tensors(std::optional<Tensor>& t, variable_list& list, size_t& at) {
  if (t) put_tensors(*t, list, at);
}
template <class T>
void put_tensors(T&, variable_list&, size_t&) {}

}  // namespace detail

/// `fn(inputs…)`, keeping only the inputs for backward; what `fn` would have saved is recomputed when backward needs it.
/// fn: any callable, also of several or nested results, called once now and again for backward; its calls must compute
/// the same. Gradients are bitwise those without checkpointing. Tensors among the inputs, in lists of them too, are kept as
/// the graph keeps saved tensors; `fn` may capture others. Checkpoints may be nested.
template <class F, class... Args>
auto checkpoint(const CheckpointOptions& options, F fn, Args... args) {
  if (!GradMode::is_enabled()) return fn(args...);
  std::tuple<Args...> kept(args...);
  variable_list inputs;
  std::apply([&](auto&... arg) { (detail::take_tensors(arg, inputs), ...); }, kept);
  const detail::CheckpointScope scope(options, inputs, [fn, kept](variable_list list) mutable {
    std::tuple<Args...> full = kept;
    size_t at = 0;
    std::apply([&](auto&... arg) { (detail::put_tensors(arg, list, at), ...); }, full);
    std::apply([&](auto&... arg) { (void)fn(arg...); }, full);
  });
  return fn(args...);
}
template <class F, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<F>, CheckpointOptions>)
auto checkpoint(F fn, Args... args) {
  return checkpoint(CheckpointOptions{}, std::move(fn), std::move(args)...);
}

/// Runs `functions` one after the other, in `segments` checkpointed groups of nearly equal length (the last one is not
/// checkpointed: backward starts there). Throws ValueError unless 1 <= segments <= number of functions.
TAEDA_API Tensor checkpoint_sequential(const std::vector<std::function<Tensor(const Tensor&)>>& functions, int64_t segments,
                                       const Tensor& input, const CheckpointOptions& options = {});

}  // namespace taeda::autograd
