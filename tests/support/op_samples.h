// SPDX-License-Identifier: Apache-2.0
// Sample calls of every row of the registry: those of the reference cases, and calls made up from the schema where there are none.
#pragma once

#include <functional>
#include <map>

#include "taeda/ops/registry_bind.h"

namespace taeda::test {

/// A call that works: one overload with all arguments of its schema. Copies share tensors: `fresh` gives own ones.
struct Sample {
  const OpInfo* op = nullptr;
  std::vector<Value> args;
  std::string id;

  std::string name() const;  ///< "add.Tensor"
  Value call() const;        ///< after `manual_seed(1)`, without gradients
};

/// How a call ended.
struct Outcome {
  std::string kind;     ///< "ok", or the class of the exception: "Error", "IndexError", …; "std" for foreign ones
  std::string message;  ///< what() of the exception
  Value result;
};

/// Runs the call and catches what it throws.
Outcome run_call(const Sample& sample);
/// The value with every tensor replaced by what `change` gives for it.
Value map_tensors(const Value& v, const std::function<Tensor(const Tensor&)>& change);
std::vector<Value> map_tensors(const std::vector<Value>& values, const std::function<Tensor(const Tensor&)>& change);
/// A contiguous copy with storage of its own.
Tensor fresh(const Tensor& t);

/// The rows of the registry that a test can call with the samples found for them; small calls first, at most `kSamplesPerRow`.
inline constexpr size_t kSamplesPerRow = 4;
const std::map<const OpInfo*, std::vector<Sample>>& samples();
/// All rows in the registry's order.
const std::vector<const OpInfo*>& built_in_ops();

/// Bytes of a tensor's elements in row-major order.
std::vector<uint8_t> bytes_of(const Tensor& t);
/// Empty when shape, dtype and bytes of all tensors, and all other values, are equal; NaNs of any payload count as equal.
std::string difference(const Value& got, const Value& want);
/// The same with room for rounding, relative to each tensor's largest finite element.
std::string difference(const Value& got, const Value& want, double tolerance);

}  // namespace taeda::test
