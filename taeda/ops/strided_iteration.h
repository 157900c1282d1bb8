// SPDX-License-Identifier: Apache-2.0
// Walks several tensors of one broadcast shape together: dimensions are ordered by the first operand's strides, merged
// where every operand allows it, and handed out as inner loops.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "taeda/core/parallel.h"
#include "taeda/core/tensor.h"

namespace taeda {

/// Byte strides of up to kMax operands over a common shape.
template <int kMax>
class StridedIteration {
 public:
  /// `shape` is the common shape; add operands next, then `finish`.
  explicit StridedIteration(IntArrayRef shape) : shape_(shape) {
    numel_ = 1;
    for (const int64_t s : shape) numel_ *= s;
  }
  void add(char* data, IntArrayRef sizes, IntArrayRef strides, int64_t itemsize) {
    data_[count_] = data;
    DimVector& out = strides_[count_++];
    out.resize(shape_.size());
    const size_t lead = shape_.size() - sizes.size();
    for (size_t d = 0; d < shape_.size(); ++d) {
      out[d] = d < lead || sizes[d - lead] == 1 ? 0 : strides[d - lead] * itemsize;
    }
  }
  void add(const TensorImpl& t) { add(t.data(), t.sizes(), t.strides(), static_cast<int64_t>(t.itemsize())); }
  /// An operand that is one element for all positions.
  void add_constant(const void* value) {
    data_[count_] = static_cast<char*>(const_cast<void*>(value));
    strides_[count_++].resize(shape_.size(), 0);
  }

  /// Orders and merges the dimensions.
  void finish() {
    drop_unit_dims();
    for (size_t i = 1; i < shape_.size(); ++i) {  // insertion sort: outermost first, stable
      for (size_t j = i; j > 0 && is_inner(j - 1, j); --j) swap_dims(j - 1, j);
    }
    merge_dims();
    if (shape_.empty()) {
      shape_.push_back(1);
      for (int k = 0; k < count_; ++k) strides_[k].push_back(0);
    }
  }

  int64_t numel() const { return numel_; }
  int64_t inner_size() const { return shape_.back(); }
  int64_t rows() const { return numel_ / std::max<int64_t>(shape_.back(), 1); }

  /// Calls `inner(char* const* ptrs, const int64_t* byte_strides, int64_t n)` over everything, in parallel above `grain`
  /// elements.
  template <class Inner>
  void run(int64_t grain, const Inner& inner) const {
    if (numel_ == 0) return;
    int64_t step[kMax];
    for (int k = 0; k < count_; ++k) step[k] = strides_[k].back();
    const int64_t n = shape_.back();
    if (shape_.size() == 1) {
      parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
        char* ptrs[kMax];
        for (int k = 0; k < count_; ++k) ptrs[k] = data_[k] + begin * step[k];
        inner(ptrs, step, end - begin);
      });
      return;
    }
    const int64_t row_count = rows();
    if (row_count < 8 && n > grain) {  // few long rows: split inside each
      for (int64_t row = 0; row < row_count; ++row) {
        char* base[kMax];
        locate(row, base);
        parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
          char* ptrs[kMax];
          for (int k = 0; k < count_; ++k) ptrs[k] = base[k] + begin * step[k];
          inner(ptrs, step, end - begin);
        });
      }
      return;
    }
    parallel_for(0, row_count, std::max<int64_t>(1, grain / n), [&](int64_t begin, int64_t end) { run_rows(begin, end, step, inner); });
  }

 private:
  template <class Inner>
  void run_rows(int64_t begin, int64_t end, const int64_t* step, const Inner& inner) const {
    char* ptrs[kMax];
    locate(begin, ptrs);
    const size_t outer = shape_.size() - 1;
    SmallVector<int64_t, 6> index(outer);
    int64_t rest = begin;
    for (size_t d = outer; d-- > 0;) {
      index[d] = rest % shape_[d];
      rest /= shape_[d];
    }
    for (int64_t row = begin; row < end; ++row) {
      inner(ptrs, step, shape_.back());
      for (size_t d = outer; d-- > 0;) {
        for (int k = 0; k < count_; ++k) ptrs[k] += strides_[k][d];
        if (++index[d] < shape_[d]) break;
        index[d] = 0;
        for (int k = 0; k < count_; ++k) ptrs[k] -= strides_[k][d] * shape_[d];
      }
    }
  }
  void locate(int64_t row, char** ptrs) const {
    for (int k = 0; k < count_; ++k) ptrs[k] = data_[k];
    for (size_t d = shape_.size() - 1; d-- > 0;) {
      const int64_t i = row % shape_[d];
      row /= shape_[d];
      for (int k = 0; k < count_; ++k) ptrs[k] += strides_[k][d] * i;
    }
  }
  void drop_unit_dims() {
    for (size_t d = shape_.size(); d-- > 0;) {
      if (shape_[d] != 1) continue;
      shape_.erase(d);
      for (int k = 0; k < count_; ++k) strides_[k].erase(d);
    }
  }
  /// True when dimension `a` should lie inside `b`.
  bool is_inner(size_t a, size_t b) const {
    for (int k = 0; k < count_; ++k) {
      const int64_t sa = strides_[k][a];
      const int64_t sb = strides_[k][b];
      if (sa == 0 || sb == 0) continue;  // broadcast operands do not decide
      if (sa != sb) return sa < sb;
    }
    return false;
  }
  void swap_dims(size_t a, size_t b) {
    std::swap(shape_[a], shape_[b]);
    for (int k = 0; k < count_; ++k) std::swap(strides_[k][a], strides_[k][b]);
  }
  void merge_dims() {
    if (shape_.size() < 2) return;
    size_t kept = 0;
    for (size_t d = 1; d < shape_.size(); ++d) {
      bool fits = true;
      for (int k = 0; k < count_; ++k) fits &= strides_[k][kept] == strides_[k][d] * shape_[d];
      if (fits) {
        shape_[kept] *= shape_[d];
      } else {
        ++kept;
        shape_[kept] = shape_[d];
      }
      for (int k = 0; k < count_; ++k) strides_[k][kept] = strides_[k][d];
    }
    shape_.resize(kept + 1);
    for (int k = 0; k < count_; ++k) strides_[k].resize(kept + 1);
  }

  DimVector shape_;
  int64_t numel_ = 1;
  int count_ = 0;
  char* data_[kMax];
  DimVector strides_[kMax];
};

/// Elements below which a pointwise loop is not split over threads.
inline constexpr int64_t kPointwiseGrain = 32768;

}  // namespace taeda
