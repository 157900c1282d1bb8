// SPDX-License-Identifier: Apache-2.0
// All of taeda::train: the trainer, its modules, callbacks, metrics and loggers.
#pragma once

// IWYU pragma: begin_exports
#include "taeda/train/callbacks.h"
#include "taeda/train/callbacks_more.h"
#include "taeda/train/loggers.h"
#include "taeda/train/metrics.h"
#include "taeda/train/progress.h"
#include "taeda/train/report.h"
#include "taeda/train/summary.h"
#include "taeda/train/trainer.h"
// IWYU pragma: end_exports
