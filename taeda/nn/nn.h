// SPDX-License-Identifier: Apache-2.0
// All of taeda::nn.
#pragma once

// IWYU pragma: begin_exports
#include "taeda/nn/activation.h"
#include "taeda/nn/adaptive.h"
#include "taeda/nn/any.h"
#include "taeda/nn/containers.h"
#include "taeda/nn/conv.h"
#include "taeda/nn/distance.h"
#include "taeda/nn/dropout.h"
#include "taeda/nn/embedding_bag.h"
#include "taeda/nn/functional.h"
#include "taeda/nn/init.h"
#include "taeda/nn/linear.h"
#include "taeda/nn/loss.h"
#include "taeda/nn/module.h"
#include "taeda/nn/module_list.h"
#include "taeda/nn/norm.h"
#include "taeda/nn/packed_sequence.h"
#include "taeda/nn/padding.h"
#include "taeda/nn/pooling.h"
#include "taeda/nn/resample.h"
#include "taeda/nn/rnn.h"
#include "taeda/nn/sequential.h"
#include "taeda/nn/transformer.h"
#include "taeda/nn/transformer_stack.h"
#include "taeda/nn/utils.h"
// IWYU pragma: end_exports
