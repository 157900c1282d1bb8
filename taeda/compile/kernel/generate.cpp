// SPDX-License-Identifier: Apache-2.0
// Finds the code generator, asks it for code or takes the code from disk, and runs the code.
#include "taeda/compile/kernel/generate.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "taeda/compile/kernel/disk_cache.h"
#include "taeda/compile/kernel/jit_abi.h"
#include "taeda/compile/kernel/lower.h"
#include "taeda/compile/kernel/object.h"
#include "taeda/core/error.h"
#include "taeda/core/version.h"

namespace taeda::kernel {

namespace {

constexpr int kMaxLanes = 32;

/// The plug-in, loaded at the first question.
struct Plugin {
  JitCompileFunction compile = nullptr;
  std::string problem;

  Plugin() {
    const char* wish = std::getenv("TAEDA_JIT_LIBRARY");
    if (wish != nullptr && *wish == '\0') {
      problem = "TAEDA_JIT_LIBRARY is empty";
      return;
    }
    const std::string path = wish != nullptr ? wish : beside_this_library();
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr && wish == nullptr) library = dlopen("libtaeda_jit.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      problem = why != nullptr ? why : "the library cannot be loaded";
      return;
    }
    const auto abi = reinterpret_cast<JitAbiFunction>(dlsym(library, "taeda_jit_abi"));
    const auto function = reinterpret_cast<JitCompileFunction>(dlsym(library, "taeda_jit_compile"));
    if (abi == nullptr || function == nullptr || abi() != kJitAbi) problem = path + " belongs to another version";
    else compile = function;
  }

 private:
  static std::string beside_this_library() {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&compile_kernel), &info) == 0 || info.dli_fname == nullptr) return "libtaeda_jit.so";
    const std::string own = info.dli_fname;
    const size_t slash = own.rfind('/');
    return (slash == std::string::npos ? std::string() : own.substr(0, slash + 1)) + "libtaeda_jit.so";
  }
};

const Plugin& plugin() {
  static const Plugin* const loaded = new Plugin;
  return *loaded;
}

/// One program of a loaded object.
class GeneratedCode final : public ProgramCode {
 public:
  GeneratedCode(std::shared_ptr<const LoadedObject> object, size_t index, const ExprProgram& program, cpu::SimdTarget target)
      : object_(std::move(object)), function_(object_->function(index)), functions_(program.functions), lanes_(jit_lanes(target)),
        sources_(program.sources.size()) {
    for (const ScalarType s : program.sources) sizes_.push_back(static_cast<int64_t>(item_size(s)));
    for (const ExprProgram::Store& s : program.stores) sizes_.push_back(static_cast<int64_t>(item_size(s.dtype)));
  }

  void run(char* const* ptrs, const int64_t* strides, int64_t n, const char* numbers) const override {
    constexpr size_t kMax = RunnableKernel::kMaxOperands;
    alignas(64) char spread[kMax][kMaxLanes * 8];
    char* at[kMax];
    int64_t steps[kMax];
    const size_t count = sizes_.size();
    for (size_t k = 0; k < count; ++k) {
      at[k] = ptrs[k];
      steps[k] = strides[k] * lanes_;
      if (strides[k] != 0 || n == 0) continue;
      for (int64_t i = 0; i < lanes_; ++i) std::memcpy(spread[k] + i * sizes_[k], ptrs[k], static_cast<size_t>(sizes_[k]));
      at[k] = spread[k];
    }
    const int64_t full = n / lanes_, rest = n % lanes_;
    if (full > 0) function_(at, steps, full, numbers, functions_.data());
    if (rest == 0) return;
    // The last elements go through padded vectors and the same code, so that their bits do not depend on their place.
    alignas(64) char padded[kMax][kMaxLanes * 8];
    for (size_t k = 0; k < count; ++k) {
      if (steps[k] == 0) continue;
      if (k < sources_) {
        std::memset(padded[k], 0, static_cast<size_t>(lanes_ * sizes_[k]));
        std::memcpy(padded[k], ptrs[k] + full * steps[k], static_cast<size_t>(rest * sizes_[k]));
      }
      at[k] = padded[k];
    }
    function_(at, steps, 1, numbers, functions_.data());
    for (size_t k = sources_; k < count; ++k) {
      std::memcpy(ptrs[k] + full * steps[k], padded[k], static_cast<size_t>(rest * sizes_[k]));
    }
  }

  void run_rows(char* const* ptrs, const int64_t* strides, const int64_t* outer, int64_t rows, int64_t n, const char* numbers) const override {
    char* at[RunnableKernel::kMaxOperands];
    std::copy_n(ptrs, sizes_.size(), at);
    for (int64_t r = 0; r < rows; ++r) {
      run(at, strides, n, numbers);
      for (size_t k = 0; k < sizes_.size(); ++k) at[k] += outer[k];
    }
  }

 private:
  std::shared_ptr<const LoadedObject> object_;
  ProgramFunction function_;
  std::vector<LaneFunction> functions_;
  int64_t lanes_;
  size_t sources_;
  std::vector<int64_t> sizes_;
};

std::string symbol_name(const std::string& name) {
  std::string plain = "taeda_";
  for (const char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return plain;
}

/// Everything that decides the code: versions, instruction set, the kernel, its programs.
std::string key_of(const Kernel& kernel, const std::vector<ExprProgram>& programs, cpu::SimdTarget target) {
  constexpr int kVersion[] = {TAEDA_VERSION_MAJOR, TAEDA_VERSION_MINOR, TAEDA_VERSION_PATCH};
  std::string key = "taeda";
  for (const int part : kVersion) key += " " + std::to_string(part);
  key += " abi " + std::to_string(kJitAbi) + " " + cpu::simd_target_name(target) + "\n" + kernel.text();
  for (const ExprProgram& p : programs) key += "program\n" + p.text();
  return key;
}

}  // namespace

bool generate_code(RunnableKernel& kernel, const std::string& cache_dir) {
  const cpu::SimdTarget target = cpu::simd_target();
  std::vector<ExprProgram> programs;
  for (const Program& p : kernel.steps().programs) programs.push_back(lower(kernel.kernel(), p, kernel.numbers()));
  const std::string key = cache_dir.empty() ? std::string() : key_of(kernel.kernel(), programs, target);
  const auto use = [&](const std::string& object, bool from_disk) {
    std::vector<std::unique_ptr<ProgramCode>> code;
    if (!programs.empty()) {
      const auto loaded = std::make_shared<const LoadedObject>(object, programs.size());
      for (size_t k = 0; k < programs.size(); ++k) code.push_back(std::make_unique<GeneratedCode>(loaded, k, programs[k], target));
    }
    kernel.use_code(std::move(code), from_disk);
    return true;
  };
  if (!cache_dir.empty() && !programs.empty()) {
    if (const std::optional<std::string> object = read_cached(cache_dir, key)) {
      try {
        return use(*object, true);
      } catch (const Error&) {  // not an object of ours after all: a miss
      }
    }
  }
  const Plugin& jit = plugin();
  if (jit.compile == nullptr) return false;
  std::string object, error;
  const std::string name = symbol_name(kernel.kernel().name());
  if (!programs.empty() && !jit.compile({name.c_str(), programs.data(), programs.size(), target}, object, error)) return false;
  try {
    use(object, false);
  } catch (const Error&) {  // needs a function from outside, as conversions do on the oldest instruction set
    return false;
  }
  if (!cache_dir.empty() && !programs.empty()) write_cached(cache_dir, key, object);
  return true;
}

bool jit_available() { return plugin().compile != nullptr; }
std::string jit_problem() { return plugin().problem; }

}  // namespace taeda::kernel
