// SPDX-License-Identifier: Apache-2.0
// What the generated doors of operators are made of: the test that sends a call to the slow side, recording of results,
// writes of in-place and out= forms, and conversions from Values.
#pragma once

#include <array>
#include <span>

#include "taeda/core/node.h"
#include "taeda/ops/capture.h"
#include "taeda/ops/finite.h"
#include "taeda/ops/registry.h"

namespace taeda {

/// Base of operators that are written with other public operators: gradient, capture and export follow from those.
struct Composite {};

namespace detail {

inline uint32_t flags_of(const Tensor& t) {
  const TensorImpl* impl = t.unsafeGetTensorImpl();
  return impl ? impl->flags : 0u;
}
inline uint32_t flags_of(const std::optional<Tensor>& t) { return t ? flags_of(*t) : 0u; }
inline uint32_t flags_of(TensorList list) {
  uint32_t flags = 0;
  for (const Tensor& t : list) flags |= flags_of(t);
  return flags;
}
/// True when a mode is active or an input's flags concern the door.
template <class... T>
inline bool needs_slow(const T&... inputs) {
  const Modes& modes = tls_modes;
  return (((0u | ... | flags_of(inputs)) & modes.mask) | modes.active) != 0;
}
inline bool wants(const Tensor& t) { return autograd::needs_grad(t); }
inline bool wants(const std::optional<Tensor>& t) { return t && autograd::needs_grad(*t); }
inline bool wants(TensorList list) {
  for (const Tensor& t : list) {
    if (autograd::needs_grad(t)) return true;
  }
  return false;
}
inline Tensor or_undefined(const std::optional<Tensor>& t) { return t ? *t : Tensor(); }

TAEDA_API Value intercept(const OpInfo& op, std::vector<Value> args);
/// Throws when `result` holds a NaN, or an infinity that no argument held. Defined in taeda/autograd.
TAEDA_API TAEDA_COLD void report_unless_passed_on(const OpInfo& op, const Tensor& result, const std::vector<Value>& args);

template <class R>
struct FromResult;
template <>
struct FromResult<Tensor> {
  static Tensor get(const Value& v) { return v.is_none() ? Tensor() : v.tensor(); }
};
template <>
struct FromResult<std::vector<Tensor>> {
  static std::vector<Tensor> get(const Value& v) { return v.tensor_list(); }
};
template <>
struct FromResult<bool> {
  static bool get(const Value& v) { return v.to_bool(); }
};
template <>
struct FromResult<int64_t> {
  static int64_t get(const Value& v) { return v.to_int(); }
};
template <>
struct FromResult<double> {
  static double get(const Value& v) { return v.to_double(); }
};
template <>
struct FromResult<Scalar> {
  static Scalar get(const Value& v) { return v.to_scalar(); }
};
template <>
struct FromResult<ScalarType> {
  static ScalarType get(const Value& v) { return static_cast<ScalarType>(v.to_int()); }
};
template <class... T>
struct FromResult<std::tuple<T...>> {
  static std::tuple<T...> get(const Value& v) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(FromResult<T>::get(v.list().at(I))...);
    }(std::index_sequence_for<T...>());
  }
};
template <class R>
R intercepted(const OpInfo& op, std::vector<Value> args) {
  return FromResult<R>::get(intercept(op, std::move(args)));
}

/// Runs the kernel `forward`, or what a capture has in its place. `add` hands the arguments to the capture, `replay` runs the
/// kernel with arguments so recorded.
template <class R, class Add, class Forward>
R captured(const OpInfo& op, void (*replay)(const capture::Replay&), const Add& add, const Forward& forward) {
  if (TAEDA_LIKELY(!capture::active())) return forward();
  capture::Call call({.name = op.name, .info = &op, .run = replay});
  if constexpr (std::is_void_v<R>) call.written.push_back(0);
  add(call);
  return capture::through<R>(call, forward);
}

/// Checks a result in anomaly mode; otherwise passes it through. `args()` gives the call's arguments for the report.
template <class Args>
void check_finite(const OpInfo& op, const Tensor& result, const Args& args) {
  if (!result.defined() || tls_finite_blocks.has(result.impl().data()) || all_finite(result)) return;
  report_unless_passed_on(op, result, args());
}
template <class Args>
void check_finite(const OpInfo& op, const std::vector<Tensor>& results, const Args& args) {
  for (const Tensor& t : results) check_finite(op, t, args);
}
template <class Args, class... T>
void check_finite(const OpInfo& op, const std::tuple<T...>& results, const Args& args) {
  std::apply([&](const auto&... item) { (check_finite(op, item, args), ...); }, results);
}
template <class Args, class Other>
  requires(std::is_arithmetic_v<Other> || std::is_same_v<Other, Scalar>)
void check_finite(const OpInfo&, const Other&, const Args&) {}
template <class R, class Args>
R checked(const OpInfo& op, R result, const Args& args) {
  if (TAEDA_UNLIKELY(tls_modes.active & kModeAnomaly)) check_finite(op, result, args);
  return result;
}

// Attaching the node to results. An operator that is no view gives fresh tensors: a view relation that its own forward
// left behind is dropped.
template <bool kIsView>
void set_histories(const Tensor& result, const IntrusivePtr<autograd::Node>& node) {
  if (!kIsView && result.defined()) {
    TensorImpl& impl = result.mutable_impl();
    impl.view_base.reset();
    impl.flags &= static_cast<uint8_t>(~kFlagView);
  }
  autograd::set_history(result, node);
}
template <bool kIsView>
void set_histories(const std::vector<Tensor>& results, const IntrusivePtr<autograd::Node>& node) {
  for (const Tensor& t : results) {
    set_histories<kIsView>(t, node);
    if constexpr (kIsView) t.mutable_impl().view_kind = ViewKind::kMultiOutput;
  }
}
template <bool kIsView, class... T>
void set_histories(const std::tuple<T...>& results, const IntrusivePtr<autograd::Node>& node) {
  std::apply([&](const auto&... item) {
    ([&] {
      if constexpr (std::is_same_v<std::decay_t<decltype(item)>, Tensor> ||
                    std::is_same_v<std::decay_t<decltype(item)>, std::vector<Tensor>>) {
        set_histories<kIsView>(item, node);
      }
    }(), ...);
  }, results);
}

// Gradients of nodes with several inputs or outputs.
TAEDA_API void materialize_grads(const autograd::Node& node, std::span<Tensor> grads);
inline bool any_needs(const autograd::Node& node, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (node.needs(first + i)) return true;
  }
  return false;
}
inline void place_grads(std::vector<Tensor> grads, std::span<Tensor> out) {
  for (size_t i = 0; i < out.size() && i < grads.size(); ++i) out[i] = std::move(grads[i]);
}
template <class... T>
void spread_grads(std::tuple<T...> grads, std::span<Tensor> out) {
  size_t i = 0;
  const auto place = [&](auto& g) {
    if constexpr (std::is_same_v<std::decay_t<decltype(g)>, Tensor>) {
      out[i++] = std::move(g);
    } else {
      for (Tensor& t : g) out[i++] = std::move(t);
    }
  };
  std::apply([&](auto&... g) { (place(g), ...); }, grads);
}
inline void spread_grads(std::vector<Tensor> grads, std::span<Tensor> out) { place_grads(std::move(grads), out); }

// Lists of saved tensors.
inline void save_list(std::vector<autograd::SavedTensor>& saved, TensorList list) {
  saved.clear();
  for (const Tensor& t : list) saved.emplace_back(t, false);
}
inline void save_optional_list(std::vector<autograd::SavedTensor>& saved, const std::vector<std::optional<Tensor>>& list) {
  saved.clear();
  for (const auto& t : list) saved.emplace_back(or_undefined(t), false);
}
inline std::vector<Tensor> unpack_list(const std::vector<autograd::SavedTensor>& saved, const autograd::Node& node) {
  std::vector<Tensor> list;
  for (const auto& s : saved) list.push_back(s.unpack(node));
  return list;
}
inline std::vector<std::optional<Tensor>> unpack_optional_list(const std::vector<autograd::SavedTensor>& saved,
                                                               const autograd::Node& node) {
  std::vector<std::optional<Tensor>> list;
  for (const auto& s : saved) {
    Tensor t = s.unpack(node);
    list.push_back(t.defined() ? std::optional<Tensor>(std::move(t)) : std::nullopt);
  }
  return list;
}
inline void release_saved(autograd::SavedTensor& saved) { saved.release(); }
inline void release_saved(std::vector<autograd::SavedTensor>& saved) {
  for (auto& s : saved) s.release();
}
TAEDA_API std::vector<DimVector> list_sizes(TensorList list);
inline OptionalIntArrayRef opt_ref(const std::optional<DimVector>& list) {
  return list ? OptionalIntArrayRef(IntArrayRef(*list)) : OptionalIntArrayRef();
}
inline OptionalArrayRef<double> opt_ref(const std::optional<std::vector<double>>& list) {
  return list ? OptionalArrayRef<double>(ArrayRef<double>(*list)) : OptionalArrayRef<double>();
}

// Writing forms. Everything is checked before the first element is written.
/// Throws when `self` has elements that share memory (an expanded tensor).
TAEDA_API void check_writable(const Tensor& self, const char* op);
/// Runs a kernel that writes `self`, and counts the write.
template <class F>
void mutate(const Tensor& self, const F& write) {
  write();
  self.mutable_impl().count_write();
}
/// Stores `result` into `self`: equal shape, castable dtype.
TAEDA_API void write_inplace(const Tensor& self, const Tensor& result, const char* op);
/// Stores `result` into `out`, resizing it where the shape differs.
TAEDA_API Tensor& write_out(Tensor& out, const Tensor& result, const char* op);
/// What a new tensor takes from `out`: its dtype (nothing, when it is undefined).
inline TensorOptions options_of(const Tensor& out) { return out.defined() ? TensorOptions(out.scalar_type()) : TensorOptions(); }
TAEDA_API void throw_out_grad(const char* op);
template <class... T>
void check_out(const Tensor& out, const char* op, const T&... inputs) {
  if (autograd::recording() && (wants(out) || (false || ... || wants(inputs)))) throw_out_grad(op);
}

// Conversions from Values for calls by name.
inline std::optional<Tensor> opt_tensor(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<Tensor>(v.tensor());
}
inline std::optional<Scalar> opt_scalar(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<Scalar>(v.to_scalar());
}
inline std::optional<int64_t> opt_int(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<int64_t>(v.to_int());
}
inline std::optional<double> opt_double(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<double>(v.to_double());
}
inline std::optional<bool> opt_bool(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<bool>(v.to_bool());
}
inline std::optional<std::string_view> opt_string(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<std::string_view>(v.string());
}
inline std::optional<Device> opt_device(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<Device>(v.device());
}
inline std::optional<Generator> opt_generator(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<Generator>(v.generator());
}
template <class E>
std::optional<E> opt_enum(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional<E>(static_cast<E>(v.to_int()));
}
TAEDA_API TensorOptions options_from(const Value* four);

/// Owns the list behind an OptionalArrayRef for the time of a call.
template <class T>
class OptList {
 public:
  explicit OptList(const Value& v) {
    if (v.is_none()) return;
    if constexpr (std::is_same_v<T, double>) {
      list_ = v.double_list();
    } else {
      list_ = v.int_list();
    }
    given_ = true;
  }
  operator OptionalArrayRef<T>() const {
    return given_ ? OptionalArrayRef<T>(ArrayRef<T>(list_)) : OptionalArrayRef<T>();
  }

 private:
  std::vector<T> list_;
  bool given_ = false;
};
using OptIntList = OptList<int64_t>;
using OptDoubleList = OptList<double>;

}  // namespace detail
}  // namespace taeda
