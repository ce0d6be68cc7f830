// SPDX-License-Identifier: Apache-2.0
#include "observe/access_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "support/temporary_folder.h"

namespace tinker::observe {
namespace {

using namespace std::chrono_literals;

class AccessLogTest : public ::testing::Test {
 protected:
  static AccessRecord record(int status) { return {.client = "c", .method = "GET", .path = "/", .status = status}; }
  static int lines(const std::string& file) {
    std::ifstream stream(file);
    int count = 0;
    for (std::string line; std::getline(stream, line);) {
      EXPECT_TRUE(parse_line(line)) << line;
      ++count;
    }
    return count;
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

  const test::TemporaryFolder folder;
  const std::string path = folder.file("access.log");
};

TEST_F(AccessLogTest, WritesEveryLineOfManyThreads) {
  auto log = *AccessLog::open(path);
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) log->write(record(200));
    });
  }
  for (std::thread& worker : workers) worker.join();

  log.reset();

  EXPECT_EQ(lines(path), 4000);
}

TEST_F(AccessLogTest, GoesOnInANewFileAfterReopen) {
  auto log = *AccessLog::open(path);
  log->write(record(200));
  ASSERT_TRUE(eventually([&] { return log->written() == 1; }));
  std::filesystem::rename(path, path + ".1");

  log->reopen();
  log->write(record(404));
  ASSERT_TRUE(eventually([&] { return log->written() == 2; }));

  EXPECT_EQ(lines(path + ".1"), 1);
  EXPECT_EQ(lines(path), 1);
}

TEST_F(AccessLogTest, S7_CountsWhatAFullDiskDoesNotTake) {
  auto log = *AccessLog::open("/dev/full");

  for (int i = 0; i < 10; ++i) log->write(record(200));

  EXPECT_TRUE(eventually([&] { return log->dropped() == 10; }));
  EXPECT_EQ(log->written(), 0u);
}

TEST_F(AccessLogTest, S7_DropsInsteadOfWaitingForAFifoThatNobodyReads) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  auto log = *AccessLog::open(path, 1000);

  for (int i = 0; i < 50'000; ++i) log->write(record(200));

  EXPECT_GT(log->dropped(), 0u);
  log.reset();  // ends although nobody reads
}

// The reader of a FIFO leaves, which is SIGPIPE to whoever writes, and another one comes.
TEST_F(AccessLogTest, S7_GoesOnWhenAFifosReaderLeftAndAnotherCame) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  auto log = *AccessLog::open(path);
  log->write(record(200));
  ASSERT_TRUE(eventually([&] { return log->written() == 1; }));

  ::close(reader);
  log->write(record(200));
  ASSERT_TRUE(eventually([&] { return log->dropped() == 1; }));
  reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  log->write(record(404));

  EXPECT_TRUE(eventually([&] { return log->written() == 2; }));
  char line[512] = {};
  EXPECT_GT(::read(reader, line, sizeof line), 0);
  EXPECT_NE(std::string(line).find(" 404 "), std::string::npos) << line;
  ::close(reader);
}

TEST_F(AccessLogTest, S7_EveryLineIsWrittenOrCounted) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  auto log = *AccessLog::open(path, 500);

  for (int i = 0; i < 20'000; ++i) log->write(record(200));
  ASSERT_TRUE(eventually([&] { return log->written() + log->dropped() == 20'000; }));

  std::string all;
  char part[65536];
  for (ssize_t got; (got = ::read(reader, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(got));
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(all.begin(), all.end(), '\n')), log->written());
  EXPECT_GT(log->dropped(), 0u);
  ::close(reader);
}

TEST_F(AccessLogTest, KeepsTheOldFileUntilTheNewOneCanBeOpened) {
  std::filesystem::create_directory(folder.file("logs"));
  auto log = *AccessLog::open(folder.file("logs/access.log"));
  std::filesystem::rename(folder.file("logs"), folder.file("old"));

  log->reopen();
  log->write(record(200));
  ASSERT_TRUE(eventually([&] { return log->written() == 1; }));
  std::filesystem::create_directory(folder.file("logs"));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.file("logs/access.log")); }));
  log->write(record(404));
  log.reset();

  EXPECT_EQ(lines(folder.file("old/access.log")), 1);
  EXPECT_EQ(lines(folder.file("logs/access.log")), 1);
}

TEST_F(AccessLogTest, AddsToTheFileThatIsThere) {
  AccessLog::open(path).value()->write(record(200));
  AccessLog::open(path).value()->write(record(200));

  EXPECT_EQ(lines(path), 2);
}

TEST_F(AccessLogTest, SaysWhyItCannotBeOpened) {
  const auto log = AccessLog::open(folder.file("absent/access.log"));

  ASSERT_FALSE(log);
  EXPECT_NE(log.error().text.find("absent/access.log: No such file"), std::string::npos);
}

}  // namespace
}  // namespace tinker::observe
