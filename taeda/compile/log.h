// SPDX-License-Identifier: Apache-2.0
// What TAEDA_LOG=compile shows, and how steps are named in it and in explain().
#pragma once

#include "taeda/compile/trace.h"

namespace taeda::lazy {

/// Whether the environment variable TAEDA_LOG names "compile" (several names are separated by commas).
bool log_wanted();
/// One line on the standard error stream, when the trace is logged.
template <class... Args>
void log(const Trace& trace, const Args&... args);
TAEDA_COLD void log_line(const std::string& text);

/// The step's call: operator, dtypes and sizes of its tensors, numbers.
std::string call_text(const Step& step);
/// Why `step` is another step than `other`, which stands in the same place.
std::string difference(const Step& step, const Step& other);
/// Ways that calls went, where sizes do not count unless the trace keeps them fixed.
size_t count_versions(Trace& trace);

template <class... Args>
void log(const Trace& trace, const Args&... args) {
  if (TAEDA_UNLIKELY(trace.options().log)) log_line(str(args...));
}

}  // namespace taeda::lazy
