// SPDX-License-Identifier: Apache-2.0
// Finds sums of outer products, and forms them.
#include "taeda/compile/outer.h"

#include <algorithm>
#include <string_view>

#include "taeda/cpu/outer_sum.h"
#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/pointwise_recorded.h"
#include "taeda/ops/registry.h"

namespace taeda::lazy {

namespace {

using pointwise::Recorded;

bool is_whole(const Geometry& g) { return g.contiguous && g.offset == 0; }

class Finder {
 public:
  Finder(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed)
      : segment_(segment), alive_(alive), needed_(needed), open_(alive.size(), -1), inside_(alive.size(), -1) {}

  std::vector<OuterSum> find() {
    for (size_t i = 0; i < segment_.pending.size(); ++i) {
      if (!needed_[i]) continue;
      const Step& step = *segment_.pending[i].step;
      if (!start(i, step) && !grow(i, step)) close_all(step);
    }
    std::vector<OuterSum> found;
    for (OuterSum& s : sums_) {
      if (s.terms.size() >= 2 && keeps_inputs(s)) found.push_back(std::move(s));
    }
    return found;
  }

 private:
  /// What may become a part of a sum: a product over one inner dimension, or a sum over dimensions of size 1.
  bool start(size_t i, const Step& step) {
    if (!step.target.info || step.results.size() != 1 || step.results[0].value < 0) return false;
    const Geometry& c = step.results[0].geometry;
    if (c.numel == 0 || (c.dtype != kFloat && c.dtype != kDouble) || !is_whole(c)) return false;
    OuterSum s;
    const std::string_view name = step.target.info->name;
    if (name == "mm" && step.operands.size() == 2) {
      const Geometry &a = step.operands[0].geometry, &b = step.operands[1].geometry;
      if (a.sizes()[1] != 1 || (b.strides()[1] != 1 && b.sizes()[1] != 1)) return false;
      s.terms = {{step.operands[0].value, step.operands[1].value, a.offset, a.strides()[0], b.offset}};
      s.m = c.sizes()[0];
      s.n = c.sizes()[1];
    } else if (name == "sum" && step.operands.size() == 1) {
      const Geometry& from = step.operands[0].geometry;
      if (from.numel != c.numel || from.dtype != c.dtype || !from.contiguous) return false;
      s.terms = {{-1, step.operands[0].value, 0, 0, from.offset}};
      s.n = c.numel;
    } else {
      return false;
    }
    close_all(step);  // reads its operands
    s.steps = {i};
    s.dtype = c.dtype;
    s.result = step.results[0].value;
    open_[static_cast<size_t>(s.result)] = static_cast<int32_t>(sums_.size());
    sums_.push_back(std::move(s));
    return true;
  }

  static int add_kernel() {
    static const int id = cpu::find_pointwise_kernel("Add");
    return id;
  }

  /// An addition of a product to a sum.
  bool grow(size_t i, const Step& step) {
    const auto call = pointwise::recorded(step.target, step.words.data());
    if (!call || call->form == Recorded::Form::kGradient || call->kernel != add_kernel() ||
        call->tensor_mask != 3 || call->inputs != 2 || call->attributes != 1) {
      return false;
    }
    const Operand &x = step.operands[0], &y = step.operands[1];
    if (x.value < 0 || y.value < 0 || x.value == y.value) return false;
    const int32_t p = open_[static_cast<size_t>(x.value)], q = open_[static_cast<size_t>(y.value)];
    if (p < 0 || q < 0) return false;
    OuterSum &first = sums_[static_cast<size_t>(p)], &second = sums_[static_cast<size_t>(q)];
    if (first.m != second.m || first.n != second.n || first.dtype != second.dtype || !is_whole(x.geometry) || !is_whole(y.geometry) ||
        x.geometry.sizes() != y.geometry.sizes() || x.geometry.dtype != first.dtype || y.geometry.dtype != first.dtype ||
        x.geometry.numel != first.m * first.n) {
      return false;
    }
    const bool in_place = call->form == Recorded::Form::kInPlace;
    if (alive_[static_cast<size_t>(y.value)] || (!in_place && (alive_[static_cast<size_t>(x.value)] || step.results[0].value < 0))) return false;
    if (first.terms.size() > 1 && second.terms.size() > 1) return false;
    OuterSum& sum = second.terms.size() > 1 ? second : first;
    OuterSum& part = &sum == &first ? second : first;
    sum.terms.push_back(part.terms[0]);
    sum.steps.insert(sum.steps.end(), part.steps.begin(), part.steps.end());
    sum.steps.push_back(i);
    sum.adds.push_back(i);
    part.terms.clear();
    open_[static_cast<size_t>(x.value)] = open_[static_cast<size_t>(y.value)] = -1;
    sum.result = in_place ? x.value : step.results[0].value;
    const auto index = static_cast<int32_t>(&sum - sums_.data());
    for (const int32_t v : {x.value, y.value}) {
      if (v != sum.result) inside_[static_cast<size_t>(v)] = index;
    }
    open_[static_cast<size_t>(sum.result)] = index;
    return true;
  }

  /// Somebody else reads or writes: what was added up so far must be there, and so must the parts.
  void close_all(const Step& step) {
    for (const Operand& o : step.operands) {
      if (o.value < 0) continue;
      open_[static_cast<size_t>(o.value)] = -1;
      const int32_t whole = inside_[static_cast<size_t>(o.value)];
      if (whole < 0) continue;
      OuterSum& sum = sums_[static_cast<size_t>(whole)];
      open_[static_cast<size_t>(sum.result)] = -1;
      sum.terms.clear();
    }
  }

  /// Whether the vectors are at the last step what they were when their products were due.
  bool keeps_inputs(OuterSum& s) const {
    std::sort(s.steps.begin(), s.steps.end());
    std::vector<int32_t> inputs;
    for (const OuterSum::Term& t : s.terms) inputs.insert(inputs.end(), {t.column, t.row});
    std::sort(inputs.begin(), inputs.end());
    for (size_t i = s.steps.front(); i < s.steps.back(); ++i) {
      if (!needed_[i] || std::binary_search(s.steps.begin(), s.steps.end(), i)) continue;
      const Step& step = *segment_.pending[i].step;
      for (const Write& w : step.writes) {
        if (std::binary_search(inputs.begin(), inputs.end(), step.operands[w.operand].value)) return false;
      }
    }
    return true;
  }

  const Segment& segment_;
  const std::vector<bool>&alive_, &needed_;
  std::vector<int32_t> open_;    ///< by value: the sum that it is, if that may grow
  std::vector<int32_t> inside_;  ///< by value: the sum that it is a part of
  std::vector<OuterSum> sums_;
};

}  // namespace

std::vector<OuterSum> outer_sums(const Segment& segment, const std::vector<bool>& alive, const std::vector<bool>& needed) {
  return Finder(segment, alive, needed).find();
}

void run_outer_sum(const OuterSum& sum, const Segment& segment, Memory& memory, Operands& operands) {
  const auto number = [&](size_t i) { return segment.numbers.data() + segment.pending[i].first_number; };
  if (std::any_of(sum.adds.begin(), sum.adds.end(), [&](size_t i) { return !number(i)->equal(1); })) {
    for (const size_t i : sum.steps) run_step(*segment.pending[i].step, number(i), memory, operands);
    return;
  }
  const size_t item = item_size(sum.dtype);
  std::vector<cpu::OuterTerm> terms;
  terms.reserve(sum.terms.size());
  const auto at = [&](int32_t value, int64_t offset) {
    return static_cast<const char*>(memory[static_cast<size_t>(value)]->data) + offset * static_cast<int64_t>(item);
  };
  static constexpr float kOne = 1;
  static constexpr double kWideOne = 1;
  const void* one = sum.dtype == kFloat ? static_cast<const void*>(&kOne) : &kWideOne;
  for (const OuterSum::Term& t : sum.terms) {
    terms.push_back({t.column < 0 ? one : at(t.column, t.column_offset), t.column_stride, at(t.row, t.row_offset)});
  }
  auto made = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(static_cast<size_t>(sum.m * sum.n) * item, Device()));
  cpu::outer_sum(sum.dtype, sum.m, sum.n, terms, made->data);
  memory[static_cast<size_t>(sum.result)] = std::move(made);
}

}  // namespace taeda::lazy
