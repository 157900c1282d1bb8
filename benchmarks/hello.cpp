// The smallest useful program, measured by benchmarks/hello.py: how long it takes to compile and from start to first result.
// SPDX-License-Identifier: Apache-2.0
#ifdef TAEDA_PEER_TORCH
#include <torch/torch.h>
#else
#include "taeda/torch.h"
#endif

#include <iostream>

int main() { std::cout << (torch::ones({2, 3}) * 2).sum().item<float>() << "\n"; }
