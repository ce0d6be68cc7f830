// SPDX-License-Identifier: Apache-2.0
#include "futures/admission.h"

#include "support/sim/sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinker::futures {
namespace {

using sim::sample;
using sim::Sim;
using testing::HasSubstr;

TEST(Admission, RefusesBeyondTheLimitAndSaysWhy) {
  Sim sim;
  sim.table.set_max_outstanding(2);
  sim.accept(sample("s1", 1));
  sim.accept(sample("s1", 2));

  const auto refused = sim.submit(sample("s1", 3));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::exhausted);
  EXPECT_THAT(refused.error().text, HasSubstr("2 samples are outstanding and max_outstanding is 2"));
  EXPECT_EQ(sim.table.totals().all(), 2u);
}

TEST(Admission, HasRoomAgainWhenASampleEndsHoweverItEnds) {
  Sim sim;
  sim.table.set_max_outstanding(1);

  sim.complete(sim.accept(sample("s1", 1)), "abc");
  sim.fail(sim.accept(sample("s1", 2)), "upstream died");
  sim.cancel(sim.accept(sample("s1", 3)));

  EXPECT_EQ(sim.table.outstanding(), 0u);
  EXPECT_TRUE(sim.submit(sample("s1", 4)));
}

TEST(Admission, CountsAnEndOnce) {
  Sim sim;
  sim.table.set_max_outstanding(2);
  const auto id = sim.accept(sample("s1", 1));
  sim.accept(sample("s1", 2));

  sim.complete(id, "abc");
  sim.complete(id, "again");
  sim.cancel(id);

  EXPECT_EQ(sim.table.outstanding(), 1u);
}

TEST(Admission, FindsAResentSampleWhenThereIsNoRoom) {
  Sim sim;
  sim.table.set_max_outstanding(1);
  const auto id = sim.accept(sample("s1", 1));

  const auto resent = sim.submit(sample("s1", 1));

  ASSERT_TRUE(resent);
  EXPECT_EQ(resent->id, id);
}

TEST(Admission, FollowsALimitThatIsChangedLive) {
  Sim sim;
  sim.table.set_max_outstanding(2);
  const auto id = sim.accept(sample("s1", 1));
  sim.accept(sample("s1", 2));

  sim.table.set_max_outstanding(1);
  sim.complete(id, "abc");
  EXPECT_FALSE(sim.submit(sample("s1", 3))) << "one is still outstanding";

  sim.table.set_max_outstanding(3);
  EXPECT_TRUE(sim.submit(sample("s1", 3)));
}

TEST(Admission, TakesOnlyResentSamplesDuringADrain) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 1));

  sim.table.set_draining(true);
  const auto resent = sim.submit(sample("s1", 1));
  const auto refused = sim.submit(sample("s1", 2));

  ASSERT_TRUE(resent);
  EXPECT_EQ(resent->id, id);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::exhausted);
  EXPECT_THAT(refused.error().text, HasSubstr("draining"));

  sim.table.set_draining(false);
  EXPECT_TRUE(sim.submit(sample("s1", 2)));
}

}  // namespace
}  // namespace tinker::futures
