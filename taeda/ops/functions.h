// SPDX-License-Identifier: Apache-2.0
// All operators as free functions. Declarations are generated from the operator definitions.
#pragma once

#include "taeda/core/tensor.h"
#include "taeda/ops/generated/functions.h"  // IWYU pragma: export
