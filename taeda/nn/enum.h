// SPDX-License-Identifier: Apache-2.0
// Tags that name choices in options, and the variants that hold one of them.
#pragma once

#include <string>
#include <variant>

#include "taeda/core/error.h"

#define TAEDA_FOR_EACH_TAG(_)                                                                                          \
  _(Linear) _(Conv1D) _(Conv2D) _(Conv3D) _(ConvTranspose1D) _(ConvTranspose2D) _(ConvTranspose3D) _(Sigmoid) _(Tanh)  \
  _(ReLU) _(GELU) _(SiLU) _(Mish) _(LeakyReLU) _(FanIn) _(FanOut) _(Constant) _(Reflect) _(Replicate) _(Circular)      \
  _(Nearest) _(Bilinear) _(Bicubic) _(Trilinear) _(Area) _(NearestExact) _(Sum) _(Mean) _(Max) _(None) _(BatchMean)    \
  _(Zeros) _(Border) _(Reflection) _(RNN_TANH) _(RNN_RELU) _(LSTM) _(GRU) _(Valid) _(Same)

namespace taeda {
namespace enumtype {
#define TAEDA_DECLARE_TAG(name)                                     \
  struct k##name {                                                  \
    constexpr k##name() = default;                                  \
    static constexpr const char* text = "k" #name;                  \
    friend constexpr bool operator==(k##name, k##name) = default;   \
  };
TAEDA_FOR_EACH_TAG(TAEDA_DECLARE_TAG)
#undef TAEDA_DECLARE_TAG

/// The name of the tag that a variant holds, for example "kMean".
template <class... Tags>
std::string get_enum_name(const std::variant<Tags...>& v) {
  return std::visit([](const auto& tag) -> std::string {
    if constexpr (requires { tag.text; }) {
      return tag.text;
    } else {
      return "custom";
    }
  }, v);
}

/// Reductions of losses as operators take them: 0 none, 1 mean, 2 sum.
template <class Variant>
int64_t reduction_number(const Variant& v) {
  return std::visit([](const auto& tag) -> int64_t {
    const std::string name = tag.text;
    if (name == "kNone") return 0;
    if (name == "kMean") return 1;
    TAEDA_CHECK(name == "kSum", "[loss] the reduction must be kNone, kMean or kSum: got ", name, "; choose one");
    return 2;
  }, v);
}
}  // namespace enumtype
#define TAEDA_DEFINE_TAG(name) inline constexpr enumtype::k##name k##name{};
TAEDA_FOR_EACH_TAG(TAEDA_DEFINE_TAG)
#undef TAEDA_DEFINE_TAG
}  // namespace taeda
