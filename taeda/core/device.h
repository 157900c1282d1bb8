// SPDX-License-Identifier: Apache-2.0
// Devices, streams, layouts, memory formats, and the table through which operators reach a device's kernels.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "taeda/core/error.h"
#include "taeda/core/export.h"

namespace taeda {

/// Kinds of device, numbered as PyTorch numbers them. Only CPU has kernels today.
enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14, PrivateUse1 = 20, COMPILE_TIME_MAX_DEVICE_TYPES = 22 };
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta,
                            kPrivateUse1 = DeviceType::PrivateUse1;
using DeviceIndex = int8_t;

TAEDA_API std::ostream& operator<<(std::ostream& stream, DeviceType type);
TAEDA_API std::string DeviceTypeName(DeviceType type, bool lower_case = false);

/// A device: its kind and an index, -1 for "the current one of this kind".
struct TAEDA_API Device final {
  using Type = DeviceType;
  constexpr Device(DeviceType type = DeviceType::CPU, DeviceIndex index = -1) : type_(type), index_(index) {}
  /// Parses "cpu", "cpu:0", "cuda:1". Throws Error on anything else.
  Device(const std::string& text);  // NOLINT(google-explicit-constructor)
  Device(const char* text) : Device(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  constexpr DeviceType type() const { return type_; }
  constexpr DeviceIndex index() const { return index_; }
  constexpr bool has_index() const { return index_ != -1; }
  constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  constexpr bool is_meta() const { return type_ == DeviceType::Meta; }
  void set_index(DeviceIndex index) { index_ = index; }
  std::string str() const;
  friend constexpr bool operator==(Device, Device) = default;

 private:
  DeviceType type_;
  DeviceIndex index_;
};
TAEDA_API std::ostream& operator<<(std::ostream& stream, Device device);

/// An ordered queue of work on a device. The CPU has one, number 0, which runs at once.
struct Stream {
  Device device;
  int64_t id = 0;
};

/// What a kernel is told besides its arguments.
struct KernelContext {
  Device device;
  Stream stream;
};

/// One kernel's implementations by device kind. The CPU room defines each kernel `constinit` with its own entry;
/// a later device library fills its entry when it is loaded, before first use.
template <class Signature>
class DeviceKernel;
template <class R, class... Args>
class DeviceKernel<R(Args...)> {
 public:
  using Function = R (*)(const KernelContext&, Args...);
  constexpr explicit DeviceKernel(Function cpu) : cpu_(cpu) {}
  R operator()(Device device, Args... args) const {
    const KernelContext context{device, Stream{device, 0}};
    if (TAEDA_LIKELY(device.is_cpu())) return cpu_(context, static_cast<Args>(args)...);
    TAEDA_CHECK_NOT_IMPLEMENTED(device.is_cuda() && cuda_ != nullptr,
                                "[kernel] the operator needs a kernel for the tensors' device: got ", device.str(),
                                "; move the tensors to the CPU");
    return cuda_(context, static_cast<Args>(args)...);
  }
  void set_cuda(Function cuda) { cuda_ = cuda; }

 private:
  Function cpu_;
  Function cuda_ = nullptr;
};

enum class Layout : int8_t { Strided = 0, Sparse = 1 };
inline constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;
TAEDA_API std::ostream& operator<<(std::ostream& stream, Layout layout);

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
TAEDA_API std::ostream& operator<<(std::ostream& stream, MemoryFormat format);

}  // namespace taeda
