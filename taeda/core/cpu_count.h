// SPDX-License-Identifier: Apache-2.0
// How many cores the process may compute on. Internal.
#pragma once

namespace taeda::detail {

/// Physical cores in the process's affinity mask, bounded by the cgroup's CPU limit; at least 1.
int available_cores();
/// The number of compute threads to begin with: TAEDA_NUM_THREADS, OMP_NUM_THREADS, else `available_cores()`.
int initial_num_threads();

}  // namespace taeda::detail
