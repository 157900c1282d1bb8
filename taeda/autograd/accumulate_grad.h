// SPDX-License-Identifier: Apache-2.0
// The sink of a leaf's gradient.
#pragma once

#include "taeda/core/node.h"

namespace taeda::autograd {

/// Adds what arrives into `variable`'s `.grad`. A leaf has at most one at a time, found through its metadata.
struct AccumulateGrad final : Node {
  explicit AccumulateGrad(const Tensor& variable);
  ~AccumulateGrad() override;
  std::string name() const override { return "torch::autograd::AccumulateGrad"; }
  void backward(std::span<Tensor> grads_in, std::span<Tensor> grads_out) override;
  AutogradMeta& meta() const { return *variable.impl().autograd; }

  Tensor variable;
};

/// The accumulator of a leaf that requires grad, made when there is none.
IntrusivePtr<Node> accumulator_of(const Tensor& leaf);
/// The accumulator if one is alive.
IntrusivePtr<Node> find_accumulator(const Tensor& leaf);
/// Runs the leaf's tensor hooks on its finished gradient.
void run_leaf_hooks(AccumulateGrad& node, Tensor& grad);
/// After the gradient was added.
void run_post_accumulate_hooks(AccumulateGrad& node);

/// True when nobody else can see the elements of `t`: they may be overwritten.
bool sole_owner(const Tensor& t);

}  // namespace taeda::autograd
