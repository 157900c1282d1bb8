// SPDX-License-Identifier: Apache-2.0
// Fields of option structs: TAEDA_ARG, under the name that modules use.
#pragma once

#include "taeda/core/arg.h"
