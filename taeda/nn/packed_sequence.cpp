// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of sequences.
#include "taeda/nn/packed_sequence.h"

#include <vector>

#include "taeda/ops/functions.h"

namespace taeda::nn::utils::rnn {

namespace {

std::vector<int64_t> values_of(const Tensor& counts) {
  const Tensor wide = counts.to(kLong).contiguous();
  const int64_t* data = wide.data_ptr<int64_t>();
  return {data, data + wide.numel()};
}

/// Calls `f(first step, number of steps, sequences)` for each run of steps in which equally many sequences take part.
template <class F>
void for_each_run(const std::vector<int64_t>& batch_sizes, const F& f) {
  for (size_t t = 0; t < batch_sizes.size();) {
    size_t end = t + 1;
    while (end < batch_sizes.size() && batch_sizes[end] == batch_sizes[t]) ++end;
    f(static_cast<int64_t>(t), static_cast<int64_t>(end - t), batch_sizes[t]);
    t = end;
  }
}

/// `lengths` must be sorted, longest first.
std::vector<int64_t> sequences_by_step(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> counts(static_cast<size_t>(lengths.front()), 0);
  for (const int64_t length : lengths) {
    for (int64_t t = 0; t < length; ++t) ++counts[static_cast<size_t>(t)];
  }
  return counts;
}

Tensor long_tensor(const std::vector<int64_t>& values) {
  Tensor t = taeda::empty({static_cast<int64_t>(values.size())}, TensorOptions(kLong));
  std::copy(values.begin(), values.end(), t.data_ptr<int64_t>());
  return t;
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  return taeda::empty_like(permutation)
      .scatter_(0, permutation, taeda::arange(0, permutation.numel(), 1, permutation.options()));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)), batch_sizes_(std::move(batch_sizes)), sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices) : invert_permutation(sorted_indices_)) {
  TAEDA_CHECK(batch_sizes_.device().is_cpu(), "[PackedSequence] batch_sizes should always be on CPU: got ",
              batch_sizes_.device(), "; leave them there");
}
PackedSequence PackedSequence::to(TensorOptions options) const {
  const auto moved = [&](const Tensor& t) { return t.defined() && options.has_device() ? t.to(options.device()) : t; };
  return PackedSequence(data_.to(options), batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first, bool enforce_sorted) {
  TAEDA_CHECK(input.dim() >= 2, "[pack_padded_sequence] input must be (T, N, …): got ", input.sizes(), "; add dimensions");
  TAEDA_CHECK(lengths.dim() == 1 && lengths.numel() > 0, "[pack_padded_sequence] lengths must be a vector that is not empty: got ",
              lengths.sizes(), "; pass one length for each sequence");
  Tensor sorted_indices;
  lengths = lengths.to(TensorOptions(kLong));
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) = taeda::sort(lengths, -1, /*descending=*/true);
    input = input.index_select(batch_first ? 0 : 1, sorted_indices);
  }
  if (batch_first) input = input.transpose(0, 1);
  const std::vector<int64_t> ordered = values_of(lengths);
  TAEDA_CHECK(static_cast<int64_t>(ordered.size()) == input.size(1), "[pack_padded_sequence] Expected `len(lengths)` to be equal "
              "to batch_size, but got ", ordered.size(), " (batch_size=", input.size(1), "); pass one length for each sequence");
  for (size_t i = 0; i < ordered.size(); ++i) {
    TAEDA_CHECK(ordered[i] > 0 && ordered[i] <= input.size(0), "[pack_padded_sequence] lengths must be between 1 and ",
                input.size(0), ": got ", ordered[i], "; leave empty sequences out");
    TAEDA_CHECK(i == 0 || ordered[i] <= ordered[i - 1], "[pack_padded_sequence] `lengths` array must be sorted in decreasing "
                "order when `enforce_sorted` is true: got ", ordered[i], " after ", ordered[i - 1], "; pass enforce_sorted=false");
  }
  const std::vector<int64_t> counts = sequences_by_step(ordered);
  std::vector<Tensor> parts;
  for_each_run(counts, [&](int64_t first, int64_t steps, int64_t sequences) {
    parts.push_back(input.slice(0, first, first + steps).slice(1, 0, sequences).flatten(0, 1));
  });
  return PackedSequence(taeda::cat(parts, 0), long_tensor(counts), sorted_indices);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                               std::optional<int64_t> total_length) {
  const std::vector<int64_t> counts = values_of(sequence.batch_sizes());
  const auto longest = static_cast<int64_t>(counts.size());
  TAEDA_CHECK(longest > 0, "[pad_packed_sequence] batch_sizes must not be empty; pack at least one sequence");
  TAEDA_CHECK(!total_length || *total_length >= longest, "[pad_packed_sequence] Expected total_length to be at least the length "
              "of the longest sequence in input, but got total_length=", total_length.value_or(0),
              " and max sequence length being ", longest, "; raise it");
  const int64_t batch = counts.front();
  const Tensor& data = sequence.data();
  const DimVector rest(data.sizes().slice(1).begin(), data.sizes().slice(1).end());
  // Padding amounts from the last dimension to the one padded.
  const auto pad_dim = [&](const Tensor& t, int64_t dim, int64_t amount) {
    if (amount == 0) return t;
    std::vector<int64_t> amounts(static_cast<size_t>(2 * (t.dim() - dim)), 0);
    amounts.back() = amount;
    return taeda::constant_pad_nd(t, amounts, padding_value);
  };
  std::vector<Tensor> parts;
  int64_t at = 0;
  for_each_run(counts, [&](int64_t, int64_t steps, int64_t sequences) {
    DimVector sizes{steps, sequences};
    for (const int64_t n : rest) sizes.push_back(n);
    parts.push_back(pad_dim(data.slice(0, at, at + steps * sequences).reshape(sizes), 1, batch - sequences));
    at += steps * sequences;
  });
  Tensor padded = pad_dim(taeda::cat(parts, 0), 0, total_length.value_or(longest) - longest);
  std::vector<int64_t> lengths(static_cast<size_t>(batch), 0);
  for (const int64_t count : counts) {
    for (int64_t i = 0; i < count; ++i) ++lengths[static_cast<size_t>(i)];
  }
  Tensor length = long_tensor(lengths);
  if (sequence.unsorted_indices().defined()) {
    padded = padded.index_select(1, sequence.unsorted_indices());
    length = length.index_select(0, sequence.unsorted_indices().cpu());
  }
  return {batch_first ? padded.transpose(0, 1) : padded, length};
}

Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  return taeda::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(taeda::pad_sequence(sequences), long_tensor(lengths), /*batch_first=*/false, enforce_sorted);
}

}  // namespace taeda::nn::utils::rnn
