// SPDX-License-Identifier: Apache-2.0
// What operators hand to a capture (taeda/compile) while kModeCapture is set. The capture stands below autograd: it sees a
// call in the place of its kernel, and answers with results at once or lets the kernel run.
#pragma once

#include <bit>
#include <string_view>
#include <vector>

#include "taeda/core/value.h"

namespace taeda {

struct OpInfo;

namespace capture {

/// A recorded call about to run. Storages are those of the recording or later ones of equal geometry.
struct Replay {
  const Tensor* tensors;     ///< undefined where none was given
  size_t tensor_count;
  const uint64_t* words;     ///< as the call added them
  const Scalar* numbers;
  int variant;
  const void* detail;
  std::vector<Tensor>& results;
};

/// What is called. Operators with an OpInfo run through their call by name, others through `run`.
struct Target {
  const char* name;
  const OpInfo* info = nullptr;
  void (*run)(const Replay&) = nullptr;
  const void* detail = nullptr;  ///< passed to `run`
  int variant = 0;               ///< passed to `run`
};

/// One call: its tensors, and everything else that must be equal for two calls to be the same one. Numbers may differ.
class Call {
 public:
  explicit Call(const Target& called) : target(called) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void add(const Tensor& t) { tensors.push_back(t.unsafeGetTensorImpl()); }
  void add(const std::optional<Tensor>& t) { tensors.push_back(t ? t->unsafeGetTensorImpl() : nullptr); }
  void add(TensorList list) {
    words.push_back(list.size());
    for (const Tensor& t : list) add(t);
  }
  void add(const std::vector<std::optional<Tensor>>& list) {
    words.push_back(list.size());
    for (const auto& t : list) add(t);
  }
  void add(const Scalar& s) {
    words.push_back(static_cast<uint64_t>(s.type()));
    words.push_back(s.isFloatingPoint() ? std::bit_cast<uint64_t>(s.unchecked<double>()) : static_cast<uint64_t>(s.unchecked<int64_t>()));
  }
  void add(double v) { words.push_back(std::bit_cast<uint64_t>(v)); }
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void add(T v) {
    words.push_back(static_cast<uint64_t>(v));
  }
  void add(Device d) { words.push_back(static_cast<uint64_t>(d.type()) << 8 | static_cast<uint8_t>(d.index())); }
  void add(const Generator& g) { words.push_back(reinterpret_cast<uintptr_t>(g.unsafeGetGeneratorImpl())); }
  TAEDA_API void add(std::string_view text);
  TAEDA_API void add(const TensorOptions& options);
  template <class T>
  void add(ArrayRef<T> list) {
    words.push_back(list.size());
    for (const T& item : list) add(item);
  }
  template <class T>
  void add(const OptionalArrayRef<T>& list) {
    words.push_back(list.has_value());
    if (list.has_value()) add(*list);
  }
  template <class T>
  void add(const std::optional<T>& v) {
    words.push_back(v.has_value());
    if (v) add(*v);
  }
  /// A number that may differ between equal calls (its kind may not).
  void add_number(const Scalar& s) {
    words.push_back(static_cast<uint64_t>(s.type()));
    numbers.push_back(s);
  }

  Target target;
  SmallVector<TensorImpl*, 8> tensors;  ///< null where undefined
  SmallVector<uint64_t, 24> words;
  SmallVector<Scalar, 6> numbers;
  SmallVector<uint32_t, 4> written;  ///< tensors that the kernel writes without counting the write on the storage
  std::vector<Tensor> results;
};

enum class Answer : uint8_t {
  kRun,     ///< run the kernel; nobody will ask
  kRecord,  ///< run the kernel and report the results
  kTaken,   ///< the results are there; in-place calls are done
};

/// Stands in for kernels on the thread that owns it; other threads only make it finish.
class TAEDA_API Recorder {
 public:
  virtual Answer begin(Call& call) = 0;
  /// After kRecord: `call.results` are set. `args`: the arguments as Values, empty when the target has its own `run`.
  virtual void record(Call& call, std::vector<Value> args) = 0;
  /// After kRecord: the kernel threw.
  virtual void drop(Call& call) noexcept = 0;
  /// Does what is recorded and not yet done.
  virtual void finish() = 0;

 protected:
  ~Recorder() = default;
};

inline bool active() { return (tls_modes.active & kModeCapture) != 0; }
inline Recorder& recorder() { return *static_cast<Recorder*>(tls_modes.capture); }

/// Results as the vector of a call, and back.
template <class R>
struct Results;
template <>
struct Results<Tensor> {
  static void put(Call& call, const Tensor& r) { call.results.push_back(r); }
  static Tensor take(Call& call) { return std::move(call.results[0]); }
};
template <>
struct Results<std::vector<Tensor>> {
  static void put(Call& call, const std::vector<Tensor>& r) { call.results = r; }
  static std::vector<Tensor> take(Call& call) { return std::move(call.results); }
};
template <class... T>
  requires(std::is_same_v<T, Tensor> && ...)
struct Results<std::tuple<T...>> {
  static void put(Call& call, const std::tuple<T...>& r) {
    std::apply([&](const auto&... t) { (call.results.push_back(t), ...); }, r);
  }
  static std::tuple<T...> take(Call& call) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(std::move(call.results[I])...);
    }(std::index_sequence_for<T...>());
  }
};
template <>
struct Results<void> {};

template <class R>
concept Capturable = requires { sizeof(Results<R>); };

/// Runs `forward`, or what the capture has for it. `args()` gives the arguments as Values.
template <class R, class Forward, class Args>
R through(Call& call, const Forward& forward, const Args& args) {
  const Answer answer = recorder().begin(call);
  if constexpr (std::is_void_v<R>) {
    if (answer == Answer::kTaken) return;
  } else {
    if (answer == Answer::kTaken) return Results<R>::take(call);
  }
  const BelowDoorGuard below;
  if (answer == Answer::kRun) return forward();
  Recorder* const to = &recorder();
  try {
    if constexpr (std::is_void_v<R>) {
      forward();
      to->record(call, args());
    } else {
      R result = forward();
      Results<R>::put(call, result);
      to->record(call, args());
      call.results.clear();
      return result;
    }
  } catch (...) {
    to->drop(call);
    throw;
  }
}

}  // namespace capture
}  // namespace taeda
