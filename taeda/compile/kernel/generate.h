// SPDX-License-Identifier: Apache-2.0
// From a kernel's programs to machine code.
#pragma once

#include "taeda/compile/kernel/run.h"

namespace taeda::kernel {

/// Gives the kernel generated code, from `cache_dir` when it is there; false when there is no code generator or it cannot.
bool generate_code(RunnableKernel& kernel, const std::string& cache_dir);

}  // namespace taeda::kernel
