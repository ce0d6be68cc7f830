// SPDX-License-Identifier: Apache-2.0
#include "observe/access_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

namespace tinker::observe {
namespace {

using namespace std::chrono_literals;

class AccessLogTest : public ::testing::Test {
 protected:
  AccessLogTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tinkerd-log-XXXXXX").string();
    dir = mkdtemp(pattern.data());
    path = dir + "/access.log";
  }
  ~AccessLogTest() override { std::filesystem::remove_all(dir); }

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

  std::string dir;
  std::string path;
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

TEST_F(AccessLogTest, SaysWhyItCannotBeOpened) {
  const auto log = AccessLog::open(dir + "/absent/access.log");

  ASSERT_FALSE(log);
  EXPECT_NE(log.error().text.find("absent/access.log: No such file"), std::string::npos);
}

TEST_F(AccessLogTest, ComesBackWhenItsFileCanBeOpenedAgain) {
  auto log = *AccessLog::open(path);
  std::filesystem::remove_all(dir);
  log->reopen();
  log->write(record(200));
  ASSERT_TRUE(eventually([&] { return log->dropped() + log->written() == 1; }));
  std::filesystem::create_directory(dir);

  log->reopen();
  log->write(record(200));

  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path) && lines(path) == 1; }));
}

}  // namespace
}  // namespace tinker::observe
