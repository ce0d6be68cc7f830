// SPDX-License-Identifier: Apache-2.0
#include "futures/numbers.h"

#include "support/sim/sim.h"

#include <gtest/gtest.h>

#include <set>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;
using sim::sample;
using sim::Sim;

base::Wall wall(std::chrono::year_month_day day) { return std::chrono::sys_days{day}; }

TEST(Numbers, HaveRoomForAThousandYearsOfStarts) {
  const auto start = std::chrono::sys_time<std::chrono::milliseconds>{std::chrono::sys_days{std::chrono::year{3026} / 12 / 31}};

  EXPECT_LT(start.time_since_epoch().count(), kLastStart);
  EXPECT_EQ(kLastStart << kStartShift >> kStartShift, kLastStart) << "stays positive";
}

TEST(Numbers, StayPositiveWhateverTheWallClockSays) {
  EXPECT_EQ(first_number_of(wall(std::chrono::year{1901} / 1 / 1)), 0);
  EXPECT_GT(first_number_of(base::Wall::max()), 0);
}

TEST(Numbers, AreNotGivenAgainByARunThatStartsAMillisecondLater) {
  base::FakeClock clock;
  Table earlier(first_number_of(clock.wall()), 1'000'000);
  clock.advance(1ms);
  Table later(first_number_of(clock.wall()), 1'000'000);
  Effects effects;

  std::int64_t largest = 0;
  for (int i = 0; i < 100'000; ++i) {
    largest = std::max(largest, earlier.submit(sample("s1", i), clock.now(), effects)->id.number);
  }

  EXPECT_GT(later.submit(sample("s1", 1), clock.now(), effects)->id.number, largest);
}

TEST(Numbers, NameTheirStripe) {
  Sim sim;
  std::set<std::size_t> stripes;
  for (std::size_t i = 0; i < kStripes; ++i) {
    stripes.insert(stripe_of(sim.accept(sample(/*sampling_session=*/""))));
  }

  EXPECT_EQ(stripes.size(), kStripes) << "samples without a sampling session go round";
}

TEST(Numbers, AreAllDifferentAndReadBackFromTheirText) {
  Sim sim;
  std::set<base::SampleId> ids;
  for (int i = 0; i < 10'000; ++i) ids.insert(sim.accept(sample(i % 2 == 0 ? "s1" : "", i)));

  EXPECT_EQ(ids.size(), 10'000u);
  for (const base::SampleId id : ids) EXPECT_EQ(base::SampleId::parse(id.text()), id);
}

}  // namespace
}  // namespace tinker::futures
