// SPDX-License-Identifier: Apache-2.0
// Finite checks of blocks and tensors.
#include "taeda/ops/finite.h"

#include <atomic>

#include "taeda/core/parallel.h"
#include "taeda/cpu/finite.h"

namespace taeda::detail {

thread_local constinit FiniteBlocks tls_finite_blocks{};

bool all_finite(const void* data, int64_t n, ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float: return cpu::finite_words(static_cast<const uint32_t*>(data), n, uint32_t{0x7f800000});
    case ScalarType::Double: return cpu::finite_words(static_cast<const uint64_t*>(data), n, uint64_t{0x7ff0000000000000});
    case ScalarType::Half: return cpu::finite_words(static_cast<const uint16_t*>(data), n, uint16_t{0x7c00});
    case ScalarType::BFloat16: return cpu::finite_words(static_cast<const uint16_t*>(data), n, uint16_t{0x7f80});
    default: return true;
  }
}

bool all_finite(const Tensor& tensor) {
  if (!tensor.defined() || !is_floating_type(tensor.scalar_type()) || tensor.numel() == 0) return true;
  const TensorImpl& t = tensor.impl();
  if (!t.is_non_overlapping_and_dense()) {
    const BelowDoorGuard below;
    return all_finite(tensor.contiguous());
  }
  constexpr int64_t kGrain = 1 << 16;
  if (t.numel <= kGrain) return all_finite(t.data(), t.numel, t.dtype);
  std::atomic<bool> finite{true};
  const char* const data = t.data();
  const auto item = static_cast<int64_t>(t.itemsize());
  const ScalarType dtype = t.dtype;
  parallel_for(0, t.numel, kGrain, [&](int64_t begin, int64_t end) {
    if (!all_finite(data + begin * item, end - begin, dtype)) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace taeda::detail
