// SPDX-License-Identifier: Apache-2.0
// The first half of a call by name: which overload it means, and that overload's arguments.
#pragma once

#include "taeda/ops/registry.h"

namespace taeda {

/// One overload and all arguments of its schema, in order, defaults filled in.
struct BoundCall {
  const OpInfo* op = nullptr;
  std::vector<Value> args;
};
/// The call that `call_op` would make. Throws as `call_op` does when there is no such operator or no overload fits.
TAEDA_API BoundCall bind_call(std::string_view name, const std::vector<Value>& args, const Kwargs& kwargs = {});

}  // namespace taeda
