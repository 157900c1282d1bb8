// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "taeda/graph/recording.h"
#include "taeda/ops/functions.h"

namespace taeda::graph {

namespace {

/// One dimension of a view or of the whole.
struct Dim {
  int64_t size, stride, place;
};

/// `t` (contiguous dimensions `whole`) as the view with dimensions `shown`, strides falling. Empty where views cannot show it.
std::optional<Tensor> follow(Tensor t, const std::vector<Dim>& whole, const std::vector<Dim>& shown, int64_t offset) {
  size_t next = 0;
  int64_t d = 0;  // the dimension of `t` in hand
  for (const Dim& w : whole) {
    const int64_t start = offset / w.stride;
    offset -= start * w.stride;
    size_t end = next;
    while (end < shown.size() && shown[end].stride >= w.stride && shown[end].stride < w.stride * std::max<int64_t>(w.size, 1)) ++end;
    if (end == next) {
      if (start >= w.size) return {};
      t = t.select(d, start);
      continue;
    }
    if (end - next == 1) {
      const int64_t step = shown[next].stride / w.stride, last = start + (shown[next].size - 1) * step;
      if (shown[next].stride % w.stride != 0 || last >= w.size) return {};
      if (start != 0 || last + 1 != w.size || step != 1) t = t.slice(d, start, last + 1, step);
      next = end, ++d;
      continue;
    }
    // Several dimensions within one: it is first seen as that many.
    std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().begin() + d);
    int64_t unit = w.size * w.stride;
    for (size_t i = next; i < end; ++i) {
      if (unit % shown[i].stride != 0) return {};
      sizes.push_back(unit / shown[i].stride);
      unit = shown[i].stride;
    }
    if (unit % w.stride != 0) return {};
    const bool rest = unit != w.stride;
    if (rest) sizes.push_back(unit / w.stride);
    sizes.insert(sizes.end(), t.sizes().begin() + d + 1, t.sizes().end());
    t = t.view(sizes);
    int64_t within = start * w.stride;
    for (; next < end; ++next, ++d) {
      const int64_t from = within / shown[next].stride;
      within -= from * shown[next].stride;
      if (from + shown[next].size > t.size(d)) return {};
      if (shown[next].size != t.size(d)) t = t.narrow(d, from, shown[next].size);
    }
    if (rest) t = t.select(d, within / w.stride);
  }
  return next == shown.size() ? std::optional<Tensor>(t) : std::nullopt;
}

}  // namespace

Tensor plain_view(const Tensor& whole, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  const auto falling = [](const Dim& a, const Dim& b) { return a.stride > b.stride; };
  std::vector<Dim> dims, shown;
  for (int64_t d = 0; d < whole.dim(); ++d) dims.push_back({whole.size(d), whole.stride(d), d});
  std::stable_sort(dims.begin(), dims.end(), falling);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] != 0 && sizes[d] > 1) shown.push_back({sizes[d], strides[d], static_cast<int64_t>(d)});
  }
  std::stable_sort(shown.begin(), shown.end(), falling);
  std::vector<int64_t> order;
  for (const Dim& dim : dims) order.push_back(dim.place);
  const Tensor base = whole.is_contiguous() ? whole : whole.permute(order);
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  std::optional<Tensor> t;
  if (base.is_contiguous() && whole.storage_offset() == 0 && whole.numel() > 0 && !empty) {
    std::erase_if(dims, [](const Dim& dim) { return dim.size == 1; });
    const std::vector<Dim> one{{whole.numel(), 1, 0}};
    std::vector<int64_t> squeezed;
    for (const Dim& dim : dims) squeezed.push_back(dim.size);
    t = follow(base.view(squeezed), dims, shown, offset);
    if (!t) t = follow(base.view({-1}), one, shown, offset);
  }
  if (!t) return whole.as_strided(sizes, strides, offset);
  std::vector<int64_t> back(shown.size());
  for (size_t i = 0; i < shown.size(); ++i) {
    back[i] = static_cast<int64_t>(std::count_if(shown.begin(), shown.end(), [&](const Dim& dim) { return dim.place < shown[i].place; }));
  }
  std::vector<int64_t> permutation(back.size());
  for (size_t i = 0; i < back.size(); ++i) permutation[static_cast<size_t>(back[i])] = static_cast<int64_t>(i);
  if (!std::is_sorted(permutation.begin(), permutation.end())) t = t->permute(permutation);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0 || sizes[d] <= 1) t = t->unsqueeze(static_cast<int64_t>(d));
  }
  if (t->sizes() != sizes) t = t->expand(sizes);
  return *t;
}

}  // namespace taeda::graph
