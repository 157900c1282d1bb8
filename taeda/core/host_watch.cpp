// SPDX-License-Identifier: Apache-2.0
// The watch of a thread, and the count of changes.
#include "taeda/core/host_watch.h"

namespace taeda::detail {

thread_local constinit HostWatch* tls_host_watch = nullptr;
std::atomic<uint64_t> host_changes{0};

HostWatch::HostWatch() : number([] {
  static std::atomic<uint64_t> calls{0};
  return ++calls;
}()) {}

}  // namespace taeda::detail
