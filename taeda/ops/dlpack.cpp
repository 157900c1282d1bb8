// SPDX-License-Identifier: Apache-2.0
// Exchange of tensors with other libraries through DLPack.
#include "taeda/ops/dlpack.h"

#include <algorithm>
#include <memory>

#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"

namespace taeda {

using namespace dlpack;  // NOLINT(google-build-using-namespace)

namespace {

DLDataType dlpack_type(ScalarType type) {
  const auto bits = static_cast<uint8_t>(8 * item_size(type));
  switch (type) {
    case ScalarType::Byte: return {kDLUInt, bits, 1};
    case ScalarType::Bool: return {kDLBool, bits, 1};
    case ScalarType::BFloat16: return {kDLBfloat, bits, 1};
    default: return {is_floating_type(type) ? kDLFloat : kDLInt, bits, 1};
  }
}

ScalarType scalar_type_from(DLDataType type) {
  TAEDA_CHECK(type.lanes == 1, "[from_dlpack] elements must have one lane: got ", type.lanes, "; unpack the vectors first");
  for (const ScalarType t : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBool, kBFloat16}) {
    const DLDataType own = dlpack_type(t);
    if (own.code == type.code && own.bits == type.bits) return t;
  }
  TAEDA_CHECK(false, "[from_dlpack] the dtype must be supported: got code ", static_cast<int>(type.code), " with ",
              static_cast<int>(type.bits), " bits; convert the tensor first");
}

/// What a handed-out structure owns: the tensor and room for its sizes and strides.
template <class Managed>
struct Export {
  Tensor tensor;
  DimVector shape;
  DimVector strides;
  Managed managed{};
};

template <class Managed>
Managed* export_tensor(const Tensor& tensor) {
  TAEDA_CHECK(!tensor.requires_grad(), "[to_dlpack] can't export tensors that require gradient: got sizes ", tensor.sizes(),
              "; use tensor.detach()");
  auto owner = std::make_unique<Export<Managed>>();
  owner->tensor = tensor;
  owner->shape = DimVector(tensor.sizes());
  owner->strides = DimVector(tensor.strides());
  DLTensor& t = owner->managed.dl_tensor;
  t.data = tensor.mutable_data_ptr();
  t.device = {kDLCPU, 0};
  t.ndim = static_cast<int32_t>(tensor.dim());
  t.dtype = dlpack_type(tensor.scalar_type());
  t.shape = owner->shape.data();
  t.strides = owner->strides.data();
  t.byte_offset = 0;
  owner->managed.manager_ctx = owner.get();
  owner->managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  return &owner.release()->managed;
}

template <class Managed>
Tensor import_tensor(Managed* managed, bool read_only) {
  const DLTensor& t = managed->dl_tensor;
  TAEDA_CHECK(t.device.device_type == kDLCPU || t.device.device_type == kDLCUDAHost,
              "[from_dlpack] the memory must be on the CPU: got device type ", static_cast<int>(t.device.device_type),
              "; copy the tensor to the CPU first");
  TAEDA_CHECK(t.ndim >= 0 && t.ndim <= kMaxDims, "[from_dlpack] the number of dimensions must be from 0 to ", kMaxDims, ": got ",
              t.ndim, "; reshape the tensor first");
  const ScalarType dtype = scalar_type_from(t.dtype);
  const auto rank = static_cast<size_t>(t.ndim);
  const DimVector sizes = rank ? DimVector(IntArrayRef(t.shape, rank)) : DimVector();
  detail::checked_numel(sizes, "from_dlpack");
  const DimVector strides = t.strides && rank ? DimVector(IntArrayRef(t.strides, rank)) : detail::contiguous_strides(sizes);
  char* data = static_cast<char*>(t.data) + t.byte_offset;
  TAEDA_CHECK(reinterpret_cast<uintptr_t>(data) % std::max<size_t>(item_size(dtype), 1) == 0,
              "[from_dlpack] the memory must be aligned to the element size: got ", static_cast<void*>(data), "; copy the tensor first");
  Tensor result = from_blob(data, sizes, strides, [managed](void*) {
    if (managed->deleter) managed->deleter(managed);
  }, TensorOptions(dtype));
  return read_only ? result.clone() : result;
}

}  // namespace

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  DLManagedTensorVersioned* managed = export_tensor<DLManagedTensorVersioned>(tensor);
  managed->version = {kMajorVersion, kMinorVersion};
  managed->flags = 0;
  return managed;
}
DLManagedTensor* to_dlpack(const Tensor& tensor) { return export_tensor<DLManagedTensor>(tensor); }

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  TAEDA_CHECK(managed != nullptr, "[from_dlpack] the structure must not be null; pass a valid pointer");
  TAEDA_CHECK(managed->version.major == kMajorVersion, "[from_dlpack] the major version must be ", kMajorVersion, ": got ",
              managed->version.major, ".", managed->version.minor, "; export with DLPack 1.x");
  return import_tensor(managed, (managed->flags & kFlagReadOnly) != 0);
}
Tensor from_dlpack(DLManagedTensor* managed) {
  TAEDA_CHECK(managed != nullptr, "[from_dlpack] the structure must not be null; pass a valid pointer");
  return import_tensor(managed, false);
}

}  // namespace taeda
