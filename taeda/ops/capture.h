// SPDX-License-Identifier: Apache-2.0
// What operators hand to a capture (taeda/compile) while kModeCapture is set. The capture stands below autograd: it sees a
// call in the place of its kernel, and answers with results at once or lets the kernel run.
#pragma once

#include <bit>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "taeda/core/tensor.h"

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

/// What is called.
struct Target {
  const char* name;
  const OpInfo* info = nullptr;            ///< null where it is no operator of the registry
  void (*run)(const Replay&) = nullptr;    ///< the kernel with recorded arguments
  const void* detail = nullptr;  ///< passed to `run`
  int variant = 0;               ///< passed to `run`
};

struct NumberSource;

/// One call: its tensors, and everything else that must be equal for two calls to be the same one. Numbers may differ.
class Call {
 public:
  explicit Call(const Target& called) : target(called) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void add(const Tensor& t) { tensors.push_back(t.unsafeGetTensorImpl()); }
  void add(const std::optional<Tensor>& t) {
    words.push_back(t.has_value());
    tensors.push_back(t ? t->unsafeGetTensorImpl() : nullptr);
  }
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
  void add(const Generator& g) {
    words.push_back(reinterpret_cast<uintptr_t>(g.unsafeGetGeneratorImpl()));
    generators.push_back(g);
  }
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
  std::vector<Generator> generators;  ///< that words point to
  std::shared_ptr<NumberSource> source;  ///< for numbers that move from call to call by a rule (an optimizer's step count)
};

/// Gives a call's numbers anew when a whole recorded step is replayed without the program's code.
struct NumberSource {
  virtual ~NumberSource() = default;
  virtual void refresh(Scalar* numbers) = 0;
};

template <class T>
struct As {};

/// Gives a recorded call's arguments back in the order in which they were added.
class Reader {
 public:
  explicit Reader(const Replay& call) : tensors_(call.tensors), words_(call.words) {}

  const Tensor& get(As<const Tensor&>) { return *tensors_++; }
  std::optional<Tensor> get(As<const std::optional<Tensor>&>) {
    const Tensor& t = *tensors_++;
    return *words_++ ? std::optional<Tensor>(t) : std::nullopt;
  }
  TensorList get(As<TensorList>) {
    const size_t n = *words_++;
    return {std::exchange(tensors_, tensors_ + n), n};
  }
  std::vector<std::optional<Tensor>> get(As<const std::vector<std::optional<Tensor>>&>) {
    std::vector<std::optional<Tensor>> list(*words_++);
    for (auto& t : list) t = get(As<const std::optional<Tensor>&>());
    return list;
  }
  TAEDA_API Scalar get(As<const Scalar&>);
  std::vector<Scalar> get(As<ArrayRef<Scalar>>) {
    std::vector<Scalar> list(*words_++);
    for (Scalar& s : list) s = get(As<const Scalar&>());
    return list;
  }
  double get(As<double>) { return std::bit_cast<double>(*words_++); }
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  T get(As<T>) {
    return static_cast<T>(*words_++);
  }
  /// Points into the recorded words.
  IntArrayRef get(As<IntArrayRef>) {
    const size_t n = *words_++;
    return {reinterpret_cast<const int64_t*>(std::exchange(words_, words_ + n)), n};
  }
  std::vector<double> get(As<ArrayRef<double>>) {
    std::vector<double> list(*words_++);
    for (double& v : list) v = get(As<double>());
    return list;
  }
  OptionalIntArrayRef get(As<OptionalIntArrayRef>) {
    return *words_++ ? OptionalIntArrayRef(get(As<IntArrayRef>())) : OptionalIntArrayRef();
  }
  std::optional<std::vector<double>> get(As<OptionalArrayRef<double>>) {
    return *words_++ ? std::optional(get(As<ArrayRef<double>>())) : std::nullopt;
  }
  TAEDA_API std::string_view get(As<std::string_view>);
  TAEDA_API Device get(As<Device>);
  TAEDA_API Generator get(As<Generator>);
  TAEDA_API TensorOptions get(As<const TensorOptions&>);
  template <class T>
  std::optional<T> get(As<std::optional<T>>) {
    return *words_++ ? std::optional<T>(get(As<T>())) : std::nullopt;
  }
  std::optional<Scalar> get(As<const std::optional<Scalar>&>) {
    return *words_++ ? std::optional(get(As<const Scalar&>())) : std::nullopt;
  }

 private:
  const Tensor* tensors_;
  const uint64_t* words_;
};
/// An optional list as an argument.
inline OptionalArrayRef<double> as_argument(const std::optional<std::vector<double>>& list) {
  return list ? OptionalArrayRef<double>(ArrayRef<double>(*list)) : OptionalArrayRef<double>();
}
template <class T>
const T& as_argument(const T& v) {
  return v;
}

enum class Answer : uint8_t {
  kRun,     ///< run the kernel; nobody will ask
  kRecord,  ///< run the kernel and report the results
  kTaken,   ///< the results are there; in-place calls are done
};

/// Stands in for kernels on the thread that owns it; other threads only make it finish.
class TAEDA_API Recorder {
 public:
  virtual Answer begin(Call& call) = 0;
  /// After kRecord: `call.results` are set.
  virtual void record(Call& call) = 0;
  /// After kRecord: the kernel threw.
  virtual void drop(Call& call) noexcept = 0;
  /// Does what is recorded and not yet done.
  virtual void finish() = 0;

 protected:
  ~Recorder() = default;
};

inline bool active() { return (tls_modes.active & kModeCapture) != 0; }
inline Recorder& recorder() { return *static_cast<Recorder*>(tls_modes.capture); }

/// Results as a vector, and back.
template <class R>
struct Results;
template <>
struct Results<Tensor> {
  static void put(std::vector<Tensor>& to, Tensor r) { to.push_back(std::move(r)); }
  static Tensor take(std::vector<Tensor>& from) { return std::move(from[0]); }
};
template <>
struct Results<std::vector<Tensor>> {
  static void put(std::vector<Tensor>& to, std::vector<Tensor> r) { to = std::move(r); }
  static std::vector<Tensor> take(std::vector<Tensor>& from) { return std::move(from); }
};
template <class... T>
  requires(std::is_same_v<T, Tensor> && ...)
struct Results<std::tuple<T...>> {
  static void put(std::vector<Tensor>& to, std::tuple<T...> r) {
    std::apply([&](auto&... t) { (to.push_back(std::move(t)), ...); }, r);
  }
  static std::tuple<T...> take(std::vector<Tensor>& from) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(std::move(from[I])...);
    }(std::index_sequence_for<T...>());
  }
};

/// Runs `forward`, or what the capture has for it.
template <class R, class Forward>
R through(Call& call, const Forward& forward) {
  const Answer answer = recorder().begin(call);
  if constexpr (std::is_void_v<R>) {
    if (answer == Answer::kTaken) return;
  } else {
    if (answer == Answer::kTaken) return Results<R>::take(call.results);
  }
  const BelowDoorGuard below;
  if (answer == Answer::kRun) return forward();
  Recorder* const to = &recorder();
  try {
    if constexpr (std::is_void_v<R>) {
      forward();
      to->record(call);
    } else {
      R result = forward();
      Results<R>::put(call.results, result);
      to->record(call);
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
