// The one include of a benchmark: Taeda, or with TAEDA_PEER_TORCH the LibTorch it is measured against. The source that follows
// is the same for both, and so is the name space `torch`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef TAEDA_PEER_TORCH
#include <torch/torch.h>
#else
#include "taeda/torch.h"
#endif

#include <benchmark/benchmark.h>

// A bar that benchmarks/bench.py judges travels in the benchmark's label, as words of the forms
//   ns<=110      the median in nanoseconds
//   ratio>=5     the peer's median over ours
//   copy>=0.8    bytes per second over those of the benchmark `copy_16M` of the same program
