// SPDX-License-Identifier: Apache-2.0
#include "futures/table.h"

#include "support/sim/sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;
using sim::sample;
using sim::Sim;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Retrieving.

TEST(RetrieveFuture, GivesTheResultToAPollThatWaited) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  auto poll = sim.poll(id);
  EXPECT_TRUE(poll.waiting());

  sim.start(id);
  sim.complete(id, "abc");

  EXPECT_EQ(poll.body(), "abc");
  EXPECT_EQ(sim.state(id), State::delivered);
}

TEST(RetrieveFuture, KeepsResultWhenPollerLeavesBeforeLastByte) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");

  sim.poll(id).hang_up_after(/*bytes=*/2);

  EXPECT_EQ(sim.state(id), State::completed);
  EXPECT_EQ(sim.poll(id).body(), "abc");
}

TEST(RetrieveFuture, C1_ResultThatLandsAfterThePollWasAbandonedWaitsForTheRetry) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.poll(id).hang_up();
  sim.complete(id, "abc");

  sim.pass(sim.clocks.retrieved_ttl * 2);

  EXPECT_EQ(sim.poll(id).body(), "abc");
}

TEST(RetrieveFuture, C1_ResultWrittenToADeadConnectionWaitsForTheRetry) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  auto abandoned = sim.poll(id);
  sim.complete(id, "abc");
  sim.pass(60s);
  abandoned.hang_up();

  sim.pass(sim.clocks.completed_ttl - 1s);

  EXPECT_EQ(sim.poll(id).body(), "abc");
}

TEST(RetrieveFuture, C4_EveryWaiterIsToldOnceHoweverTheSampleEnds) {
  Sim sim;
  const auto completed = sim.accept(sample("s1", 1));
  const auto failed = sim.accept(sample("s1", 2));
  const auto cancelled = sim.accept(sample("s1", 3));
  auto a1 = sim.poll(completed), a2 = sim.poll(completed), b = sim.poll(failed), c = sim.poll(cancelled);

  sim.complete(completed, "abc");
  sim.fail(failed, "upstream died");
  sim.cancel(cancelled);

  for (auto* poll : {&a1, &a2, &b, &c}) {
    EXPECT_FALSE(poll->waiting());
    EXPECT_EQ(poll->told(), 1);
  }
  EXPECT_EQ(a1.body(), "abc");
  EXPECT_EQ(a2.body(), "abc");
  EXPECT_EQ(b.failure().text, "upstream died");
  EXPECT_EQ(c.failure().category, Category::user);
}

TEST(RetrieveFuture, C4_AWaiterThatLeftIsNotTold) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  auto held = sim.poll(id);
  held.time_out();
  auto retry = sim.poll(id);

  sim.complete(id, "abc");

  EXPECT_EQ(held.told(), 0);
  EXPECT_EQ(retry.told(), 1);
}

TEST(RetrieveFuture, C7_ResultWaitsForAClientThatDoesNotPollForMinutes) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  auto told_the_size_only = sim.poll(id);
  sim.complete(id, "abc");
  told_the_size_only.hang_up();

  sim.pass(50min);

  EXPECT_EQ(sim.poll(id).body(), "abc");
}

TEST(RetrieveFuture, C3_AnIdThatWasNeverGivenIsGoneAndDisturbsNoOtherWaiter) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  auto other = sim.poll(id);

  for (const std::int64_t number : {id.number + 1, id.number + 64, std::int64_t{0}, INT64_MAX}) {
    auto poll = sim.poll({number});
    EXPECT_TRUE(poll.gone());
    poll.hang_up();
  }

  EXPECT_TRUE(other.waiting());
  sim.complete(id, "abc");
  EXPECT_EQ(other.body(), "abc");
}

TEST(RetrieveFuture, ServesTheSameBytesToSeveralReaders) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");

  const auto a = sim.table.poll(id, {0, 100}, sim.clock.now());
  const auto b = sim.table.poll(id, {1, 100}, sim.clock.now());

  EXPECT_EQ(std::get<Ready>(a).sample_response.data(), std::get<Ready>(b).sample_response.data());
}

TEST(RetrieveFuture, CountsAWaiterOnceHoweverOftenItLooks) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  for (int i = 0; i < 3; ++i) sim.table.poll(id, {0, 100}, sim.clock.now());
  EXPECT_EQ(sim.table.totals().waiters, 1u);

  sim.table.leave(id, {0, 100}, sim.clock.now());
  sim.table.leave(id, {0, 100}, sim.clock.now());

  EXPECT_EQ(sim.table.totals().waiters, 0u);
}

TEST(RetrieveFuture, TellsHowLongTheResultLayUnreadAtItsFirstDelivery) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  sim.table.poll(id, {0, 100}, sim.clock.now());
  sim.table.poll(id, {0, 101}, sim.clock.now());
  sim.pass(7s);

  EXPECT_EQ(sim.table.delivered(id, {0, 100}, sim.clock.now()), base::Seconds{7});
  EXPECT_EQ(sim.table.delivered(id, {0, 101}, sim.clock.now()), std::nullopt) << "the second delivery";
}

TEST(RetrieveFuture, TakesNoProofFromAPollThatAlreadyLeft) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  sim.table.poll(id, {0, 100}, sim.clock.now());
  sim.table.leave(id, {0, 100}, sim.clock.now());

  sim.table.delivered(id, {0, 100}, sim.clock.now());

  EXPECT_EQ(sim.state(id), State::completed);
}

// Re-sending.

TEST(Resend, C2_GetsTheSameIdAndIsForwardedOnce) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 7));

  const auto resent = sim.submit(sample("s1", 7));

  ASSERT_TRUE(resent);
  EXPECT_EQ(resent->id, id);
  EXPECT_TRUE(resent->duplicate);
  EXPECT_THAT(sim.forwarded, ElementsAre(id));
}

TEST(Resend, C2_GetsTheSameIdAfterEachOutcome) {
  Sim sim;
  const auto completed = sim.accept(sample("s1", 1));
  const auto failed = sim.accept(sample("s1", 2));
  const auto cancelled = sim.accept(sample("s1", 3));
  const auto delivered = sim.accept(sample("s1", 4));
  sim.complete(completed, "abc");
  sim.fail(failed, "upstream died");
  sim.cancel(cancelled);
  sim.complete(delivered, "abc");
  sim.poll(delivered).body();

  EXPECT_EQ(sim.accept(sample("s1", 1)), completed);
  EXPECT_EQ(sim.accept(sample("s1", 2)), failed);
  EXPECT_EQ(sim.accept(sample("s1", 3)), cancelled);
  EXPECT_EQ(sim.accept(sample("s1", 4)), delivered);
  EXPECT_EQ(sim.forwarded.size(), 4u);
}

TEST(Resend, IsRefusedWhenTheContentIsAnother) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 7, "prompt"));
  sim.pass(3s);

  const auto refused = sim.submit(sample("s1", 7, "another prompt"));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::invalid_argument);
  EXPECT_THAT(refused.error().text,
              AllOf(HasSubstr("seq_id 7"), HasSubstr("s1"), HasSubstr(id.text()), HasSubstr("3.0 s ago")));
  EXPECT_EQ(sim.forwarded.size(), 1u);
}

TEST(Resend, IsKnownByTenantSamplingSessionAndSeqIdTogether) {
  Sim sim;
  auto of_another_tenant = sample("s1", 7);
  of_another_tenant.tenant = {"another"};

  const auto id = sim.accept(sample("s1", 7));

  EXPECT_NE(sim.accept(sample("s2", 7)), id);
  EXPECT_NE(sim.accept(sample("s1", 8)), id);
  EXPECT_NE(sim.accept(of_another_tenant), id);
}

TEST(Resend, IsANewSampleWithoutASamplingSessionOrASeqId) {
  Sim sim;
  auto without_seq_id = sample("s1");
  without_seq_id.seq_id.reset();

  EXPECT_NE(sim.accept(sample("", 7)), sim.accept(sample("", 7)));
  EXPECT_NE(sim.accept(without_seq_id), sim.accept(without_seq_id));
}

TEST(Resend, IsANewSampleOnceTheFirstWasEvicted) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 7));
  sim.complete(id, "abc");
  sim.pass(3600s);

  EXPECT_NE(sim.accept(sample("s1", 7, "another prompt")), id);
}

TEST(Resend, TakesAnySeqIdOf64Bits) {
  Sim sim;
  for (const std::int64_t seq_id : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(sim.accept(sample("s1", seq_id)), sim.accept(sample("s1", seq_id)));
  }
  EXPECT_EQ(sim.forwarded.size(), 4u);
}

// Outcomes.

TEST(Outcome, IsTheFirstAndStays) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  EXPECT_TRUE(sim.complete(id, "abc"));

  EXPECT_FALSE(sim.complete(id, "another"));
  EXPECT_FALSE(sim.fail(id, "too late"));
  EXPECT_FALSE(sim.cancel(id));

  EXPECT_EQ(sim.poll(id).body(), "abc");
}

TEST(Outcome, OfACancelledSampleIsAFailureOfTheUserAndItsAnswerIsDropped) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.start(id);

  EXPECT_TRUE(sim.cancel(id));
  EXPECT_FALSE(sim.complete(id, "late answer"));

  EXPECT_THAT(sim.withdrawn, ElementsAre(id));
  const auto failure = sim.poll(id).failure();
  EXPECT_EQ(failure.category, Category::user);
  EXPECT_THAT(failure.text, HasSubstr("cancelled"));
}

TEST(Outcome, LetsTheRequestGo) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 1, "a prompt of 22 bytes.."));
  EXPECT_EQ(sim.table.totals().request_bytes, 22u);

  sim.complete(id, "abc");

  EXPECT_EQ(sim.table.totals().request_bytes, 0u);
  EXPECT_EQ(sim.table.totals().result_bytes, 3u);
  EXPECT_FALSE(sim.start(id)) << "it is not sent again";
}

TEST(Outcome, TellsWhereTheTimeWent) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.pass(2s);
  sim.start(id);
  sim.pass(5s);
  sim.start(id);

  Effects effects;
  const auto course = sim.table.complete(id, {}, sim.clock.now() + 1s, effects);

  ASSERT_TRUE(course);
  EXPECT_EQ(course->queued, 2s);
  EXPECT_EQ(course->upstream, 6s);
}

TEST(Outcome, OfASampleThatWasNeverStartedSpentAllItsTimeInTheQueue) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));

  Effects effects;
  const auto course = sim.table.fail(id, {}, sim.clock.now() + 9s, effects);

  ASSERT_TRUE(course);
  EXPECT_EQ(course->queued, 9s);
  EXPECT_EQ(course->upstream, 0s);
}

TEST(Turn, GivesTheUpstreamsBodyAndCountsAttempts) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 1, "prompt"));

  const auto request = sim.table.start(id, sim.clock.now());

  ASSERT_TRUE(request);
  EXPECT_EQ(request->view(), "prompt");
  EXPECT_EQ(sim.state(id), State::in_flight);

  sim.table.requeue(id);
  EXPECT_EQ(sim.state(id), State::queued);

  sim.start(id);
  EXPECT_EQ(sim.table.show(id, sim.clock.now())->attempts, 2u);
}

TEST(Report, NamesTheFeedAndWhatIsToBeFetched) {
  Sim sim;
  const auto finished = sim.accept(sample("s1", 2 * kSeqIdsOfClone + 5));
  const auto failed = sim.accept(sample("s1", 1));
  const auto alone = sim.accept(sample(""));
  sim.complete(finished, "abc");
  sim.fail(failed, "no");
  sim.complete(alone, "abc");

  ASSERT_EQ(sim.reported.size(), 2u);
  EXPECT_EQ(sim.reported[0].feed, (FeedKey{{"tenant"}, {"s1"}, 2}));
  EXPECT_EQ(sim.reported[0].completion, (Completion{finished, 3}));
  EXPECT_EQ(sim.reported[1].feed, (FeedKey{{"tenant"}, {"s1"}, 0}));
  EXPECT_EQ(sim.reported[1].completion, (Completion{failed, std::nullopt}));
}

TEST(Undelivered, IsWhatEndedAndNobodyRead) {
  Sim sim;
  const auto unread = sim.accept(sample("s1", 0));
  const auto left = sim.accept(sample("s1", 1));
  const auto read = sim.accept(sample("s1", 2));
  sim.accept(sample("s1", 3));
  for (const auto id : {unread, left, read, sim.accept(sample("s1", kSeqIdsOfClone)), sim.accept(sample("s2", 4))})
    sim.complete(id, "abc");
  sim.poll(left).hang_up_after(2);
  sim.poll(read).body();

  EXPECT_THAT(sim.table.undelivered({{"tenant"}, {"s1"}, 0}),
              testing::UnorderedElementsAre(Completion{unread, 3}, Completion{left, 3}));
}

TEST(Acknowledge, FreesTheResultAtOnce) {
  Sim sim;
  const auto id = sim.accept(sample("s1", 0, "prompt"));
  EXPECT_FALSE(sim.table.acknowledge(id, {"tenant"}, {"s1"})) << "it is live";
  sim.complete(id, "abc");

  EXPECT_FALSE(sim.table.acknowledge(id, {"tenant"}, {"s2"}));
  EXPECT_FALSE(sim.table.acknowledge(id, {"other"}, {"s1"}));
  EXPECT_EQ(sim.state(id), State::completed);
  EXPECT_TRUE(sim.table.acknowledge(id, {"tenant"}, {"s1"}));
  EXPECT_FALSE(sim.table.acknowledge(id, {"tenant"}, {"s1"}));

  EXPECT_EQ(sim.state(id), std::nullopt);
  EXPECT_EQ(sim.table.totals().result_bytes, 0u);
  EXPECT_EQ(sim.table.totals().evicted, 1u);
}

// The acknowledgement may come before the news that the last byte left.
TEST(Acknowledge, WaitsForThePollThatStillReads) {
  Sim sim;
  const auto id = sim.accept(sample("s1"));
  sim.complete(id, "abc");
  auto reader = sim.poll(id);

  EXPECT_TRUE(sim.table.acknowledge(id, {"tenant"}, {"s1"}));
  EXPECT_EQ(sim.state(id), State::completed);
  EXPECT_EQ(reader.body(), "abc");

  EXPECT_EQ(sim.state(id), std::nullopt);
  EXPECT_EQ(sim.table.totals().delivered, 1u);
}

}  // namespace
}  // namespace tinker::futures
