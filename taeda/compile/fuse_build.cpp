// SPDX-License-Identifier: Apache-2.0
// From a group of steps to one kernel.
#include <algorithm>

#include "cpu/pointwise_ids.h"
#include "taeda/compile/fuse_group.h"
#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/promotion.h"

namespace taeda::lazy {

using kernel::Id;
using pointwise::Recorded;

bool equal(const Geometry& a, const Geometry& b) {
  return a.dtype == b.dtype && a.ndim == b.ndim && a.offset == b.offset && std::equal(a.dims.begin(), a.dims.end(), b.dims.begin());
}

const Touched* Group::find(int32_t value) const {
  for (const Touched& t : touched) {
    if (t.value == value) return &t;
  }
  return nullptr;
}

int64_t Group::elements() const {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

bool Group::is_row_shape(IntArrayRef shape) const {
  const size_t lead = sizes.size() - static_cast<size_t>(row_dims);
  if (shape.size() != lead && shape.size() != sizes.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != (d < lead ? sizes[d] : 1)) return false;
  }
  return true;
}

bool Group::reads_rows(const Geometry& g, size_t ndim) const {
  if (!g.contiguous || g.ndim > ndim) return false;
  DimVector padded(ndim, 1);
  std::copy(g.sizes().begin(), g.sizes().end(), padded.end() - g.ndim);
  return is_row_shape(padded);
}

std::optional<int64_t> Group::row_stride(const Geometry& g, int rows) const {
  const size_t n = sizes.size(), lead = n - g.ndim;
  std::optional<int64_t> inner;
  int64_t expected = 0;
  for (size_t d = n; d-- > n - static_cast<size_t>(rows);) {
    if (sizes[d] == 1) continue;
    const int64_t stride = d < lead || g.sizes()[d - lead] == 1 ? 0 : g.strides()[d - lead];
    if (!inner) inner = stride;
    else if (stride != expected) return std::nullopt;
    expected = stride * sizes[d];
  }
  return inner.value_or(0);
}

ScalarType computing_dtype(const Step& step, const Recorded& r) {
  if (r.form == Recorded::Form::kGradient) return r.compute;
  detail::Promotion promotion;
  const cpu::PointwiseKernelInfo& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(r.kernel));
  size_t tensor = 0, number = 0;
  const auto nothing = IntrusivePtr<StorageImpl>::adopt(StorageImpl::announce(0, Device()));
  for (int i = 0; i < r.inputs; ++i) {
    const bool mask = (info.mask_inputs >> i) & 1;
    if ((r.tensor_mask >> i) & 1) {
      const Tensor t = step.operands[tensor++].geometry.over(nothing);
      if (!mask) promotion.add(t.impl());
    } else {
      const Scalar& s = step.numbers[number++];
      if (!mask) promotion.add(s);
    }
  }
  const ScalarType promoted = promotion.result();
  return r.op->rule == ResultRule::kFloat && !is_floating_type(promoted) ? step.default_dtype : promoted;
}

namespace {

ScalarType compute_type(ScalarType t) {
  if (t == kDouble) return kDouble;
  return is_floating_type(t) ? kFloat : kLong;
}

/// How an operand goes with the elements of the space.
enum class Extent : uint8_t {
  kElements,
  kRows,    ///< one element for each row
  kShared,  ///< one row for all rows
};

class Builder {
 public:
  Builder(const Group& group, const Segment& segment, const std::vector<bool>& wanted, const LoopOptions& loops)
      : group_(group), segment_(segment), wanted_(wanted), loops_(loops) {}

  std::shared_ptr<FusedSteps> build() {
    for (const Member& m : group_.members) {
      fused_->steps.push_back(m.step);
      if (m.row) add_row_step(m);
      else add_pointwise(m);
    }
    write_outputs();
    const bool rows = group_.row_dims > 0;
    const size_t lead = group_.sizes.size() - static_cast<size_t>(group_.row_dims);
    kernel::Launch& space = fused_->space;
    space.dims = static_cast<int>(lead) + (rows ? 1 : 0);
    std::copy_n(group_.sizes.begin(), lead, space.sizes);
    if (rows) {
      space.sizes[lead] = 1;
      for (size_t d = lead; d < group_.sizes.size(); ++d) space.sizes[lead] *= group_.sizes[d];
    }
    fused_->places = input_places_;
    fused_->places.insert(fused_->places.end(), output_places_.begin(), output_places_.end());
    kernel::collapse(space, fused_->places.data(), k_.operands(), rows);
    // Generating code takes milliseconds: small loops are interpreted. The rule, not the clock, decides, and both give equal bits.
    const bool generate = loops_.generate_code && group_.elements() >= loops_.code_from_elements;
    fused_->kernel = kernel::compile_kernel(k_, generate ? kernel::Backend::kJit : kernel::Backend::kInterpreter, loops_.cache_dir);
    return fused_;
  }

 private:
  const Step& step_of(const Member& m) const { return *segment_.pending[m.step].step; }

  /// `ndim`: of the space to whose right end the operand is aligned.
  kernel::Place place_of(const Geometry& g, Extent extent, size_t ndim) const {
    kernel::Place place;
    const auto item = static_cast<int64_t>(item_size(g.dtype));
    const size_t rows = group_.sizes.size() - static_cast<size_t>(group_.row_dims), lead = ndim - g.ndim;
    for (size_t d = 0; d < g.ndim; ++d) {
      if (g.sizes()[d] != 1 && lead + d < rows) place.strides[lead + d] = g.strides()[d] * item;
    }
    if (group_.row_dims > 0 && extent != Extent::kRows) place.strides[rows] = *group_.row_stride(g, group_.row_dims) * item;
    return place;
  }

  Id read(const Operand& o, Extent extent, size_t ndim) {
    for (const auto& [value, id] : current_) {
      if (value == o.value) return id;
    }
    for (const Input& in : inputs_) {
      if (in.operand.value == o.value && in.extent == extent && in.ndim == ndim && equal(in.operand.geometry, o.geometry)) return in.id;
    }
    const Id id = k_.input(o.geometry.dtype, extent == Extent::kRows);
    inputs_.push_back({o, extent, ndim, id});
    input_places_.push_back(place_of(o.geometry, extent, ndim));
    fused_->operands.push_back({o.value, o.geometry.offset * static_cast<int64_t>(item_size(o.geometry.dtype))});
    return id;
  }

  void set(int32_t value, Id id) {
    const auto at = std::find_if(current_.begin(), current_.end(), [&](const auto& c) { return c.first == value; });
    if (at != current_.end()) at->second = id;
    else current_.emplace_back(value, id);
  }

  void add_pointwise(const Member& m) {
    const Step& step = step_of(m);
    const Recorded& call = m.call;
    const ScalarType dtype = computing_dtype(step, call), compute = compute_type(dtype);
    const cpu::PointwiseKernelInfo& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(call.kernel));
    const Operand& target = call.form == Recorded::Form::kInPlace ? step.operands[0] : step.results[0];
    size_t tensor = 0, number = 0;
    const auto param = [&](ScalarType type) {
      fused_->params.push_back({m.step, number++});
      return k_.param(type);
    };
    std::vector<Id> in, attributes;
    for (int j = 0; j < call.inputs; ++j) {
      if ((call.tensor_mask >> j) & 1) {
        in.push_back(read(step.operands[tensor++], m.per_row ? Extent::kRows : Extent::kElements, target.geometry.ndim));
      } else {
        in.push_back(param((info.mask_inputs >> j) & 1 ? kBool : compute));
      }
    }
    for (int j = 0; j < call.attributes; ++j) attributes.push_back(param(compute));
    Id id = k_.call(call.kernel, dtype, in, attributes);
    if (k_.nodes()[static_cast<size_t>(id)].dtype != target.geometry.dtype) id = k_.convert(id, target.geometry.dtype);
    set(target.value, id);
  }

  void add_row_step(const Member& m) {
    const Step& step = step_of(m);
    std::vector<Id> in;
    for (size_t k = 0; k < step.operands.size(); ++k) {
      const Operand& o = step.operands[k];
      const bool whole = o.value >= 0 && o.geometry.sizes() == step.operands[0].geometry.sizes() && !(k > 0 && step.results.size() > 1);
      in.push_back(o.value < 0 ? -1 : read(o, whole ? Extent::kElements : Extent::kShared, group_.sizes.size()));
    }
    const auto nodes = kernel::add_row_operator(k_, *step.target.info, m.row->arguments.data(), in);
    TAEDA_CHECK(nodes.has_value(), "[compile] ", step.target.name, " became no part of a kernel; report this operator");
    for (size_t k = 0; k < step.results.size(); ++k) set(step.results[k].value, nodes->results[k]);
  }

  /// The bytes of a value that the group makes; nothing for one that it only writes.
  std::optional<size_t> made_bytes(int32_t value) const {
    for (const Member& m : group_.members) {
      const Step& step = step_of(m);
      for (const Operand& r : step.results) {
        if (r.value == value) return step.result_storages[static_cast<size_t>(value - step.first_result_value)].bytes;
      }
    }
    return std::nullopt;
  }

  void write_outputs() {
    for (const auto& [value, id] : current_) {
      const auto bytes = made_bytes(value);
      if (bytes && !wanted_[static_cast<size_t>(value)]) continue;
      const Touched& t = *group_.find(value);
      const size_t kept = group_.sizes.size();
      const size_t ndim = t.uniform && t.geometry.ndim != kept ? kept - static_cast<size_t>(group_.row_dims) : kept;
      k_.output(id, t.geometry.dtype);
      output_places_.push_back(place_of(t.geometry, t.uniform ? Extent::kRows : Extent::kElements, ndim));
      fused_->operands.push_back({value, t.geometry.offset * static_cast<int64_t>(item_size(t.geometry.dtype))});
      if (bytes) fused_->made.emplace_back(value, *bytes);
    }
  }

  struct Input {
    Operand operand;
    Extent extent;
    size_t ndim;
    Id id;
  };
  const Group& group_;
  const Segment& segment_;
  const std::vector<bool>& wanted_;
  const LoopOptions& loops_;
  kernel::Kernel k_{"fused"};
  std::shared_ptr<FusedSteps> fused_ = std::make_shared<FusedSteps>();
  std::vector<Input> inputs_;
  std::vector<std::pair<int32_t, Id>> current_;  ///< values made or written so far
  std::vector<kernel::Place> input_places_, output_places_;
};

}  // namespace

std::shared_ptr<FusedSteps> build_kernel(const Group& group, const Segment& segment, const std::vector<bool>& wanted, const LoopOptions& loops) {
  return Builder(group, segment, wanted, loops).build();
}

}  // namespace taeda::lazy
