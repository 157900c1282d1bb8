// SPDX-License-Identifier: Apache-2.0
// Exchange of tensors with other libraries through DLPack, both the 1.x form with a version and the form before it.
// The structures have the layout that the DLPack specification fixes; a pointer to one of them may be cast to the
// structure of the same name in any dlpack.h.
#pragma once

#include <cstdint>

#include "taeda/core/tensor.h"

namespace taeda {
namespace dlpack {

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};
inline constexpr uint32_t kMajorVersion = 1, kMinorVersion = 1;

enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLExtDev = 12 };
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};

enum DLDataTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLOpaqueHandle = 3, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

/// Strides count elements; null strides mean row-major order.
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

inline constexpr uint64_t kFlagReadOnly = 1, kFlagIsCopied = 2;
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // namespace dlpack

/// Hands the tensor's memory out without a copy. The receiver calls the structure's deleter when done; until then the
/// memory lives. Throws Error for a tensor that requires grad (detach it first).
TAEDA_API dlpack::DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);
TAEDA_API dlpack::DLManagedTensor* to_dlpack(const Tensor& tensor);
/// Takes over a structure: the tensor shares its memory and calls its deleter when the last user is gone. Memory marked
/// read-only is copied. Throws Error, leaving the structure with the caller, for devices and dtypes that are not
/// supported, several lanes, negative strides, or another major version.
TAEDA_API Tensor from_dlpack(dlpack::DLManagedTensorVersioned* managed);
TAEDA_API Tensor from_dlpack(dlpack::DLManagedTensor* managed);

// The names of the compatible interface.
inline dlpack::DLManagedTensor* toDLPack(const Tensor& tensor) { return to_dlpack(tensor); }
inline dlpack::DLManagedTensorVersioned* toDLPackVersioned(const Tensor& tensor) { return to_dlpack_versioned(tensor); }
inline Tensor fromDLPack(dlpack::DLManagedTensor* managed) { return from_dlpack(managed); }
inline Tensor fromDLPackVersioned(dlpack::DLManagedTensorVersioned* managed) { return from_dlpack(managed); }

}  // namespace taeda
