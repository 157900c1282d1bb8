// SPDX-License-Identifier: Apache-2.0
// CPU kernels of advanced indexing, masks, nonzero and triangles.
#include <algorithm>
#include <cstring>

#include "taeda/ops/kernels/indexing.h"
#include "taeda/ops/strided_iteration.h"

namespace taeda {
namespace {

StridedIteration<3> offset_iteration(const OffsetArgs& a) {
  StridedIteration<3> it(a.values->sizes());
  it.add(*a.values);
  it.add(a.self, a.values->sizes(), a.self_strides, 1);
  it.add(reinterpret_cast<char*>(const_cast<int64_t*>(a.offsets)), a.values->sizes(), a.offset_strides, 1);
  it.finish();
  return it;
}

void index_get_cpu(const KernelContext&, const OffsetArgs& a) {
  dispatch_bytes(a.values->dtype, "index", [&]<class T>() {
    offset_iteration(a).run(8192, [](char* const* p, const int64_t* s, int64_t n) {
      if (s[2] == 0) {
        const char* from = p[1] + *reinterpret_cast<const int64_t*>(p[2]);
        if (s[0] == sizeof(T) && s[1] == sizeof(T)) {
          std::memcpy(p[0], from, static_cast<size_t>(n) * sizeof(T));
          return;
        }
        for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(p[0] + i * s[0]) = *reinterpret_cast<const T*>(from + i * s[1]);
        return;
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t offset = *reinterpret_cast<const int64_t*>(p[2] + i * s[2]);
        *reinterpret_cast<T*>(p[0] + i * s[0]) = *reinterpret_cast<const T*>(p[1] + i * s[1] + offset);
      }
    });
  });
}

/// One thread: positions may repeat, and the last one wins.
template <class F>
void put_elements(const OffsetArgs& a, const F& put) {
  offset_iteration(a).run(std::numeric_limits<int64_t>::max(), [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t offset = *reinterpret_cast<const int64_t*>(p[2] + i * s[2]);
      put(p[1] + i * s[1] + offset, p[0] + i * s[0]);
    }
  });
}

void index_put_cpu(const KernelContext&, const OffsetArgs& a) {
  if (a.accumulate) {
    dispatch_all(a.values->dtype, "index_put_", [&]<class T>() {
      put_elements(a, [](char* to, const char* from) {
        T& target = *reinterpret_cast<T*>(to);
        const T value = *reinterpret_cast<const T*>(from);
        if constexpr (std::is_same_v<T, bool>) {
          target = target || value;
        } else {
          target = static_cast<T>(static_cast<OpMath<T>>(target) + static_cast<OpMath<T>>(value));
        }
      });
    });
    return;
  }
  dispatch_bytes(a.values->dtype, "index_put_", [&]<class T>() {
    put_elements(a, [](char* to, const char* from) { *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from); });
  });
}

template <class T>
inline bool is_set(T value) {
  return static_cast<OpMath<T>>(value) != OpMath<T>(0);
}

int64_t count_nonzero_cpu(const KernelContext&, const TensorImpl& t) {
  return dispatch_all(t.dtype, "nonzero", [&]<class T>() -> int64_t {
    const T* data = reinterpret_cast<const T*>(t.data());
    return parallel_reduce(
        int64_t{0}, t.numel, int64_t{65536}, int64_t{0},
        [&](int64_t begin, int64_t end, int64_t n) {
          for (int64_t i = begin; i < end; ++i) n += is_set(data[i]);
          return n;
        },
        [](int64_t a, int64_t b) { return a + b; });
  });
}

void nonzero_cpu(const KernelContext&, const NonzeroArgs& a) {
  const TensorImpl& t = *a.input;
  const size_t ndim = t.ndim;
  dispatch_all(t.dtype, "nonzero", [&]<class T>() {
    const T* data = reinterpret_cast<const T*>(t.data());
    int64_t* out = a.out;
    if (ndim == 1) {
      for (int64_t i = 0; i < t.numel; ++i) {
        if (is_set(data[i])) *out++ = i;
      }
      return;
    }
    DimVector position(ndim);
    for (int64_t i = 0; i < t.numel; ++i) {
      if (is_set(data[i])) {
        for (size_t d = 0; d < ndim; ++d) out[static_cast<int64_t>(d) * a.count] = position[d];
        ++out;
      }
      for (size_t d = ndim; d-- > 0;) {
        if (++position[d] < t.sizes()[d]) break;
        position[d] = 0;
      }
    }
  });
}

template <class F>
void with_item(int64_t itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

void masked_select_cpu(const KernelContext&, const MaskedMoveArgs& a) {
  with_item(a.itemsize, [&]<class T>() {
    T* out = reinterpret_cast<T*>(a.self);
    const T* in = reinterpret_cast<const T*>(a.other);
    for (int64_t i = 0; i < a.n; ++i) {
      if (a.mask[i]) *out++ = in[i];
    }
  });
}

void masked_scatter_cpu(const KernelContext&, const MaskedMoveArgs& a) {
  with_item(a.itemsize, [&]<class T>() {
    T* out = reinterpret_cast<T*>(a.self);
    const T* in = reinterpret_cast<const T*>(a.other);
    for (int64_t i = 0; i < a.n; ++i) {
      if (a.mask[i]) out[i] = *in++;
    }
  });
}

void triangle_cpu(const KernelContext&, const TriangleArgs& a) {
  const int64_t row_bytes = a.columns * a.itemsize;
  if (row_bytes == 0) return;
  parallel_for(0, a.batch * a.rows, std::max<int64_t>(1, 65536 / row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t row = at % a.rows;
      // The lower triangle holds columns up to row + diagonal; the upper one begins there.
      const int64_t cut = std::clamp<int64_t>(row + a.diagonal + (a.upper ? 0 : 1), 0, a.columns) * a.itemsize;
      char* to = a.out + at * row_bytes;
      const char* from = a.self + at * row_bytes;
      const int64_t first = a.upper ? cut : 0;
      const int64_t last = a.upper ? row_bytes : cut;
      if (to != from) std::memcpy(to + first, from + first, static_cast<size_t>(last - first));
      std::memset(to, 0, static_cast<size_t>(first));
      std::memset(to + last, 0, static_cast<size_t>(row_bytes - last));
    }
  });
}

}  // namespace

constinit DeviceKernel<void(const OffsetArgs&)> index_get_kernel{&index_get_cpu};
constinit DeviceKernel<void(const OffsetArgs&)> index_put_kernel{&index_put_cpu};
constinit DeviceKernel<int64_t(const TensorImpl&)> count_nonzero_kernel{&count_nonzero_cpu};
constinit DeviceKernel<void(const NonzeroArgs&)> nonzero_kernel{&nonzero_cpu};
constinit DeviceKernel<void(const MaskedMoveArgs&)> masked_select_kernel{&masked_select_cpu};
constinit DeviceKernel<void(const MaskedMoveArgs&)> masked_scatter_kernel{&masked_scatter_cpu};
constinit DeviceKernel<void(const TriangleArgs&)> triangle_kernel{&triangle_cpu};

}  // namespace taeda
