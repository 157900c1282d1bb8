// SPDX-License-Identifier: Apache-2.0
// Compiles `clone` of every module class, which the headers only declare (TAEDA_MODULE in taeda/nn/holder.h).
#define TAEDA_EXTERN_MODULE
#include "taeda/nn/nn.h"
