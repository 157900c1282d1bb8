// SPDX-License-Identifier: Apache-2.0
// Finite checks by the exponent's bits. Adding the exponent's lowest bit to the magnitude carries into the sign bit when the
// exponent is all ones: an and, an add and an or for each vector, and one look at the signs for each block.
#include "taeda/cpu/finite.h"

#include <algorithm>

#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/finite.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class Word>
bool finite(const Word* words, int64_t n, Word exponent) {
  const hn::ScalableTag<Word> tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  const Word low = exponent & (~exponent + 1);
  const Word sign = static_cast<Word>(Word(1) << (8 * sizeof(Word) - 1));
  const auto magnitude = hn::Set(tag, static_cast<Word>(~sign)), one = hn::Set(tag, low), signs = hn::Set(tag, sign);
  constexpr int64_t kBlock = 4096;
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = std::min(n, i + kBlock);
    auto a = hn::Zero(tag), b = hn::Zero(tag), c = hn::Zero(tag), d = hn::Zero(tag);
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      a = hn::Or(a, hn::Add(hn::And(hn::LoadU(tag, words + i), magnitude), one));
      b = hn::Or(b, hn::Add(hn::And(hn::LoadU(tag, words + i + lanes), magnitude), one));
      c = hn::Or(c, hn::Add(hn::And(hn::LoadU(tag, words + i + 2 * lanes), magnitude), one));
      d = hn::Or(d, hn::Add(hn::And(hn::LoadU(tag, words + i + 3 * lanes), magnitude), one));
    }
    for (; i + lanes <= end; i += lanes) a = hn::Or(a, hn::Add(hn::And(hn::LoadU(tag, words + i), magnitude), one));
    const auto any = hn::And(hn::Or(hn::Or(a, b), hn::Or(c, d)), signs);
    if (!hn::AllTrue(tag, hn::Eq(any, hn::Zero(tag)))) return false;
  }
  for (; i < n; ++i) {
    if ((words[i] & exponent) == exponent) return false;
  }
  return true;
}

}  // namespace

struct Finite {
  static bool run(const uint16_t* words, int64_t n, uint16_t exponent) { return finite(words, n, exponent); }
  static bool run(const uint32_t* words, int64_t n, uint32_t exponent) { return finite(words, n, exponent); }
  static bool run(const uint64_t* words, int64_t n, uint64_t exponent) { return finite(words, n, exponent); }
};

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {

namespace {
template <class Word>
bool choose(const Word* words, int64_t n, Word exponent) {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::Finite::run(words, n, exponent);
    case SimdTarget::Avx2: return N_AVX2::Finite::run(words, n, exponent);
    default: return N_SSE4::Finite::run(words, n, exponent);
  }
}
}  // namespace

bool finite_words(const uint16_t* words, int64_t n, uint16_t exponent) { return choose(words, n, exponent); }
bool finite_words(const uint32_t* words, int64_t n, uint32_t exponent) { return choose(words, n, exponent); }
bool finite_words(const uint64_t* words, int64_t n, uint64_t exponent) { return choose(words, n, exponent); }

}  // namespace taeda::cpu
#endif
