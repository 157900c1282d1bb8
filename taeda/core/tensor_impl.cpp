// SPDX-License-Identifier: Apache-2.0
// Creation, geometry and destruction of tensor implementations.
#include "taeda/core/tensor_impl.h"

#include <algorithm>
#include <new>

#include "taeda/core/small_alloc.h"

namespace taeda {

namespace detail {

int64_t checked_numel(IntArrayRef sizes, const char* op) {
  int64_t numel = 1;
  bool overflow = false;
  for (const int64_t size : sizes) {
    TAEDA_CHECK(size >= 0, "[", op, "] sizes must not be negative: got ", sizes, "; pass sizes of 0 or more");
    overflow |= __builtin_mul_overflow(numel, size, &numel);
  }
  if (overflow) {  // A zero size makes any product zero.
    for (const int64_t size : sizes) {
      if (size == 0) return 0;
    }
    TAEDA_CHECK(false, "[", op, "] the number of elements must be below 2^63: got sizes ", sizes,
                "; use smaller sizes");
  }
  return numel;
}

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

DimVector channels_last_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t step = 1;
  const auto place = [&](size_t d) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  };
  place(1);
  for (size_t d = sizes.size(); d-- > 2;) place(d);
  place(0);
  return strides;
}

size_t storage_bytes(IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize, const char* op) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t reach = 0;
    const bool overflow = __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
                          __builtin_add_overflow(last, reach, &last);
    TAEDA_CHECK(!overflow, "[", op, "] the view must stay within 2^63 elements: got sizes ", sizes, ", strides ",
                strides, ", offset ", offset, "; use smaller sizes");
  }
  int64_t bytes = 0;
  const bool overflow = __builtin_add_overflow(last, int64_t{1}, &last) ||
                        __builtin_mul_overflow(last, static_cast<int64_t>(itemsize), &bytes);
  TAEDA_CHECK(!overflow, "[", op, "] the memory must be below 2^63 bytes: got sizes ", sizes,
              "; use smaller sizes");
  return static_cast<size_t>(bytes);
}

}  // namespace detail

TensorImpl* TensorImpl::make(IntrusivePtr<StorageImpl> storage, ScalarType dtype, Device device) {
  auto* t = new (small_alloc(sizeof(TensorImpl))) TensorImpl;
  t->dtype = dtype;
  t->device_ = device;
  t->flags = static_cast<uint8_t>((device.is_cpu() ? 0 : kFlagNotCpu) | (tls_modes.inference ? kFlagInference : 0));
  t->storage = std::move(storage);
  return t;
}

TensorImpl* TensorImpl::make_empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  const size_t itemsize = item_size(dtype);
  TAEDA_CHECK_NOT_IMPLEMENTED(itemsize != 0, "[empty] tensors can have real dtypes only: got ", dtype,
                              "; complex, quantized and float8 dtypes are reserved");
  TAEDA_CHECK(sizes.size() <= static_cast<size_t>(kMaxDims), "[empty] tensors have at most 64 dimensions: got ",
              sizes.size(), "; flatten some of them");
  const int64_t numel = detail::checked_numel(sizes, "empty");
  int64_t bytes = 0;
  TAEDA_CHECK(!__builtin_mul_overflow(numel, static_cast<int64_t>(itemsize), &bytes),
              "[empty] the memory must be below 2^63 bytes: got sizes ", sizes, "; use smaller sizes");
  TensorImpl* t = make(IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(static_cast<size_t>(bytes), device)),
                       dtype, device);
  t->numel = numel;
  t->set_ndim(static_cast<int64_t>(sizes.size()));
  int64_t* out_sizes = t->sizes_data();
  int64_t* out_strides = t->strides_data();
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    out_sizes[i] = sizes[i];
    out_strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return t;
}

TensorImpl* TensorImpl::make_alias(const TensorImpl& base) {
  TensorImpl* t = make(base.storage, base.dtype, base.device_);
  t->offset = base.offset;
  t->untracked = base.untracked;
  return t;
}

void TensorImpl::set_ndim(int64_t n) {
  TAEDA_CHECK(n <= kMaxDims, "[Tensor] tensors have at most 64 dimensions: got ", n, "; flatten some of them");
  if (dims != inline_dims) delete[] dims;
  ndim = static_cast<uint8_t>(n);
  dims = n <= kInlineDims ? inline_dims : new int64_t[static_cast<size_t>(2 * n)];
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  const DimVector copy(sizes);  // `sizes` may point into this object
  const DimVector strides = detail::contiguous_strides(copy);
  set_ndim(static_cast<int64_t>(copy.size()));
  std::copy(copy.begin(), copy.end(), sizes_data());
  std::copy(strides.begin(), strides.end(), strides_data());
  numel = detail::checked_numel(copy, "Tensor");
  contiguous = true;
}

void TensorImpl::set_sizes_strides(IntArrayRef sizes, IntArrayRef strides) {
  const DimVector size_copy(sizes);
  const DimVector stride_copy(strides);
  numel = detail::checked_numel(size_copy, "Tensor");
  set_ndim(static_cast<int64_t>(size_copy.size()));
  std::copy(size_copy.begin(), size_copy.end(), sizes_data());
  std::copy(stride_copy.begin(), stride_copy.end(), strides_data());
  contiguous = compute_contiguous();
}

bool TensorImpl::compute_contiguous() const {
  if (numel == 0) return true;
  const IntArrayRef size = sizes();
  const IntArrayRef stride = strides();
  int64_t expected = 1;
  for (size_t i = size.size(); i-- > 0;) {
    if (size[i] == 1) continue;
    if (stride[i] != expected) return false;
    expected *= size[i];
  }
  return true;
}

bool TensorImpl::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return contiguous;
  if (ndim != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  const DimVector wanted = detail::channels_last_strides(sizes());
  for (size_t i = 0; i < ndim; ++i) {
    if (sizes()[i] != 1 && strides()[i] != wanted[i]) return numel == 0;
  }
  return true;
}

bool TensorImpl::is_non_overlapping_and_dense() const {
  if (contiguous) return true;
  SmallVector<int64_t, 8> order;
  for (int64_t d = 0; d < ndim; ++d) {
    if (sizes()[d] != 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides()[a] < strides()[b]; });
  int64_t expected = 1;
  for (const int64_t d : order) {
    if (strides()[d] != expected) return false;
    expected *= sizes()[d];
  }
  return true;
}

void TensorImpl::destroy(TensorImpl* t) noexcept {
  if (t->autograd) detail::destroy_autograd_meta(t->autograd);
  delete t->extension;
  if (t->dims != t->inline_dims) delete[] t->dims;
  t->~TensorImpl();
  small_free(t, sizeof(TensorImpl));
}

}  // namespace taeda
