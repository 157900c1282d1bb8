// SPDX-License-Identifier: Apache-2.0
// Return addresses and their names.
#include "taeda/core/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>
#include <cstring>

#include "taeda/core/error.h"

namespace taeda::detail {

std::vector<void*> call_site_here() {
  void* frames[32];
  const int n = backtrace(frames, 32);
  return std::vector<void*>(frames, frames + n);
}

std::string call_site_text(const std::vector<void*>& frames) {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&call_site_here), &own);
  std::string text;
  for (void* frame : frames) {
    Dl_info info{};
    if (!dladdr(frame, &info)) continue;
    std::string symbol;
    if (info.dli_sname) {
      int status = 0;
      char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
      symbol = status == 0 ? plain : info.dli_sname;
      std::free(plain);
      bool internal = false;
      for (const char* room : {"taeda::autograd::", "taeda::detail::", "taeda::lazy::", "taeda::capture::"}) internal |= symbol.starts_with(room);
      if (internal) continue;
    } else if (info.dli_fbase == own.dli_fbase && std::strstr(info.dli_fname, "libtaeda")) {
      continue;  // internals of the library
    }
    const auto offset = static_cast<const char*>(frame) - static_cast<const char*>(info.dli_fbase);
    text += str("  ", symbol.empty() ? "?" : symbol, " (", info.dli_fname, "+0x", std::hex, offset, ")\n");
  }
  return text;
}

}  // namespace taeda::detail
