// SPDX-License-Identifier: Apache-2.0
// Everything a program usually needs, under its own names (`taeda::`). `taeda/torch.h` gives the names of LibTorch as well.
#pragma once

// IWYU pragma: begin_exports
#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/autograd.h"
#include "taeda/autograd/checkpoint.h"
#include "taeda/autograd/custom_function.h"
#include "taeda/autograd/functional.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/autograd/graphviz.h"
#include "taeda/compile/compile.h"
#include "taeda/core/allocator.h"
#include "taeda/core/dict.h"
#include "taeda/core/parallel.h"
#include "taeda/core/version.h"
#include "taeda/data/data.h"
#include "taeda/io/serialize.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/custom.h"
#include "taeda/ops/dlpack.h"
#include "taeda/ops/from_data.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/generated/namespaces.h"
#include "taeda/ops/operators.h"
#include "taeda/ops/registry.h"
#include "taeda/ops/tensor_index.h"
#include "taeda/optim/optim.h"
// IWYU pragma: end_exports
