// SPDX-License-Identifier: Apache-2.0
#include "futures/expiry.h"

#include "support/sim/sim.h"

#include <gtest/gtest.h>

#include <limits>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;
using sim::sample;
using sim::Sim;

TEST(Expiry, KeepsAnUnreadResultForTheCompletedTtlAndNoLonger) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");

  EXPECT_EQ(sim.pass(3599s), 0u);
  EXPECT_EQ(sim.state(id), State::completed);

  EXPECT_EQ(sim.pass(1s), 1u);
  EXPECT_TRUE(sim.poll(id).gone());
}

TEST(Expiry, KeepsADeliveredResultForTheRetrievedTtlAndNoLonger) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  sim.pass(1000s);
  sim.poll(id).body();

  EXPECT_EQ(sim.pass(299s), 0u);
  EXPECT_EQ(sim.pass(1s), 1u);
}

TEST(Expiry, TreatsFailuresAsResults) {
  Sim sim;
  const auto unread = sim.accept(sample("s1", 1));
  const auto read = sim.accept(sample("s1", 2));
  sim.fail(unread, "upstream died");
  sim.fail(read, "upstream died");
  sim.poll(read).failure();

  EXPECT_EQ(sim.pass(300s), 1u);
  EXPECT_EQ(sim.state(read), std::nullopt);
  EXPECT_EQ(sim.pass(3300s), 1u);
  EXPECT_EQ(sim.state(unread), std::nullopt);
}

TEST(Expiry, S1_NeverEvictsALiveSample) {
  Sim sim;
  const auto queued = sim.accept(sample("s1", 1));
  const auto in_flight = sim.accept(sample("s1", 2));
  sim.start(in_flight);

  sim.pass(24h * 365);

  EXPECT_EQ(sim.state(queued), State::queued);
  EXPECT_EQ(sim.state(in_flight), State::in_flight);
}

TEST(Expiry, S1_GivesTheFullTimeToASampleThatWasQueuedForLonger) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.pass(24h);
  sim.complete(id, "abc");

  EXPECT_EQ(sim.pass(3599s), 0u);
}

TEST(Expiry, NeverEvictsWhatAPollWaitsForOrReads) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  auto slow_reader = sim.poll(id);
  sim.complete(id, "abc");

  sim.pass(24h);

  EXPECT_EQ(slow_reader.body(), "abc");
}

TEST(Expiry, StartsAnewWhenTheLastPollLeaves) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  auto first = sim.poll(id);
  auto second = sim.poll(id);
  sim.pass(2h);

  first.hang_up();
  EXPECT_EQ(sim.pass(2h), 0u) << "the second still reads";

  second.hang_up();
  EXPECT_EQ(sim.pass(3599s), 0u);
  EXPECT_EQ(sim.pass(1s), 1u);
}

TEST(Expiry, StartsAnewWithEachDelivery) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  sim.poll(id).body();
  sim.pass(200s);
  sim.poll(id).body();

  EXPECT_EQ(sim.pass(299s), 0u);
  EXPECT_EQ(sim.pass(1s), 1u);
}

TEST(Expiry, GivesTheShortTimeToARereadThatWasAbandoned) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  sim.poll(id).body();
  sim.poll(id).hang_up_after(1);

  EXPECT_EQ(sim.pass(299s), 0u);
  EXPECT_EQ(sim.pass(1s), 1u);
}

TEST(Expiry, GoesOnAfterAConfirmation) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  auto poll = sim.poll(id);
  poll.body();
  sim.pass(200s);
  poll.confirm();

  EXPECT_EQ(sim.state(id), State::confirmed);
  EXPECT_EQ(sim.pass(99s), 0u);
  EXPECT_EQ(sim.pass(1s), 1u);
}

TEST(Expiry, FollowsATtlThatIsChangedLiveAtOnce) {
  Sim sim;
  const auto early = sim.accept(sample("s1", 1));
  const auto late = sim.accept(sample("s1", 2));
  sim.complete(early, "abc");
  sim.pass(100s);
  sim.complete(late, "abc");

  sim.clocks.completed_ttl = 50s;
  EXPECT_EQ(sim.pass(0s), 1u);
  EXPECT_EQ(sim.state(late), State::completed);

  sim.clocks.completed_ttl = 7200s;
  EXPECT_EQ(sim.pass(7199s), 0u);
  EXPECT_EQ(sim.pass(1s), 1u);
}

TEST(Expiry, BearsATtlOfAnyLength) {
  Sim sim;
  sim.complete(sim.accept(sample("s1")), "abc");

  sim.clocks.completed_ttl = base::Seconds{std::numeric_limits<double>::max()};
  EXPECT_EQ(sim.pass(24h), 0u);
  sim.clocks.completed_ttl = 0s;
  EXPECT_EQ(sim.pass(0s), 1u);
}

TEST(Expiry, EvictsAnyNumberAtOnce) {
  Sim sim;
  for (int i = 0; i < 50'000; ++i) sim.complete(sim.accept(sample("s1", i)), "abc");

  EXPECT_EQ(sim.pass(3600s), 50'000u);
  EXPECT_EQ(sim.table.totals().all(), 0u);
}

TEST(Expiry, S8_WallClockJumpsMoveNoTtl) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");

  sim.clock.jump_wall(48h);
  EXPECT_EQ(sim.pass(3599s), 0u);
  sim.clock.jump_wall(-96h);
  EXPECT_EQ(sim.pass(0s), 0u);

  EXPECT_EQ(sim.poll(id).body(), "abc");
}

}  // namespace
}  // namespace tinker::futures
