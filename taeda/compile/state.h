// SPDX-License-Identifier: Apache-2.0
// What the calls of one compiled function share.
#pragma once

#include "taeda/compile/compile.h"
#include "taeda/compile/log.h"
#include "taeda/compile/static_function.h"
#include "taeda/compile/trace.h"

namespace taeda::lazy {

class State : public std::enable_shared_from_this<State> {
 public:
  explicit State(const CompileOptions& o)
      : options(o),
        trace({static_cast<size_t>(o.max_versions), o.dynamic, o.background, log_wanted()},
              {true, o.backend == CompileBackend::kJit || o.backend == CompileBackend::kDebug, o.code_from_elements, o.cache_dir}) {}
  const CompileOptions options;
  Trace trace;
  StaticFunction fixed;  ///< of static mode
};

}  // namespace taeda::lazy
