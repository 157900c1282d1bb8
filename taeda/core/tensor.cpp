// SPDX-License-Identifier: Apache-2.0
// The Tensor members that are not operators, and the makers of tensors and views.
#include "taeda/core/tensor.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace taeda {

void Tensor::throw_undefined() {
  TAEDA_CHECK(false, "[Tensor] the tensor must be defined: got an empty handle; assign a tensor first");
  __builtin_unreachable();
}

int64_t maybe_wrap_dim(int64_t dim, int64_t ndim, const char* op) {
  const int64_t n = ndim == 0 ? 1 : ndim;
  TAEDA_CHECK_INDEX(dim >= -n && dim < n, "[", op, "] Dimension out of range: expected to be in [", -n, ", ", n - 1,
                    "], but got ", dim, "; choose a dimension of the tensor");
  return dim < 0 ? dim + n : dim;
}

int64_t Tensor::size(int64_t d) const {
  const TensorImpl& t = impl();
  TAEDA_CHECK_INDEX(t.ndim != 0, "[size] a 0-dim tensor has no dimensions: got dimension ", d, "; use numel()");
  return t.sizes()[static_cast<size_t>(maybe_wrap_dim(d, t.ndim, "size"))];
}

int64_t Tensor::stride(int64_t d) const {
  const TensorImpl& t = impl();
  TAEDA_CHECK_INDEX(t.ndim != 0, "[stride] a 0-dim tensor has no dimensions: got dimension ", d, "; use numel()");
  return t.strides()[static_cast<size_t>(maybe_wrap_dim(d, t.ndim, "stride"))];
}

MemoryFormat Tensor::suggest_memory_format() const {
  const TensorImpl& t = impl();
  if (t.contiguous) return MemoryFormat::Contiguous;
  if (t.ndim == 4 && t.is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
  if (t.ndim == 5 && t.is_contiguous(MemoryFormat::ChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

void* Tensor::mutable_data_ptr() const {
  TensorImpl& t = mutable_impl();
  if (TAEDA_UNLIKELY(tls_modes.active & kModeCapture)) detail::finish_recorded();
  char* data = t.data();
  t.storage->writes.fetch_add(1, std::memory_order_relaxed);
  t.storage->pointer_escaped.store(true, std::memory_order_relaxed);
  return data;
}

void Tensor::check_dtype(ScalarType wanted, const char* op) const {
  TAEDA_CHECK(scalar_type() == wanted, "[", op, "] expected scalar type ", wanted, " but found ", scalar_type(),
              "; use the tensor's own element type or convert with .to(dtype)");
}

void Tensor::check_dims(size_t wanted) const {
  TAEDA_CHECK(static_cast<size_t>(dim()) == wanted, "[accessor] the number of dimensions must match: expected ", wanted,
              " dims but tensor has ", dim(), "; use accessor<T, ", dim(), ">()");
}

std::string Tensor::toString() const {
  return defined() ? str("CPU", to_string(scalar_type()), "Type") : std::string("UndefinedType");
}

void Tensor::print() const {
  if (defined()) {
    std::fprintf(stderr, "[%s %s]\n", toString().c_str(), str(sizes()).c_str());
  } else {
    std::fprintf(stderr, "[UndefinedTensor]\n");
  }
}

Tensor make_tensor_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  const size_t itemsize = item_size(dtype);
  TAEDA_CHECK_NOT_IMPLEMENTED(itemsize != 0, "[empty_strided] tensors can have real dtypes only: got ", dtype,
                              "; complex, quantized and float8 dtypes are reserved");
  detail::checked_numel(sizes, "empty_strided");
  const size_t bytes = detail::storage_bytes(sizes, strides, 0, itemsize, "empty_strided");
  TensorImpl* t =
      TensorImpl::make(IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(bytes, device)), dtype, device);
  Tensor result(IntrusivePtr<TensorImpl>::adopt(t));
  t->set_sizes_strides(sizes, strides);
  return result;
}

Tensor make_view(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  const TensorImpl& b = base.impl();
  TensorImpl* t = TensorImpl::make_alias(b);
  Tensor result(IntrusivePtr<TensorImpl>::adopt(t));
  t->offset = offset;
  t->set_ndim(static_cast<int64_t>(sizes.size()));
  std::copy(sizes.begin(), sizes.end(), t->sizes_data());
  std::copy(strides.begin(), strides.end(), t->strides_data());
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  t->numel = numel;
  t->contiguous = t->compute_contiguous();
  if (b.flags & kFlagInference) {  // a view of an inference tensor is one, wherever it is made
    t->flags |= kFlagInference;
    return result;
  }
  t->view_base = b.view_base ? b.view_base : base.getIntrusivePtr();
  t->flags = static_cast<uint8_t>((t->flags & ~kFlagInference) | kFlagView);
  t->view_kind = b.view_kind;
  if (b.view_kind == ViewKind::kOrdinary) {
    if (tls_modes.inference) {
      t->view_kind = ViewKind::kInference;
    } else if (!tls_modes.grad_enabled) {
      t->view_kind = ViewKind::kNoGrad;
    }
  }
  t->view_version = t->version();
  return result;
}

Tensor make_alias(const Tensor& base) {
  const TensorImpl& b = base.impl();
  TensorImpl* t = TensorImpl::make_alias(b);
  Tensor result(IntrusivePtr<TensorImpl>::adopt(t));
  t->set_ndim(b.ndim);
  std::copy(b.sizes().begin(), b.sizes().end(), t->sizes_data());
  std::copy(b.strides().begin(), b.strides().end(), t->strides_data());
  t->numel = b.numel;
  t->contiguous = b.contiguous;
  t->flags |= b.flags & kFlagInference;
  return result;
}

std::string_view TypeMeta::name() const {
  switch (type_) {
    case ScalarType::Float: return "float";
    case ScalarType::Double: return "double";
    case ScalarType::Long: return "long int";
    case ScalarType::Int: return "int";
    case ScalarType::Short: return "short int";
    case ScalarType::Char: return "signed char";
    case ScalarType::Byte: return "unsigned char";
    case ScalarType::Bool: return "bool";
    case ScalarType::Half: return "c10::Half";
    case ScalarType::BFloat16: return "c10::BFloat16";
    default: return to_string(type_);
  }
}
std::ostream& operator<<(std::ostream& stream, TypeMeta type) { return stream << type.name(); }

std::ostream& operator<<(std::ostream& stream, const TensorOptions& options) {
  stream << "TensorOptions(dtype=" << options.dtype() << (options.has_dtype() ? "" : " (default)")
         << ", device=" << options.device() << (options.has_device() ? "" : " (default)")
         << ", layout=" << options.layout() << (options.has_layout() ? "" : " (default)")
         << ", requires_grad=" << (options.requires_grad() ? "true" : "false")
         << (options.has_requires_grad() ? "" : " (default)")
         << ", pinned_memory=" << (options.pinned_memory() ? "true" : "false")
         << (options.pinned_memory_opt() ? "" : " (default)");
  if (options.has_memory_format()) return stream << ", memory_format=" << *options.memory_format_opt() << ')';
  return stream << ", memory_format=(nullopt))";
}

}  // namespace taeda
