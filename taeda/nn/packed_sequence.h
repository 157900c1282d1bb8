// SPDX-License-Identifier: Apache-2.0
// Sequences of different lengths, packed step by step, as recurrent modules read them.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "taeda/core/tensor.h"

namespace taeda::nn::utils::rnn {

/// The order that undoes a permutation; undefined for an undefined one.
TAEDA_API Tensor invert_permutation(const Tensor& permutation);

/// The elements of all sequences, step by step: `batch_sizes[t]` of them belong to step t, longest sequence first.
/// `sorted_indices` says which sequence of the original batch each one is; undefined when they were sorted already.
class TAEDA_API PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});
  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  /// The sequence itself: host memory is not pinned.
  PackedSequence pin_memory() const { return *this; }
  /// Data and indices as the options say; batch sizes stay on the CPU.
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const { return to(TensorOptions(DeviceType::CUDA)); }
  PackedSequence cpu() const { return to(TensorOptions(DeviceType::CPU)); }
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return false; }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// Packs padded sequences (T, N, …), or (N, T, …) when batch first, of the given lengths. With enforce_sorted they must come
/// longest first.
TAEDA_API PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false, bool enforce_sorted = true);
/// The padded sequences in their original order, and their lengths. Throws Error when total_length is below the longest.
TAEDA_API std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                         double padding_value = 0.0,
                                                         std::optional<int64_t> total_length = std::nullopt);
/// Stacks sequences (length, …) of different lengths into (T, N, …), or (N, T, …) when batch first.
TAEDA_API Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false, double padding_value = 0,
                              std::string_view padding_side = "right");
/// Packs sequences (length, …) of different lengths.
TAEDA_API PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true);

}  // namespace taeda::nn::utils::rnn
