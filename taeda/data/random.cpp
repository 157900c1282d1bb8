// SPDX-License-Identifier: Apache-2.0
// Where transforms get their random numbers.
#include "taeda/data/random.h"

#include <mutex>

#include "taeda/core/generator.h"

namespace taeda::data {
namespace {

thread_local Random* tls_random = nullptr;

uint64_t mix(uint64_t a, uint64_t b) { return Random(a ^ Random(b).next()).next(); }

/// Outside loaders: started for each use from the default generator, so that seeding that one decides everything.
Random& fallback_random() {
  thread_local Random random(0);
  Generator generator = default_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  random = Random(generator.get<CPUGeneratorImpl>()->random64());
  return random;
}

}  // namespace

Random& current_random() { return tls_random ? *tls_random : fallback_random(); }

RandomScope::RandomScope(uint64_t seed, uint64_t epoch, uint64_t batch) : random_(mix(mix(seed, epoch), batch)), outer_(tls_random) {
  tls_random = &random_;
}
RandomScope::~RandomScope() { tls_random = outer_; }

uint64_t loader_seed() {
  const Generator generator = default_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.current_seed();
}

}  // namespace taeda::data
