// SPDX-License-Identifier: Apache-2.0
// Runs a program without a code generator: block by block, each node by the eager loop of its operator, everything between
// source and sink in buffers that stay in the first-level cache.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "taeda/compile/kernel/run.h"
#include "taeda/core/array_ref.h"
#include "taeda/cpu/pointwise_pairs.h"
#include "taeda/ops/pointwise_convert.h"

namespace taeda::kernel {

namespace {

constexpr int64_t kCacheBytes = 24 << 10;
constexpr int64_t kMaxBlock = 2048, kMinBlock = 128;
constexpr int kMaxPlaces = 64, kMaxArguments = 8;

/// One loop: a call when `call` is set, else a conversion. Of two calls in one, `split` attributes are the first one's.
struct Instruction {
  cpu::PointwiseLoop call = nullptr;
  pointwise::ConvertLoop convert = nullptr;
  int attributes = -1, more_attributes = -1;
  uint8_t split = 0, total = 0;  ///< numbers of attributes
  uint8_t count = 0;            ///< of places, the result first
  int8_t copied = 0;            ///< of conversions that change nothing: the size of an element
  int16_t places[kMaxArguments] = {};
};

/// Memory that instructions name: sources, sinks, buffers, numbers, in this order.
struct PlaceInfo {
  bool buffer = false;
  int number = -1;  ///< the cell, for numbers
  int64_t size = 0;
};

/// For each sink the sources that it lies on, one bit each.
using Overlay = SmallVector<uint64_t, 8>;
static_assert(RunnableKernel::kMaxOperands <= 64);

/// The instructions of a program for one overlay. Immutable after construction.
class Instructions {
 public:
  Instructions(const Kernel& kernel, const Program& program, const NumberTable& numbers, const Overlay& on)
      : overlay(on), kernel_(kernel), program_(program), numbers_(numbers), at_(kernel.nodes().size(), -1) {
    for (const Source& s : program.sources) {
      at_[static_cast<size_t>(s.value)] = add_place({.size = size_of(s.value)});
    }
    sources_ = static_cast<int>(places_.size());
    for (const Sink& s : program.sinks) add_place({.size = size_of(s.value)});
    compile();
    int64_t bytes = 0;
    for (const PlaceInfo& p : places_) bytes += p.number >= 0 ? 0 : p.size;
    block_ = std::clamp(kCacheBytes / std::max<int64_t>(bytes, 1) / 64 * 64, kMinBlock, kMaxBlock);
  }

  bool fits() const { return fits_ && places_.size() <= kMaxPlaces; }

  void run(char* const* ptrs, const int64_t* strides, const int64_t* outer, int64_t rows, int64_t n, const char* numbers) const {
    alignas(64) char room[kMaxRoom];
    const int64_t block = std::min(block_, kMaxRoom / std::max<int64_t>(buffer_bytes_, 1) / 64 * 64);
    const int64_t rows_at_once = std::clamp(block / std::max<int64_t>(n, 1), int64_t{1}, rows);
    char* base[kMaxPlaces];
    int64_t step[kMaxPlaces], stride[kMaxPlaces];  // along a row, from row to row
    bool flat[kMaxPlaces];                         // rows adjoin
    const int outside = sources_ + static_cast<int>(program_.sinks.size());
    for (int k = 0; k < outside; ++k) {
      base[k] = ptrs[k];
      step[k] = strides[k];
      stride[k] = outer[k];
      flat[k] = stride[k] == step[k] * n;
    }
    char* buffer = room;
    for (size_t k = static_cast<size_t>(outside); k < places_.size(); ++k) {
      step[k] = places_[k].number >= 0 ? 0 : places_[k].size;
      stride[k] = step[k] * n;
      flat[k] = true;
      base[k] = places_[k].number >= 0 ? const_cast<char*>(numbers) + places_[k].number : buffer;
      if (places_[k].buffer) buffer += (block * places_[k].size + 63) / 64 * 64;
    }
    for (int64_t row = 0; row < rows; row += rows_at_once) {
      const int64_t rows_now = std::min(rows_at_once, rows - row);
      for (int64_t start = 0; start < n; start += block) {
        const int64_t count = std::min(block, n - start);
        for (const Instruction& in : instructions_) {
          char* args[kMaxArguments];
          int64_t steps[kMaxArguments];
          bool one = true;
          for (int a = 0; a < in.count; ++a) {
            const auto place = static_cast<size_t>(in.places[a]);
            args[a] = places_[place].buffer ? base[place] : base[place] + row * stride[place] + start * step[place];
            steps[a] = step[place];
            one &= flat[place];
          }
          if (one || rows_now == 1) {
            execute(in, args, steps, count * rows_now, numbers);
            continue;
          }
          for (int64_t r = 0; r < rows_now; ++r) {
            execute(in, args, steps, count, numbers);
            for (int a = 0; a < in.count; ++a) args[a] += stride[static_cast<size_t>(in.places[a])];
          }
        }
      }
    }
  }

  const Overlay overlay;
  const Instructions* next = nullptr;

 private:
  static constexpr int64_t kMaxRoom = 64 << 10;

  static void execute(const Instruction& in, char** args, const int64_t* steps, int64_t count, const char* numbers) {
    if (in.more_attributes >= 0) {
      float both[kMaxArguments];
      std::memcpy(both, numbers + in.attributes, in.split * sizeof(float));
      std::memcpy(both + in.split, numbers + in.more_attributes, (in.total - in.split) * sizeof(float));
      in.call(args, steps, count, both);
    } else if (in.call) {
      in.call(args, steps, count, numbers + in.attributes);
    } else {
      convert(in, args, steps, count);
    }
  }
  static void convert(const Instruction& in, char* const* args, const int64_t* steps, int64_t count) {
    if (args[0] == args[1] && steps[0] == steps[1]) return;
    if (in.copied != 0 && steps[0] == in.copied && steps[1] == in.copied) {
      std::memcpy(args[0], args[1], static_cast<size_t>(count * in.copied));
    } else {
      in.convert(args[0], steps[0], args[1], steps[1], count);
    }
  }

  int64_t size_of(Id id) const { return static_cast<int64_t>(item_size(node(id).dtype)); }
  const Node& node(Id id) const { return kernel_.nodes()[static_cast<size_t>(id)]; }
  int add_place(PlaceInfo info) {
    places_.push_back(info);
    return static_cast<int>(places_.size() - 1);
  }

  int number_place(Id id) {
    int& place = at_[static_cast<size_t>(id)];
    if (place < 0) place = add_place({.number = numbers_.cell(id), .size = size_of(id)});
    return place;
  }
  int place_of(Id id) {
    const Node& n = node(id);
    return n.kind == NodeKind::kParam || n.kind == NodeKind::kConstant ? number_place(id) : at_[static_cast<size_t>(id)];
  }

  /// The last instruction that reads each value.
  std::vector<int> last_uses() const {
    std::vector<int> last(kernel_.nodes().size(), -1);
    for (size_t k = 0; k < program_.order.size(); ++k) {
      for (const Id in : node(program_.order[k]).inputs) last[static_cast<size_t>(in)] = static_cast<int>(k);
    }
    return last;
  }
  int sink_of(Id id) const {
    for (size_t k = 0; k < program_.sinks.size(); ++k) {
      if (program_.sinks[k].value == id) return sources_ + static_cast<int>(k);
    }
    return -1;
  }

  int take_buffer(int64_t size) {
    for (size_t k = 0; k < free_.size(); ++k) {
      if (places_[static_cast<size_t>(free_[k])].size != size) continue;
      const int place = free_[k];
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(k));
      return place;
    }
    buffer_bytes_ += size + 1;  // room for the alignment of each buffer
    return add_place({.buffer = true, .size = size});
  }

  void compile() {
    const std::vector<int> last = last_uses();
    for (int k = 0; k < static_cast<int>(program_.order.size()); ++k) {
      const Id id = program_.order[static_cast<size_t>(k)];
      const Node& n = node(id);
      Instruction in;
      in.count = static_cast<uint8_t>(n.inputs.size() + 1);
      if (n.inputs.size() + 1 > kMaxArguments) {
        fits_ = false;
        return;
      }
      for (size_t a = 0; a < n.inputs.size(); ++a) in.places[a + 1] = static_cast<int16_t>(place_of(n.inputs[a]));
      const int sink = sink_of(id);
      const bool direct = sink >= 0 && k >= last_load(sink, last) && !sources_are_stored();
      const int to = direct ? sink : take_buffer(size_of(id));
      in.places[0] = static_cast<int16_t>(to);
      at_[static_cast<size_t>(id)] = to;
      if (n.kind == NodeKind::kCall) {
        const cpu::PointwiseKernel& loops = cpu::pointwise_kernel(static_cast<cpu::PointwiseKernelId>(n.number));
        in.call = n.compute == kFloat ? loops.f32 : n.compute == kDouble ? loops.f64 : loops.i64;
        in.attributes = std::max(0, numbers_.attributes(id));
      } else {
        in.convert = pointwise::convert_loop_for(n.dtype, node(n.inputs[0]).dtype);
        if (n.dtype == node(n.inputs[0]).dtype) in.copied = static_cast<int8_t>(size_of(id));
      }
      if (k == 0 || !join_last(in, k, last)) instructions_.push_back(in);
      for (const Id input : n.inputs) release(input, last, k);
    }
    store_sinks();
  }

  /// Joins the call with the one before, whose result nobody else reads, where there is one loop for both.
  bool join_last(const Instruction& in, int k, const std::vector<int>& last) {
    const Id before = program_.order[static_cast<size_t>(k - 1)], now = program_.order[static_cast<size_t>(k)];
    const Node &a = node(before), &b = node(now);
    Instruction& to = instructions_.back();
    if (!in.call || !to.call || to.more_attributes >= 0 || a.compute != kFloat || b.compute != kFloat || b.inputs.size() != 2 ||
        (b.inputs[0] == before) == (b.inputs[1] == before) || last[static_cast<size_t>(before)] != k || sink_of(before) >= 0 ||
        !places_[static_cast<size_t>(to.places[0])].buffer) {
      return false;
    }
    const bool left = b.inputs[0] == before;
    const auto loop = cpu::pointwise_pair(static_cast<cpu::PointwiseKernelId>(a.number), static_cast<cpu::PointwiseKernelId>(b.number), left);
    if (!loop) return false;
    to.call = loop;
    to.more_attributes = in.attributes;
    to.split = static_cast<uint8_t>(a.attributes.size());
    to.total = static_cast<uint8_t>(a.attributes.size() + b.attributes.size());
    to.places[0] = in.places[0];
    to.places[3] = in.places[left ? 2 : 1];
    to.count = 4;
    return true;
  }

  /// The last instruction that reads what the sink lies on.
  int last_load(int sink, const std::vector<int>& last) const {
    int latest = -1;
    for (size_t s = 0; s < program_.sources.size(); ++s) {
      if ((overlay[static_cast<size_t>(sink - sources_)] >> s) & 1) latest = std::max(latest, last[static_cast<size_t>(program_.sources[s].value)]);
    }
    return latest;
  }

  void release(Id value, const std::vector<int>& last, int now) {
    const int place = at_[static_cast<size_t>(value)];
    if (place < 0 || last[static_cast<size_t>(value)] != now || sink_of(value) >= 0) return;
    if (places_[static_cast<size_t>(place)].buffer && std::find(free_.begin(), free_.end(), place) == free_.end()) free_.push_back(place);
  }

  /// A sink that is a copy of a source: all are stored at the end then.
  bool sources_are_stored() const {
    return std::any_of(program_.sinks.begin(), program_.sinks.end(), [&](const Sink& sink) {
      return std::any_of(program_.sources.begin(), program_.sources.end(), [&](const Source& s) { return s.value == sink.value; });
    });
  }

  void copy(int to, int from, ScalarType dtype) {
    Instruction in;
    in.count = 2;
    in.places[0] = static_cast<int16_t>(to);
    in.places[1] = static_cast<int16_t>(from);
    in.convert = pointwise::convert_loop_for(dtype, dtype);
    in.copied = static_cast<int8_t>(item_size(dtype));
    instructions_.push_back(in);
  }

  /// Values that are not yet in their sinks. Sources are read before the first sink is written.
  void store_sinks() {
    std::vector<int> from;
    for (const Sink& s : program_.sinks) {
      int place = place_of(s.value);
      if (place < sources_ && program_.sinks.size() > 1) {
        const int buffer = take_buffer(size_of(s.value));
        copy(buffer, place, node(s.value).dtype);
        place = buffer;
      }
      from.push_back(place);
    }
    for (size_t k = 0; k < from.size(); ++k) {
      const int to = sources_ + static_cast<int>(k);
      if (from[k] != to) copy(to, from[k], node(program_.sinks[k].value).dtype);
    }
  }

  const Kernel& kernel_;
  const Program& program_;
  const NumberTable& numbers_;
  std::vector<int> at_;  ///< by node: its place
  std::vector<PlaceInfo> places_;
  std::vector<int> free_;
  std::vector<Instruction> instructions_;
  int sources_ = 0;
  int64_t block_ = 0, buffer_bytes_ = 0;
  bool fits_ = true;
};

/// Instructions are made for each overlay that occurs: the sinks of a program lie on no source, or on the same ones each time.
class Interpreter final : public ProgramCode {
 public:
  Interpreter(const Kernel& kernel, const Program& program, const NumberTable& numbers)
      : kernel_(kernel), program_(program), numbers_(numbers),
        made_(new Instructions(kernel, program, numbers, Overlay(program.sinks.size()))) {}
  ~Interpreter() override {
    for (const Instructions* k = made_.load(); k;) delete std::exchange(k, k->next);
  }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  bool fits() const { return made_.load()->fits(); }

  void run(char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const override {
    run_rows(ptrs, strides, strides, 1, n, numbers);
  }
  void run_rows(char* const* ptrs, const int64_t* strides, const int64_t* outer, int64_t rows, int64_t n, const char* numbers) const override {
    Overlay overlay;
    const size_t sources = program_.sources.size();
    for (size_t k = sources; k < sources + program_.sinks.size(); ++k) {
      uint64_t on = 0;
      for (size_t s = 0; s < sources; ++s) on |= static_cast<uint64_t>(ptrs[s] == ptrs[k]) << s;
      overlay.push_back(on);
    }
    instructions(overlay).run(ptrs, strides, outer, rows, n, numbers);
  }

 private:
  const Instructions& instructions(const Overlay& overlay) const {
    for (const Instructions* k = made_.load(std::memory_order_acquire); k; k = k->next) {
      if (k->overlay == overlay) return *k;
    }
    auto* added = new Instructions(kernel_, program_, numbers_, overlay);
    added->next = made_.load(std::memory_order_relaxed);
    while (!made_.compare_exchange_weak(added->next, added, std::memory_order_acq_rel)) {
    }
    return *added;
  }

  const Kernel& kernel_;
  const Program& program_;
  const NumberTable& numbers_;
  mutable std::atomic<const Instructions*> made_;
};

}  // namespace

std::unique_ptr<ProgramCode> interpret(const Kernel& kernel, const Program& program, const NumberTable& numbers) {
  auto code = std::make_unique<Interpreter>(kernel, program, numbers);
  TAEDA_CHECK(code->fits(), "[kernel] ", kernel.name(), " must have at most ", kMaxPlaces,
              " live values: got more; split it into smaller kernels");
  return code;
}

}  // namespace taeda::kernel
