// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/histogram.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace tinker::load {
namespace {

TEST(Histogram, GivesPercentilesWhateverTheOrder) {
  Histogram times;
  for (int i = 100; i >= 1; --i) times.add(base::Seconds{i});

  EXPECT_EQ(times.count(), 100u);
  EXPECT_NEAR(times.percentile_sec(0.5), 50, 50 * 0.004);
  EXPECT_NEAR(times.percentile_sec(0.99), 99, 99 * 0.004);
  EXPECT_NEAR(times.percentile_sec(1), 100, 100 * 0.004);
  EXPECT_NEAR(times.percentile_sec(0), 1, 0.004);
}

TEST(Histogram, IsExactForShortTimes) {
  Histogram times;
  for (std::uint64_t us = 0; us < 256; ++us) times.add(us, 1);

  EXPECT_DOUBLE_EQ(times.percentile_sec(0.5), 127e-6);
  EXPECT_DOUBLE_EQ(times.percentile_sec(1), 255e-6);
}

TEST(Histogram, KeepsEveryTimeToFourThousandths) {
  for (std::uint64_t us = 1; us < std::uint64_t{1} << 50; us = us * 5 / 4 + 1) {
    Histogram times;
    times.add(us, 1);

    EXPECT_NEAR(times.percentile_sec(0.5) * 1e6, static_cast<double>(us), static_cast<double>(us) * 0.004);
  }
}

TEST(Histogram, IsTheSameAfterItsBucketsWereAddedToAnother) {
  Histogram times;
  for (std::uint64_t us = 1; us < 10'000'000; us = us * 3 / 2 + 1) times.add(us, us % 7 + 1);
  std::map<std::uint64_t, std::uint64_t> expected;
  times.each([&](std::uint64_t us, std::uint64_t count) { expected[us] = count; });

  Histogram copy;
  copy.merge(times);

  std::map<std::uint64_t, std::uint64_t> found;
  copy.each([&](std::uint64_t us, std::uint64_t count) { found[us] = count; });
  EXPECT_EQ(found, expected);
  EXPECT_EQ(copy.count(), times.count());
}

TEST(Histogram, AddsTimesOfSeveral) {
  Histogram a, b;
  a.add(10, 3);
  b.add(20, 1);

  a.merge(b);

  EXPECT_EQ(a.count(), 4u);
  EXPECT_DOUBLE_EQ(a.percentile_sec(0.75), 10e-6);
  EXPECT_DOUBLE_EQ(a.percentile_sec(1), 20e-6);
}

TEST(Histogram, GivesZeroWithoutAny) { EXPECT_EQ(Histogram().percentile_sec(0.5), 0); }

}  // namespace
}  // namespace tinker::load
