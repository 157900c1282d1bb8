// SPDX-License-Identifier: Apache-2.0
// A program in the closed vocabulary.
#pragma once

#include "taeda/compile/kernel/expression.h"
#include "taeda/compile/kernel/program.h"

namespace taeda::kernel {

/// Traces the formulas of a program's calls.
ExprProgram lower(const Kernel& kernel, const Program& program, const NumberTable& numbers);

}  // namespace taeda::kernel
