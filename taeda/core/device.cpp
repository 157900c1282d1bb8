// SPDX-License-Identifier: Apache-2.0
// Names and parsing of devices, layouts, memory formats; printing of numbers; the modes word.
#include "taeda/core/device.h"

#include <charconv>
#include <cmath>
#include <ostream>

#include "taeda/core/modes.h"
#include "taeda/core/scalar.h"

namespace taeda {

thread_local constinit Modes tls_modes{};

std::string DeviceTypeName(DeviceType type, bool lower_case) {
  switch (type) {
    case DeviceType::CPU: return lower_case ? "cpu" : "CPU";
    case DeviceType::CUDA: return lower_case ? "cuda" : "CUDA";
    case DeviceType::Meta: return lower_case ? "meta" : "META";
    default: return lower_case ? "privateuseone" : "PRIVATEUSEONE";
  }
}
std::ostream& operator<<(std::ostream& stream, DeviceType type) { return stream << DeviceTypeName(type, true); }

Device::Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  bool good = true;
  if (kind == "cpu") {
    type_ = DeviceType::CPU;
  } else if (kind == "cuda") {
    type_ = DeviceType::CUDA;
  } else if (kind == "meta") {
    type_ = DeviceType::Meta;
  } else {
    good = false;
  }
  if (good && colon != std::string::npos) {
    const char* first = text.data() + colon + 1;
    const char* last = text.data() + text.size();
    int value = -1;
    const auto [end, code] = std::from_chars(first, last, value);
    good = code == std::errc() && end == last && value >= 0 && value < 128 && (last - first == 1 || *first != '0');
    index_ = static_cast<DeviceIndex>(value);
  }
  TAEDA_CHECK(good, "[Device] a device is written kind or kind:index with kind cpu or cuda: got \"", text,
              "\"; use for example \"cpu\"");
}
std::string Device::str() const {
  std::string text = DeviceTypeName(type_, true);
  if (has_index()) text += ":" + std::to_string(static_cast<int>(index_));
  return text;
}
std::ostream& operator<<(std::ostream& stream, Device device) { return stream << device.str(); }

std::ostream& operator<<(std::ostream& stream, Layout layout) {
  return stream << (layout == Layout::Strided ? "Strided" : "Sparse");
}
std::ostream& operator<<(std::ostream& stream, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous: return stream << "Contiguous";
    case MemoryFormat::Preserve: return stream << "Preserve";
    case MemoryFormat::ChannelsLast: return stream << "ChannelsLast";
    case MemoryFormat::ChannelsLast3d: return stream << "ChannelsLast3d";
  }
  return stream;
}
Scalar Scalar::log() const { return Scalar(std::log(to_double())); }

std::ostream& operator<<(std::ostream& stream, const Scalar& value) {
  if (value.isBoolean()) return stream << (value.toBool() ? "true" : "false");
  if (value.isFloatingPoint()) return stream << value.toDouble();
  return stream << value.toLong();
}

}  // namespace taeda
