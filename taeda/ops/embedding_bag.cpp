// SPDX-License-Identifier: Apache-2.0
// Sums, means and maxima of embedding rows over bags of indices.
#include <cstring>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"

namespace taeda {
namespace ops {
namespace {

enum BagMode : int64_t { kBagSum = 0, kBagMean = 1, kBagMax = 2 };

/// The bags of a flat index: which bag each kept index belongs to, and which indices are kept (not padding).
struct Bags {
  Tensor kept;   ///< positions in `indices`
  Tensor bag;    ///< bag of each kept index
  Tensor all;    ///< bag of every index
  Tensor sizes;  ///< kept indices in each bag
  int64_t count = 0;
};

Tensor from_list(const std::vector<int64_t>& list) {
  Tensor t = make_tensor(IntArrayRef(static_cast<int64_t>(list.size())), kLong);
  if (!list.empty()) std::memcpy(t.impl().data(), list.data(), list.size() * sizeof(int64_t));
  return t;
}

Bags find_bags(const Tensor& indices, const Tensor& offsets, bool include_last, int64_t padding) {
  const Tensor starts = detail::long_index(offsets, "embedding_bag");
  const auto* start = reinterpret_cast<const int64_t*>(starts.impl().data());
  const auto* index = reinterpret_cast<const int64_t*>(indices.impl().data());
  Bags bags;
  const int64_t n = indices.numel();
  TAEDA_CHECK(!include_last || starts.numel() >= 1, "[embedding_bag] include_last_offset: number of offsets should be at least 1: got 0; "
              "add the last offset");
  bags.count = starts.numel() - (include_last ? 1 : 0);
  TAEDA_CHECK(starts.numel() == 0 || start[0] == 0, "[embedding_bag] offsets[0] has to be 0, i.e., the first sequence in the mini-batch has "
              "to start from position 0: got ", starts.numel() ? start[0] : 0, "; prepend 0");
  for (int64_t b = 0; b < starts.numel(); ++b) {
    const int64_t end = b + 1 < starts.numel() ? start[b + 1] : n;
    TAEDA_CHECK(start[b] <= end && end <= n, "[embedding_bag] offsets must rise and stay below the number of indices ", n, ": got ",
                start[b], " then ", end, "; correct the offsets");
  }
  std::vector<int64_t> kept;
  std::vector<int64_t> bag;
  std::vector<int64_t> all(static_cast<size_t>(n), 0);
  std::vector<int64_t> sizes(static_cast<size_t>(bags.count), 0);
  for (int64_t b = 0; b < bags.count; ++b) {
    const int64_t end = b + 1 < starts.numel() ? start[b + 1] : n;
    for (int64_t i = start[b]; i < end; ++i) {
      all[static_cast<size_t>(i)] = b;
      if (index[i] == padding) continue;
      kept.push_back(i);
      bag.push_back(b);
      ++sizes[static_cast<size_t>(b)];
    }
  }
  bags.kept = from_list(kept);
  bags.bag = from_list(bag);
  bags.all = from_list(all);
  bags.sizes = from_list(sizes);
  return bags;
}

/// For each bag and column the index whose row is the (first) largest; -1 for an empty bag.
Tensor largest_indices(const Tensor& rows, const Tensor& indices, const Bags& bags) {
  const int64_t width = rows.size(1);
  Tensor result = taeda::full({bags.count, width}, -1, TensorOptions(kLong));
  const Tensor values = rows.detach().to(kDouble).contiguous();
  const auto* v = reinterpret_cast<const double*>(values.impl().data());
  const auto* bag = reinterpret_cast<const int64_t*>(bags.bag.impl().data());
  const auto* kept = reinterpret_cast<const int64_t*>(bags.kept.impl().data());
  const auto* index = reinterpret_cast<const int64_t*>(indices.impl().data());
  auto* out = reinterpret_cast<int64_t*>(result.impl().data());
  std::vector<double> best(static_cast<size_t>(bags.count * width));
  for (int64_t i = 0; i < bags.kept.numel(); ++i) {
    for (int64_t k = 0; k < width; ++k) {
      const int64_t at = bag[i] * width + k;
      if (out[at] >= 0 && v[i * width + k] <= best[static_cast<size_t>(at)]) continue;
      out[at] = index[kept[i]];
      best[static_cast<size_t>(at)] = v[i * width + k];
    }
  }
  return result;
}

using BagResult = std::tuple<Tensor, Tensor, Tensor, Tensor>;

BagResult reduce_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                      bool sparse, const std::optional<Tensor>& per_sample_weights, bool include_last_offset, int64_t padding) {
  TAEDA_CHECK(weight.dim() == 2, "[embedding_bag] the weight must be a matrix: got ", weight.sizes(), "; reshape it to (rows, width)");
  TAEDA_CHECK(indices.dim() == 1 && offsets.dim() == 1, "[embedding_bag] indices and offsets must be vectors: got ", indices.sizes(),
              " and ", offsets.sizes(), "; flatten them");
  TAEDA_CHECK_VALUE(mode >= kBagSum && mode <= kBagMax, "[embedding_bag] mode must be 0 (sum), 1 (mean) or 2 (max): got ", mode,
                    "; use one of these");
  const Tensor flat = detail::long_index(indices, "embedding_bag");
  const Bags bags = find_bags(flat, offsets, include_last_offset, padding);
  Tensor rows = taeda::embedding(weight, flat.index_select(0, bags.kept), -1, scale_grad_by_freq, sparse);
  if (per_sample_weights && per_sample_weights->defined()) {
    TAEDA_CHECK(mode == kBagSum, "[embedding_bag] per_sample_weights only works with mode sum: got mode ", mode, "; leave them out");
    TAEDA_CHECK(per_sample_weights->sizes() == indices.sizes(), "[embedding_bag] per_sample_weights must have the shape of the indices: got ",
                per_sample_weights->sizes(), " and ", indices.sizes(), "; make them match");
    rows = rows.mul(per_sample_weights->index_select(0, bags.kept).unsqueeze(1));
  }
  Tensor out = taeda::zeros({bags.count, weight.size(1)}, weight.options());
  Tensor largest = taeda::empty({0}, TensorOptions(kLong));
  if (mode == kBagMax) {
    largest = largest_indices(rows, flat, bags);
    out = out.index_reduce(0, bags.bag, rows, "amax", false);
  } else {
    out = out.index_add(0, bags.bag, rows);
    if (mode == kBagMean) out = out.div(bags.sizes.clamp_min(1).to(weight.scalar_type()).unsqueeze(1));
  }
  return {out, bags.all, bags.sizes, largest};
}

/// Rows of `weight` combined over bags: bag b holds the indices from offsets[b] up to the next offset. mode: 0 sum, 1 mean,
/// 2 max. Gives the result (bags, width), the bag of each index, the bags' sizes, and for max the chosen indices.
struct EmbeddingBag : Composite {
  static constexpr auto schema =
      "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
      "Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)";
  static BagResult forward(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                           bool sparse, const std::optional<Tensor>& per_sample_weights, bool include_last_offset) {
    return reduce_bags(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1);
  }
};
/// embedding_bag without the indices equal to padding_idx.
struct EmbeddingBagPadding : Composite {
  static constexpr auto schema =
      "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
      "Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)";
  static BagResult forward(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                           bool sparse, const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                           std::optional<int64_t> padding_idx) {
    int64_t padding = padding_idx.value_or(-1);
    if (padding_idx) {
      const int64_t rows = weight.size(0);
      TAEDA_CHECK(padding >= -rows && padding < rows, "[embedding_bag] padding_idx must be within the number of embeddings: got ",
                  padding, " for ", rows, "; use a row of the weight");
      if (padding < 0) padding += rows;
    }
    return reduce_bags(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding);
  }
};

/// embedding_bag with the indices first, a matrix of bags or a vector with offsets, and the mode by name.
struct FunctionalEmbeddingBag : Composite {
  static constexpr auto schema =
      "nn_functional_embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2., "
      "bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? per_sample_weights=None, "
      "bool include_last_offset=False, int? padding_idx=None) -> Tensor";
  static Tensor forward(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& offsets, std::optional<double> max_norm,
                        double norm_type, bool scale_grad_by_freq, std::string_view mode, bool sparse,
                        const std::optional<Tensor>& per_sample_weights, bool include_last_offset, std::optional<int64_t> padding_idx) {
    TAEDA_CHECK_VALUE(mode == "sum" || mode == "mean" || mode == "max", "[embedding_bag] mode has to be one of sum, mean or max: got \"",
                      mode, "\"; use one of these");
    TAEDA_CHECK_VALUE(input.dim() == 1 || input.dim() == 2, "[embedding_bag] input has to be 1D or 2D Tensor, but got Tensor of dimension ",
                      input.dim(), "; reshape it");
    std::optional<Tensor> weights = per_sample_weights;
    Tensor starts = detail::or_undefined(offsets);
    if (input.dim() == 2) {
      TAEDA_CHECK_VALUE(!starts.defined(), "[embedding_bag] if input is 2D, then offsets has to be none: got offsets ",
                        starts.defined() ? starts.sizes() : IntArrayRef(), "; leave them out");
      const int64_t n = input.size(0);
      const int64_t length = input.size(1);
      starts = taeda::arange(n, TensorOptions(kLong)).mul(length);
      if (weights && weights->defined()) weights = weights->reshape({-1});
    }
    TAEDA_CHECK_VALUE(starts.defined(), "[embedding_bag] offsets has to be a 1D Tensor but got none; give the bags' first positions");
    const Tensor flat = input.reshape({-1});
    if (max_norm) {
      ModesGuard keep;
      tls_modes.grad_enabled = false;
      refresh_mask(tls_modes);
      taeda::embedding_renorm_(weight, flat, *max_norm, norm_type);
    }
    const int64_t number = mode == "sum" ? kBagSum : mode == "mean" ? kBagMean : kBagMax;
    return std::get<0>(taeda::embedding_bag(weight, flat, starts, scale_grad_by_freq, number, sparse, weights,
                                            include_last_offset && input.dim() == 1, padding_idx));
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/embedding_bag.inc"
