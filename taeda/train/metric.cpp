// SPDX-License-Identifier: Apache-2.0
// The base of metrics.
#include "taeda/train/metric.h"

namespace taeda::train {
Metric::~Metric() = default;
}  // namespace taeda::train
