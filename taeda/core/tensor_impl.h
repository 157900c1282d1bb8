// SPDX-License-Identifier: Apache-2.0
// What a Tensor handle points to: a typed, strided view of a storage.
#pragma once

#include "taeda/core/array_ref.h"
#include "taeda/core/modes.h"
#include "taeda/core/scalar_type.h"
#include "taeda/core/storage.h"

namespace taeda {

namespace autograd {
struct AutogradMeta;
}

/// Attached by a higher room (a quantizer, say); destroyed with the tensor.
struct TensorExtension {
  virtual ~TensorExtension() = default;
};

/// How a view came to be; decides whether in-place writes to it may be recorded.
enum class ViewKind : uint8_t { kOrdinary, kNoGrad, kMultiOutput, kInference, kCustomFunction };

inline constexpr int64_t kMaxDims = 64;
inline constexpr int64_t kInlineDims = 5;

/// Element i0…in lives at data() + itemsize · (Σ ik·stride[k]).
/// Invariants: numel == Π sizes; strides are never negative, 0 where a dimension is expanded;
/// `contiguous` says that the elements lie in row-major order without gaps (dimensions of size 1 are free).
struct TAEDA_API TensorImpl final {
  RefCount references;
  uint8_t flags = 0;  ///< TensorFlag bits
  ScalarType dtype = ScalarType::Float;
  uint8_t ndim = 0;
  bool contiguous = true;
  ViewKind view_kind = ViewKind::kOrdinary;
  bool untracked = false;  ///< made by `.data()`: writes do not count as in-place changes for autograd
  Device device_;
  std::atomic<uint32_t> own_version{0};  ///< counts writes through an untracked tensor
  uint32_t view_version = 0;  ///< of a view: the version for which its history was made
  std::atomic<uint32_t> savers{0};  ///< saved inputs of graph nodes that hold it, or a view of it
  IntrusivePtr<StorageImpl> storage;
  int64_t offset = 0;  ///< in elements
  int64_t numel = 1;
  int64_t inline_dims[2 * kInlineDims];  ///< sizes, then strides
  int64_t* dims = inline_dims;           ///< heap block of 2·ndim numbers beyond kInlineDims
  IntrusivePtr<TensorImpl> view_base;    ///< the tensor whose storage a differentiable view shares
  autograd::AutogradMeta* autograd = nullptr;
  void* python_object = nullptr;
  TensorExtension* extension = nullptr;

  static void retain(TensorImpl* t) noexcept { t->references.retain(); }
  static void release(TensorImpl* t) noexcept {
    if (t->references.release()) destroy(t);
  }
  size_t use_count() const noexcept { return references.value(); }

  int64_t capacity() const { return ndim <= kInlineDims ? kInlineDims : ndim; }
  IntArrayRef sizes() const { return {dims, ndim}; }
  IntArrayRef strides() const { return {dims + capacity(), ndim}; }
  int64_t* sizes_data() { return dims; }
  int64_t* strides_data() { return dims + capacity(); }
  size_t itemsize() const { return item_size(dtype); }
  char* data() const { return static_cast<char*>(storage->bytes()) + offset * static_cast<int64_t>(itemsize()); }
  /// True where the door must look at gradients: the tensor, or the base it is a view of, requires grad.
  bool requires_grad() const {
    return (flags & kFlagRequiresGrad) || (view_base && (view_base->flags & kFlagRequiresGrad));
  }
  uint32_t version() const {
    if (TAEDA_UNLIKELY(untracked)) {
      return (view_base && view_base->untracked ? *view_base : *this).own_version.load(std::memory_order_relaxed);
    }
    return storage->version.load(std::memory_order_relaxed);
  }
  /// Counts a change in place. `op`: the operator's name, of static duration, for error messages.
  void count_write(const char* op = nullptr) {
    storage->writes.fetch_add(1, std::memory_order_relaxed);
    if (op) storage->last_writer.store(op, std::memory_order_relaxed);
    if (TAEDA_UNLIKELY(untracked)) {
      (view_base && view_base->untracked ? *view_base : *this).own_version.fetch_add(1, std::memory_order_relaxed);
    } else {
      storage->version.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// Room for `n` dimensions, contents undefined.
  void set_ndim(int64_t n);
  /// Sets sizes and row-major strides.
  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_strides(IntArrayRef sizes, IntArrayRef strides);
  bool compute_contiguous() const;
  bool is_contiguous(MemoryFormat format) const;
  bool is_non_overlapping_and_dense() const;

  /// A new impl over `storage` (takes the reference), sizes not set.
  static TensorImpl* make(IntrusivePtr<StorageImpl> storage, ScalarType dtype, Device device);
  /// A contiguous tensor of uninitialised memory.
  static TensorImpl* make_empty(IntArrayRef sizes, ScalarType dtype, Device device);
  /// Another view of the storage of `base`; sizes not set; no autograd relation.
  static TensorImpl* make_alias(const TensorImpl& base);

 private:
  static void destroy(TensorImpl* t) noexcept;
};

namespace detail {
/// Frees autograd metadata; set by the autograd room's definition (one library, resolved at link time).
TAEDA_API void destroy_autograd_meta(autograd::AutogradMeta* meta) noexcept;
/// Π sizes; throws ValueError on a negative size, Error on overflow of int64.
TAEDA_API int64_t checked_numel(IntArrayRef sizes, const char* op);
/// Row-major strides of `sizes`.
TAEDA_API DimVector contiguous_strides(IntArrayRef sizes);
TAEDA_API DimVector channels_last_strides(IntArrayRef sizes);
/// Bytes from the first to one past the last element reached.
TAEDA_API size_t storage_bytes(IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize, const char* op);
}  // namespace detail
}  // namespace taeda
