// SPDX-License-Identifier: Apache-2.0
// All of taeda::optim.
#pragma once

// IWYU pragma: begin_exports
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/optimizer.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/schedulers.h"
#include "taeda/optim/sgd.h"
// IWYU pragma: end_exports
