// SPDX-License-Identifier: Apache-2.0
// Shapes of reductions.
#include "taeda/ops/reduce_dims.h"

#include <algorithm>

#include "taeda/ops/functions.h"

namespace taeda::detail {

uint64_t reduce_mask(OptionalIntArrayRef dims, int64_t ndim, const char* op) {
  const uint64_t all = ndim >= 64 ? ~uint64_t{0} : (uint64_t{1} << std::max<int64_t>(ndim, 1)) - 1;
  if (!dims.has_value() || dims->empty()) return all;
  uint64_t mask = 0;
  for (const int64_t d : *dims) {
    const uint64_t bit = uint64_t{1} << maybe_wrap_dim(d, ndim, op);
    TAEDA_CHECK(!(mask & bit), "[", op, "] dim ", d, " appears multiple times in the list of dims: got ", *dims, "; name each once");
    mask |= bit;
  }
  return mask;
}

DimVector reduced_sizes(IntArrayRef sizes, uint64_t mask, bool keepdim) {
  DimVector out;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!((mask >> d) & 1)) {
      out.push_back(sizes[d]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}

int64_t reduced_numel(IntArrayRef sizes, uint64_t mask) {
  int64_t n = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if ((mask >> d) & 1) n *= sizes[d];
  }
  return n;
}

namespace {

// True when the reduced dimensions lie side by side; then the three products are set.
bool adjacent(IntArrayRef sizes, uint64_t mask, Reducible& r) {
  int phase = 0;  // 0: before, 1: inside, 2: behind the reduced dimensions
  r.outer = r.n = r.inner = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if ((mask >> d) & 1) {
      if (phase == 2) return false;
      phase = 1;
      r.n *= sizes[d];
    } else {
      if (phase == 1) phase = 2;
      (phase == 0 ? r.outer : r.inner) *= sizes[d];
    }
  }
  return true;
}

Tensor permuted(const Tensor& self, const DimVector& order) {
  DimVector sizes, strides;
  for (const int64_t d : order) {
    sizes.push_back(self.sizes()[static_cast<size_t>(d)]);
    strides.push_back(self.strides()[static_cast<size_t>(d)]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

}  // namespace

Reducible make_reducible(const Tensor& self, uint64_t mask, bool any_order) {
  Reducible r;
  if (self.is_contiguous() && adjacent(self.sizes(), mask, r)) {
    r.tensor = self;
    return r;
  }
  const int64_t n = reduced_numel(self.sizes(), mask);
  const auto ndim = static_cast<size_t>(self.dim());
  const int64_t kept = n == 0 ? 0 : self.numel() / n;
  if (any_order && kept == 1 && self.is_non_overlapping_and_dense()) {
    r.tensor = self;
    r.outer = r.inner = 1;
    r.n = n;
    return r;
  }
  DimVector kept_dims, gone_dims;
  for (size_t d = 0; d < ndim; ++d) ((mask >> d) & 1 ? gone_dims : kept_dims).push_back(static_cast<int64_t>(d));
  DimVector order(gone_dims);
  order.append(kept_dims.begin(), kept_dims.end());
  Tensor front = permuted(self, order);
  int64_t rest = 1;
  for (const int64_t d : kept_dims) rest *= self.sizes()[static_cast<size_t>(d)];
  if (front.is_contiguous()) {
    r.tensor = front;
    r.outer = 1;
    r.n = n;
    r.inner = rest;
    return r;
  }
  order = kept_dims;
  order.append(gone_dims.begin(), gone_dims.end());
  r.tensor = permuted(self, order).contiguous();
  r.outer = rest;
  r.n = n;
  r.inner = 1;
  return r;
}

Tensor reduce(ReduceKind kind, const Tensor& self, uint64_t mask, bool keepdim, double divisor) {
  const ScalarType dtype = self.scalar_type();
  if (dtype == kHalf || dtype == kBFloat16) {
    const Tensor result = reduce(kind, self.to(kFloat), mask, keepdim, divisor);
    return result.scalar_type() == kFloat ? result.to(dtype) : result;
  }
  Tensor result = make_tensor(reduced_sizes(self.sizes(), mask, keepdim), reduce_dtype(kind, dtype), self.device());
  if (result.numel() == 0) return result;
  Reducible r;
  const bool direct = self.is_contiguous() && adjacent(self.sizes(), mask, r);
  if (!direct && self.is_contiguous() && self.numel() > 0 && kind != ReduceKind::kMax && kind != ReduceKind::kMin) {
    // Several runs of reduced dimensions: the innermost first, then the others over the partial results.
    uint64_t inner_run = 0;
    for (size_t d = static_cast<size_t>(self.dim()); d-- > 0;) {
      const uint64_t bit = uint64_t{1} << d;
      if (mask & bit) inner_run |= bit;
      else if (inner_run && self.sizes()[d] != 1) break;
    }
    const Tensor partial = reduce(kind, self, inner_run, true, divisor);
    const bool counts = kind == ReduceKind::kSumAbs || kind == ReduceKind::kSumSquares || kind == ReduceKind::kCountNonzero;
    const ReduceKind next = counts ? ReduceKind::kSum : kind;
    return reduce(next, partial, mask, keepdim);
  }
  r = make_reducible(self, mask, true);
  reduce_kernel(self.device(), ReduceArgs{kind, dtype, r.tensor.impl().data(), result.impl().data(), r.outer, r.n, r.inner, divisor});
  return result;
}

Tensor restore_dims(const Tensor& reduced, uint64_t mask, int64_t ndim, bool keepdim) {
  if (keepdim || ndim == 0) return reduced;
  Tensor t = reduced;
  for (int64_t d = 0; d < ndim; ++d) {
    if ((mask >> d) & 1) t = t.unsqueeze(d);
  }
  return t;
}

void check_not_empty(const Tensor& self, uint64_t mask, const char* op) {
  if (self.numel() > 0) return;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    TAEDA_CHECK_INDEX(!((mask >> d) & 1) || self.sizes()[d] > 0, "[", op, "] expected reduction dim ", d,
                      " to have non-zero size: got sizes ", self.sizes(), "; reduce other dimensions");
  }
}

}  // namespace taeda::detail
