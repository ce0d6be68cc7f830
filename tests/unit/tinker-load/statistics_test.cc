// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/statistics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

namespace tinker::load {
namespace {

TEST(Samples, GivesExactPercentilesWhateverTheOrder) {
  Samples samples;
  for (int i = 100; i >= 1; --i) samples.add(base::Seconds{i});

  EXPECT_EQ(samples.percentile_sec(0.5), 50);
  EXPECT_EQ(samples.percentile_sec(0.99), 99);
  EXPECT_EQ(samples.percentile_sec(1), 100);
  EXPECT_EQ(samples.percentile_sec(0), 1);
  samples.add(base::Seconds{1000});
  EXPECT_EQ(samples.percentile_sec(1), 1000);
}

TEST(Samples, GivesZeroWithoutAny) { EXPECT_EQ(Samples().percentile_sec(0.5), 0); }

TEST(ProcessUse, IsThatOfTheProcess) {
  volatile double work = 0;
  const auto before = use_of(getpid());
  ASSERT_TRUE(before.has_value());
  auto after = before;

  while (after->cpu_sec == before->cpu_sec) {
    for (int i = 0; i < 1000000; ++i) work = work + i;
    after = use_of(getpid());
    ASSERT_TRUE(after.has_value());
  }

  EXPECT_GT(after->cpu_sec, before->cpu_sec);
  EXPECT_GT(after->peak_rss_bytes, 1 << 20);
}

TEST(ProcessUse, IsNoneOfAProcessThatIsNotThere) { EXPECT_FALSE(use_of(std::numeric_limits<int>::max()).has_value()); }

}  // namespace
}  // namespace tinker::load
