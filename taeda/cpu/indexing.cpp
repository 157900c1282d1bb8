// SPDX-License-Identifier: Apache-2.0
// CPU kernels of index_select, index_add and its kin, gather and scatter, and the gradient of embedding.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "taeda/core/parallel.h"
#include "taeda/ops/kernels/indexing.h"

namespace taeda {
namespace {

constexpr int64_t kGrainBytes = 65536;

void index_select_cpu(const KernelContext&, const IndexSelectArgs& a) {
  const auto copy_rows = [&]<size_t kFixed>() {
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(a.row_bytes, 1));
    parallel_for(0, a.outer * a.count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t o = at / a.count;
        const char* from = a.self + (o * a.rows + a.index[at - o * a.count]) * a.row_bytes;
        std::memcpy(a.out + at * a.row_bytes, from, kFixed ? kFixed : static_cast<size_t>(a.row_bytes));
      }
    });
  };
  switch (a.row_bytes) {
    case 0: return;
    case 4: return copy_rows.operator()<4>();
    case 8: return copy_rows.operator()<8>();
    default: return copy_rows.operator()<0>();
  }
}

template <ScatterReduce kReduce, class T>
inline T combine(T old, T value) {
  if constexpr (kReduce == ScatterReduce::kAssign) {
    return value;
  } else if constexpr (kReduce == ScatterReduce::kAdd) {
    if constexpr (std::is_same_v<T, bool>) return old || value;
    else return static_cast<T>(static_cast<OpMath<T>>(old) + static_cast<OpMath<T>>(value));
  } else if constexpr (kReduce == ScatterReduce::kMul) {
    if constexpr (std::is_same_v<T, bool>) return old && value;
    else return static_cast<T>(static_cast<OpMath<T>>(old) * static_cast<OpMath<T>>(value));
  } else {
    const auto a = static_cast<OpMath<T>>(old);
    const auto b = static_cast<OpMath<T>>(value);
    if constexpr (is_floating<T>) {
      if (std::isnan(a)) return old;
      if (std::isnan(b)) return value;
    }
    return (kReduce == ScatterReduce::kMin ? b < a : a < b) ? value : old;
  }
}

template <class F>
void with_reduce(ScatterReduce reduce, const F& f) {
  switch (reduce) {
    case ScatterReduce::kAssign: return f.template operator()<ScatterReduce::kAssign>();
    case ScatterReduce::kAdd: return f.template operator()<ScatterReduce::kAdd>();
    case ScatterReduce::kMul: return f.template operator()<ScatterReduce::kMul>();
    case ScatterReduce::kMin: return f.template operator()<ScatterReduce::kMin>();
    case ScatterReduce::kMax: return f.template operator()<ScatterReduce::kMax>();
  }
}

/// Every thread walks all rows and writes its own part of each, so that equal indices meet in order.
template <class T, ScatterReduce kReduce>
void write_rows(const IndexWriteArgs& a) {
  if (a.outer == 0 || a.inner == 0) return;
  T* self = reinterpret_cast<T*>(a.self);
  const T* source = reinterpret_cast<const T*>(a.source);
  const T value = a.value.unchecked<T>();
  const bool scaled = !a.alpha.equal(1);
  const auto alpha = a.alpha.unchecked<OpMath<T>>();
  const auto part = [&](int64_t o, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a.count; ++i) {
      T* to = self + (o * a.rows + a.index[i]) * a.inner;
      const T* from = source ? source + (o * a.count + i) * a.inner : nullptr;
      if (!from) {
        for (int64_t k = begin; k < end; ++k) to[k] = combine<kReduce>(to[k], value);
      } else if (scaled) {
        for (int64_t k = begin; k < end; ++k) {
          to[k] = combine<kReduce>(to[k], static_cast<T>(static_cast<OpMath<T>>(from[k]) * alpha));
        }
      } else {
        for (int64_t k = begin; k < end; ++k) to[k] = combine<kReduce>(to[k], from[k]);
      }
    }
  };
  const int64_t work = std::max<int64_t>(1, a.count);
  if (a.outer > 1) {
    parallel_for(0, a.outer, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work * a.inner)), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) part(o, 0, a.inner);
    });
  } else {
    parallel_for(0, a.inner, std::max<int64_t>(64, 32768 / work), [&](int64_t begin, int64_t end) { part(0, begin, end); });
  }
}

void index_write_cpu(const KernelContext&, const IndexWriteArgs& a) {
  dispatch_all(a.dtype, "index", [&]<class T>() {
    with_reduce(a.reduce, [&]<ScatterReduce kReduce>() { write_rows<T, kReduce>(a); });
  });
}

/// Calls f(self, index, other offsets in elements) for each line along `dim` of the index's shape.
template <class F>
void for_each_line(const GatherArgs& a, const F& f) {
  DimVector shape;
  DimVector strides[3];
  const TensorImpl* tensors[3] = {a.self, a.index, a.other};
  int64_t lines = 1;
  for (int64_t d = 0; d < a.index->ndim; ++d) {
    if (d == a.dim) continue;
    const auto at = static_cast<size_t>(d);
    shape.push_back(a.index->sizes()[at]);
    lines *= shape.back();
    for (int k = 0; k < 3; ++k) strides[k].push_back(tensors[k]->strides()[at]);
  }
  const int64_t length = a.index->ndim ? a.index->sizes()[static_cast<size_t>(a.dim)] : 1;
  parallel_for(0, lines, std::max<int64_t>(1, 16384 / std::max<int64_t>(length, 1)), [&](int64_t begin, int64_t end) {
    int64_t offset[3] = {0, 0, 0};
    DimVector position(shape.size());
    int64_t rest = begin;
    for (size_t d = shape.size(); d-- > 0;) {
      position[d] = rest % shape[d];
      rest /= shape[d];
      for (int k = 0; k < 3; ++k) offset[k] += position[d] * strides[k][d];
    }
    for (int64_t line = begin; line < end; ++line) {
      f(offset[0], offset[1], offset[2]);
      for (size_t d = shape.size(); d-- > 0;) {
        for (int k = 0; k < 3; ++k) offset[k] += strides[k][d];
        if (++position[d] < shape[d]) break;
        for (int k = 0; k < 3; ++k) offset[k] -= strides[k][d] * shape[d];
        position[d] = 0;
      }
    }
  });
}

int64_t stride_at(const TensorImpl& t, int64_t dim) { return t.ndim ? t.strides()[static_cast<size_t>(dim)] : 0; }

void gather_cpu(const KernelContext&, const GatherArgs& a) {
  const int64_t length = a.index->ndim ? a.index->sizes()[static_cast<size_t>(a.dim)] : 1;
  const int64_t step = stride_at(*a.self, a.dim);
  const int64_t index_step = stride_at(*a.index, a.dim);
  const int64_t out_step = stride_at(*a.other, a.dim);
  dispatch_bytes(a.self->dtype, "gather", [&]<class T>() {
    const T* self = reinterpret_cast<const T*>(a.self->data());
    const int64_t* index = reinterpret_cast<const int64_t*>(a.index->data());
    T* out = reinterpret_cast<T*>(a.other->data());
    for_each_line(a, [&](int64_t so, int64_t io, int64_t oo) {
      for (int64_t i = 0; i < length; ++i) out[oo + i * out_step] = self[so + index[io + i * index_step] * step];
    });
  });
}

void scatter_cpu(const KernelContext&, const GatherArgs& a) {
  const int64_t length = a.index->ndim ? a.index->sizes()[static_cast<size_t>(a.dim)] : 1;
  const int64_t step = stride_at(*a.self, a.dim);
  const int64_t index_step = stride_at(*a.index, a.dim);
  const int64_t source_step = stride_at(*a.other, a.dim);
  dispatch_all(a.self->dtype, "scatter", [&]<class T>() {
    T* self = reinterpret_cast<T*>(a.self->data());
    const int64_t* index = reinterpret_cast<const int64_t*>(a.index->data());
    const T* source = reinterpret_cast<const T*>(a.other->data());
    with_reduce(a.reduce, [&]<ScatterReduce kReduce>() {
      for_each_line(a, [&](int64_t so, int64_t io, int64_t oo) {
        for (int64_t i = 0; i < length; ++i) {
          T& to = self[so + index[io + i * index_step] * step];
          to = combine<kReduce>(to, source[oo + i * source_step]);
        }
      });
    });
  });
}

void embedding_grad_cpu(const KernelContext&, const EmbeddingGradArgs& a) {
  dispatch_floating(a.dtype, "embedding_dense_backward", [&]<class T>() {
    T* out = reinterpret_cast<T*>(a.out);
    const T* grad = reinterpret_cast<const T*>(a.grad);
    // Every thread looks at all indices and adds the rows that fall into its part of the table.
    const int64_t grain = std::max<int64_t>(1, 1000 * a.rows / std::max<int64_t>(1, a.count));
    parallel_for(0, a.rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < a.count; ++i) {
        const int64_t row = a.index[i];
        if (row < begin || row >= end || row == a.skip) continue;
        T* to = out + row * a.width;
        const T* from = grad + i * a.width;
        if (a.counts) {
          const auto scale = OpMath<T>(1) / static_cast<OpMath<T>>(a.counts[row]);
          for (int64_t k = 0; k < a.width; ++k) {
            to[k] = static_cast<T>(static_cast<OpMath<T>>(to[k]) + static_cast<OpMath<T>>(from[k]) * scale);
          }
        } else {
          for (int64_t k = 0; k < a.width; ++k) {
            to[k] = static_cast<T>(static_cast<OpMath<T>>(to[k]) + static_cast<OpMath<T>>(from[k]));
          }
        }
      }
    });
  });
}

}  // namespace

constinit DeviceKernel<void(const IndexSelectArgs&)> index_select_kernel{&index_select_cpu};
constinit DeviceKernel<void(const IndexWriteArgs&)> index_write_kernel{&index_write_cpu};
constinit DeviceKernel<void(const GatherArgs&)> gather_kernel{&gather_cpu};
constinit DeviceKernel<void(const GatherArgs&)> scatter_kernel{&scatter_cpu};
constinit DeviceKernel<void(const EmbeddingGradArgs&)> embedding_grad_kernel{&embedding_grad_cpu};

}  // namespace taeda
