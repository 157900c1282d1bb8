// SPDX-License-Identifier: Apache-2.0
// Counting cores: affinity, hardware threads that share a core, cgroup limits.
#include "taeda/core/cpu_count.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace taeda::detail {
namespace {

#if defined(__linux__)
/// The first number of a CPU list such as "3,67" or "0-1".
int first_of_list(const std::string& path) {
  std::ifstream file(path);
  int first = -1;
  return file >> first ? first : -1;
}

/// Cores of the affinity mask: of the hardware threads that share a core, only the first counts.
int affinity_cores() {
  constexpr int kMaxCpus = 4096;
  std::vector<unsigned long> mask(kMaxCpus / (8 * sizeof(unsigned long)));
  auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
  const size_t bytes = mask.size() * sizeof(unsigned long);
  if (sched_getaffinity(0, bytes, set) != 0) return 0;
  std::vector<char> seen(kMaxCpus, 0);
  int cores = 0;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (!CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) continue;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const int sibling = first_of_list(folder + "thread_siblings_list");
    if (sibling < 0 || sibling >= kMaxCpus) {  // unknown topology: a core of its own
      ++cores;
      continue;
    }
    if (!seen[static_cast<size_t>(sibling)]) ++cores;
    seen[static_cast<size_t>(sibling)] = 1;
  }
  return cores;
}

double quota_of(double quota, double period) { return quota > 0 && period > 0 ? quota / period : 0; }

/// The tightest CPU limit of a version 2 hierarchy on the way from `folder` up to the root; 0 when there is none.
double limit_v2(std::string folder) {
  double tightest = 0;
  for (;;) {
    std::ifstream file("/sys/fs/cgroup" + folder + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max") {
      const double limit = quota_of(std::atof(quota.c_str()), period);
      if (limit > 0 && (tightest == 0 || limit < tightest)) tightest = limit;
    }
    const size_t slash = folder.rfind('/');
    if (folder.empty() || slash == std::string::npos) return tightest;
    folder.resize(slash);
  }
}

double limit_v1(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return quota_of(quota, period);
}

double cgroup_limit() {
  std::ifstream file("/proc/self/cgroup");
  double tightest = 0;
  const auto take = [&tightest](double limit) {
    if (limit > 0 && (tightest == 0 || limit < tightest)) tightest = limit;
  };
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string folder = line.substr(second + 1);
    if (controllers == ",,") take(limit_v2(folder == "/" ? "" : folder));
    if (controllers.find(",cpu,") != std::string::npos) take(limit_v1("/sys/fs/cgroup/cpu" + folder));
  }
  take(limit_v1("/sys/fs/cgroup/cpu"));  // inside a container the group's own folder is the root
  return tightest;
}
#endif

int environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const long value = std::strtol(text, nullptr, 10);  // of a list "4,2" the first
  return value > 0 && value <= 1 << 16 ? static_cast<int>(value) : 0;
}

}  // namespace

int available_cores() {
  int cores = 0;
#if defined(__linux__)
  cores = affinity_cores();
#endif
  if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  const double limit = cgroup_limit();
  if (limit > 0) cores = std::min(cores, static_cast<int>(std::ceil(limit)));
#endif
  return std::max(cores, 1);
}

int initial_num_threads() {
  if (const int n = environment_number("TAEDA_NUM_THREADS")) return n;
  if (const int n = environment_number("OMP_NUM_THREADS")) return n;
  return available_cores();
}

}  // namespace taeda::detail
