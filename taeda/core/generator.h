// SPDX-License-Identifier: Apache-2.0
// Random number generators: the handle, the CPU's Mersenne twister, the default generator. Equal seeds give the
// numbers of PyTorch's CPU generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "taeda/core/device.h"
#include "taeda/core/error.h"
#include "taeda/core/export.h"
#include "taeda/core/intrusive.h"
#include "taeda/core/modes.h"
#include "taeda/core/storage.h"

namespace taeda {

class Tensor;

/// The seed of a generator that was given none.
inline constexpr uint64_t default_rng_seed_val = 67280421310721;

/// What a generator of any device can do. `mutex_` guards the state; the fills of random_fill.h take it themselves.
class TAEDA_API GeneratorImpl {
 public:
  virtual ~GeneratorImpl();
  GeneratorImpl(const GeneratorImpl&) = delete;
  GeneratorImpl& operator=(const GeneratorImpl&) = delete;

  /// Starts the sequence that belongs to `seed`.
  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;
  /// Seeds from the system's entropy and returns the seed.
  virtual uint64_t seed() = 0;
  /// The whole state as bytes; `set_state_bytes` with them continues the sequence from there.
  virtual std::vector<uint8_t> state_bytes() const = 0;
  /// Throws ValueError when the bytes are no state of this kind of generator.
  virtual void set_state_bytes(const uint8_t* data, size_t size) = 0;
  virtual GeneratorImpl* clone() const = 0;  ///< the caller owns the reference
  Device device() const { return device_; }

  static void retain(GeneratorImpl* impl) noexcept { impl->references_.retain(); }
  static void release(GeneratorImpl* impl) noexcept {
    if (impl->references_.release()) delete impl;
  }

  mutable std::mutex mutex_;

 protected:
  explicit GeneratorImpl(Device device) : device_(device) {}

 private:
  RefCount references_;
  Device device_;
};

/// MT19937 (Matsumoto, Nishimura 1998) in blocks of 624 words. `next` points into `words`, which are tempered already.
struct TAEDA_API Mt19937 {
  static constexpr size_t kWords = 624;
  uint32_t state[kWords];
  uint32_t words[kWords];
  size_t next;

  void start(uint32_t seed) noexcept;
  void refill() noexcept;
  void temper() noexcept;
  uint32_t operator()() noexcept {
    if (next == kWords) refill();
    return words[next++];
  }
};

/// The CPU's generator. Its member functions do not lock.
class TAEDA_API CPUGeneratorImpl final : public GeneratorImpl {
 public:
  explicit CPUGeneratorImpl(uint64_t seed = default_rng_seed_val);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  std::vector<uint8_t> state_bytes() const override;
  void set_state_bytes(const uint8_t* data, size_t size) override;
  CPUGeneratorImpl* clone() const override;
  static DeviceType device_type() { return DeviceType::CPU; }

  uint32_t random() { return engine_(); }
  /// Two 32-bit draws, the first being the high half.
  uint64_t random64() {
    const uint64_t high = engine_();
    return high << 32 | engine_();
  }
  /// In [0, 1): one 32-bit draw, its low 24 bits.
  float uniform_float() { return static_cast<float>(random() & 0xffffffu) * 0x1p-24f; }
  /// In [0, 1): one 64-bit draw, its low 53 bits.
  double uniform_double() { return static_cast<double>(random64() & 0x1fffffffffffffull) * 0x1p-53; }
  /// A standard normal (Box, Muller 1958); every second one is kept from the call before and draws nothing.
  double normal();
  Mt19937& engine() { return engine_; }

 private:
  Mt19937 engine_;
  uint64_t seed_;
  double kept_normal_ = 0;
  bool has_kept_normal_ = false;
};

/// Shared handle to a generator; copies draw from the same sequence.
class TAEDA_API Generator {
 public:
  Generator() = default;
  explicit Generator(IntrusivePtr<GeneratorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_.get() != nullptr; }
  void set_current_seed(uint64_t seed) { impl().set_current_seed(seed); }
  uint64_t current_seed() const { return impl().current_seed(); }
  uint64_t seed() { return impl().seed(); }
  std::mutex& mutex() const { return impl().mutex_; }
  Device device() const { return impl().device(); }
  /// A generator of its own with the same state.
  Generator clone() const;
  std::vector<uint8_t> state_bytes() const { return impl().state_bytes(); }
  void set_state_bytes(const std::vector<uint8_t>& bytes) { impl().set_state_bytes(bytes.data(), bytes.size()); }
  /// The state as a 1-dimensional uint8 tensor.
  Tensor get_state() const;
  void set_state(const Tensor& state);

  GeneratorImpl* unsafeGetGeneratorImpl() const { return impl_.get(); }
  /// The implementation, which must be a T.
  template <class T>
  T* get() const {
    if (TAEDA_UNLIKELY(tls_modes.active & kModeCapture)) detail::finish_recorded();
    return static_cast<T*>(impl_.get());
  }
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_.get() == b.impl_.get(); }

 private:
  GeneratorImpl& impl() const {
    if (TAEDA_UNLIKELY(tls_modes.active & kModeCapture)) detail::finish_recorded();
    TAEDA_CHECK(defined(), "[Generator] an operation needs a defined generator: got an empty one; make it with "
                           "make_generator<CPUGeneratorImpl>(seed)");
    return *impl_.get();
  }

  IntrusivePtr<GeneratorImpl> impl_;
};

/// A new generator: `make_generator<CPUGeneratorImpl>(seed)`.
template <class Impl, class... Args>
Generator make_generator(Args&&... args) {
  return Generator(IntrusivePtr<GeneratorImpl>::adopt(new Impl(std::forward<Args>(args)...)));
}

/// The generator of all random operators that are given none.
TAEDA_API Generator& default_generator();
/// The implementation to draw from: of `generator` if there is one, else of the default generator.
TAEDA_API CPUGeneratorImpl& cpu_generator(const std::optional<Generator>& generator = std::nullopt);
/// The state of the CPU's default generator; with `set_default_generator_state` the sequence continues from there. Both take its mutex.
TAEDA_API std::vector<uint8_t> default_generator_state();
TAEDA_API void set_default_generator_state(const std::vector<uint8_t>& state);
/// Seeds the default generator.
TAEDA_API void manual_seed(uint64_t seed);
/// Seeds the default generator from the system's entropy and returns the seed.
TAEDA_API uint64_t seed();

namespace detail {
inline Generator createCPUGenerator(uint64_t seed = default_rng_seed_val) { return make_generator<CPUGeneratorImpl>(seed); }
inline const Generator& getDefaultCPUGenerator() { return default_generator(); }
TAEDA_API uint64_t getNonDeterministicRandom(bool is_cuda = false);
}  // namespace detail

/// `generator` as a T, checked. Throws ValueError when it is missing, empty or of another device.
template <class T>
T* check_generator(const std::optional<Generator>& generator) {
  TAEDA_CHECK_VALUE(generator.has_value() && generator->defined(),
                    "[Generator] an operation needs a generator: got none; pass one that is defined");
  TAEDA_CHECK_VALUE(generator->device().type() == T::device_type(), "[Generator] the generator's device must be ",
                    T::device_type(), ": got ", generator->device());
  return generator->get<T>();
}

template <class T>
T* get_generator_or_default(const std::optional<Generator>& generator, const Generator& fallback) {
  return generator.has_value() && generator->defined() ? check_generator<T>(generator) : check_generator<T>(fallback);
}

}  // namespace taeda
