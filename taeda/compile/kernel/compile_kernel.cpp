// SPDX-License-Identifier: Apache-2.0
// Compiles kernels and keeps what was compiled.
#include <list>
#include <mutex>
#include <unordered_map>

#include "taeda/compile/kernel/generate.h"

namespace taeda::kernel {

namespace {

/// The kernels compiled last, by text.
class KernelCache {
 public:
  using Entry = std::pair<std::string, std::shared_ptr<const CompiledKernel>>;

  std::shared_ptr<const CompiledKernel> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }
  void put(const std::string& key, std::shared_ptr<const CompiledKernel> kernel) {
    const std::lock_guard lock(mutex_);
    if (index_.count(key)) return;
    order_.emplace_front(key, std::move(kernel));
    index_[key] = order_.begin();
    if (order_.size() <= kCapacity) return;
    index_.erase(order_.back().first);
    order_.pop_back();
  }

 private:
  static constexpr size_t kCapacity = 2048;
  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
};

KernelCache& cache() {
  static KernelCache* const kernels = new KernelCache;  // outlives every thread
  return *kernels;
}

}  // namespace

std::shared_ptr<const CompiledKernel> compile_kernel(const Kernel& kernel, Backend backend, const std::string& cache_dir) {
  const std::string key = (backend == Backend::kJit ? "jit " + cache_dir : "interpreter") + "\n" + kernel.text();
  if (auto found = cache().find(key)) return found;
  auto made = std::make_shared<RunnableKernel>(kernel);
  if (backend != Backend::kJit || !generate_code(*made, cache_dir)) made->use_interpreter();
  cache().put(key, made);
  return made;
}

}  // namespace taeda::kernel
