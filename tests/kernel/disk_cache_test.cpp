// SPDX-License-Identifier: Apache-2.0
// Generated code on disk: hits, and everything that must be a miss.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "taeda/compile/kernel/disk_cache.h"
#include "tests/kernel/kernel_support.h"

namespace taeda::kernel {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::string path = (fs::temp_directory_path() / ("taeda_kernels_" + std::to_string(::getpid()))).string();
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  std::string only_file() const {
    std::string found;
    for (const auto& entry : fs::directory_iterator(path)) found = entry.path().string();
    return found;
  }
};

/// A kernel that no other has compiled: `number` is part of it.
std::shared_ptr<const CompiledKernel> compile_numbered(double number, const std::string& folder) {
  Kernel k("cached");
  k.output(k.call("Mul", kFloat, {k.call("Tanh", kFloat, {k.input(kFloat)}), k.constant(number, kFloat)}), kFloat);
  return compile_kernel(k, Backend::kJit, folder);
}
void expect_right(const CompiledKernel& kernel, double number) {
  const Tensor x = randn({100}), out = empty({100});
  run_over(kernel, {100}, {x, out});
  EXPECT_TRUE(same_bits(out, tanh(x) * number));
}

TEST(DiskCache, ASecondFolderWithTheSameFileHits) {
  if (!jit_available()) GTEST_SKIP() << jit_problem();
  const Folder folder;
  expect_right(*compile_numbered(3.25, folder.path), 3.25);
  struct stat s;
  ASSERT_EQ(stat(folder.path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  const std::string copy = folder.path + "/copied";
  fs::create_directory(copy);
  fs::permissions(copy, fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    if (entry.is_regular_file()) fs::copy(entry.path(), copy);
  }
  const auto again = compile_numbered(3.25, copy);  // the cache in memory knows folders apart
  EXPECT_TRUE(again->from_disk());
  expect_right(*again, 3.25);
}

TEST(DiskCache, DamagedFilesAreMisses) {
  const Folder folder;
  write_cached(folder.path, "key", "object");
  EXPECT_EQ(read_cached(folder.path, "key"), "object");
  EXPECT_FALSE(read_cached(folder.path, "other key"));
  const std::string file = folder.only_file();
  std::string bytes;
  {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto put = [&](const std::string& content) { std::ofstream(file, std::ios::binary | std::ios::trunc) << content; };
  for (size_t k = 0; k < bytes.size(); ++k) {
    std::string damaged = bytes;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x10);
    put(damaged);
    EXPECT_FALSE(read_cached(folder.path, "key")) << "byte " << k;
    put(bytes.substr(0, k));
    EXPECT_FALSE(read_cached(folder.path, "key")) << "cut at " << k;
  }
  put(bytes);
  EXPECT_TRUE(read_cached(folder.path, "key"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(read_cached(folder.path, "key")) << "others may write the file";
}

}  // namespace
}  // namespace taeda::kernel
