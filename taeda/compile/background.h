// SPDX-License-Identifier: Apache-2.0
// Plans that are made on another thread.
#pragma once

#include "taeda/compile/plan.h"

namespace taeda::lazy {

class State;

/// Puts `plan` before the others of `end`, which owns it then.
const Plan* add_plan(Step& end, Plan* plan);
/// Has the plan of a segment that ends at `end` made on the background thread, and added.
void make_plan_later(State& state, Step& end, const Step* start, const Segment& segment, const std::vector<bool>& alive);
/// Waits until no plan is being made (for tests, and before a process forks).
TAEDA_API void wait_for_plans();

}  // namespace taeda::lazy
