// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a kernel over an iteration space: threads, rows, strided operands.
#include "taeda/compile/kernel/run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "taeda/core/parallel.h"
#include "taeda/cpu/reduce_simd.h"
#include "taeda/cpu/scratch.h"
#include "taeda/ops/kernels/norm.h"
#include "taeda/ops/kernels/softmax.h"
#include "taeda/ops/pointwise_convert.h"

namespace taeda::kernel {

namespace {

constexpr int64_t kDenseBlock = 512;   // elements of strided operands gathered at a time
constexpr int64_t kBatch = 4096;       // elements of the rows that go through the steps together
constexpr int64_t kManyGrain = 16384;  // elements of one of many tensors that a thread takes at a time

int64_t element_size(const Kernel& kernel, Id value) {
  return static_cast<int64_t>(item_size(kernel.nodes()[static_cast<size_t>(value)].dtype));
}

void copy_strided(int64_t size, char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  const auto typed = [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
  };
  if (to_stride == size && from_stride == size) std::memmove(to, from, static_cast<size_t>(n * size));
  else if (size == 1) typed(uint8_t{});
  else if (size == 2) typed(uint16_t{});
  else if (size == 4) typed(uint32_t{});
  else typed(uint64_t{});
}

}  // namespace

RunnableKernel::RunnableKernel(const Kernel& kernel) : kernel_(kernel), steps_(kernel_), numbers_(kernel_) {
  TAEDA_CHECK(!kernel.outputs().empty(), "[kernel] ", kernel.name(), " must have an output: got none; add one");
  TAEDA_CHECK(static_cast<size_t>(kernel.operands()) <= kMaxOperands, "[kernel] ", kernel.name(), " must have at most ", kMaxOperands,
              " operands: got ", kernel.operands(), "; split it into smaller kernels");
  int64_t calls = 1;
  for (const Program& p : steps_.programs) {
    for (const Id id : p.order) calls += kernel_.nodes()[static_cast<size_t>(id)].kind == NodeKind::kCall;
    TAEDA_CHECK(p.sources.size() + p.sinks.size() <= kMaxOperands, "[kernel] ", kernel.name(), " must have at most ", kMaxOperands,
                " values between its steps; split it into smaller kernels");
  }
  streams_ = can_stream();
  grain_ = std::max<int64_t>(4096, 32768 / std::max<int64_t>(1, calls / 2));
}

void RunnableKernel::use_interpreter() {
  code_.clear();
  for (const Program& p : steps_.programs) code_.push_back(interpret(kernel_, p, numbers_));
}

void RunnableKernel::run_program(size_t index, char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const {
  const Program& p = steps_.programs[index];
  const size_t count = p.sources.size() + p.sinks.size();
  const auto value = [&](size_t k) { return k < p.sources.size() ? p.sources[k].value : p.sinks[k - p.sources.size()].value; };
  bool dense = true;
  for (size_t k = 0; k < count; ++k) {
    dense &= strides[k] == element_size(kernel_, value(k)) || (strides[k] == 0 && k < p.sources.size());
  }
  if (dense || n == 1) {
    int64_t own[kMaxOperands];
    for (size_t k = 0; k < count; ++k) own[k] = strides[k] == 0 && k < p.sources.size() ? 0 : element_size(kernel_, value(k));
    return code_[index]->run(ptrs, own, n, numbers);
  }
  run_gathered(index, ptrs, strides, n, numbers);
}

/// Rows that lie `outer` bytes apart.
void RunnableKernel::run_program_rows(size_t index, char* const* ptrs, const int64_t* strides, const int64_t* outer, int64_t rows, int64_t n,
                                      const char* numbers) const {
  const Program& p = steps_.programs[index];
  const size_t count = p.sources.size() + p.sinks.size();
  bool dense = true;
  for (size_t k = 0; k < count; ++k) {
    const bool source = k < p.sources.size();
    dense &= strides[k] == element_size(kernel_, source ? p.sources[k].value : p.sinks[k - p.sources.size()].value) || (strides[k] == 0 && source);
  }
  if (dense) return code_[index]->run_rows(ptrs, strides, outer, rows, n, numbers);
  char* at[kMaxOperands];
  std::copy_n(ptrs, count, at);
  for (int64_t r = 0; r < rows; ++r) {
    run_program(index, at, strides, n, numbers);
    for (size_t k = 0; k < count; ++k) at[k] += outer[k];
  }
}

void RunnableKernel::run_gathered(size_t index, char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const {
  const Program& p = steps_.programs[index];
  const size_t count = p.sources.size() + p.sinks.size();
  cpu::Scratch<char> room(static_cast<int64_t>(count) * kDenseBlock * 8);
  char* block[kMaxOperands];
  int64_t step[kMaxOperands], size[kMaxOperands];
  bool moved[kMaxOperands];
  for (size_t k = 0; k < count; ++k) {
    size[k] = element_size(kernel_, k < p.sources.size() ? p.sources[k].value : p.sinks[k - p.sources.size()].value);
    moved[k] = strides[k] != size[k] && (strides[k] != 0 || k >= p.sources.size());
    step[k] = moved[k] ? size[k] : strides[k];
  }
  for (int64_t start = 0; start < n; start += kDenseBlock) {
    const int64_t length = std::min(kDenseBlock, n - start);
    for (size_t k = 0; k < count; ++k) {
      char* at = ptrs[k] + start * strides[k];
      block[k] = moved[k] ? room.data() + static_cast<int64_t>(k) * kDenseBlock * 8 : at;
      if (moved[k] && k < p.sources.size()) copy_strided(size[k], block[k], size[k], at, strides[k], length);
    }
    code_[index]->run(block, step, length, numbers);
    for (size_t k = p.sources.size(); k < count; ++k) {
      if (moved[k]) copy_strided(size[k], ptrs[k] + start * strides[k], strides[k], block[k], size[k], length);
    }
  }
}

void RunnableKernel::run(std::span<const Launch> launches) const {
  if (launches.size() == 1) return run_one(launches[0]);
  if (kernel_.has_rows() || steps_.programs.size() != 1 || steps_.programs[0].rows) {
    for (const Launch& launch : launches) run_one(launch);
    return;
  }
  run_many(launches);
}

void RunnableKernel::run_one(const Launch& launch) const {
  for (int d = 0; d < launch.dims; ++d) {
    if (launch.sizes[d] == 0 && (d + 1 < launch.dims || !kernel_.has_rows())) return;
  }
  alignas(8) char small[512];
  std::unique_ptr<char[]> large;
  char* numbers = small;
  if (numbers_.size() > sizeof small) {
    large.reset(new char[numbers_.size()]);
    numbers = large.get();
  }
  numbers_.fill(launch.params, numbers);
  if (kernel_.has_rows() || steps_.programs.size() != 1 || steps_.programs[0].rows) return run_rows(launch, numbers);
  run_elements(launch, numbers);
}

void RunnableKernel::program_places(const Program& p, const Launch& launch, const Place** places) const {
  size_t k = 0;
  for (const Source& s : p.sources) places[k++] = &launch.places[s.number];
  for (const Sink& s : p.sinks) places[k++] = &launch.places[s.number];
}

void RunnableKernel::run_elements(const Launch& launch, const char* numbers) const {
  const Program& p = steps_.programs[0];
  const size_t count = p.sources.size() + p.sinks.size();
  const Place* places[kMaxOperands];
  program_places(p, launch, places);
  const int inner = launch.dims - 1;
  const int64_t n = launch.dims == 0 ? 1 : launch.sizes[inner];
  int64_t rows = 1;
  for (int d = 0; d < inner; ++d) rows *= launch.sizes[d];
  int64_t strides[kMaxOperands];
  for (size_t k = 0; k < count; ++k) strides[k] = inner < 0 ? 0 : places[k]->strides[inner];
  const auto locate = [&](int64_t row, int64_t element, char** ptrs) {
    for (size_t k = 0; k < count; ++k) ptrs[k] = places[k]->data + element * strides[k];
    for (int d = inner - 1; d >= 0; --d) {
      const int64_t i = row % launch.sizes[d];
      row /= launch.sizes[d];
      for (size_t k = 0; k < count; ++k) ptrs[k] += i * places[k]->strides[d];
    }
  };
  int64_t outer[kMaxOperands];
  for (size_t k = 0; k < count; ++k) outer[k] = inner < 1 ? 0 : places[k]->strides[inner - 1];
  const int64_t line = inner < 1 ? 1 : launch.sizes[inner - 1];  // rows that a single stride leads through
  const auto run_some = [&](int64_t begin, int64_t end) {
    char* ptrs[kMaxOperands];
    for (int64_t row = begin; row < end;) {
      const int64_t together = std::min(end - row, line - row % line);
      locate(row, 0, ptrs);
      run_program_rows(0, ptrs, strides, outer, together, n, numbers);
      row += together;
    }
  };
  if (rows * n <= grain_) return run_some(0, rows);
  if (n >= grain_ && rows < 8) {
    for (int64_t row = 0; row < rows; ++row) {
      parallel_for(0, n, grain_, [&](int64_t begin, int64_t end) {
        char* own[kMaxOperands];
        locate(row, begin, own);
        run_program(0, own, strides, end - begin, numbers);
      });
    }
    return;
  }
  parallel_for(0, rows, std::max<int64_t>(1, grain_ / n), run_some);
}

void RunnableKernel::run_many(std::span<const Launch> launches) const {
  const Program& p = steps_.programs[0];
  const size_t count = p.sources.size() + p.sinks.size();
  const auto flat = [&](const Launch& launch) { return launch.dims <= 1; };
  const auto length = [](const Launch& launch) { return launch.dims == 0 ? int64_t{1} : launch.sizes[0]; };
  // Chunks of all flat launches, numbered one after the other.
  std::vector<int64_t> first_chunk(launches.size() + 1, 0);
  int64_t total = 0;
  for (size_t k = 0; k < launches.size(); ++k) {
    const int64_t n = flat(launches[k]) ? length(launches[k]) : 0;
    first_chunk[k + 1] = first_chunk[k] + (n + kManyGrain - 1) / kManyGrain;
    total += n;
  }
  const auto run_chunks = [&](int64_t begin, int64_t end) {
    std::vector<int64_t> numbers(numbers_.size() / 8 + 1);
    auto* bytes = reinterpret_cast<char*>(numbers.data());
    auto at = static_cast<size_t>(std::upper_bound(first_chunk.begin(), first_chunk.end(), begin) - first_chunk.begin()) - 1;
    size_t filled = launches.size();
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      while (first_chunk[at + 1] <= chunk) ++at;
      const Launch& launch = launches[at];
      if (filled == launches.size() || (filled != at && numbers_.has_params())) numbers_.fill(launch.params, bytes);
      filled = at;
      const int64_t start = (chunk - first_chunk[at]) * kManyGrain;
      const Place* places[kMaxOperands];
      program_places(p, launch, places);
      char* ptrs[kMaxOperands];
      int64_t strides[kMaxOperands];
      for (size_t k = 0; k < count; ++k) {
        strides[k] = launch.dims == 0 ? 0 : places[k]->strides[0];
        ptrs[k] = places[k]->data + start * strides[k];
      }
      run_program(0, ptrs, strides, std::min(kManyGrain, length(launch) - start), bytes);
    }
  };
  if (first_chunk.back() > 0) {
    if (total <= 2 * kManyGrain) run_chunks(0, first_chunk.back());
    else parallel_for(0, first_chunk.back(), 2, run_chunks);
  }
  for (const Launch& launch : launches) {
    if (!flat(launch)) run_one(launch);
  }
}

void RunnableKernel::run_rows(const Launch& launch, const char* numbers) const {
  TAEDA_CHECK(launch.dims >= 1, "[kernel] ", kernel_.name(), " runs over rows: got no dimension; give the row as the last one");
  const int last = launch.dims - 1;
  const int64_t n = launch.sizes[last];
  const int64_t line = last > 0 ? launch.sizes[last - 1] : 1;  // rows that a single stride leads through
  int64_t lines = 1;
  for (int d = 0; d < last - 1; ++d) lines *= launch.sizes[d];
  if (streams_ && lines * line == 1 && n > cpu::kReduceGrain) return run_stream(launch, numbers);
  const int64_t per_batch = std::clamp<int64_t>(kBatch / std::max<int64_t>(n, 1), 1, line);
  const int64_t batches = (line + per_batch - 1) / per_batch;
  parallel_for(0, lines * batches, std::max<int64_t>(1, grain_ / std::max<int64_t>(1, n * per_batch)), [&](int64_t begin, int64_t end) {
    Batch batch{.launch = launch, .numbers = numbers, .rows = 0, .n = n, .total_rows = lines * line, .at = {}, .inner = {}, .outer = {}, .slots = {}};
    int64_t bytes = 0;
    for (const Slot& s : steps_.slots) bytes += slot_bytes(s, per_batch, n);
    cpu::Scratch<char> room(bytes);
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b % batches * per_batch;
      batch.rows = std::min(per_batch, line - first);
      for (int k = 0; k < kernel_.operands(); ++k) {
        const Place& place = launch.places[k];
        batch.inner[k] = place.strides[last];
        batch.outer[k] = last > 0 ? place.strides[last - 1] : 0;
        batch.at[k] = place.data + first * batch.outer[k];
        int64_t rest = b / batches;
        for (int d = last - 2; d >= 0; --d) {
          batch.at[k] += rest % launch.sizes[d] * place.strides[d];
          rest /= launch.sizes[d];
        }
      }
      place_slots(batch, room.data(), per_batch);
      for (const Step& step : steps_.steps) run_step(batch, step);
    }
  });
}

int64_t RunnableKernel::slot_bytes(const Slot& slot, int64_t rows, int64_t n) const {
  return ((slot.uniform ? rows : rows * n) * element_size(kernel_, slot.value) + 63) / 64 * 64;
}

bool RunnableKernel::is_dense(const Batch& batch, int operand, const Slot& slot) const {
  const int64_t size = element_size(kernel_, slot.value);
  const bool one_row = batch.rows == 1 || slot.shared;
  if (slot.uniform) return one_row || batch.outer[operand] == size;
  return (batch.n == 1 || batch.inner[operand] == size) && (one_row || batch.outer[operand] == size * batch.n);
}

void RunnableKernel::place_slots(Batch& batch, char* room, int64_t per_batch) const {
  batch.slots.resize(steps_.slots.size());
  for (size_t k = 0; k < steps_.slots.size(); ++k) {
    const Slot& s = steps_.slots[k];
    char* own = room;
    room += slot_bytes(s, per_batch, batch.n);
    if (s.input >= 0) {
      batch.slots[k] = is_dense(batch, s.input, s) ? batch.at[s.input] : gather(batch, s, own);
    } else {
      batch.slots[k] = s.output >= 0 && is_dense(batch, s.output, s) ? batch.at[s.output] : own;
    }
  }
}

char* RunnableKernel::gather(const Batch& batch, const Slot& slot, char* to) const {
  const int64_t size = element_size(kernel_, slot.value);
  const int operand = slot.input;
  if (slot.uniform) {
    copy_strided(size, to, size, batch.at[operand], batch.outer[operand], batch.rows);
    return to;
  }
  for (int64_t r = 0; r < (slot.shared ? 1 : batch.rows); ++r) {
    copy_strided(size, to + r * batch.n * size, size, batch.at[operand] + r * batch.outer[operand], batch.inner[operand], batch.n);
  }
  return to;
}

void RunnableKernel::run_step(Batch& batch, const Step& step) const {
  switch (step.kind) {
    case Step::Kind::kProgram: return run_row_program(batch, static_cast<size_t>(step.number));
    case Step::Kind::kReduce: return run_reduce(batch, step.node);
    case Step::Kind::kRowOp: return run_row_op(batch, step.node);
    case Step::Kind::kCopy: {
      const Slot& slot = steps_.slots[static_cast<size_t>(step.number)];
      const char* from = batch.slots[static_cast<size_t>(step.number)];
      if (from == batch.at[step.operand] && slot.output == step.operand) return;
      const int64_t size = element_size(kernel_, slot.value);
      for (int64_t r = 0; r < batch.rows; ++r) {
        copy_strided(size, batch.at[step.operand] + r * batch.outer[step.operand], batch.inner[step.operand], from + r * batch.n * size, size, batch.n);
      }
    }
  }
}

void RunnableKernel::run_row_program(Batch& batch, size_t index) const {
  const Program& p = steps_.programs[index];
  const size_t count = p.sources.size() + p.sinks.size();
  char* ptrs[kMaxOperands];
  int64_t inner[kMaxOperands], outer[kMaxOperands];
  bool one_piece = true;
  for (size_t k = 0; k < count; ++k) {
    const bool source = k < p.sources.size();
    const Id value = source ? p.sources[k].value : p.sinks[k - p.sources.size()].value;
    const bool slot = source ? p.sources[k].slot : p.sinks[k - p.sources.size()].slot;
    const int number = source ? p.sources[k].number : p.sinks[k - p.sources.size()].number;
    const bool uniform = kernel_.nodes()[static_cast<size_t>(value)].uniform;
    const int64_t size = element_size(kernel_, value);
    ptrs[k] = slot ? batch.slots[static_cast<size_t>(number)] : batch.at[number];
    inner[k] = uniform ? 0 : slot ? size : batch.inner[number];
    outer[k] = slot ? (uniform ? size : size * batch.n) : batch.outer[number];
    one_piece &= inner[k] == size && outer[k] == size * batch.n;
  }
  if (p.rows) return run_program(index, ptrs, outer, batch.rows, batch.numbers);
  if (one_piece && batch.total_rows > 1) return run_program(index, ptrs, inner, batch.rows * batch.n, batch.numbers);
  if (batch.total_rows == 1) {  // one long row keeps every thread busy
    return parallel_for(0, batch.n, grain_, [&](int64_t begin, int64_t end) {
      char* at[kMaxOperands];
      for (size_t k = 0; k < count; ++k) at[k] = ptrs[k] + begin * inner[k];
      run_program(index, at, inner, end - begin, batch.numbers);
    });
  }
  run_program_rows(index, ptrs, inner, outer, batch.rows, batch.n, batch.numbers);
}

namespace {

/// The loops that eager sums and extremes of rows run; false for other reductions.
template <class T>
bool reduce_floating(ReduceKind kind, const cpu::SumLoops<T>* sums, const cpu::ExtremeLoops<T>& extremes, const T* x, T* out,
                     int64_t rows, int64_t n, double divisor) {
  if (kind <= ReduceKind::kSumSquares) {
    const auto row = sums[static_cast<int>(kind)].row;
    if (divisor == 1) {
      for (int64_t r = 0; r < rows; ++r) out[r] = static_cast<T>(row(x + r * n, n));
    } else {
      for (int64_t r = 0; r < rows; ++r) out[r] = static_cast<T>(row(x + r * n, n) / divisor);
    }
    return true;
  }
  if ((kind != ReduceKind::kMax && kind != ReduceKind::kMin) || n == 0) return false;
  const auto row = kind == ReduceKind::kMax ? extremes.max_row : extremes.min_row;
  for (int64_t r = 0; r < rows; ++r) out[r] = row(x + r * n, n);
  return true;
}
static_assert(static_cast<int>(ReduceKind::kSumSquares) == cpu::kLoopSumSquares && static_cast<int>(ReduceKind::kNanSum) == cpu::kLoopNanSum);

}  // namespace

void RunnableKernel::run_reduce(Batch& batch, Id id) const {
  const Node& node = kernel_.nodes()[static_cast<size_t>(id)];
  const Id in = node.inputs[0];
  const ScalarType dtype = kernel_.nodes()[static_cast<size_t>(in)].dtype;
  const auto kind = static_cast<ReduceKind>(node.number);
  const char* x = batch.slots[static_cast<size_t>(steps_.slot_of[static_cast<size_t>(in)])];
  char* out = batch.slots[static_cast<size_t>(steps_.slot_of[static_cast<size_t>(id)])];
  const double divisor = node.mean ? static_cast<double>(batch.n) : 1.0;
  const cpu::ReduceLoops& loops = cpu::reduce_loops();
  if (batch.total_rows > 1) {
    if (dtype == kFloat && reduce_floating(kind, loops.sum_f32, loops.extreme_f32, reinterpret_cast<const float*>(x),
                                           reinterpret_cast<float*>(out), batch.rows, batch.n, divisor)) return;
    if (dtype == kDouble && reduce_floating(kind, loops.sum_f64, loops.extreme_f64, reinterpret_cast<const double*>(x),
                                            reinterpret_cast<double*>(out), batch.rows, batch.n, divisor)) return;
  }
  reduce_kernel(Device(kCPU), ReduceArgs{kind, dtype, x, out, batch.rows, batch.n, 1, divisor});
}

void RunnableKernel::run_row_op(Batch& batch, Id id) const {
  const Node& node = kernel_.nodes()[static_cast<size_t>(id)];
  const auto slot = [&](Id value) -> char* {
    return value < 0 ? nullptr : batch.slots[static_cast<size_t>(steps_.slot_of[static_cast<size_t>(value)])];
  };
  const Device cpu(kCPU);
  const auto op = static_cast<RowOp>(node.number);
  if (op == RowOp::kSoftmax || op == RowOp::kLogSoftmax) {
    return softmax_kernel(cpu, SoftmaxArgs{op == RowOp::kLogSoftmax, node.dtype, slot(node.inputs[0]), slot(id), batch.rows, batch.n, 1});
  }
  if (op == RowOp::kSoftmaxBackward || op == RowOp::kLogSoftmaxBackward) {
    return softmax_backward_kernel(cpu, SoftmaxBackwardArgs{op == RowOp::kLogSoftmaxBackward, node.dtype, slot(node.inputs[0]),
                                                            slot(node.inputs[1]), slot(id), batch.rows, batch.n, 1});
  }
  if (op == RowOp::kLayerNorm) {
    cpu::Scratch<char> room(2 * batch.rows * 8);
    char* stats[2] = {room.data(), room.data() + batch.rows * 8};
    for (size_t k = 0; k < kernel_.nodes().size(); ++k) {
      const Node& extra = kernel_.nodes()[k];
      if (extra.kind == NodeKind::kExtra && extra.inputs[0] == id && steps_.slot_of[k] >= 0) stats[extra.number - 1] = slot(static_cast<Id>(k));
    }
    return layer_norm_kernel(cpu, LayerNormArgs{node.dtype, slot(node.inputs[0]), slot(node.inputs[1]), slot(node.inputs[2]), slot(id),
                                                stats[0], stats[1], batch.rows, batch.n, node.constant.unchecked<double>()});
  }
  layer_norm_backward_kernel(cpu, LayerNormBackwardArgs{node.dtype, slot(node.inputs[0]), slot(node.inputs[1]), slot(node.inputs[2]),
                                                        slot(node.inputs[3]), slot(node.inputs[4]), slot(id), nullptr, nullptr, batch.rows, batch.n});
}

}  // namespace taeda::kernel
