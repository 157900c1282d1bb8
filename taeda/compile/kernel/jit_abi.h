// SPDX-License-Identifier: Apache-2.0
// What the library and its code generator, a plug-in, agree on.
#pragma once

#include <string>

#include "taeda/compile/kernel/expression.h"
#include "taeda/cpu/simd_target.h"

namespace taeda::kernel {

/// Goes up with every change of the vocabulary or of the calling convention: a plug-in of another number is not used.
inline constexpr int kJitAbi = 3;

/// Asks for one relocatable object with a function `<name>.<k>` for each program:
///   void f(char* const* ptrs, const int64_t* steps, int64_t vectors, const char* numbers, LaneFunction const* functions)
/// ptrs: sources, then stores; each advances by `steps` bytes for each of `vectors` full vectors. The object refers to nothing outside.
struct JitRequest {
  const char* name;
  const ExprProgram* programs;
  size_t count;
  cpu::SimdTarget target;
};
using ProgramFunction = void (*)(char* const* ptrs, const int64_t* steps, int64_t vectors, const char* numbers, const LaneFunction* functions);

/// Lanes of a vector: as many as floats fill two registers, whose chains of operations run side by side.
constexpr int64_t jit_lanes(cpu::SimdTarget target) {
  return target == cpu::SimdTarget::Avx512 ? 32 : target == cpu::SimdTarget::Avx2 ? 16 : 8;
}

/// The plug-in's functions "taeda_jit_abi" and "taeda_jit_compile".
using JitAbiFunction = int (*)();
using JitCompileFunction = bool (*)(const JitRequest& request, std::string& object, std::string& error);

}  // namespace taeda::kernel
