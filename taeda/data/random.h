// SPDX-License-Identifier: Apache-2.0
// Random numbers for transforms: the same for a batch whichever thread makes it.
#pragma once

#include <cstdint>

#include "taeda/core/export.h"

namespace taeda::data {

/// A small generator (splitmix64; Steele, Lea, Flood 2014). Loaders start one for every batch from the seed of the default generator,
/// the epoch and the batch's number, so that augmentations do not depend on threads and can be resumed.
class TAEDA_API Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, n), n > 0; the bias is below n / 2^64.
  int64_t below(int64_t n) {
    return static_cast<int64_t>((static_cast<unsigned __int128>(next()) * static_cast<uint64_t>(n)) >> 64);
  }
  bool chance(double probability) { return uniform() < probability; }

 private:
  uint64_t state_;
};

/// The batch's generator inside a loader; elsewhere one of this thread, started at each call from a number drawn of the default generator.
TAEDA_API Random& current_random();

/// Makes a generator for one batch the current one of this thread while it lives.
class TAEDA_API RandomScope {
 public:
  RandomScope(uint64_t seed, uint64_t epoch, uint64_t batch);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  Random random_;
  Random* outer_;
};

/// The seed from which loaders start: the default generator's current one; draws nothing.
TAEDA_API uint64_t loader_seed();

}  // namespace taeda::data
