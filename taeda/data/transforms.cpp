// SPDX-License-Identifier: Apache-2.0
// The tensor work of the basic transforms.
#include "taeda/data/transforms.h"

#include "taeda/ops/functions.h"

namespace taeda::data::detail {

FailedSample& failed_sample() {
  thread_local FailedSample sample;
  return sample;
}

const std::atomic<bool>*& stop_request() {
  thread_local const std::atomic<bool>* stop = nullptr;
  return stop;
}

Tensor stack_tensors(const std::vector<Tensor>& tensors) { return taeda::stack(tensors); }

Tensor channel_values(ArrayRef<double> values) {
  Tensor channels = make_tensor({static_cast<int64_t>(values.size()), 1, 1}, kFloat);
  auto* out = channels.mutable_data_ptr<float>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<float>(values[i]);
  return channels;
}

Tensor normalize_tensor(const Tensor& input, const Tensor& mean, const Tensor& stddev, bool stacked) {
  // Samples with fewer dimensions gain some from (channels, 1, 1): then only sample by sample gives what stacking them gives.
  if (!stacked || input.dim() >= 4) return input.sub(mean).div(stddev);
  std::vector<Tensor> samples;
  for (int64_t i = 0; i < input.size(0); ++i) samples.push_back(input.select(0, i).sub(mean).div(stddev));
  return taeda::stack(samples);
}

}  // namespace taeda::data::detail
