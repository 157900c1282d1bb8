// SPDX-License-Identifier: Apache-2.0
// Finite checks by the exponent's bits: integer loops that the compiler turns into vector code.
#include "taeda/ops/finite.h"

#include <algorithm>
#include <atomic>

#include "taeda/core/parallel.h"

namespace taeda::detail {

thread_local constinit FiniteBlocks tls_finite_blocks{};

namespace {

/// An exponent of all ones means infinite or NaN.
template <class Word, Word kExponent>
bool finite_words(const void* data, int64_t n) {
  const Word* words = static_cast<const Word*>(data);
  constexpr int64_t kBlock = 4096;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    Word bad = 0;
    for (int64_t i = begin; i < end; ++i) bad |= static_cast<Word>((words[i] & kExponent) == kExponent);
    if (bad) return false;
  }
  return true;
}

}  // namespace

bool all_finite(const void* data, int64_t n, ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float: return finite_words<uint32_t, 0x7f800000u>(data, n);
    case ScalarType::Double: return finite_words<uint64_t, 0x7ff0000000000000ull>(data, n);
    case ScalarType::Half: return finite_words<uint16_t, 0x7c00u>(data, n);
    case ScalarType::BFloat16: return finite_words<uint16_t, 0x7f80u>(data, n);
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
