// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnostics.h"

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "pipe.h"

namespace tinker::observe {
namespace {

using ::testing::EndsWith;
using ::testing::MatchesRegex;

// Standard error is the pipe for the length of a test.
class AsStandardError {
 public:
  explicit AsStandardError(const Pipe& pipe) : before_(::dup(STDERR_FILENO)) { ::dup2(pipe.writer(), STDERR_FILENO); }
  ~AsStandardError() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::unsetenv("JOURNAL_STREAM");
  }
  AsStandardError(const AsStandardError&) = delete;
  AsStandardError& operator=(const AsStandardError&) = delete;

  static void is_the_journals() {
    struct stat about;
    ::fstat(STDERR_FILENO, &about);
    ::setenv("JOURNAL_STREAM", (std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino)).c_str(), 1);
  }

 private:
  const int before_;
};

TEST(Diagnostics, AreALineAnEventOnStandardError) {
  Pipe pipe;
  const AsStandardError redirected(pipe);

  start_diagnostics("info");
  spdlog::info("listening on {}", "http://127.0.0.1:8000");
  spdlog::debug("not shown");
  stop_diagnostics();

  EXPECT_THAT(pipe.read(), MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}[+-][0-9:]{5} info: "
                                        "listening on http://127.0.0.1:8000\n"));
}

TEST(Diagnostics, LeaveTimeToTheJournalAndTellItTheSeverity) {
  Pipe pipe;
  const AsStandardError redirected(pipe);
  AsStandardError::is_the_journals();

  start_diagnostics("debug");
  spdlog::debug("d");
  spdlog::info("i");
  spdlog::warn("w");
  spdlog::error("e");
  spdlog::critical("c");
  stop_diagnostics();

  EXPECT_EQ(pipe.read(), "<7>d\n<6>i\n<4>w\n<3>e\n<2>c\n");
}

TEST(Diagnostics, KeepTheTimeWhenTheVariableIsOfAnotherStream) {
  Pipe pipe;
  const AsStandardError redirected(pipe);
  ::setenv("JOURNAL_STREAM", "1:1", 1);

  start_diagnostics("info");
  spdlog::info("x");
  stop_diagnostics();

  EXPECT_THAT(pipe.read(), EndsWith(" info: x\n"));
}

TEST(Diagnostics, NobodyCanForgeAnEvent) {
  Pipe pipe;
  const AsStandardError redirected(pipe);
  AsStandardError::is_the_journals();

  start_diagnostics("info");
  spdlog::info("model '{}' is unknown", "x'\n<2>forged\x1b[2J\r\x7f é");
  stop_diagnostics();

  EXPECT_EQ(pipe.read(), "<6>model 'x'\\x0a<2>forged\\x1b[2J\\x0d\\x7f é' is unknown\n");
}

// 20,000 events, a pipe of 4 KB and nobody who reads it: logging goes on, and stopping ends.
TEST(Diagnostics, S7_WaitForNobodyWhoReadsThem) {
  Pipe pipe;
  const AsStandardError redirected(pipe);

  start_diagnostics("info");
  for (int i = 0; i < 20'000; ++i) spdlog::info("event {}", i);
  stop_diagnostics();

  EXPECT_GT(pipe.read().size(), 0u);
}

TEST(Diagnostics, CanBeStoppedTwiceAndStartedAgain) {
  Pipe pipe;
  const AsStandardError redirected(pipe);

  stop_diagnostics();
  start_diagnostics("error");
  stop_diagnostics();
  start_diagnostics("error");
  spdlog::error("here");
  stop_diagnostics();

  EXPECT_THAT(pipe.read(), EndsWith(" error: here\n"));
}

}  // namespace
}  // namespace tinker::observe
