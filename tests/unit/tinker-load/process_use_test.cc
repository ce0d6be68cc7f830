// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/process_use.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>

namespace tinker::load {
namespace {

TEST(ReadStat, FindsItsFieldsBehindAnyName) {
  const auto stat = read_stat("17 (a) b (c) S 4 17 17 0 -1 4194560 1 2 3 4 100 20 3 1 20 0 1 0 5 6 7");

  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 4);
  EXPECT_EQ(stat->cpu_ticks, 124);
}

TEST(ReadStat, RefusesWhatIsNone) {
  for (const char* line : {"", "17 name S 4", "17 (name) S 4 17 17", "17 (name) S x 17 17 0 -1 4194560 1 2 3 4 100 20 3 1"})
    EXPECT_FALSE(read_stat(line).has_value()) << line;
}

TEST(UseOfTree, GrowsWithTheWorkOfTheProcess) {
  volatile double work = 0;
  const auto before = use_of_tree(getpid());
  ASSERT_TRUE(before.has_value());
  auto after = before;

  while (after->cpu_sec == before->cpu_sec) {
    for (int i = 0; i < 1000000; ++i) work = work + i;
    after = use_of_tree(getpid());
    ASSERT_TRUE(after.has_value());
  }

  EXPECT_GT(after->cpu_sec, before->cpu_sec);
  EXPECT_GT(after->peak_rss_bytes, 1 << 20);
}

TEST(UseOfTree, IncludesThoseBelow) {
  const int child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }

  const auto own = use_of_tree(child);
  const auto both = use_of_tree(getpid());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto alone = use_of_tree(getpid());

  ASSERT_TRUE(own && both && alone);
  EXPECT_GT(own->peak_rss_bytes, 0);
  EXPECT_GT(both->peak_rss_bytes, alone->peak_rss_bytes);
}

TEST(Runs, TellsWhatHasEnded) {
  const int child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }

  EXPECT_TRUE(runs(child));
  kill(child, SIGKILL);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_FALSE(runs(child));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(runs(child));
}

TEST(UseOfTree, IsNoneOfAProcessThatIsNotThere) { EXPECT_FALSE(use_of_tree(std::numeric_limits<int>::max()).has_value()); }

}  // namespace
}  // namespace tinker::load
