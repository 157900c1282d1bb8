// SPDX-License-Identifier: Apache-2.0
// Sources, and the promise that a file is replaced whole or not at all.
#include <signal.h>
#include <sys/wait.h>

#include <sstream>

#include "tests/io/io_support.h"

namespace taeda::test {
namespace {

TEST(Source, ReadsOnlyWhatLiesInside) {
  const auto source = io::make_source("abcdef", "letters");
  EXPECT_EQ(source->read(2, 3), "cde");
  EXPECT_EQ(source->read(6, 0), "");
  expect_io_error([&] { source->read(4, 3); }, "letters ends too early");
  expect_io_error([&] { source->read(UINT64_MAX, 2); }, "letters ends too early");
}

TEST(Source, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  expect_io_error([&] { io::open_file(folder / "missing"); }, "missing could not be opened");
  expect_io_error([&] { io::open_file(folder / ""); }, "must be a regular file: got a folder");
  expect_io_error([&] { io::open_file("/dev/zero"); }, "must be a regular file");
}

TEST(Source, ReadsStreamsAndFunctions) {
  std::istringstream stream("stream");
  EXPECT_EQ(io::read_stream(stream)->read_all(), "stream");
  const std::string bytes = "function";
  const auto source = io::make_source([&](uint64_t place, void* out, size_t n) { return bytes.copy(static_cast<char*>(out), n, place); }, bytes.size());
  EXPECT_EQ(source->read(4, 4), "tion");
  const auto lazy = io::make_source([](uint64_t, void*, size_t) { return size_t{0}; }, 10);
  expect_io_error([&] { lazy->read(0, 1); }, "must give all bytes");
}

TEST(AtomicFile, KeepsTheOldContentUntilCommit) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  io::write_file(path, "old");
  {
    io::AtomicFile file(path);
    file.write(std::string(3 << 20, 'x'));
    EXPECT_EQ(io::read_file(path), "old");
  }
  EXPECT_EQ(io::read_file(path), "old");
  EXPECT_EQ(folder.file_count(), 1u);
  io::AtomicFile file(path);
  file.write(std::string(3 << 20, 'y'));
  file.commit();
  EXPECT_EQ(io::read_file(path).size(), size_t{3} << 20);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(AtomicFile, TwoWritersOfOnePathDoNotMix) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  io::AtomicFile first(path), second(path);
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(io::read_file(path), "first");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(AtomicFile, FollowsLinksAndKeepsPermissions) {
  const TemporaryFolder folder;
  io::write_file(folder / "target", "old");
  std::filesystem::permissions(folder / "target", std::filesystem::perms(0640));
  std::filesystem::create_symlink(folder / "target", folder / "link");
  io::write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(io::read_file(folder / "target"), "new");
  EXPECT_EQ(std::filesystem::status(folder / "target").permissions(), std::filesystem::perms(0640));
}

TEST(AtomicFile, ErrorsNameTheFile) {
  const TemporaryFolder folder;
  expect_io_error([&] { io::write_file(folder / "no/such/folder", "x"); }, "no/such/folder could not be created");
  expect_io_error([&] { io::write_file(folder / "", "x"); }, "[save]");
  std::filesystem::create_directory(folder / "taken");
  expect_io_error([&] { io::write_file(folder / "taken", "x"); }, "taken could not be replaced");
}

TEST(AtomicFile, KilledWriterLeavesTheOldFileWhole) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  io::write_file(path, std::string(1000, 'a'));
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (char c = 'b';; c = c == 'z' ? 'b' : static_cast<char>(c + 1)) {
        io::AtomicFile file(path);
        for (int i = 0; i < 40; ++i) file.write(std::string(100000, c));
        file.commit();
      }
    }
    usleep(1000 + 1500 * static_cast<useconds_t>(round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    const std::string content = io::read_file(path);
    ASSERT_TRUE(content.size() == 1000 || content.size() == 4000000) << content.size();
    ASSERT_EQ(content.find_first_not_of(content[0]), std::string::npos);
  }
  io::write_file(path, "last");  // takes over what the killed ones left
  EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace taeda::test
