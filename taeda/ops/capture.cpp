// SPDX-License-Identifier: Apache-2.0
// The parts of a captured call that are not inline.
#include "taeda/ops/capture.h"

namespace taeda {

namespace capture {

void Call::add(std::string_view text) {
  words.push_back(text.size());
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    for (size_t i = at; i < std::min(text.size(), at + 8); ++i) word = word << 8 | static_cast<unsigned char>(text[i]);
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

}  // namespace capture

void detail::finish_recorded() {
  if (capture::active()) capture::recorder().finish();
}

}  // namespace taeda
