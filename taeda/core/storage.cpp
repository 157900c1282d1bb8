// SPDX-License-Identifier: Apache-2.0
// Allocation, resizing and release of storages.
#include "taeda/core/storage.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "taeda/core/allocator.h"
#include "taeda/core/modes.h"
#include "taeda/core/small_alloc.h"

namespace taeda {

StorageImpl* StorageImpl::allocate(size_t nbytes, Device device) {
  TAEDA_CHECK_NOT_IMPLEMENTED(device.is_cpu(), "[empty] memory can only be allocated on the CPU: got device ",
                              device.str(), "; use kCPU");
  void* data = nbytes ? cpu_allocate(nbytes) : nullptr;
  auto* s = new (small_alloc(sizeof(StorageImpl))) StorageImpl;
  s->device = device;
  s->data = data;
  s->nbytes = nbytes;
  return s;
}

StorageImpl* StorageImpl::adopt(void* data, size_t nbytes, Device device, Deleter deleter, void* context) {
  auto* s = new (small_alloc(sizeof(StorageImpl))) StorageImpl;
  s->device = device;
  s->data = data;
  s->nbytes = nbytes;
  s->resizable = false;
  s->pointer_escaped = true;
  s->deleter = deleter ? deleter : [](void*, void*, size_t) {};
  s->deleter_context = context;
  return s;
}

StorageImpl* StorageImpl::announce(size_t nbytes, Device device) {
  auto* s = new (small_alloc(sizeof(StorageImpl))) StorageImpl;
  s->device = device;
  s->nbytes = nbytes;
  return s;
}

void StorageImpl::take_memory(StorageImpl& other) noexcept {
  free_block();
  data = std::exchange(other.data, nullptr);
  nbytes = std::exchange(other.nbytes, 0);
  deleter = std::exchange(other.deleter, nullptr);
  deleter_context = std::exchange(other.deleter_context, nullptr);
  resizable = other.resizable;
}

void StorageImpl::touch() {
  StorageWatcher* w = watcher.load(std::memory_order_acquire);
  if (w) w->touch(*this);
}

void* Storage::mutable_data() const {
  if (!impl_) return nullptr;
  detail::finish_recorded();
  void* data = impl_->bytes();
  impl_->pointer_escaped.store(true, std::memory_order_relaxed);
  return data;
}

void StorageImpl::free_block() noexcept {
  if (deleter) {
    deleter(deleter_context, data, nbytes);
    deleter = nullptr;
  } else if (data) {
    cpu_deallocate(data, nbytes);
  }
  data = nullptr;
}

void StorageImpl::resize(size_t nbytes_new) {
  TAEDA_CHECK(resizable, "[resize_] only storages that own their memory can be resized: got a storage of ", nbytes,
              " bytes over foreign memory; copy the tensor first");
  if (nbytes_new == nbytes) return;
  if (TAEDA_UNLIKELY(tls_modes.active & kModeCapture)) detail::finish_recorded();
  bytes();
  void* fresh = nbytes_new ? cpu_allocate(nbytes_new) : nullptr;
  if (fresh && data) std::memcpy(fresh, data, std::min(nbytes, nbytes_new));
  free_block();
  data = fresh;
  nbytes = nbytes_new;
  writes.fetch_add(1, std::memory_order_relaxed);
}

void StorageImpl::destroy(StorageImpl* s) noexcept {
  s->free_block();
  s->~StorageImpl();
  small_free(s, sizeof(StorageImpl));
}

}  // namespace taeda
