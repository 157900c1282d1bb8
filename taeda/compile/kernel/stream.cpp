// SPDX-License-Identifier: Apache-2.0
// Sums of everything: one long row whose elements are made, summed and forgotten block by block. Partial sums are formed and added as the eager sum
// of a whole tensor forms and adds them, so that the bits are its bits for every number of threads.
#include <algorithm>
#include <cstring>

#include "taeda/compile/kernel/run.h"
#include "taeda/core/parallel.h"
#include "taeda/cpu/reduce_simd.h"
#include "taeda/cpu/scratch.h"
#include "taeda/cpu/simd_target.h"

namespace taeda::kernel {

namespace {

/// Elements made at a time: a multiple of every instruction set's block of sums.
constexpr int64_t kStreamBlock = 4096;

/// Adds the sum of x to a total as one call over a longer row would: block by block, then whole steps, then what is left.
template <class T>
void add_sum(double (*row)(const T*, int64_t), const T* x, int64_t n, double& total) {
  const int64_t lanes = (int64_t{16} << static_cast<int>(cpu::simd_target())) / static_cast<int64_t>(sizeof(T));
  const int64_t step = cpu::kSumStep * lanes, block = cpu::kSumBlock * step;
  int64_t i = 0;
  for (; i + block <= n; i += block) total += row(x + i, block);
  const int64_t steps = (n - i) / step * step;
  if (steps > 0) total += row(x + i, steps);
  if (i + steps < n) total += row(x + i + steps, n - i - steps);
}

}  // namespace

bool RunnableKernel::can_stream() const {
  bool summed = false;
  for (const Step& step : steps_.steps) {
    if (step.kind == Step::Kind::kRowOp || step.kind == Step::Kind::kCopy) return false;
    if (step.kind == Step::Kind::kReduce) {
      const Node& n = kernel_.nodes()[static_cast<size_t>(step.node)];
      const ScalarType dtype = kernel_.nodes()[static_cast<size_t>(n.inputs[0])].dtype;
      if (static_cast<ReduceKind>(n.number) > ReduceKind::kSumSquares || (dtype != kFloat && dtype != kDouble)) return false;
      summed = true;
    } else if (!steps_.programs[static_cast<size_t>(step.number)].rows && summed) {
      return false;  // elements are needed once more
    }
  }
  return summed;
}

void RunnableKernel::stream_block(const Batch& batch, size_t first, size_t last, int64_t start, int64_t length, char* room, double* totals) const {
  Batch own = batch;
  own.n = length;
  own.total_rows = 2;  // a block is not cut for threads once more
  for (int k = 0; k < kernel_.operands(); ++k) own.at[k] += start * own.inner[k];
  for (const Node& n : kernel_.nodes()) {
    if (n.kind == NodeKind::kInput && n.uniform) own.at[n.number] = batch.at[n.number];
  }
  for (size_t s = 0; s < steps_.slots.size(); ++s) {
    const Slot& slot = steps_.slots[s];
    if (slot.uniform) continue;
    own.slots[s] = room + static_cast<int64_t>(s) * kStreamBlock * 8;
    if (slot.input >= 0) own.slots[s] = is_dense(own, slot.input, slot) ? own.at[slot.input] : gather(own, slot, own.slots[s]);
  }
  const cpu::ReduceLoops& loops = cpu::reduce_loops();
  for (size_t k = first; k < last; ++k) {
    const Step& step = steps_.steps[k];
    if (step.kind == Step::Kind::kProgram) {
      run_row_program(own, static_cast<size_t>(step.number));
      continue;
    }
    const Node& n = kernel_.nodes()[static_cast<size_t>(step.node)];
    const char* x = own.slots[static_cast<size_t>(steps_.slot_of[static_cast<size_t>(n.inputs[0])])];
    if (n.dtype == kFloat) add_sum(loops.sum_f32[n.number].row, reinterpret_cast<const float*>(x), length, totals[k]);
    else add_sum(loops.sum_f64[n.number].row, reinterpret_cast<const double*>(x), length, totals[k]);
  }
}

void RunnableKernel::run_stream(const Launch& launch, const char* numbers) const {
  const int last = launch.dims - 1;
  const int64_t n = launch.sizes[last];
  Batch batch{.launch = launch, .numbers = numbers, .rows = 1, .n = n, .total_rows = 1, .at = {}, .inner = {}, .outer = {}, .slots = {}};
  for (int k = 0; k < kernel_.operands(); ++k) {
    batch.at[k] = launch.places[k].data;
    batch.inner[k] = launch.places[k].strides[last];
  }
  const size_t slots = steps_.slots.size();
  std::vector<double> uniform(slots);  // room for one number of any dtype each
  batch.slots.resize(slots);
  for (size_t s = 0; s < slots; ++s) {
    const int input = steps_.slots[s].input;
    batch.slots[s] = input >= 0 ? batch.at[input] : reinterpret_cast<char*>(&uniform[s]);
  }
  // Programs of rows; then programs of elements with the sums; then programs of rows again.
  const auto is_rows = [&](const Step& s) { return s.kind == Step::Kind::kProgram && steps_.programs[static_cast<size_t>(s.number)].rows; };
  size_t first = 0, end = steps_.steps.size();
  while (is_rows(steps_.steps[first])) run_step(batch, steps_.steps[first++]);
  while (is_rows(steps_.steps[end - 1])) --end;

  const int64_t chunk = detail::parallel_chunk(n, cpu::kReduceGrain);
  std::vector<std::vector<double>> partials(static_cast<size_t>((n + chunk - 1) / chunk), std::vector<double>(end, 0.0));
  const auto body = [&](int64_t b, int64_t e) {
    const cpu::Scratch<char> room(static_cast<int64_t>(slots) * kStreamBlock * 8);
    double* totals = partials[static_cast<size_t>(b / chunk)].data();
    for (int64_t at = b; at < e; at += kStreamBlock) stream_block(batch, first, end, at, std::min(kStreamBlock, e - at), room.data(), totals);
  };
  detail::parallel_chunks(0, n, chunk, detail::call_range<decltype(body)>, &body);

  for (size_t k = first; k < end; ++k) {
    const Step& step = steps_.steps[k];
    if (step.kind != Step::Kind::kReduce) continue;
    double total = 0;
    for (const auto& partial : partials) total += partial[k];
    const Node& node = kernel_.nodes()[static_cast<size_t>(step.node)];
    total /= node.mean ? static_cast<double>(n) : 1.0;
    char* out = batch.slots[static_cast<size_t>(steps_.slot_of[static_cast<size_t>(step.node)])];
    const auto rounded = static_cast<float>(total);
    if (node.dtype == kFloat) std::memcpy(out, &rounded, sizeof rounded);
    else std::memcpy(out, &total, sizeof total);
  }
  for (size_t k = end; k < steps_.steps.size(); ++k) run_step(batch, steps_.steps[k]);
}

}  // namespace taeda::kernel
