// SPDX-License-Identifier: Apache-2.0
// The parts of a captured call that are not inline.
#include "taeda/ops/capture.h"

#include <cstring>

namespace taeda {

namespace capture {

void Call::add(std::string_view text) {
  words.push_back(text.size());
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
    words.push_back(word);
  }
}

void Call::add(const TensorOptions& options) {
  add(options.dtype_opt());
  add(options.layout_opt());
  add(options.device_opt());
  add(options.pinned_memory_opt());
  add(options.memory_format_opt());
}

Scalar Reader::get(As<const Scalar&>) {
  const auto type = static_cast<ScalarType>(*words_++);
  const uint64_t bits = *words_++;
  if (type == kDouble) return std::bit_cast<double>(bits);
  if (type == kBool) return bits != 0;
  return static_cast<int64_t>(bits);
}

std::string_view Reader::get(As<std::string_view>) {
  const size_t n = *words_++;
  const auto* text = reinterpret_cast<const char*>(words_);
  words_ += (n + 7) / 8;
  return {text, n};
}

Device Reader::get(As<Device>) {
  const uint64_t word = *words_++;
  return {static_cast<DeviceType>(word >> 8), static_cast<DeviceIndex>(word & 0xff)};
}

Generator Reader::get(As<Generator>) {
  return Generator(IntrusivePtr<GeneratorImpl>::share(reinterpret_cast<GeneratorImpl*>(*words_++)));
}

TensorOptions Reader::get(As<const TensorOptions&>) {
  TensorOptions options;
  if (const auto v = get(As<std::optional<ScalarType>>())) options = options.dtype(v);
  if (const auto v = get(As<std::optional<Layout>>())) options = options.layout(v);
  if (const auto v = get(As<std::optional<Device>>())) options = options.device(v);
  if (const auto v = get(As<std::optional<bool>>())) options = options.pinned_memory(v);
  if (const auto v = get(As<std::optional<MemoryFormat>>())) options = options.memory_format(v);
  return options;
}

}  // namespace capture

void detail::finish_recorded() {
  if (capture::active()) capture::recorder().finish();
}

}  // namespace taeda
