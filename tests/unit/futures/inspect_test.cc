// SPDX-License-Identifier: Apache-2.0
#include "futures/inspect.h"

#include "support/sim/sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;
using sim::sample;
using sim::Sim;
using testing::ElementsAre;
using testing::Field;
using testing::FieldsAre;

std::vector<base::SampleId> ids(const Listing& listing) {
  std::vector<base::SampleId> result;
  for (const Record& record : listing.records) result.push_back(record.id);
  return result;
}

TEST(Totals, CountEachSampleInItsState) {
  Sim sim;
  sim.accept(sample("s1", 1));
  sim.start(sim.accept(sample("s1", 2)));
  sim.complete(sim.accept(sample("s1", 3)), "abc");
  sim.fail(sim.accept(sample("s1", 4)), "upstream died");
  const auto delivered = sim.accept(sample("s1", 5));
  sim.complete(delivered, "abcd");
  sim.poll(delivered).body();
  sim.accept(sample("s1", 5));
  EXPECT_FALSE(sim.submit(sample("s1", 5, "another prompt")));

  const Totals totals = sim.table.totals();

  EXPECT_THAT(totals.held, ElementsAre(1, 1, 1, 1, 1, 0));
  EXPECT_EQ(totals.live(), sim.table.outstanding());
  EXPECT_EQ(totals.accepted, 5u);
  EXPECT_EQ(totals.duplicates, 1u);
  EXPECT_EQ(totals.conflicts, 1u);
  EXPECT_EQ(totals.completed, 2u);
  EXPECT_EQ(totals.failed, 1u);
  EXPECT_EQ(totals.delivered, 1u);
  EXPECT_EQ(totals.request_bytes, 2 * std::string("prompt").size());
  EXPECT_EQ(totals.result_bytes, 7u);
}

TEST(Totals, HoldNothingOfWhatWasEvicted) {
  Sim sim;
  sim.complete(sim.accept(sample("s1")), "abc");
  sim.pass(3600s);

  const Totals totals = sim.table.totals();

  EXPECT_EQ(totals.all(), 0u);
  EXPECT_EQ(totals.result_bytes, 0u);
  EXPECT_EQ(totals.evicted, 1u);
  EXPECT_TRUE(sim.table.census(sim.clock.now()).by_session.empty());
}

TEST(OldestLive, IsTheOneThatWasAcceptedFirstOfThoseThatHaveNotEnded) {
  Sim sim;
  EXPECT_EQ(sim.table.oldest_live(sim.clock.now()), 0s);
  const auto first = sim.accept(sample("s1", 1));
  sim.pass(10s);
  const auto second = sim.accept(sample("s1", 2));
  sim.pass(5s);
  auto poll = sim.poll(first);
  EXPECT_EQ(sim.table.oldest_live(sim.clock.now()), 15s) << "a poll changes nothing";

  sim.complete(first, "abc");
  EXPECT_EQ(sim.table.oldest_live(sim.clock.now()), 5s);
  poll.hang_up();
  sim.start(second);
  EXPECT_EQ(sim.table.oldest_live(sim.clock.now()), 5s) << "in flight is live";
  sim.complete(second, "abc");
  EXPECT_EQ(sim.table.oldest_live(sim.clock.now()), 0s);
}

TEST(Census, CountsBySessionSamplingSessionAndModel) {
  Sim sim;
  auto other = sample("s2", 1);
  other.session = {"session_2"};
  other.model = "lora";
  sim.accept(sample("s1", 1));
  sim.accept(sample("s3", 1));
  sim.complete(sim.accept(other), "abc");

  const Census census = sim.table.census(sim.clock.now());

  EXPECT_THAT(census.by_session, ElementsAre(FieldsAre("session_1", 2, 2), FieldsAre("session_2", 1, 0)));
  EXPECT_THAT(census.by_sampling_session, ElementsAre(FieldsAre("s1", 1, 1), FieldsAre("s2", 1, 0), FieldsAre("s3", 1, 1)));
  EXPECT_THAT(census.by_model, ElementsAre(FieldsAre("base", 2, 2), FieldsAre("lora", 1, 0)));
}

TEST(Census, SaysHowOldTheLiveSamplesAre) {
  Sim sim;
  sim.complete(sim.accept(sample("s1", 1000)), "not live");
  sim.accept(sample("s1", 0));
  sim.pass(30min);
  for (int i = 1; i < 100; ++i) {
    sim.pass(1s);
    sim.accept(sample("s1", i));
  }

  const Census census = sim.table.census(sim.clock.now());

  std::vector<std::size_t> live;
  for (const AgeBand& band : census.by_age) live.push_back(band.live);
  EXPECT_THAT(live, ElementsAre(1, 9, 50, 39, 1, 0, 0)) << "< 1 s, < 10 s, < 1 min, < 10 min, < 1 h, < 10 h, more";
  EXPECT_EQ(census.age_p50, 50s);
  EXPECT_EQ(census.age_p90, 89s);
  EXPECT_EQ(census.age_p99, 98s);
  EXPECT_EQ(census.oldest, 30min + 99s);
}

TEST(Census, FindsEverySampleOfALargeTableOnce) {
  Sim sim;
  for (int i = 0; i < 50'000; ++i) sim.accept(sample("s1", i));

  EXPECT_EQ(sim.table.census(sim.clock.now()).by_age.front().live, 50'000u);
  EXPECT_EQ(sim.table.list({.limit = 0}, sim.clock.now()).more, 50'000u);
  const Listing all = sim.table.list({.limit = 50'000}, sim.clock.now());
  EXPECT_EQ(all.more, 0u);
  const auto listed = ids(all);
  EXPECT_EQ(std::set(listed.begin(), listed.end()).size(), 50'000u);
}

TEST(Census, OfAnEmptyTableIsAllZero) {
  Sim sim;

  const Census census = sim.table.census(sim.clock.now());

  EXPECT_EQ(census.totals.all(), 0u);
  EXPECT_EQ(census.oldest, 0s);
}

TEST(List, ShowsTheLongestHeldFirstAndSaysHowManyMore) {
  Sim sim;
  std::vector<base::SampleId> accepted;
  for (int i = 0; i < 5; ++i) {
    accepted.push_back(sim.accept(sample("s1", i)));
    sim.pass(1s);
  }

  const Listing listing = sim.table.list({.limit = 2}, sim.clock.now());

  EXPECT_THAT(ids(listing), ElementsAre(accepted[0], accepted[1]));
  EXPECT_EQ(listing.more, 3u);
}

TEST(List, FiltersByStateSessionAndModel) {
  Sim sim;
  const auto a = sim.accept(sample("s1", 1));
  const auto b = sim.accept(sample("s2", 1));
  auto of_another_model = sample("s2", 2);
  of_another_model.model = "lora";
  sim.pass(1s);
  const auto c = sim.accept(of_another_model);
  sim.complete(b, "abc");

  const auto listed = [&](Filter filter) { return ids(sim.table.list(filter, sim.clock.now())); };

  EXPECT_THAT(listed({.state = State::completed}), ElementsAre(b));
  EXPECT_THAT(listed({.session = "s2"}), ElementsAre(b, c));
  EXPECT_EQ(listed({.session = "session_1"}).size(), 3u);
  EXPECT_THAT(listed({.model = "lora"}), ElementsAre(c));
  EXPECT_THAT(listed({.state = State::queued, .session = "s1", .model = "base"}), ElementsAre(a));
  EXPECT_TRUE(listed({.session = "s3"}).empty());
}

TEST(Show, TellsAllThereIsToKnow) {
  Sim sim;
  auto submission = sample("s1", 7, "prompt");
  submission.num_samples = 4;
  const auto id = sim.accept(submission);
  sim.pass(2s);
  sim.start(id);
  sim.accept(sample("s1", 7, "prompt"));
  sim.poll(id).time_out();
  sim.pass(3s);
  auto waiting = sim.poll(id);
  sim.pass(1s);

  const Record live = sim.table.show(id, sim.clock.now()).value();
  sim.fail(id, "upstream died", Category::server);
  waiting.failure();
  sim.pass(7s);
  waiting.confirm();
  sim.pass(3s);
  const Record ended = sim.table.show(id, sim.clock.now()).value();

  EXPECT_EQ(live.state, State::in_flight);
  EXPECT_EQ(live.tenant.text, "tenant");
  EXPECT_EQ(live.session.text, "session_1");
  EXPECT_EQ(live.sampling_session.text, "s1");
  EXPECT_EQ(live.model, "base");
  EXPECT_EQ(live.seq_id, 7);
  EXPECT_EQ(live.num_samples, 4u);
  EXPECT_EQ(live.age, 6s);
  EXPECT_EQ(live.queued, 2s);
  EXPECT_EQ(live.upstream, 4s);
  EXPECT_EQ(live.since_end, std::nullopt);
  EXPECT_EQ(live.since_poll, 1s);
  EXPECT_EQ(live.since_delivery, std::nullopt);
  EXPECT_EQ(live.since_confirmation, std::nullopt);
  EXPECT_EQ(live.attempts, 1u);
  EXPECT_EQ(live.waiters, 1u);
  EXPECT_EQ(live.polls, 2u);
  EXPECT_EQ(live.duplicates, 1u);
  EXPECT_EQ(live.request_bytes, 6u);

  EXPECT_EQ(ended.state, State::confirmed);
  EXPECT_EQ(ended.age, 16s);
  EXPECT_EQ(ended.upstream, 4s) << "stands still once it ended";
  EXPECT_EQ(ended.since_end, 10s);
  EXPECT_EQ(ended.since_delivery, 10s);
  EXPECT_EQ(ended.since_confirmation, 3s);
  EXPECT_EQ(ended.deliveries, 1u);
  EXPECT_EQ(ended.waiters, 0u);
  EXPECT_EQ(ended.request_bytes, 0u);
  EXPECT_EQ(ended.failure.value().text, "upstream died");
}

TEST(Show, KnowsNothingOfWhatIsNotHere) {
  Sim sim;

  EXPECT_EQ(sim.table.show({64}, sim.clock.now()), std::nullopt);
}

}  // namespace
}  // namespace tinker::futures
