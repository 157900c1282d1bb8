// SPDX-License-Identifier: Apache-2.0
// Random changes to sample calls: layouts, dtypes, shapes, special values, wrong arguments.
#pragma once

#include <random>

#include "tests/support/op_samples.h"

namespace taeda::test {

/// Same elements, another layout in memory.
Tensor transposed_layout(const Tensor& t);          ///< dimensions stored in reverse order
Tensor strided_layout(const Tensor& t);             ///< every second element of a larger storage, starting at an offset
Tensor channels_last_layout(const Tensor& t);       ///< 4-d and 5-d tensors; others as they are
/// A tensor whose first dimension is expanded (stride 0), of the shape of `t`; its elements are those of t[0].
Tensor expanded_layout(const Tensor& t);

/// What a call may be changed by. Deterministic: equal seeds give equal changes.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}
  /// Applies `count` random changes; tensors of the result share no storage with those of `sample`.
  Sample mutate(const Sample& sample, int count);
  /// Gives every tensor another layout with the same elements.
  void change_layouts(Sample& sample);
  int64_t below(int64_t n) { return n <= 1 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

 private:
  void change(Value& v, const std::string& type);
  Tensor change_tensor(const Tensor& t);
  Tensor change_shape(const Tensor& t);
  Tensor change_values(const Tensor& t);
  Tensor change_layout(const Tensor& t);
  Value change_list(const Value& v, const std::string& type);
  int64_t wild_integer(int64_t near);
  double wild_number();

  std::mt19937_64 random_;
};

/// Call number `k` of the wrong and odd calls made from a sample: the same in every run and on every machine.
inline constexpr int kOddCalls = 6;
Sample odd_call(const Sample& sample, int k);
/// The bytes of the storages of all tensors of a call: to see whether a refused call wrote any.
std::vector<std::vector<uint8_t>> memory_of(const Sample& sample);

}  // namespace taeda::test
