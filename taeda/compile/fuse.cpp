// SPDX-License-Identifier: Apache-2.0
// Which steps may share a loop, and which loops a launch.
#include "taeda/compile/fuse.h"

#include <algorithm>

#include "taeda/compile/fuse_group.h"
#include "taeda/compile/outer.h"
#include "taeda/core/overlap.h"

namespace taeda::lazy {

namespace {

using pointwise::Recorded;

constexpr size_t kMaxOperands = 24, kMaxSteps = 64;
/// Longer rows are only summed, block by block: others would need room for whole rows.
constexpr int64_t kLongRow = 1 << 16;
/// Elements of a pointwise step that may be a loop of its own.
constexpr int64_t kSmallLoop = 1 << 14;
/// Launches that go together.
constexpr size_t kMaxLaunches = 256;

class Maker {
 public:
  Maker(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed, const LoopOptions& loops)
      : segment_(segment), alive_(alive), needed_(needed), loops_(loops), readers_(alive.size()) {
    for (size_t i = 0; i < segment.pending.size(); ++i) {
      if (!needed[i]) continue;
      for (const Operand& o : step_at(i).operands) {
        if (o.value >= 0) readers_[static_cast<size_t>(o.value)].push_back(i);
      }
    }
  }

  std::vector<Unit> make() {
    std::vector<std::shared_ptr<OuterSum>> outer(segment_.pending.size());
    for (OuterSum& sum : outer_sums(segment_, alive_, needed_)) {
      const auto shared = std::make_shared<OuterSum>(std::move(sum));
      for (const size_t i : shared->steps) outer[i] = shared;
    }
    for (size_t i = 0; i < segment_.pending.size(); ++i) {
      if (!needed_[i]) continue;
      if (outer[i]) {
        if (i != outer[i]->steps.back()) continue;
        close();
        units_.push_back({outer[i]->steps, nullptr, {}, {}, outer[i]->m * outer[i]->n, outer[i]});
        continue;
      }
      const Step& step = step_at(i);
      if (auto member = member_of(i, step)) {
        if (!joins(*member, step)) {
          close();
          member->per_row = false;
        }
        if (!group_.members.empty() || opens(*member, step)) {
          join(std::move(*member), step);
          if (group_.members.size() >= kMaxSteps || group_.read_as.size() + group_.touched.size() >= kMaxOperands) close();
          continue;
        }
      }
      if (!may_go_before(step)) close();
      single(i);
    }
    close();
    return batched();
  }

 private:
  const Step& step_at(size_t i) const { return *segment_.pending[i].step; }

  static const Geometry& space_of(const Step& step, const Recorded& call) {
    return call.form == Recorded::Form::kInPlace ? step.operands[0].geometry : step.results[0].geometry;
  }

  /// The step as part of a loop; nothing when it cannot be one.
  static std::optional<Member> member_of(size_t i, const Step& step) {
    if (const auto call = pointwise::recorded(step.target, step.words.data())) {
      if (!is_fusable(step, *call)) return std::nullopt;
      return Member{i, *call};
    }
    auto row = row_step(step);
    if (!row || step.operands[0].geometry.ndim > kernel::kMaxDims) return std::nullopt;
    return Member{i, {}, std::move(row)};
  }

  static bool has_zero_dim(const Step& step) {
    return std::any_of(step.operands.begin(), step.operands.end(), [](const Operand& o) { return o.geometry.ndim == 0; });
  }
  static bool is_fusable(const Step& step, const Recorded& call) {
    const Geometry& space = space_of(step, call);
    if (space.ndim > kernel::kMaxDims || space.numel == 0) return false;
    if (call.form == Recorded::Form::kInPlace) {
      // The written tensor is the first input; elements that share memory are refused by the operator itself.
      if (!(call.tensor_mask & 1)) return false;
      for (const Operand& o : step.operands) {
        if (o.value == step.operands[0].value && !equal(o.geometry, space)) return false;
      }
      if (detail::may_overlap_itself(space.sizes(), space.strides())) return false;
    }
    const ScalarType compute = computing_dtype(step, call);
    // Numbers wrap to integers narrower than int64, which the operator itself does.
    const bool numbers = call.attributes > 0 || call.tensor_mask + 1 != uint64_t{1} << call.inputs || has_zero_dim(step);
    if (is_integral_type(compute, true) && compute != kLong && numbers) return false;
    // A divisor of zero is looked for before the loop.
    return !(call.op->int_divisor && call.form != Recorded::Form::kGradient && !is_floating_type(compute));
  }

  /// Whether the step can go into the open group.
  bool joins(Member& m, const Step& step) const {
    if (group_.members.empty()) return true;
    if (m.row) return row_joins(*m.row, step);
    const Geometry& space = space_of(step, m.call);
    const bool in_place = m.call.form == Recorded::Form::kInPlace;
    if (space.sizes() != IntArrayRef(group_.sizes)) {
      m.per_row = group_.row_dims > 0 && !in_place && group_.is_row_shape(space.sizes());
      return m.per_row && reads_only_rows(step, space.ndim);
    }
    if (group_.sealed) return false;
    for (const Operand& o : step.operands) {
      if (o.value < 0) return false;
      const Touched* as = group_.find(o.value);
      if (!as && !group_.row_stride(o.geometry, group_.row_dims)) return false;
      if (!as) continue;
      if (as->uniform ? !is_same_rows(*as, o.geometry, space.ndim) : !equal(as->geometry, o.geometry)) return false;  // another view
    }
    if (!group_.row_stride(space, group_.row_dims)) return false;
    if (!in_place) return true;
    const Touched* written = group_.find(step.operands[0].value);
    if (written && written->uniform) return false;
    for (const auto& [value, as] : group_.read_as) {
      if (value == step.operands[0].value && !equal(as, step.operands[0].geometry)) return false;
    }
    return true;
  }

  bool is_same_rows(const Touched& made, const Geometry& read, size_t ndim) const {
    return read.offset == made.geometry.offset && read.numel == made.geometry.numel && read.dtype == made.geometry.dtype &&
           group_.reads_rows(read, ndim);
  }

  /// A pointwise step over one element for each row.
  bool reads_only_rows(const Step& step, size_t ndim) const {
    for (const Operand& o : step.operands) {
      if (o.value < 0) return false;
      const Touched* as = group_.find(o.value);
      if (as && !(as->uniform && is_same_rows(*as, o.geometry, ndim))) return false;
    }
    return true;
  }

  bool row_joins(const RowStep& row, const Step& step) const {
    if (group_.sealed || !rows_fit(group_, row, step)) return false;
    bool connected = false;
    const size_t weights = step.results.size() > 1 ? 1 : step.operands.size();  // a layer norm's weight and bias
    for (size_t k = 0; k < step.operands.size(); ++k) {
      const Operand& o = step.operands[k];
      const Touched* as = o.value < 0 ? nullptr : group_.find(o.value);
      if (as && (k >= weights || as->uniform || !equal(as->geometry, o.geometry))) return false;
      connected |= as != nullptr;
    }
    if (!connected) return false;
    if (group_.row_dims > 0) return true;
    const auto one_stride = [&](const Geometry& g) { return group_.row_stride(g, row.row_dims).has_value(); };
    return std::all_of(group_.read_as.begin(), group_.read_as.end(), [&](const auto& r) { return one_stride(r.second); }) &&
           std::all_of(group_.touched.begin(), group_.touched.end(), [&](const Touched& t) { return one_stride(t.geometry); }) &&
           (row_length(step, row) <= kLongRow || only_summed(row, step));
  }

  static int64_t row_length(const Step& step, const RowStep& row) {
    const IntArrayRef sizes = step.operands[0].geometry.sizes();
    int64_t n = 1;
    for (size_t d = sizes.size() - static_cast<size_t>(row.row_dims); d < sizes.size(); ++d) n *= sizes[d];
    return n;
  }
  /// Everything becomes one number, and nobody else reads what is summed: it is made and forgotten block by block.
  bool only_summed(const RowStep& row, const Step& step) const {
    const auto in = static_cast<size_t>(step.operands[0].value);
    return row.is_sum && static_cast<size_t>(row.row_dims) == step.operands[0].geometry.ndim && !alive_[in] && readers_[in].size() == 1 &&
           group_.find(step.operands[0].value) != nullptr;
  }

  /// Whether the step's tensors and results have the forms that `group` (its sizes and rows) knows.
  static bool rows_fit(const Group& group, const RowStep& row, const Step& step) {
    if (step.operands[0].geometry.sizes() != IntArrayRef(group.sizes) || (group.row_dims > 0 && group.row_dims != row.row_dims)) return false;
    if (row_length(step, row) < 2) return false;
    Group with_rows;
    with_rows.sizes = group.sizes;
    with_rows.row_dims = row.row_dims;
    for (size_t k = 0; k < step.results.size(); ++k) {
      const Geometry& g = step.results[k].geometry;
      const bool fits = row.uniform_results[k] ? with_rows.is_row_shape(g.sizes()) : g.sizes() == IntArrayRef(group.sizes);
      if (!fits || !g.contiguous) return false;
    }
    return true;
  }

  /// Whether a step is worth opening a group for.
  static bool opens(const Member& m, const Step& step) {
    if (!m.row) return true;
    Group group;
    group.sizes = DimVector(step.operands[0].geometry.sizes());
    return rows_fit(group, *m.row, step) && row_length(step, *m.row) <= kLongRow;
  }

  void join(Member m, const Step& step) {
    if (group_.members.empty()) group_.sizes = DimVector((m.row ? step.operands[0].geometry : space_of(step, m.call)).sizes());
    for (const Operand& o : step.operands) {
      if (o.value < 0 || group_.find(o.value)) continue;
      group_.reads.insert(o.value);
      const bool known = std::any_of(group_.read_as.begin(), group_.read_as.end(),
                                     [&](const auto& r) { return r.first == o.value && equal(r.second, o.geometry); });
      if (!known) group_.read_as.emplace_back(o.value, o.geometry);
    }
    if (m.row) {
      group_.row_dims = m.row->row_dims;
      group_.sealed = row_length(step, *m.row) > kLongRow;
      for (size_t k = 0; k < step.results.size(); ++k) {
        group_.touched.push_back({step.results[k].value, step.results[k].geometry, m.row->uniform_results[k]});
      }
    } else {
      const Operand& target = m.call.form == Recorded::Form::kInPlace ? step.operands[0] : step.results[0];
      if (!group_.find(target.value)) group_.touched.push_back({target.value, target.geometry, m.per_row});
    }
    group_.members.push_back(std::move(m));
  }

  /// Whether a step that is no part of the open group may run before all of it.
  bool may_go_before(const Step& step) const {
    // What the group writes in place must have happened should the step throw.
    for (const Touched& t : group_.touched) {
      if (!makes(t.value)) return false;
    }
    for (const Operand& o : step.operands) {
      if (o.value >= 0 && group_.find(o.value)) return false;
    }
    for (const Write& w : step.writes) {
      if (group_.reads.contains(step.operands[w.operand].value)) return false;
    }
    return true;
  }

  void single(size_t i) { units_.push_back({{i}, nullptr, {}, {}, 0}); }

  void close() {
    Group group;
    std::swap(group, group_);
    if (group.members.size() == 1 && !stands_alone(group) && !is_one_of_many(group)) {
      single(group.members[0].step);
    } else if (!group.members.empty()) {
      add(group);
    }
  }

  bool stands_alone(const Group& group) const { return loops_.alone && !group.members[0].row && group.elements() <= kSmallLoop; }

  /// A pointwise step like the one before or after it, over other tensors: many such go together.
  bool is_one_of_many(const Group& group) const {
    const Member& m = group.members[0];
    if (m.row) return false;
    const auto alike = [&](size_t i) {
      const Step &a = step_at(m.step), &b = step_at(i);
      return a.target.run == b.target.run && a.target.detail == b.target.detail && a.target.variant == b.target.variant && a.words == b.words;
    };
    return (m.step > 0 && alike(m.step - 1)) || (m.step + 1 < segment_.pending.size() && alike(m.step + 1));
  }

  void add(const Group& group) {
    std::vector<size_t> steps;
    for (const Member& m : group.members) steps.push_back(m.step);
    std::vector<bool> wanted = alive_;
    for (const Touched& t : group.touched) {
      const std::vector<size_t>& readers = readers_[static_cast<size_t>(t.value)];
      const auto outside = [&](size_t i) { return !std::binary_search(steps.begin(), steps.end(), i); };
      if (std::any_of(readers.begin(), readers.end(), outside)) wanted[static_cast<size_t>(t.value)] = true;
    }
    LoopOptions options = loops_;
    options.generate_code = options.generate_code && !(group.members.size() == 1 && stands_alone(group));
    auto fused = build_kernel(group, segment_, wanted, options);
    units_.push_back({std::move(steps), std::move(fused), {}, {}, group.elements()});
  }

  bool makes(int32_t value) const {
    for (const Member& m : group_.members) {
      for (const Operand& r : step_at(m.step).results) {
        if (r.value == value) return true;
      }
    }
    return false;
  }

  /// Neighbouring loops of one kernel over tensors that have nothing to do with each other share a launch.
  std::vector<Unit> batched() {
    std::vector<Unit> units;
    std::set<int32_t> touched;  // by the last unit
    std::set<int32_t> read;
    for (Unit& unit : units_) {
      std::set<int32_t> own_touched, own_read;
      for (const size_t i : unit.steps) {
        const Step& step = step_at(i);
        for (const Operand& o : step.operands) own_read.insert(o.value);
        for (const Operand& r : step.results) own_touched.insert(r.value);
        for (const Write& w : step.writes) own_touched.insert(step.operands[w.operand].value);
      }
      const auto meet = [](const std::set<int32_t>& a, const std::set<int32_t>& b) {
        return std::any_of(a.begin(), a.end(), [&](int32_t v) { return v >= 0 && b.contains(v); });
      };
      const bool together = unit.fused && !units.empty() && units.back().fused && units.back().fused->kernel == unit.fused->kernel &&
                            units.back().more.size() + 1 < kMaxLaunches && !meet(own_touched, touched) && !meet(own_touched, read) &&
                            !meet(own_read, touched);
      if (together) {
        Unit& last = units.back();
        last.steps.insert(last.steps.end(), unit.steps.begin(), unit.steps.end());
        last.more.push_back(std::move(unit.fused));
        last.elements += unit.elements;
        touched.merge(own_touched);
        read.merge(own_read);
      } else {
        units.push_back(std::move(unit));
        touched = std::move(own_touched);
        read = std::move(own_read);
      }
    }
    // A loop of one step that found no company is left to its operator.
    for (Unit& unit : units) {
      const bool small = loops_.alone && unit.elements <= kSmallLoop;
      if (unit.fused && unit.steps.size() == 1 && !small) unit.fused = nullptr, unit.elements = 0;
    }
    return units;
  }

  const Segment& segment_;
  const std::vector<bool>& alive_;
  const std::vector<bool>& needed_;
  const LoopOptions& loops_;
  std::vector<std::vector<size_t>> readers_;  ///< by value, the steps that read it
  Group group_;
  std::vector<Unit> units_;
};

}  // namespace

std::vector<Unit> fused_units(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed,
                             const LoopOptions& loops) {
  return Maker(segment, alive, needed, loops).make();
}

void run_fused(const Unit& unit, const Segment& segment, std::vector<IntrusivePtr<StorageImpl>>& memory) {
  const size_t count = unit.more.size() + 1;
  SmallVector<kernel::Launch, 2> launches;
  size_t place_count = 0, number_count = 0;
  for (size_t n = 0; n < count; ++n) {
    const FusedSteps& fused = n == 0 ? *unit.fused : *unit.more[n - 1];
    place_count += fused.places.size();
    number_count += fused.params.size();
    for (const auto& [value, bytes] : fused.made) {
      memory[static_cast<size_t>(value)] = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(bytes, Device()));
    }
  }
  SmallVector<kernel::Place, 16> places;
  SmallVector<Scalar, 16> numbers;
  places.reserve(place_count);  // launches point into both
  numbers.reserve(number_count);
  for (size_t n = 0; n < count; ++n) {
    const FusedSteps& fused = n == 0 ? *unit.fused : *unit.more[n - 1];
    kernel::Launch launch = fused.space;
    launch.places = places.data() + places.size();
    launch.params = numbers.data() + numbers.size();
    for (size_t k = 0; k < fused.places.size(); ++k) {
      kernel::Place place = fused.places[k];
      place.data = static_cast<char*>(memory[static_cast<size_t>(fused.operands[k].value)]->data) + fused.operands[k].offset;
      places.push_back(place);
    }
    for (const FusedSteps::Param& p : fused.params) numbers.push_back(segment.numbers[segment.pending[p.step].first_number + p.number]);
    launches.push_back(launch);
  }
  unit.fused->kernel->run(std::span<const kernel::Launch>(launches.data(), count));
}

}  // namespace taeda::lazy
