// SPDX-License-Identifier: Apache-2.0
// Copies, the second run, and the comparison.
#include "taeda/compile/check.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "taeda/compile/compile.h"
#include "taeda/compile/log.h"
#include "taeda/core/generator.h"

namespace taeda::lazy {

namespace {

IntrusivePtr<StorageImpl> copy_of(const StorageImpl& s) {
  auto copy = IntrusivePtr<StorageImpl>::adopt(StorageImpl::allocate(s.nbytes, s.device));
  if (s.nbytes) std::memcpy(copy->data, s.data, s.nbytes);
  return copy;
}

/// Its results are whatever the memory held.
bool uninitialised(const Step& step) { return std::strstr(step.target.name, "empty") != nullptr; }

template <class Bits>
int64_t first_difference(const void* got, const void* want, size_t nbytes, uint64_t infinity) {
  const auto nan = [&](Bits v) { return infinity != 0 && (v & (static_cast<Bits>(~Bits{0}) >> 1)) > infinity; };
  for (size_t i = 0; i < nbytes / sizeof(Bits); ++i) {
    Bits a, b;
    std::memcpy(&a, static_cast<const char*>(got) + i * sizeof(Bits), sizeof(Bits));
    std::memcpy(&b, static_cast<const char*>(want) + i * sizeof(Bits), sizeof(Bits));
    if (a != b && !(nan(a) && nan(b))) return static_cast<int64_t>(i * sizeof(Bits));
  }
  return -1;
}

/// The byte at which the elements differ, or -1. A NaN equals every NaN.
int64_t first_difference(const void* got, const void* want, size_t nbytes, ScalarType dtype) {
  if (nbytes == 0 || std::memcmp(got, want, nbytes) == 0) return -1;
  switch (dtype) {
    case kFloat:
    case kComplexFloat: return first_difference<uint32_t>(got, want, nbytes, 0x7f800000);
    case kDouble:
    case kComplexDouble: return first_difference<uint64_t>(got, want, nbytes, 0x7ff0000000000000);
    case kHalf:
    case kComplexHalf: return first_difference<uint16_t>(got, want, nbytes, 0x7c00);
    case kBFloat16: return first_difference<uint16_t>(got, want, nbytes, 0x7f80);
    default: return first_difference<uint8_t>(got, want, nbytes, 0);
  }
}

/// The whole memory as one dimension of `dtype`.
Geometry whole(const StorageImpl& s, ScalarType dtype) {
  Geometry g;
  g.dtype = dtype;
  g.ndim = 1;
  g.numel = static_cast<int64_t>(s.nbytes / elementSize(dtype));
  g.dims[0] = g.numel;
  g.dims[kInlineDims] = 1;
  return g;
}

/// Empty, or the first element that differs.
std::string difference(const IntrusivePtr<StorageImpl>& got, const IntrusivePtr<StorageImpl>& want, const Geometry& geometry) {
  const Tensor a = geometry.over(got).contiguous(), b = geometry.over(want).contiguous();
  const int64_t at = first_difference(a.const_data_ptr(), b.const_data_ptr(), a.nbytes(), geometry.dtype);
  if (at < 0) return "";
  const int64_t element = at / static_cast<int64_t>(elementSize(geometry.dtype));
  const auto value = [&](const Tensor& t) { return t.flatten()[element].item(); };
  return str("element ", element, " of ", geometry.dtype, geometry.sizes(), " is ", value(a), " for ", value(b));
}

void set_states(const std::vector<std::pair<Generator, std::vector<uint8_t>>>& states) {
  for (auto [generator, bytes] : states) {
    const std::lock_guard lock(generator.mutex());
    generator.set_state_bytes(bytes);
  }
}

}  // namespace

Check::Check(const Plan& plan, const Segment& segment, const Memory& memory)
    : plan_(plan), segment_(segment), unit_memory_(memory.size()), segment_memory_(memory.size()) {
  for (size_t v = 0; v < memory.size(); ++v) {
    if (memory[v]) segment_memory_[v] = copy_of(*memory[v]);
  }
  std::vector<size_t> steps(segment.pending.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  const States before = generator_states(steps);
  whole_ = run_reference(steps, segment_memory_);
  set_states(before);
}

/// The states of all generators that the steps may draw from; none when no step draws.
Check::States Check::generator_states(const std::vector<size_t>& steps) const {
  if (std::none_of(steps.begin(), steps.end(), [&](size_t i) { return segment_.pending[i].step->random; })) return {};
  std::vector<Generator> all{default_generator()};
  for (const size_t i : steps) {
    for (const Generator& g : segment_.pending[i].step->generators) all.push_back(g);
  }
  States states;
  for (const Generator& g : all) {
    if (!g.defined()) continue;
    const std::lock_guard lock(g.mutex());
    states.emplace_back(g, g.state_bytes());
  }
  return states;
}

/// False when a step throws, or reads memory that nobody has written.
bool Check::run_reference(const std::vector<size_t>& steps, Memory& memory) const {
  Operands operands;
  try {
    for (const size_t i : steps) {
      const Pending& pending = segment_.pending[i];
      if (uninitialised(*pending.step)) return false;
      run_step(*pending.step, segment_.numbers.data() + pending.first_number, memory, operands);
      for (size_t k = 0; k < pending.step->result_storages.size(); ++k) {
        IntrusivePtr<StorageImpl>& made = memory[static_cast<size_t>(pending.step->first_result_value) + k];
        if (made->use_count() > 1) made = copy_of(*made);  // shared with something that outlives the call
      }
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

void Check::before(const Unit& unit, const Memory& memory) {
  std::fill(unit_memory_.begin(), unit_memory_.end(), IntrusivePtr<StorageImpl>());
  for (const size_t i : unit.steps) {
    for (const Operand& o : segment_.pending[i].step->operands) {
      if (o.value < 0) continue;
      const auto v = static_cast<size_t>(o.value);
      if (memory[v] && !unit_memory_[v]) unit_memory_[v] = copy_of(*memory[v]);
    }
  }
  unit_generators_ = generator_states(unit.steps);
}

void Check::after(const Unit& unit, const Memory& memory) {
  std::vector<size_t> steps = unit.steps;
  std::sort(steps.begin(), steps.end());
  const States drawn = generator_states(steps);
  set_states(unit_generators_);
  const bool ran = run_reference(steps, unit_memory_);
  const States drawn_again = generator_states(steps);
  set_states(drawn);
  if (!ran) return;
  compare(steps, unit_memory_, memory, unit.steps.size() > 1 ? "a loop" : "a run");
  for (size_t g = 0; g < drawn.size(); ++g) {
    if (drawn[g].second != drawn_again[g].second) {
      throw CompileError(TAEDA_HERE, str("[compile] a random operator must draw the same when it runs again; ",
                                         call_text(*segment_.pending[steps[0]].step), " did not; report this operator"));
    }
  }
}

void Check::finish(const Memory& memory) const {
  if (!whole_) return;
  std::vector<size_t> steps(segment_.pending.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  Memory kept = memory;
  for (size_t v = 0; v < kept.size(); ++v) {
    if (!plan_.alive[v]) kept[v].reset();
  }
  compare(steps, segment_memory_, kept, "the plan");
}

/// Where both have memory. A difference is that of the first step whose result, or what it wrote, no later step overwrites.
void Check::compare(const std::vector<size_t>& steps, const Memory& want, const Memory& got, const char* whose) const {
  struct Made {
    size_t step;
    Geometry geometry;
    bool written;
  };
  std::vector<std::optional<Made>> made(got.size());
  const auto both = [&](int32_t v) { return v >= 0 && got[static_cast<size_t>(v)] && want[static_cast<size_t>(v)]; };
  for (const size_t i : steps) {
    const Step& step = *segment_.pending[i].step;
    for (const Operand& o : step.operands) {
      if (!both(o.value)) continue;
      std::optional<Made>& m = made[static_cast<size_t>(o.value)];
      if (!m) m = Made{i, whole(*got[static_cast<size_t>(o.value)], o.geometry.dtype), false};
    }
    for (const Write& w : step.writes) {
      const Operand& o = step.operands[w.operand];
      if (both(o.value)) made[static_cast<size_t>(o.value)]->step = i, made[static_cast<size_t>(o.value)]->written = true;
    }
    for (const Operand& r : step.results) {
      if (both(r.value)) made[static_cast<size_t>(r.value)] = Made{i, r.geometry, true};
    }
  }
  for (const size_t i : steps) {
    for (size_t v = 0; v < made.size(); ++v) {
      if (!made[v] || made[v]->step != i) continue;
      const std::string found = difference(got[v], want[v], made[v]->geometry);
      if (found.empty()) continue;
      const Step& step = *segment_.pending[i].step;
      throw CompileError(
          TAEDA_HERE, str("[compile] compiled and eager results must be equal; ", whose, " of ", steps.size(), " operators changed the ",
                          made[v]->written ? "result of " : "input of ", call_text(step), ": ", found,
                          "; report these operators, and use backend = CompileBackend::kEager until then"));
    }
  }
}

}  // namespace taeda::lazy
