// SPDX-License-Identifier: Apache-2.0
// What the sources of the functional forms share.
#pragma once

#include <cctype>
#include <optional>
#include <string>

#include "taeda/core/tensor.h"
#include "taeda/nn/enum.h"

namespace taeda::nn::detail {

inline std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

/// The number of an options struct's reduction.
template <class Options>
int64_t reduction(const Options& options) {
  return enumtype::reduction_number(options.reduction());
}

/// A tag as operators spell it: kMean is "mean", kNearestExact "nearest-exact".
template <class... Tags>
std::string word(const std::variant<Tags...>& v) {
  const std::string tag = enumtype::get_enum_name(v).substr(1);
  std::string text;
  for (const char c : tag) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (upper && !text.empty()) text += '-';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

}  // namespace taeda::nn::detail
