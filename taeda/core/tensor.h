// SPDX-License-Identifier: Apache-2.0
// The Tensor handle: one pointer, shared ownership. Operator methods are generated from the operator definitions.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <tuple>

#include "taeda/core/accessor.h"
#include "taeda/core/generator.h"
#include "taeda/core/scalar.h"
#include "taeda/core/tensor_impl.h"
#include "taeda/core/tensor_options.h"

namespace taeda {

class Tensor;
namespace autograd {
struct Node;
using Variable = Tensor;
using variable_list = std::vector<Tensor>;
}  // namespace autograd
namespace indexing {
class TensorIndex;
}

using TensorList = ArrayRef<Tensor>;

/// A multi-dimensional array of one dtype on one device. Copying shares the data; methods ending in `_` write it.
class TAEDA_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;

  // Assigning to a variable rebinds it; assigning to a temporary (`x[0] = …`) writes into its elements.
  Tensor& operator=(const Tensor& other) & = default;
  Tensor& operator=(Tensor&& other) & noexcept = default;
  Tensor& operator=(const Tensor& other) &&;
  Tensor& operator=(Tensor&& other) &&;
  Tensor& operator=(const Scalar& value) &&;

  bool defined() const { return static_cast<bool>(impl_); }
  void reset() { impl_.reset(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  size_t use_count() const { return impl_.use_count(); }
  TensorImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  const IntrusivePtr<TensorImpl>& getIntrusivePtr() const { return impl_; }
  TensorImpl* unsafeReleaseTensorImpl() { return impl_.detach(); }

  // Geometry.
  int64_t dim() const { return impl().ndim; }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return impl().numel; }
  IntArrayRef sizes() const { return impl().sizes(); }
  IntArrayRef strides() const { return impl().strides(); }
  /// Size of one dimension; negative counts from the end. Throws IndexError when out of range.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const { return impl().offset; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return format == MemoryFormat::Contiguous ? impl().contiguous : impl().is_contiguous(format);
  }
  bool is_non_overlapping_and_dense() const { return impl().is_non_overlapping_and_dense(); }
  MemoryFormat suggest_memory_format() const;
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  size_t itemsize() const { return impl().itemsize(); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  const Storage storage() const { return Storage(impl().storage); }
  bool has_storage() const { return defined(); }
  bool is_alias_of(const Tensor& other) const { return impl().storage == other.impl().storage; }

  // Type and place.
  ScalarType scalar_type() const { return impl().dtype; }
  TypeMeta dtype() const { return impl().dtype; }
  Device device() const { return impl().device_; }
  int64_t get_device() const { return device().is_cpu() ? -1 : device().index(); }
  Layout layout() const { return Layout::Strided; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(std::optional<Device>(device())).layout(layout()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  bool is_floating_point() const { return is_floating_type(scalar_type()); }
  bool is_complex() const { return is_complex_type(scalar_type()); }
  bool is_signed() const { return scalar_type() != kByte && scalar_type() != kBool; }
  /// Whether the one element is not zero; throws Error for more elements and for none.
  bool is_nonzero() const;
  bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }
  /// Whether both show the same storage in the same way.
  bool is_set_to(const Tensor& other) const;
  bool is_pinned() const { return false; }
  bool is_inference() const { return impl().flags & kFlagInference; }
  std::string toString() const;
  void print() const;

  // Data. The mutable forms count as a write of unknown extent: caches keyed by content give this tensor up.
  void* data_ptr() const { return mutable_data_ptr(); }
  void* mutable_data_ptr() const;
  const void* const_data_ptr() const { return impl().data(); }
  template <class T>
  T* data_ptr() const {
    return mutable_data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    check_dtype(scalar_type_of<std::remove_const_t<T>>, "data_ptr");
    return static_cast<T*>(std::is_const_v<T> ? const_cast<void*>(const_data_ptr()) : mutable_data_ptr());
  }
  template <class T>
  const std::remove_const_t<T>* const_data_ptr() const {
    check_dtype(scalar_type_of<std::remove_const_t<T>>, "const_data_ptr");
    return static_cast<const std::remove_const_t<T>*>(const_data_ptr());
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_dims(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, size_t N, class Index = int64_t>
  PackedTensorAccessor<T, N, Index> packed_accessor() const {
    check_dims(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N>
  PackedTensorAccessor32<T, N> packed_accessor32() const {
    return packed_accessor<T, N, int32_t>();
  }
  template <class T, size_t N>
  PackedTensorAccessor64<T, N> packed_accessor64() const {
    return packed_accessor<T, N, int64_t>();
  }
  /// The value of a one-element tensor.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  /// This tensor's elements where `condition`, else the other's.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;

  // Operators of the language.
  Tensor operator~() const;
  Tensor operator-() const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(const Scalar& other);
  Tensor& operator&=(const Tensor& other);
  Tensor& operator|=(const Tensor& other);
  Tensor& operator^=(const Tensor& other);
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value);

  // Autograd (defined in taeda/autograd).
  bool requires_grad() const { return defined() && impl_->requires_grad(); }
  /// Marks a leaf; throws Error for integer dtypes and for non-leaves when turned off.
  const Tensor& requires_grad_(bool requires_grad = true) const;
  /// As requires_grad_, but turning off the flag of a tensor with history does nothing.
  const Tensor& set_requires_grad(bool requires_grad) const;
  bool is_leaf() const;
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  IntrusivePtr<autograd::Node> grad_fn() const;
  int64_t output_nr() const;
  /// Gradients of this tensor with respect to the graph's leaves, accumulated into their `.grad`.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false, std::optional<TensorList> inputs = std::nullopt) const;
  void retain_grad() const;
  bool retains_grad() const;
  Tensor detach() const;
  Tensor& detach_() const;
  /// The same data without history; writes through it are not seen by autograd's version check.
  Tensor data() const { return variable_data(); }
  Tensor variable_data() const;
  Tensor tensor_data() const { return variable_data(); }
  void set_data(const Tensor& new_data) const;
  /// How often the data was changed; throws Error for inference tensors, whose changes are not counted.
  int64_t _version() const;
  bool is_view() const { return static_cast<bool>(impl().view_base); }
  const Tensor _base() const;
  /// Calls `hook(grad)` when the gradient of this tensor is computed; a returned tensor replaces it.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<Hook&, Tensor>>) {
      return add_hook([h = std::forward<Hook>(hook)](const Tensor& grad) mutable {
        h(grad);
        return Tensor();
      });
    } else {
      return add_hook(std::forward<Hook>(hook));
    }
  }
  void remove_hook(unsigned position) const;

  // Moving and converting.
  Tensor cpu() const;
  Tensor toType(ScalarType type) const;
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(TypeMeta dtype, bool non_blocking = false, bool copy = false) const { return to(dtype.toScalarType(), non_blocking, copy); }
  Tensor to(Device device, TypeMeta dtype, bool non_blocking = false, bool copy = false) const {
    return to(device, dtype.toScalarType(), non_blocking, copy);
  }
  Tensor type_as(const Tensor& other) const { return to(other); }

  /// One dimension as an int, which would otherwise become `bool unbiased`.
  Tensor var(int dim) const {
    const int64_t d = dim;
    return var(IntArrayRef(d));
  }
  Tensor std(int dim) const {
    const int64_t d = dim;
    return std(IntArrayRef(d));
  }
#include "taeda/ops/generated/tensor_methods.inc"

  const TensorImpl& impl() const {
    if (TAEDA_UNLIKELY(!impl_)) throw_undefined();
    return *impl_;
  }
  TensorImpl& mutable_impl() const { return const_cast<TensorImpl&>(impl()); }

 private:
  [[noreturn]] static void throw_undefined();
  void check_dtype(ScalarType wanted, const char* op) const;
  void check_dims(size_t wanted) const;
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook) const;

  IntrusivePtr<TensorImpl> impl_;
};

TAEDA_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);
/// Prints with a given line width.
TAEDA_API std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t line_size);

/// Wraps `dim` into [0, ndim). Throws IndexError when it lies outside [-ndim, ndim). A 0-dim tensor counts as 1-dim.
TAEDA_API int64_t maybe_wrap_dim(int64_t dim, int64_t ndim, const char* op = "dim");

/// The dtype of an operation between tensors and numbers.
TAEDA_API ScalarType result_type(const Tensor& a, const Tensor& b);
TAEDA_API ScalarType result_type(const Tensor& a, const Scalar& b);
TAEDA_API ScalarType result_type(const Scalar& a, const Tensor& b);
TAEDA_API ScalarType result_type(TensorList tensors);

/// A tensor of uninitialised memory, without passing an operator's door.
inline Tensor make_tensor(IntArrayRef sizes, ScalarType dtype, Device device = Device()) {
  return Tensor(IntrusivePtr<TensorImpl>::adopt(TensorImpl::make_empty(sizes, dtype, device)));
}
/// As `make_tensor` with the strides of a dense layout.
TAEDA_API Tensor make_tensor_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device = Device());
/// A view of `base`'s storage. Ordinary views remember the base, so that in-place updates keep gradients right.
TAEDA_API Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset);
/// A tensor over the same storage without relation to the original (used for saved outputs, `.data()`).
TAEDA_API Tensor make_alias(const Tensor& base);

}  // namespace taeda
