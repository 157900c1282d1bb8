// SPDX-License-Identifier: Apache-2.0
// The library under the names of LibTorch: `torch::`, `at::` and `c10::`. Programs written for <torch/torch.h> include this.
// Inner namespaces are aliases, so that `using namespace torch;` leaves `nn::Linear` with one meaning.
#pragma once

// Standard headers that <torch/torch.h> brings with it: programs use them without naming them.
#include <algorithm>
#include <bitset>
#include <cassert>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <list>
#include <locale>
#include <map>
#include <numeric>
#include <queue>
#include <semaphore>
#include <set>
#include <sstream>
#include <stack>
#include <string_view>
#include <thread>
#include <typeindex>

#include "taeda/taeda.h"       // IWYU pragma: export
#include "taeda/torch_macros.h"  // IWYU pragma: export

namespace taeda {

// Namespaces that a program may name before their rooms are included.
namespace nn::functional {}
namespace nn::init {}
namespace nn::utils {}
namespace optim {}
namespace data::datasets {}
namespace data::samplers {}
namespace data::transforms {}
namespace serialize {}
namespace special {}
namespace fft {}
namespace linalg {}

namespace autograd {
using taeda::AutoGradMode;
using taeda::GradMode;
}  // namespace autograd

inline constexpr ScalarType kU8 = kByte, kI8 = kChar, kI16 = kShort, kI32 = kInt, kI64 = kLong;

constexpr ScalarType typeMetaToScalarType(TypeMeta dtype) { return dtype.toScalarType(); }
constexpr TypeMeta scalarTypeToTypeMeta(ScalarType dtype) { return dtype; }

/// Reductions of losses as operators number them.
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}

// Free functions that are members elsewhere, and shorter calls of others.
inline void print(const Tensor& tensor, int64_t line_size = 80) { taeda::print(std::cout, tensor, line_size); }
inline Tensor detach(const Tensor& self) { return self.detach(); }
inline Tensor& detach_(Tensor& self) { return self.detach_(); }
inline bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }
inline Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) { return taeda::range(start, end, 1, options); }
inline bool is_nonzero(const Tensor& self) { return self.is_nonzero(); }
inline ScalarType result_type(const Scalar& a, const Scalar& b) {
  if (a.isFloatingPoint() || b.isFloatingPoint()) return default_scalar_type();
  return a.isBoolean() && b.isBoolean() ? kBool : kLong;
}

/// CUDA is not there yet: these report so.
namespace cuda {
inline bool is_available() { return false; }
inline bool cudnn_is_available() { return false; }
inline DeviceIndex device_count() { return 0; }
inline void manual_seed(uint64_t) {}
inline void manual_seed_all(uint64_t) {}
inline void synchronize(int64_t = -1) {}
}  // namespace cuda

namespace detail {
/// 0, 1, …, end - 1 in a range-based for loop.
template <class T>
class IntegerRange {
 public:
  struct iterator {
    T value;
    T operator*() const { return value; }
    iterator& operator++() {
      ++value;
      return *this;
    }
    bool operator==(const iterator& other) const { return value == other.value; }
  };
  IntegerRange(T begin, T end) : begin_{begin}, end_{end < begin ? begin : end} {}
  iterator begin() const { return begin_; }
  iterator end() const { return end_; }

 private:
  iterator begin_, end_;
};
}  // namespace detail
template <class T>
  requires std::is_integral_v<T>
detail::IntegerRange<T> irange(T end) {
  return {T(0), end};
}
template <class A, class B>
  requires(std::is_integral_v<A> && std::is_integral_v<B>)
detail::IntegerRange<B> irange(A begin, B end) {
  return {static_cast<B>(begin), end};
}

}  // namespace taeda

namespace c10 {
using namespace taeda;  // NOLINT(google-build-using-namespace)
using std::nullopt;
using std::optional;
using std::string_view;
template <class T>
using intrusive_ptr = taeda::IntrusivePtr<T>;
template <class T>
using List = std::vector<T>;
using SymInt = int64_t;
using SymIntArrayRef = taeda::IntArrayRef;
inline constexpr auto make_optional = [](auto&& value) { return std::make_optional(std::forward<decltype(value)>(value)); };
}  // namespace c10

namespace taeda::detail {
/// The first hundred elements with spaces between them; more are named by three dots.
template <class Container>
std::ostream& print_sequence(std::ostream& stream, const Container& items) {
  size_t printed = 0;
  for (const auto& item : items) {
    if (printed == 100) return stream << " ...";
    stream << (printed++ ? " " : "") << item;
  }
  return stream;
}
}  // namespace taeda::detail

// Programs for LibTorch print vectors, sets and maps of the standard library, which works through these in namespace std there too.
namespace std {  // NOLINT(cert-dcl58-cpp)
template <class A, class B>
ostream& operator<<(ostream& stream, const pair<A, B>& both) {
  return stream << '(' << both.first << ", " << both.second << ')';
}
template <class... T>
ostream& operator<<(ostream& stream, const vector<T...>& items) {
  return taeda::detail::print_sequence(stream, items);
}
template <class... T>
ostream& operator<<(ostream& stream, const set<T...>& items) {
  return taeda::detail::print_sequence(stream, items);
}
template <class... T>
ostream& operator<<(ostream& stream, const map<T...>& items) {
  return taeda::detail::print_sequence(stream, items);
}
}  // namespace std

namespace caffe2 {
using TypeMeta = taeda::TypeMeta;
}

namespace at {
using namespace taeda;  // NOLINT(google-build-using-namespace)
using taeda::print;
namespace indexing = taeda::indexing;
namespace autograd = taeda::autograd;
using c10::SymInt;
/// Operators called under it run their kernels at once (`at::AutoDispatchBelowADInplaceOrView`).
using AutoDispatchBelowADInplaceOrView = taeda::BelowAutogradGuard;
using AutoDispatchBelowAutograd = taeda::BelowAutogradGuard;
using AutoNonVariableTypeMode = taeda::BelowAutogradGuard;
inline bool hasCUDA() { return false; }
/// What a program may ask of the process.
class Context {
 public:
  /// A handle to the generator of the device.
  Generator defaultGenerator(Device /*device*/ = kCPU) const { return taeda::default_generator(); }
  static bool hasCUDA() { return false; }
  static bool hasMPS() { return false; }
  bool userEnabledCuDNN() const { return false; }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
/// Unlike torch::tensor, these have one dimension always and the dtype of the values, or the default dtype where options name none.
template <class T>
  requires(std::is_arithmetic_v<T> || taeda::is_reduced_float<T>)
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = taeda::scalar_type_of<T>) {
  return taeda::tensor(values, options.dtype(options.dtype()));
}
template <class T>
  requires(std::is_arithmetic_v<T> || taeda::is_reduced_float<T>)
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = taeda::scalar_type_of<T>) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T>
  requires(std::is_arithmetic_v<T> || taeda::is_reduced_float<T>)
Tensor tensor(T value, const TensorOptions& options = taeda::scalar_type_of<T>) {
  return at::tensor(ArrayRef<T>(value), options);
}
template <class T>
  requires((std::is_arithmetic_v<T> || taeda::is_reduced_float<T>) && !std::is_same_v<T, bool>)
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = taeda::scalar_type_of<T>) {
  return at::tensor(ArrayRef<T>(values), options);
}
}  // namespace at

namespace torch {
using namespace taeda;  // NOLINT(google-build-using-namespace)
using std::nullopt;
using std::optional;
namespace nn = taeda::nn;
namespace optim = taeda::optim;
namespace autograd = taeda::autograd;
namespace indexing = taeda::indexing;
namespace data = taeda::data;
namespace serialize = taeda::serialize;
namespace special = taeda::special;
namespace fft = taeda::fft;
namespace linalg = taeda::linalg;
namespace cuda = taeda::cuda;
/// Whether both are undefined, or both are equal.
inline bool equal_if_defined(const Tensor& a, const Tensor& b) {
  return (!a.defined() && !b.defined()) || (a.defined() && b.defined() && a.equal(b));
}
}  // namespace torch
