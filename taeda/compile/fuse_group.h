// SPDX-License-Identifier: Apache-2.0
// Steps that share a loop, under construction. Inside of the fusion.
#pragma once

#include <set>

#include "taeda/compile/fuse.h"
#include "taeda/compile/row_steps.h"
#include "taeda/ops/pointwise_recorded.h"

namespace taeda::lazy {

/// A step of a group.
struct Member {
  size_t step;                      ///< index of a pending step
  pointwise::Recorded call;         ///< of pointwise steps
  std::optional<RowStep> row = {};  ///< of steps that work on rows
  bool per_row = false;             ///< pointwise, over one element for each row
};

/// Values that a group makes or writes.
struct Touched {
  int32_t value;
  Geometry geometry;
  bool uniform;  ///< one element for each row
};

struct Group {
  std::vector<Member> members;
  DimVector sizes;   ///< of the iteration space
  int row_dims = 0;  ///< how many trailing dimensions are a row; 0: the group has no rows
  bool sealed = false;  ///< rows are summed and forgotten: nothing over their elements may follow
  std::set<int32_t> reads;                            ///< values read from memory
  std::vector<std::pair<int32_t, Geometry>> read_as;  ///< and how
  std::vector<Touched> touched;

  const Touched* find(int32_t value) const;
  int64_t elements() const;
  /// The sizes of a value with one element for each row: those of the leading dimensions, then ones where they are kept.
  bool is_row_shape(IntArrayRef shape) const;
  /// Whether `g`, aligned at the right of `ndim` dimensions, is read as such a value.
  bool reads_rows(const Geometry& g, size_t ndim) const;
  /// The stride in elements along a row of `rows` dimensions; nothing when no single one leads along it.
  std::optional<int64_t> row_stride(const Geometry& g, int rows) const;
};

bool equal(const Geometry& a, const Geometry& b);
/// The dtype in which a pointwise operator computes: that of its promoted inputs, or of its floating result.
ScalarType computing_dtype(const Step& step, const pointwise::Recorded& r);

/// The group's kernel. `made_here`: the sizes in bytes of the values that the group makes; `wanted`: those that somebody else needs.
std::shared_ptr<FusedSteps> build_kernel(const Group& group, const Segment& segment, const std::vector<bool>& wanted, const LoopOptions& loops);

}  // namespace taeda::lazy
