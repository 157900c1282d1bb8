// <torch/script.h>, as programs written for LibTorch name it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <taeda/torch.h>
