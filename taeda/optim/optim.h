// SPDX-License-Identifier: Apache-2.0
// All of taeda::optim.
#pragma once

// IWYU pragma: begin_exports
#include "taeda/optim/adadelta.h"
#include "taeda/optim/adafactor.h"
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/adamax.h"
#include "taeda/optim/asgd.h"
#include "taeda/optim/lbfgs.h"
#include "taeda/optim/muon.h"
#include "taeda/optim/optimizer.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/rprop.h"
#include "taeda/optim/schedulers.h"
#include "taeda/optim/sgd.h"
// IWYU pragma: end_exports
