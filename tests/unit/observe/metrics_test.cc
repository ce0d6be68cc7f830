// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics.h"

#include <gtest/gtest.h>

#include <set>

namespace tinker::observe {
namespace {

TEST(Metrics, EachHasANameOfItsOwnAndHelp) {
  Metrics metrics;
  std::set<std::string_view> names;
  for (const Counter* counter : metrics.counters) {
    EXPECT_TRUE(names.insert(counter->name()).second);
    EXPECT_FALSE(counter->help().empty());
  }
  for (const Times* stage : metrics.stages) EXPECT_TRUE(names.insert(stage->name()).second);
  EXPECT_EQ(names.size(), metrics.counters.size() + metrics.stages.size());
}

TEST(Counter, Counts) {
  Metrics metrics;

  metrics.polls.add();
  metrics.polls.add(4);

  EXPECT_EQ(metrics.polls.value(), 5u);
}

TEST(Times, TellsPercentilesWithinAnEighth) {
  Metrics metrics;
  for (int ms = 1; ms <= 1000; ++ms) metrics.queue.add(base::Seconds{ms / 1000.0});

  EXPECT_NEAR(metrics.queue.percentile_sec(0.5), 0.5, 0.5 / 8);
  EXPECT_NEAR(metrics.queue.percentile_sec(0.99), 0.99, 0.99 / 8);
  EXPECT_NEAR(metrics.queue.mean_sec(), 0.5005, 1e-6);
  EXPECT_EQ(metrics.queue.count(), 1000u);
}

TEST(Times, TakesAnyTime) {
  Metrics metrics;

  metrics.queue.add(base::Seconds{-1});
  metrics.queue.add(base::Seconds{0});
  metrics.queue.add(base::Seconds{1e12});

  EXPECT_EQ(metrics.queue.count(), 3u);
  EXPECT_GT(metrics.queue.percentile_sec(0.99), 1e6);
}

TEST(Times, IsZeroWithoutAny) {
  Metrics metrics;

  EXPECT_EQ(metrics.upstream.percentile_sec(0.5), 0);
  EXPECT_EQ(metrics.upstream.mean_sec(), 0);
}

}  // namespace
}  // namespace tinker::observe
