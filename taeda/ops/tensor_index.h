// SPDX-License-Identifier: Apache-2.0
// Indexing as in Python: x.index({0, Slice(1, None, 2), "...", None, mask}).
#pragma once

#include <iosfwd>

#include "taeda/core/tensor.h"

namespace taeda::indexing {

enum class TensorIndexType { None, Ellipsis, SymInt, Integer = SymInt, Boolean, Slice, Tensor };

inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType final {};
inline constexpr EllipsisIndexType Ellipsis{};

/// start:stop:step; missing parts are the whole.
struct Slice final {
  Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
        std::optional<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {}
  std::optional<int64_t> start_opt() const { return start_; }
  std::optional<int64_t> stop_opt() const { return stop_; }
  int64_t start() const { return start_.value_or(0); }
  int64_t stop() const { return stop_.value_or(std::numeric_limits<int64_t>::max()); }
  int64_t step() const { return step_; }

 private:
  std::optional<int64_t> start_, stop_;
  int64_t step_;
};

/// One item of an index: None (a new dimension), "..." (all dimensions in between), an integer, a bool, a slice, or a
/// tensor (positions of integer dtype, or a mask).
class TensorIndex final {
 public:
  TensorIndex(std::nullopt_t) {}
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
  TensorIndex(const char* text) : type_(TensorIndexType::Ellipsis) {
    TAEDA_CHECK_VALUE(std::string_view(text) == "...", "[index] expected \"...\" to represent an ellipsis index: got \"", text,
                      "\"; pass \"...\"");
  }
  TensorIndex(int64_t integer) : type_(TensorIndexType::Integer), integer_(integer) {}
  TensorIndex(int integer) : TensorIndex(static_cast<int64_t>(integer)) {}
  template <class T>
    requires std::is_same_v<T, bool>
  TensorIndex(T boolean) : type_(TensorIndexType::Boolean), integer_(boolean) {}
  TensorIndex(Slice slice) : type_(TensorIndexType::Slice), slice_(slice) {}
  TensorIndex(taeda::Tensor tensor) : type_(TensorIndexType::Tensor), tensor_(std::move(tensor)) {}

  TensorIndexType type() const { return type_; }
  bool is_none() const { return type_ == TensorIndexType::None; }
  bool is_ellipsis() const { return type_ == TensorIndexType::Ellipsis; }
  bool is_integer() const { return type_ == TensorIndexType::Integer; }
  bool is_boolean() const { return type_ == TensorIndexType::Boolean; }
  bool is_slice() const { return type_ == TensorIndexType::Slice; }
  bool is_tensor() const { return type_ == TensorIndexType::Tensor; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const taeda::Tensor& tensor() const { return tensor_; }

 private:
  TensorIndexType type_ = TensorIndexType::None;
  int64_t integer_ = 0;
  Slice slice_;
  taeda::Tensor tensor_;
};

TAEDA_API std::ostream& operator<<(std::ostream& stream, const Slice& slice);
TAEDA_API std::ostream& operator<<(std::ostream& stream, const TensorIndex& index);
TAEDA_API std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& indices);

/// What the indices name: views where they allow it, a copy where tensors take part.
TAEDA_API Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices);
/// Writes `value`, broadcast, to what the indices name.
TAEDA_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value);
TAEDA_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value);

}  // namespace taeda::indexing
