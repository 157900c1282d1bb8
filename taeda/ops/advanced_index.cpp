// SPDX-License-Identifier: Apache-2.0
// Indexing with tensors of positions and masks: index and index_put.
#include <algorithm>

#include "taeda/ops/door.h"
#include "taeda/ops/factory.h"
#include "taeda/ops/functions.h"
#include "taeda/ops/kernels/indexing.h"
#include "taeda/ops/pointwise_engine.h"
#include "taeda/ops/pointwise_run.h"

namespace taeda {
namespace ops {
namespace {

using OptionalTensors = std::vector<std::optional<Tensor>>;

/// The index tensors with masks replaced by positions: entry d belongs to dimension d, undefined where none is given.
std::vector<Tensor> positions_of(const Tensor& self, const OptionalTensors& indices, const char* op) {
  std::vector<Tensor> out;
  for (const auto& given : indices) {
    const Tensor index = detail::or_undefined(given);
    if (!index.defined()) {
      out.emplace_back();
      continue;
    }
    const ScalarType t = index.scalar_type();
    if (t == kBool || t == kByte) {
      for (int64_t d = 0; d < index.dim(); ++d) {
        const int64_t at = static_cast<int64_t>(out.size()) + d;
        TAEDA_CHECK_INDEX(at < self.dim() && index.size(d) == self.size(at), "[", op, "] the shape of the mask ", index.sizes(),
                          " at index ", d, " does not match the shape of the indexed tensor ", self.sizes(), " at index ", at,
                          "; make them equal");
      }
      const Tensor found = index.nonzero();
      for (int64_t d = 0; d < index.dim(); ++d) out.push_back(found.select(1, d));
    } else {
      TAEDA_CHECK_INDEX(t == kLong || t == kInt, "[", op, "] tensors used as indices must be long, int, byte or bool tensors: got ",
                        t, "; convert with .to(kLong)");
      out.push_back(index);
    }
  }
  TAEDA_CHECK_INDEX(static_cast<int64_t>(out.size()) <= self.dim(), "[", op, "] too many indices for tensor of dimension ",
                    self.dim(), ": got ", out.size(), "; use fewer");
  out.resize(static_cast<size_t>(self.dim()));
  return out;
}

/// How self's elements lie under the result's shape (before, index shape, after).
struct Plan {
  DimVector shape;           // of the result
  DimVector self_strides;    // bytes, 0 at the index dimensions
  DimVector offset_strides;  // bytes, 0 elsewhere
  Tensor offsets;            // int64 byte offsets in the index shape
  bool any = false;
};

/// Byte offsets of all positions, checked.
Tensor byte_offsets(const Tensor& self, const std::vector<Tensor>& positions, const DimVector& shape, const char* op) {
  Tensor offsets = make_tensor(shape, kLong);
  auto* out = reinterpret_cast<int64_t*>(offsets.impl().data());
  const int64_t n = offsets.numel();
  std::fill(out, out + n, int64_t{0});
  for (size_t d = 0; d < positions.size(); ++d) {
    if (!positions[d].defined()) continue;
    const int64_t size = self.sizes()[d];
    const int64_t step = self.strides()[d] * static_cast<int64_t>(self.itemsize());
    const Tensor expanded = detail::long_index(positions[d], op).expand(shape).contiguous();
    const auto* index = reinterpret_cast<const int64_t*>(expanded.impl().data());
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = index[i];
      TAEDA_CHECK_INDEX(at >= -size && at < size, "[", op, "] index ", at, " is out of bounds for dimension ", d, " with size ",
                        size, "; use indices from ", -size, " to ", size - 1);
      out[i] += (at < 0 ? at + size : at) * step;
    }
  }
  return offsets;
}

Plan make_plan(const Tensor& self, const OptionalTensors& indices, const char* op) {
  const std::vector<Tensor> positions = positions_of(self, indices, op);
  Plan plan;
  DimVector index_shape;
  int64_t first = -1;
  int64_t last = -1;
  bool adjacent = true;
  for (size_t d = 0; d < positions.size(); ++d) {
    if (!positions[d].defined()) continue;
    const auto at = static_cast<int64_t>(d);
    if (first >= 0 && at != last + 1) adjacent = false;
    if (first < 0) first = at;
    last = at;
    try {
      index_shape = plan.any ? broadcast_sizes(index_shape, positions[d].sizes(), op) : DimVector(positions[d].sizes());
    } catch (const Error&) {
      TAEDA_CHECK_INDEX(false, "[", op, "] shape mismatch: indexing tensors could not be broadcast together: got ", IntArrayRef(index_shape),
                        " and ", positions[d].sizes(), "; make their shapes fit");
    }
    plan.any = true;
  }
  if (!plan.any) return plan;
  plan.offsets = byte_offsets(self, positions, index_shape, op);
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  const auto add_index_dims = [&] {
    for (size_t i = 0; i < index_shape.size(); ++i) {
      plan.shape.push_back(index_shape[i]);
      plan.self_strides.push_back(0);
      plan.offset_strides.push_back(plan.offsets.strides()[i] * int64_t{8});
    }
  };
  const int64_t where = adjacent ? first : 0;
  for (int64_t d = 0; d <= self.dim(); ++d) {
    if (d == where) add_index_dims();
    if (d == self.dim() || positions[static_cast<size_t>(d)].defined()) continue;
    plan.shape.push_back(self.size(d));
    plan.self_strides.push_back(self.stride(d) * itemsize);
    plan.offset_strides.push_back(0);
  }
  return plan;
}

/// Elements named by index tensors or masks; the entry for dimension d is `indices[d]` (a mask covers as many dimensions as
/// it has). Index shapes broadcast; their dimensions replace the indexed ones, or come first when those are not adjacent.
struct Index {
  static constexpr auto schema = "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor";
  static constexpr auto out_apart = "self";
  static constexpr auto shape_from = "masks";
  static Tensor forward(const Tensor& self, const OptionalTensors& indices) {
    const Plan plan = make_plan(self, indices, "index");
    if (!plan.any) return self.clone();
    Tensor result = make_tensor(plan.shape, self.scalar_type(), self.device());
    index_get_kernel(self.device(), {&result.impl(), self.impl().data(), plan.self_strides,
                                     reinterpret_cast<const int64_t*>(plan.offsets.impl().data()), plan.offset_strides, false});
    return result;
  }
  static Tensor grad_self(const Tensor& grad, IntArrayRef self_sizes, const OptionalTensors& indices) {
    return taeda::zeros(self_sizes, grad.options()).index_put_(indices, grad, true);
  }
};

/// Writes `values` (broadcast) to the elements that `index` would give; `accumulate` adds, equal positions add up.
struct IndexPut {
  static constexpr auto schema = "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor";
  static constexpr auto inplace = true;
  static void into(const Tensor& out, const Tensor& /*self*/, const OptionalTensors& indices, const Tensor& values,
                   bool accumulate) {
    TAEDA_CHECK(out.scalar_type() == values.scalar_type(), "[index_put] index put requires the source and destination dtypes match, got ",
                out.scalar_type(), " for the destination and ", values.scalar_type(), " for the source; convert the values");
    detail::check_writable(out, "index_put");
    detail::check_no_partial_overlap(out, values, "index_put");
    const Plan plan = make_plan(out, indices, "index_put");
    if (!plan.any) {
      pointwise::copy_elements(out.impl(), (accumulate ? out.add(values) : values.expand(out.sizes())).impl());
      return;
    }
    TAEDA_CHECK(values.dim() <= static_cast<int64_t>(plan.shape.size()) || fits(values.sizes(), plan.shape),
                "[index_put] shape mismatch: value tensor of shape ", values.sizes(),
                " cannot be broadcast to indexing result of shape ", IntArrayRef(plan.shape), "; reshape the values");
    const Tensor source = spread(values.is_alias_of(out) ? detail::contiguous_copy(values) : values, plan.shape);
    index_put_kernel(out.device(), {&source.impl(), out.impl().data(), plan.self_strides,
                                    reinterpret_cast<const int64_t*>(plan.offsets.impl().data()), plan.offset_strides,
                                    accumulate});
  }
  static bool fits(IntArrayRef sizes, IntArrayRef shape) {
    for (size_t i = 0; i + shape.size() < sizes.size(); ++i) {
      if (sizes[i] != 1) return false;
    }
    return true;
  }
  static Tensor spread(const Tensor& values, IntArrayRef shape) {
    Tensor v = values;
    while (v.dim() > static_cast<int64_t>(shape.size())) v = v.squeeze(0);
    return v.expand(shape);
  }
  static Tensor forward(const Tensor& self, const OptionalTensors& indices, const Tensor& values, bool accumulate) {
    Tensor result = detail::contiguous_copy(self);
    into(result, self, indices, values, accumulate);
    return result;
  }
  static Tensor grad_self(const Tensor& grad, const OptionalTensors& indices, bool accumulate) {
    return accumulate ? grad : grad.index_put(indices, taeda::zeros(IntArrayRef(), grad.options()), false);
  }
  static Tensor grad_values(const Tensor& grad, const OptionalTensors& indices, IntArrayRef values_sizes) {
    const Tensor picked = grad.index(indices);
    size_t lead = 0;
    while (values_sizes.size() - lead > static_cast<size_t>(picked.dim())) ++lead;
    const Tensor summed = sum_to(picked, values_sizes.slice(lead));
    return lead > 0 ? summed.reshape(values_sizes) : summed;
  }
};

}  // namespace
}  // namespace ops
}  // namespace taeda

#include "taeda/ops/generated/advanced_index.inc"
