// SPDX-License-Identifier: Apache-2.0
// One sample, or one batch: data and, where there is one, a target.
#pragma once

#include "taeda/core/tensor.h"

namespace taeda::data {

namespace example {
using NoTarget = void;
}

template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data data, Target target) : data(std::move(data)), target(std::move(target)) {}

  Data data;
  Target target;
};

template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data data) : data(std::move(data)) {}  // NOLINT(google-explicit-constructor): as in the compatible interface

  operator Data&() { return data; }              // NOLINT(google-explicit-constructor)
  operator const Data&() const { return data; }  // NOLINT(google-explicit-constructor)

  Data data;
};

using TensorExample = Example<Tensor, example::NoTarget>;

}  // namespace taeda::data
