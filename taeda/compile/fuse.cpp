// SPDX-License-Identifier: Apache-2.0
// Which pointwise steps may share a loop, and the making of that loop.
#include "taeda/compile/fuse.h"

#include <algorithm>
#include <set>

#include "cpu/pointwise_ids.h"
#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/pointwise_recorded.h"
#include "taeda/ops/promotion.h"

namespace taeda::lazy {

namespace {

using kernel::Id;
using pointwise::Recorded;

constexpr size_t kMaxOperands = 24, kMaxSteps = 64;

ScalarType compute_type(ScalarType t) {
  if (t == kDouble) return kDouble;
  return is_floating_type(t) ? kFloat : kLong;
}

bool equal(const Geometry& a, const Geometry& b) {
  return a.dtype == b.dtype && a.ndim == b.ndim && a.offset == b.offset && std::equal(a.dims.begin(), a.dims.end(), b.dims.begin());
}

/// Whether two elements may share memory (an expanded or unfolded tensor): what one writes another would read.
bool may_overlap(const Geometry& g) {
  SmallVector<size_t, 8> order;
  for (size_t d = 0; d < g.ndim; ++d) {
    if (g.sizes()[d] > 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return g.strides()[a] < g.strides()[b]; });
  int64_t reach = 0;
  for (const size_t d : order) {
    if (g.strides()[d] <= reach) return true;
    reach += g.strides()[d] * (g.sizes()[d] - 1);
  }
  return false;
}

/// The dtype in which an operator computes: that of its promoted inputs, or of its floating result.
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

/// A group of steps that share a loop, under construction.
struct Group {
  std::vector<size_t> steps;
  std::vector<Recorded> calls;
  DimVector sizes;
  std::set<int32_t> reads;                            ///< values read from memory
  std::vector<std::pair<int32_t, Geometry>> read_as;  ///< and how
  std::vector<std::pair<int32_t, Geometry>> touched;  ///< values made or written, and how

  const Geometry* touched_as(int32_t value) const {
    for (const auto& [v, g] : touched) {
      if (v == value) return &g;
    }
    return nullptr;
  }
};

class Maker {
 public:
  Maker(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed, const LoopOptions& loops)
      : segment_(segment), alive_(alive), needed_(needed), loops_(loops) {}

  std::vector<Unit> make() {
    for (size_t i = 0; i < segment_.pending.size(); ++i) {
      if (!needed_[i]) continue;
      const Step& step = *segment_.pending[i].step;
      const auto call = pointwise::recorded(step.target, step.words.data());
      if (call && is_fusable(step, *call)) {
        if (!joins(step, *call)) close();
        join(i, step, *call);
        if (group_.steps.size() >= kMaxSteps || group_.read_as.size() + group_.touched.size() >= kMaxOperands) close();
      } else {
        if (!may_go_before(step)) close();
        single(i);
      }
    }
    close();
    return std::move(units_);
  }

 private:
  static const Geometry& space_of(const Step& step, const Recorded& call) {
    return call.form == Recorded::Form::kInPlace ? step.operands[0].geometry : step.results[0].geometry;
  }

  bool is_fusable(const Step& step, const Recorded& call) const {
    const Geometry& space = space_of(step, call);
    if (space.ndim > kernel::kMaxDims || space.numel == 0) return false;
    if (call.form == Recorded::Form::kInPlace) {
      // The written tensor is the first input; elements that share memory are refused by the operator itself.
      if (!(call.tensor_mask & 1)) return false;
      for (const Operand& o : step.operands) {
        if (o.value == step.operands[0].value && !equal(o.geometry, space)) return false;
      }
      if (may_overlap(space)) return false;
    }
    const ScalarType compute = computing_dtype(step, call);
    // A divisor of zero is looked for before the loop.
    return !(call.op->int_divisor && call.form != Recorded::Form::kGradient && !is_floating_type(compute));
  }

  /// Whether the step can go into the open group.
  bool joins(const Step& step, const Recorded& call) const {
    if (group_.steps.empty()) return true;
    const Geometry& space = space_of(step, call);
    if (IntArrayRef(group_.sizes) != space.sizes()) return false;
    for (const Operand& o : step.operands) {
      if (o.value < 0) return false;
      const Geometry* as = group_.touched_as(o.value);
      if (as && !equal(*as, o.geometry)) return false;  // another view of what the loop makes
    }
    if (call.form != Recorded::Form::kInPlace) return true;
    for (const auto& [value, as] : group_.read_as) {
      if (value == step.operands[0].value && !equal(as, step.operands[0].geometry)) return false;
    }
    return true;
  }

  void join(size_t i, const Step& step, const Recorded& call) {
    if (group_.steps.empty()) group_.sizes = DimVector(space_of(step, call).sizes());
    group_.steps.push_back(i);
    group_.calls.push_back(call);
    for (const Operand& o : step.operands) {
      if (group_.touched_as(o.value)) continue;
      group_.reads.insert(o.value);
      const bool known = std::any_of(group_.read_as.begin(), group_.read_as.end(),
                                     [&](const auto& r) { return r.first == o.value && equal(r.second, o.geometry); });
      if (!known) group_.read_as.emplace_back(o.value, o.geometry);
    }
    const Operand& target = call.form == Recorded::Form::kInPlace ? step.operands[0] : step.results[0];
    if (!group_.touched_as(target.value)) group_.touched.emplace_back(target.value, target.geometry);
  }

  /// Whether a step that is no part of the open group may run before all of it.
  bool may_go_before(const Step& step) const {
    // What the group writes in place must have happened should the step throw.
    for (const auto& [value, as] : group_.touched) {
      if (!makes(value)) return false;
    }
    for (const Operand& o : step.operands) {
      if (o.value >= 0 && group_.touched_as(o.value)) return false;
    }
    for (const Write& w : step.writes) {
      if (group_.reads.contains(step.operands[w.operand].value)) return false;
    }
    return true;
  }

  void single(size_t i) { units_.push_back({{i}, nullptr, {}, 0}); }
  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t size : group_.sizes) n *= size;
    return n;
  }

  void close() {
    if (group_.steps.size() == 1) {
      single(group_.steps[0]);
    } else if (!group_.steps.empty()) {
      units_.push_back({group_.steps, build(), {}, elements()});
    }
    group_ = Group();
  }

  bool read_outside(int32_t value) const {
    for (size_t i = 0; i < segment_.pending.size(); ++i) {
      if (!needed_[i] || std::find(group_.steps.begin(), group_.steps.end(), i) != group_.steps.end()) continue;
      for (const Operand& o : segment_.pending[i].step->operands) {
        if (o.value == value) return true;
      }
    }
    return false;
  }

  std::shared_ptr<FusedSteps> build() const {
    auto fused = std::make_shared<FusedSteps>();
    fused->steps = group_.steps;
    kernel::Kernel k("fused");
    std::vector<std::pair<Operand, Id>> inputs;
    std::vector<std::pair<int32_t, Id>> current;  // values made or written so far
    std::vector<kernel::Place> places;
    const auto place_of = [&](const Operand& o) {
      kernel::Place place;
      const size_t lead = group_.sizes.size() - o.geometry.ndim;
      const auto item = static_cast<int64_t>(item_size(o.geometry.dtype));
      for (size_t d = 0; d < o.geometry.ndim; ++d) {
        place.strides[lead + d] = o.geometry.sizes()[d] == 1 ? 0 : o.geometry.strides()[d] * item;
      }
      return place;
    };
    const auto element = [&](const Operand& o) {
      for (const auto& [value, id] : current) {
        if (value == o.value) return id;
      }
      for (const auto& [known, id] : inputs) {
        if (known.value == o.value && equal(known.geometry, o.geometry)) return id;
      }
      const Id id = k.input(o.geometry.dtype);
      inputs.emplace_back(o, id);
      places.push_back(place_of(o));
      fused->operands.push_back({o.value, o.geometry.offset * static_cast<int64_t>(item_size(o.geometry.dtype))});
      return id;
    };
    for (size_t n = 0; n < group_.steps.size(); ++n) {
      const size_t i = group_.steps[n];
      const Step& step = *segment_.pending[i].step;
      const Recorded& call = group_.calls[n];
      const ScalarType dtype = computing_dtype(step, call), compute = compute_type(dtype);
      const cpu::PointwiseKernelInfo& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(call.kernel));
      size_t tensor = 0, number = 0;
      const auto param = [&](ScalarType type) {
        fused->params.push_back({i, number++});
        return k.param(type);
      };
      std::vector<Id> in, attributes;
      for (int j = 0; j < call.inputs; ++j) {
        if ((call.tensor_mask >> j) & 1) {
          in.push_back(element(step.operands[tensor++]));
        } else {
          in.push_back(param((info.mask_inputs >> j) & 1 ? kBool : compute));
        }
      }
      for (int j = 0; j < call.attributes; ++j) attributes.push_back(param(compute));
      Id id = k.call(call.kernel, dtype, in, attributes);
      const Operand& target = call.form == Recorded::Form::kInPlace ? step.operands[0] : step.results[0];
      if (k.nodes()[static_cast<size_t>(id)].dtype != target.geometry.dtype) id = k.convert(id, target.geometry.dtype);
      const auto at = std::find_if(current.begin(), current.end(), [&](const auto& c) { return c.first == target.value; });
      if (at != current.end()) {
        at->second = id;
      } else {
        current.emplace_back(target.value, id);
      }
    }
    finish(*fused, k, current, places, place_of);
    return fused;
  }

  template <class PlaceOf>
  void finish(FusedSteps& fused, kernel::Kernel& k, const std::vector<std::pair<int32_t, Id>>& current, std::vector<kernel::Place>& places,
              const PlaceOf& place_of) const {
    for (const auto& [value, id] : current) {
      const bool made_here = makes(value);
      if (made_here && !alive_[static_cast<size_t>(value)] && !read_outside(value)) continue;
      const Operand o{value, *group_.touched_as(value)};
      k.output(id, o.geometry.dtype);
      places.push_back(place_of(o));
      fused.operands.push_back({value, o.geometry.offset * static_cast<int64_t>(item_size(o.geometry.dtype))});
      if (made_here) fused.made.emplace_back(value, bytes_of(value));
    }
    fused.space.dims = static_cast<int>(group_.sizes.size());
    std::copy(group_.sizes.begin(), group_.sizes.end(), fused.space.sizes);
    fused.space.places = places.data();
    fused.places = places;
    kernel::collapse(fused.space, fused.places.data(), k.operands(), false);
    fused.space.places = nullptr;
    // Generating code takes milliseconds: small loops are interpreted. The rule, not the clock, decides, and both give equal bits.
    const bool generate = loops_.generate_code && elements() >= loops_.code_from_elements;
    fused.kernel = kernel::compile_kernel(k, generate ? kernel::Backend::kJit : kernel::Backend::kInterpreter, loops_.cache_dir);
  }

  bool makes(int32_t value) const {
    for (const size_t i : group_.steps) {
      for (const Operand& r : segment_.pending[i].step->results) {
        if (r.value == value) return true;
      }
    }
    return false;
  }
  size_t bytes_of(int32_t value) const {
    for (const size_t i : group_.steps) {
      const Step& step = *segment_.pending[i].step;
      for (const Operand& r : step.results) {
        if (r.value == value) return step.result_storages[static_cast<size_t>(value - step.first_result_value)].bytes;
      }
    }
    return 0;
  }

  const Segment& segment_;
  const std::vector<bool>& alive_;
  const std::vector<bool>& needed_;
  const LoopOptions& loops_;
  Group group_;
  std::vector<Unit> units_;
};

}  // namespace

std::vector<Unit> fused_units(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed,
                             const LoopOptions& loops) {
  return Maker(segment, alive, needed, loops).make();
}

void run_fused(const FusedSteps& fused, const Segment& segment, std::vector<IntrusivePtr<StorageImpl>>& memory) {
  for (const auto& [value, bytes] : fused.made) {
    memory[static_cast<size_t>(value)] = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(bytes, Device()));
  }
  SmallVector<kernel::Place, 8> places(ArrayRef<kernel::Place>(fused.places.data(), fused.places.size()));
  for (size_t k = 0; k < places.size(); ++k) {
    places[k].data = static_cast<char*>(memory[static_cast<size_t>(fused.operands[k].value)]->data) + fused.operands[k].offset;
  }
  SmallVector<Scalar, 8> numbers;
  for (const FusedSteps::Param& p : fused.params) numbers.push_back(segment.numbers[segment.pending[p.step].first_number + p.number]);
  kernel::Launch launch = fused.space;
  launch.places = places.data();
  launch.params = numbers.data();
  fused.kernel->run(launch);
}

}  // namespace taeda::lazy
