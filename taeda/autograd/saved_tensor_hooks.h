// SPDX-License-Identifier: Apache-2.0
// Hooks that change how tensors are kept for backward: compressed, moved to disk, recomputed.
#pragma once

#include <functional>

#include "taeda/core/node.h"
#include "taeda/core/value.h"

namespace taeda::autograd {

/// `pack` gets a tensor when it is saved and returns whatever stands for it; `unpack` gives the tensor back, with equal
/// shape and values, each time backward needs it. The packed tensor must not be changed in place by `pack`.
struct SavedHooks {
  std::function<Value(const Tensor&)> pack;
  std::function<Tensor(const Value&)> unpack;
};

/// Tensors saved on this thread until the end of the scope pass through the hooks. The innermost guard counts.
class TAEDA_API SavedTensorHooksGuard {
 public:
  explicit SavedTensorHooksGuard(SavedHooks hooks);
  SavedTensorHooksGuard(std::function<Value(const Tensor&)> pack, std::function<Tensor(const Value&)> unpack)
      : SavedTensorHooksGuard(SavedHooks{std::move(pack), std::move(unpack)}) {}
  ~SavedTensorHooksGuard();
  SavedTensorHooksGuard(const SavedTensorHooksGuard&) = delete;
  SavedTensorHooksGuard& operator=(const SavedTensorHooksGuard&) = delete;

 private:
  struct Packer final : TensorPacker {
    explicit Packer(SavedHooks h) : hooks(std::move(h)) {}
    PackedTensor* pack(const Tensor& tensor) override;
    SavedHooks hooks;
  };
  Packer packer_;
  TensorPacker* outer_;
};

}  // namespace taeda::autograd
