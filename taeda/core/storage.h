// SPDX-License-Identifier: Apache-2.0
// A block of memory shared by a tensor and its views, with the counters that notice writes.
#pragma once

#include <atomic>

#include "taeda/core/device.h"
#include "taeda/core/intrusive.h"

namespace taeda {

struct StorageImpl;

/// Told when a storage it watches is looked at: the storage has writes that are recorded, not yet done. A watcher owns one
/// reference to each storage it watches.
struct TAEDA_API StorageWatcher {
  /// Called before the memory is read or written, by any thread.
  virtual void touch(StorageImpl& storage) = 0;

 protected:
  ~StorageWatcher() = default;
};

/// Owner of one memory block.
/// Invariant: `data` holds `nbytes` bytes, or is null when `nbytes` is 0 or a watcher will provide it.
struct TAEDA_API StorageImpl final {
  using Deleter = void (*)(void* context, void* data, size_t nbytes);

  RefCount references;
  /// In-place changes seen by autograd: saved tensors compare it.
  std::atomic<uint32_t> version{0};
  /// Every mutable access, also through raw pointers and `.data()`: caches keyed by content compare it.
  std::atomic<uint32_t> writes{0};
  /// The operator that last changed the block in place, where known; a string of static duration.
  std::atomic<const char*> last_writer{nullptr};
  Device device;
  bool resizable = true;
  /// A mutable pointer was handed out: writes can no longer be counted.
  std::atomic<bool> pointer_escaped{false};
  uint32_t watch_number = 0;  ///< the watcher's own
  std::atomic<StorageWatcher*> watcher{nullptr};
  void* data = nullptr;
  size_t nbytes = 0;
  Deleter deleter = nullptr;  ///< null: the block belongs to the CPU allocator
  void* deleter_context = nullptr;

  static void retain(StorageImpl* s) noexcept { s->references.retain(); }
  static void release(StorageImpl* s) noexcept {
    if (s->references.release()) destroy(s);
  }
  size_t use_count() const noexcept { return references.value(); }
  /// References besides the watcher's.
  size_t owners() const noexcept { return references.value() - (watcher.load(std::memory_order_relaxed) != nullptr); }
  /// The memory, with everything that was recorded for it done.
  void* bytes() {
    if (TAEDA_UNLIKELY(watcher.load(std::memory_order_acquire) != nullptr)) touch();
    return data;
  }
  /// A storage of `nbytes` bytes whose memory a watcher provides when it is looked at.
  static StorageImpl* announce(size_t nbytes, Device device);
  /// Takes the memory of `other`, which is left empty.
  void take_memory(StorageImpl& other) noexcept;
  /// A storage of `nbytes` uninitialised bytes from the device's allocator.
  static StorageImpl* allocate(size_t nbytes, Device device);
  /// A storage over foreign memory; `deleter` (may be null) runs when the last user is gone.
  static StorageImpl* adopt(void* data, size_t nbytes, Device device, Deleter deleter, void* context);
  /// Changes the size; the first min(old, new) bytes are kept. Works under live views, down to nothing and back.
  void resize(size_t nbytes_new);

 private:
  static void destroy(StorageImpl* s) noexcept;
  TAEDA_COLD void touch();
  void free_block() noexcept;
};

namespace detail {
/// Does what is recorded on this thread and not yet done (taeda/ops/capture.cpp). Called before memory is written, or a
/// generator looked at, other than by an operator.
TAEDA_API void finish_recorded();
}  // namespace detail

/// Shared handle to a storage (`c10::Storage`).
class Storage final {
 public:
  Storage() = default;
  explicit Storage(IntrusivePtr<StorageImpl> impl) : impl_(std::move(impl)) {}
  explicit operator bool() const { return static_cast<bool>(impl_); }
  void* data() const { return impl_ ? impl_->bytes() : nullptr; }
  void* mutable_data() const;
  size_t nbytes() const { return impl_ ? impl_->nbytes : 0; }
  Device device() const { return impl_ ? impl_->device : Device(); }
  size_t use_count() const { return impl_.use_count(); }
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }
  bool resizable() const { return impl_ && impl_->resizable; }
  void resize(size_t nbytes) const { impl_->resize(nbytes); }
  StorageImpl* unsafeGetStorageImpl() const { return impl_.get(); }
  const IntrusivePtr<StorageImpl>& impl() const { return impl_; }

 private:
  IntrusivePtr<StorageImpl> impl_;
};

}  // namespace taeda
