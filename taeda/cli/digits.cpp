// SPDX-License-Identifier: Apache-2.0
// The digits files, included by the assembler.
#include "taeda/cli/digits.h"

// clang-format off
asm(".section .rodata\n"
    ".balign 16\n"
    "taeda_digit_images: .incbin \"" TAEDA_DIGITS_DIR "/images-idx3-ubyte.gz\"\n"
    "taeda_digit_images_end:\n"
    ".balign 16\n"
    "taeda_digit_labels: .incbin \"" TAEDA_DIGITS_DIR "/labels-idx1-ubyte.gz\"\n"
    "taeda_digit_labels_end:\n"
    ".previous\n");
// clang-format on

extern "C" {
extern const char taeda_digit_images[] __attribute__((visibility("hidden")));
extern const char taeda_digit_images_end[] __attribute__((visibility("hidden")));
extern const char taeda_digit_labels[] __attribute__((visibility("hidden")));
extern const char taeda_digit_labels_end[] __attribute__((visibility("hidden")));
}

namespace taeda::cli {

std::string_view digit_images() {
  return {taeda_digit_images, static_cast<size_t>(taeda_digit_images_end - taeda_digit_images)};
}
std::string_view digit_labels() {
  return {taeda_digit_labels, static_cast<size_t>(taeda_digit_labels_end - taeda_digit_labels)};
}

}  // namespace taeda::cli
