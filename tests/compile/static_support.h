// SPDX-License-Identifier: Apache-2.0
// Functions in static mode, what they give and why they are refused.
#pragma once

#include <string>
#include <utility>

#include "tests/compile/same.h"

namespace taeda {

template <class F>
auto fixed(F&& f, CompileOptions options = {}) {
  options.mode = CompileMode::kStatic;
  return compile(std::forward<F>(f), options);
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The function's refusal after enough calls; empty when there is none.
template <class F>
std::string refusal_of(const F& call) {
  try {
    for (int i = 0; i < 8; ++i) call();
  } catch (const CompileError& e) {
    return e.what();
  }
  return "";
}

}  // namespace taeda
