// SPDX-License-Identifier: Apache-2.0
// Brings a relocatable object that refers to nothing outside itself into memory, ready to run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "taeda/compile/kernel/jit_abi.h"

namespace taeda::kernel {

/// The code of one object file; unmapped when it goes.
class LoadedObject {
 public:
  /// Throws Error when the object needs what it does not hold itself.
  LoadedObject(std::string_view object, size_t functions);
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject();
  /// The function whose name ends in `.<k>`.
  ProgramFunction function(size_t k) const { return functions_[k]; }

 private:
  void* memory_ = nullptr;
  size_t size_ = 0;
  std::vector<ProgramFunction> functions_;
};

}  // namespace taeda::kernel
