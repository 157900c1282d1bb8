// SPDX-License-Identifier: Apache-2.0
// Operator calls as text, for tools outside this library (tests/fuzz/libtorch_calls.cpp).
//
// A call is one record: the storages of its tensors, `call ID NAME OVERLOAD COUNT` ("-" for no overload), COUNT arguments as
// `name value`, and its outcome: `ok value`, or the kind of error and its message as a string. Values:
//   N none · B 0|1 · I integer · D number · S bytes text · L count values · U undefined tensor · G generator · V device
//   T storage dtype ndim sizes strides offset      storage: `storage ID BYTES HEX`
#pragma once

#include <ostream>

#include "tests/support/op_samples.h"

namespace taeda::test {

/// Writes the record. The arguments are those before the call.
void write_call(std::ostream& out, const Sample& before, const Outcome& outcome);

}  // namespace taeda::test
