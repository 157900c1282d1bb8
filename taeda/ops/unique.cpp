// SPDX-License-Identifier: Apache-2.0
// Distinct elements and slices.
#include "taeda/ops/door.h"
#include "taeda/ops/functions.h"

namespace taeda {
namespace ops {
namespace {

using Triple = std::tuple<Tensor, Tensor, Tensor>;
Tensor no_indices() { return make_tensor(int64_t{0}, kLong); }

/// Of rows (n, …): the first of each run of equal rows, the run of each row, the lengths of the runs.
Triple runs(const Tensor& rows) {
  const int64_t n = rows.size(0);
  if (n == 0) return {rows.clone(), no_indices(), no_indices()};
  Tensor starts = make_tensor(n, kBool);
  starts.fill_(true);
  if (n > 1) {
    Tensor differs = rows.slice(0, 1, n).ne(rows.slice(0, 0, n - 1));
    if (differs.dim() > 1) differs = differs.reshape({n - 1, -1}).any(1);
    starts.slice(0, 1, n).copy_(differs);
  }
  const Tensor inverse = starts.to(kLong).cumsum(0).sub(1);
  const Tensor first = starts.nonzero().reshape(IntArrayRef(int64_t{-1}));
  const Tensor ends = taeda::cat({first.slice(0, 1, first.numel()), taeda::full({1}, n, kLong)}, 0);
  return {rows.index_select(0, first), inverse, ends.sub(first)};
}
/// The order that sorts rows (n, …) by their elements, first element first.
Tensor row_order(const Tensor& rows) {
  const int64_t n = rows.size(0);
  Tensor order = taeda::arange(n, kLong);
  if (n == 0 || rows.numel() == 0) return order;
  const Tensor flat = rows.reshape({n, -1});
  for (int64_t c = flat.size(1) - 1; c >= 0; --c) {
    order = order.index_select(0, flat.select(1, c).index_select(0, order).argsort(true, 0, false));
  }
  return order;
}
Triple sorted_unique(const Tensor& rows, const Tensor& order) {
  auto [values, inverse, counts] = runs(rows.index_select(0, order));
  Tensor places = taeda::empty_like(inverse);
  if (inverse.numel() > 0) places.scatter_(0, order, inverse);
  return {values, places, counts};
}
Triple unique_rows(const Tensor& self, int64_t dim, bool consecutive) {
  dim = maybe_wrap_dim(dim, self.dim(), "unique_dim");
  TAEDA_CHECK(self.numel() > 0 || self.size(dim) == 0, "[unique_dim] there are 0-size dimensions, unique cannot be applied: got ", self.sizes(), "; drop them");
  const Tensor rows = self.movedim(dim, 0).contiguous();
  auto [values, inverse, counts] = consecutive ? runs(rows) : sorted_unique(rows, row_order(rows));
  return {values.movedim(0, dim).contiguous(), inverse, counts};
}
Triple unique_flat(const Tensor& self) {
  const Tensor flat = self.reshape(IntArrayRef(int64_t{-1}));
  auto [values, inverse, counts] = sorted_unique(flat, flat.argsort(true, 0, false));
  return {values, inverse.reshape(self.sizes()), counts};
}
Triple consecutive(const Tensor& self, std::optional<int64_t> dim) {
  if (dim && self.dim() > 0) return unique_rows(self, *dim, true);
  auto [values, inverse, counts] = runs(self.reshape(IntArrayRef(int64_t{-1})));
  return {values, inverse.reshape(self.sizes()), counts};
}
Triple wanted(Triple all, bool inverse, bool counts) {
  return {std::get<0>(all), inverse ? std::get<1>(all) : no_indices(), counts ? std::get<2>(all) : no_indices()};
}

/// The distinct elements in order, the place of each element among them, and how often each occurs; what was not asked
/// for is empty.
struct Unique2 {
  static constexpr auto schema =
      "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)";
  static constexpr auto shape_from = "values";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the number of results depends on the values";
  static Triple forward(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
    return wanted(unique_flat(self), return_inverse, return_counts);
  }
};
/// The distinct slices along `dim` in order, the place of each among them, and how often each occurs.
struct UniqueDim {
  static constexpr auto schema =
      "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)";
  static constexpr auto shape_from = "values";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the number of results depends on the values";
  static Triple forward(const Tensor& self, int64_t dim, bool /*sorted*/, bool return_inverse, bool return_counts) {
    return wanted(unique_rows(self, dim, false), return_inverse, return_counts);
  }
};
/// The first of each run of equal elements (or slices along `dim`), the run of each, and their lengths.
struct UniqueConsecutive {
  static constexpr auto schema =
      "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)";
  static constexpr auto shape_from = "values";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the number of results depends on the values";
  static Triple forward(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
    return wanted(consecutive(self, dim), return_inverse, return_counts);
  }
};
/// The first of each run of equal slices along `dim`, the run of each, and their lengths.
struct UniqueDimConsecutive {
  static constexpr auto schema =
      "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)";
  static constexpr auto shape_from = "values";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the number of results depends on the values";
  static Triple forward(const Tensor& self, int64_t dim, bool return_inverse, bool return_counts) {
    return wanted(unique_rows(self, dim, true), return_inverse, return_counts);
  }
};
/// As Python's `unique`: the distinct elements or slices, then what else was asked for.
struct Unique {
  static constexpr auto schema =
      "unique(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor[]";
  static constexpr auto shape_from = "values";
  static constexpr auto variants = "function";
  static constexpr auto no_grad = "the number of results depends on the values";
  static std::vector<Tensor> forward(const Tensor& input, bool /*sorted*/, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
    const auto [values, inverse, counts] = dim && input.dim() > 0 ? unique_rows(input, *dim, false) : unique_flat(input);
    std::vector<Tensor> results{values};
    if (return_inverse) results.push_back(inverse);
    if (return_counts) results.push_back(counts);
    return results;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/unique.inc"
