// SPDX-License-Identifier: Apache-2.0
// The Mersenne twister, its state as bytes, and the default generator.
#include "taeda/core/generator.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

namespace taeda {

void Mt19937::start(uint32_t seed) noexcept {
  state[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    const uint32_t before = state[i - 1];
    state[i] = 1812433253u * (before ^ (before >> 30)) + i;
  }
  next = kWords;
}

/// Makes the next 624 words. Each loop reads only what it has not yet written, or wrote long before, so that the
/// compiler turns it into vector code.
void Mt19937::refill() noexcept {
  constexpr size_t kShift = 397;
  const auto twist = [](uint32_t here, uint32_t after, uint32_t far) {
    const uint32_t mixed = (here & 0x80000000u) | (after & 0x7fffffffu);
    return far ^ (mixed >> 1) ^ ((uint32_t{0} - (after & 1u)) & 0x9908b0dfu);
  };
  uint32_t* s = state;
  for (size_t i = 0; i < kWords - kShift; ++i) s[i] = twist(s[i], s[i + 1], s[i + kShift]);
  for (size_t i = kWords - kShift; i < kWords - 1; ++i) s[i] = twist(s[i], s[i + 1], s[i - (kWords - kShift)]);
  s[kWords - 1] = twist(s[kWords - 1], s[0], s[kShift - 1]);
  temper();
  next = 0;
}

void Mt19937::temper() noexcept {
  for (size_t i = 0; i < kWords; ++i) {
    uint32_t y = state[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    words[i] = y ^ (y >> 18);
  }
}

GeneratorImpl::~GeneratorImpl() = default;

CPUGeneratorImpl::CPUGeneratorImpl(uint64_t seed) : GeneratorImpl(DeviceType::CPU), seed_(seed) {
  engine_.start(static_cast<uint32_t>(seed));
}

void CPUGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  engine_.start(static_cast<uint32_t>(seed));
  has_kept_normal_ = false;
}

uint64_t CPUGeneratorImpl::seed() {
  const uint64_t value = detail::getNonDeterministicRandom();
  set_current_seed(value);
  return value;
}

double CPUGeneratorImpl::normal() {
  if (has_kept_normal_) {
    has_kept_normal_ = false;
    return kept_normal_;
  }
  const double u1 = uniform_double();
  const double u2 = uniform_double();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double angle = 2.0 * std::numbers::pi * u1;
  kept_normal_ = radius * std::sin(angle);
  has_kept_normal_ = true;
  return radius * std::cos(angle);
}

namespace {

/// The saved form, of this machine's byte order. The tempered words follow from the state.
struct SavedState {
  char magic[8] = {'t', 'd', 'm', 't', '1', '9', 'v', '1'};
  uint64_t seed = 0;
  double kept_normal = 0;
  uint32_t has_kept_normal = 0;
  uint32_t next = 0;
  uint32_t state[Mt19937::kWords] = {};
};
static_assert(sizeof(SavedState) == 32 + 4 * Mt19937::kWords);

}  // namespace

std::vector<uint8_t> CPUGeneratorImpl::state_bytes() const {
  SavedState saved;
  saved.seed = seed_;
  saved.kept_normal = kept_normal_;
  saved.has_kept_normal = has_kept_normal_;
  saved.next = static_cast<uint32_t>(engine_.next);
  std::memcpy(saved.state, engine_.state, sizeof saved.state);
  std::vector<uint8_t> bytes(sizeof saved);
  std::memcpy(bytes.data(), &saved, sizeof saved);
  return bytes;
}

void CPUGeneratorImpl::set_state_bytes(const uint8_t* data, size_t size) {
  SavedState saved;
  const SavedState fresh;
  TAEDA_CHECK_VALUE(size == sizeof saved, "[set_state] a state of the CPU generator has ", sizeof saved, " bytes: got ",
                    size, "; pass what get_state returned");
  std::memcpy(&saved, data, sizeof saved);
  TAEDA_CHECK_VALUE(std::memcmp(saved.magic, fresh.magic, sizeof saved.magic) == 0 && saved.next <= Mt19937::kWords &&
                        saved.has_kept_normal <= 1,
                    "[set_state] the bytes must be a state of the CPU generator: got other or damaged bytes; pass what "
                    "get_state returned");
  seed_ = saved.seed;
  kept_normal_ = saved.kept_normal;
  has_kept_normal_ = saved.has_kept_normal != 0;
  std::memcpy(engine_.state, saved.state, sizeof saved.state);
  engine_.next = saved.next;
  if (saved.next < Mt19937::kWords) engine_.temper();
}

CPUGeneratorImpl* CPUGeneratorImpl::clone() const {
  auto* copy = new CPUGeneratorImpl(seed_);
  copy->engine_ = engine_;
  copy->kept_normal_ = kept_normal_;
  copy->has_kept_normal_ = has_kept_normal_;
  return copy;
}

Generator Generator::clone() const {
  std::lock_guard lock(mutex());
  return Generator(IntrusivePtr<GeneratorImpl>::adopt(impl().clone()));
}

Generator& default_generator() {
  // Never destroyed: objects may draw from it during static destruction.
  static auto* generator = new Generator(make_generator<CPUGeneratorImpl>());
  return *generator;
}

CPUGeneratorImpl& cpu_generator(const std::optional<Generator>& generator) {
  if (!generator.has_value() || !generator->defined()) return *default_generator().get<CPUGeneratorImpl>();
  return *check_generator<CPUGeneratorImpl>(generator);
}

std::vector<uint8_t> default_generator_state() {
  GeneratorImpl& generator = cpu_generator();
  const std::lock_guard lock(generator.mutex_);
  return generator.state_bytes();
}
void set_default_generator_state(const std::vector<uint8_t>& state) {
  GeneratorImpl& generator = cpu_generator();
  const std::lock_guard lock(generator.mutex_);
  generator.set_state_bytes(state.data(), state.size());
}

void manual_seed(uint64_t seed) {
  Generator& generator = default_generator();
  std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

uint64_t seed() {
  Generator& generator = default_generator();
  std::lock_guard lock(generator.mutex());
  return generator.seed();
}

uint64_t detail::getNonDeterministicRandom(bool) {
  std::random_device device;
  const uint64_t high = device();
  return (high << 32 | device()) & 0x1fffffffffffffull;  // 53 bits: also exact as a double
}

}  // namespace taeda
