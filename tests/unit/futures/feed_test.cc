// SPDX-License-Identifier: Apache-2.0
#include "futures/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kFirst = 1'000'000;
const FeedKey kKey{{"tenant"}, {"sampler"}, 0};

Completion finished(std::int64_t number, std::size_t bytes = 10) { return {{number}, bytes}; }
Completion failed(std::int64_t number) { return {{number}, std::nullopt}; }

class FeedsTest : public testing::Test {
 protected:
  bool open(std::int64_t prev_cursor = 0) { return feeds.open(kKey, prev_cursor, clock.now()); }
  std::optional<WaiterId> add(std::vector<Completion> completions) { return feeds.add(kKey, completions); }
  // A whole poll that does not wait.
  Feeds::Answer poll(std::int64_t prev_cursor, const FeedKey& key = kKey) {
    const WaiterId waiter{0, ++last_waiter};
    feeds.open(key, prev_cursor, clock.now());
    feeds.join(key, waiter, clock.now());
    auto answer = feeds.read(key, waiter, prev_cursor);
    feeds.leave(key, waiter, clock.now());
    EXPECT_TRUE(answer);
    return answer.value_or(Feeds::Answer{});
  }

  base::FakeClock clock;
  Feeds feeds{kFirst};
  std::uint64_t last_waiter = 100;
};

TEST_F(FeedsTest, ToldUnderACursorThatTheNextPollConfirms) {
  open();
  add({finished(1, 7), failed(2)});

  const auto first = poll(0);
  add({finished(3)});
  const auto second = poll(first.cursor);
  const auto third = poll(second.cursor);

  EXPECT_THAT(first.completions, ElementsAre(finished(1, 7), failed(2)));
  EXPECT_THAT(second.completions, ElementsAre(finished(3)));
  EXPECT_THAT(third.completions, IsEmpty());
  EXPECT_GT(first.cursor, kFirst);
  EXPECT_GT(second.cursor, first.cursor);
  EXPECT_EQ(third.cursor, second.cursor);
}

TEST_F(FeedsTest, AnAnswerThatWasLostIsGivenAgainWithWhatCameSince) {
  open();
  add({finished(1)});
  const auto lost = poll(0);
  add({finished(2)});

  const auto again = poll(0);

  EXPECT_THAT(again.completions, ElementsAre(finished(1), finished(2)));
  EXPECT_GT(again.cursor, lost.cursor);
  EXPECT_THAT(poll(lost.cursor).completions, ElementsAre(finished(2)));
}

TEST_F(FeedsTest, WhatIsInTheFeedIsNotToldTwice) {
  open();
  add({finished(1)});
  add({finished(2), finished(1)});  // found by the scan, too

  EXPECT_THAT(poll(0).completions, ElementsAre(finished(1), finished(2)));
}

TEST_F(FeedsTest, NothingIsKeptForAFeedThatIsNotOpen) {
  EXPECT_EQ(add({finished(1)}), std::nullopt);

  EXPECT_TRUE(open());
  EXPECT_FALSE(open());
  EXPECT_THAT(poll(0).completions, IsEmpty());
}

TEST_F(FeedsTest, ClonesTenantsAndSessionsAreApart) {
  const FeedKey others[] = {{{"tenant"}, {"sampler"}, 1}, {{"other"}, {"sampler"}, 0}, {{"tenant"}, {"other"}, 0}};
  open();
  for (const FeedKey& key : others) feeds.open(key, 0, clock.now());
  add({finished(1)});

  for (const FeedKey& key : others) EXPECT_THAT(poll(0, key).completions, IsEmpty());
  EXPECT_THAT(poll(0).completions, ElementsAre(finished(1)));
}

TEST_F(FeedsTest, ClonesAreToldApartBySeqId) {
  EXPECT_EQ(clone_of(std::nullopt), 0);
  EXPECT_EQ(clone_of(kSeqIdsOfClone - 1), 0);
  EXPECT_EQ(clone_of(7 * kSeqIdsOfClone + 3), 7);
}

TEST_F(FeedsTest, ACursorOfAnotherRunOrOfNoneLosesNothing) {
  for (const std::int64_t astray : {std::int64_t{-5}, kFirst - 1, kFirst + 1'000'000, std::int64_t{1} << 60,
                                    std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    Feeds run(kFirst);
    const WaiterId waiter{0, 1};
    run.open(kKey, astray, clock.now());
    run.add(kKey, std::vector{finished(1)});
    run.join(kKey, waiter, clock.now());

    EXPECT_THAT(run.read(kKey, waiter, astray)->completions, ElementsAre(finished(1))) << astray;
    // Also one that comes from the future when the feed is open.
    const std::int64_t later = std::max(astray, kFirst + 5'000'000);
    const auto answer = run.read(kKey, waiter, later);
    EXPECT_THAT(answer->completions, ElementsAre(finished(1))) << astray;
    EXPECT_GT(answer->cursor, std::min(later, std::int64_t{1} << 62));
  }
}

TEST_F(FeedsTest, AFeedThatIsOpenedAgainGivesNoCursorTwice) {
  open();
  add({finished(1)});
  const auto before = poll(0);
  poll(before.cursor);
  clock.advance(301s);
  EXPECT_EQ(feeds.drop_idle(clock.now()), 0u);

  poll(0);  // a client with no memory opens it again
  add({finished(2)});

  EXPECT_THAT(poll(before.cursor).completions, ElementsAre(finished(2)));
}

TEST_F(FeedsTest, AnAnswerIsBoundedAndTheRestFollows) {
  open();
  std::vector<Completion> many;
  for (std::int64_t i = 0; i < 10'000; ++i) many.push_back(finished(i));
  add(many);

  std::vector<Completion> told;
  std::int64_t cursor = 0;
  for (auto answer = poll(cursor); !answer.completions.empty(); answer = poll(cursor)) {
    EXPECT_LE(answer.completions.size(), Feeds::kMostInAnswer);
    told.insert(told.end(), answer.completions.begin(), answer.completions.end());
    cursor = answer.cursor;
  }

  EXPECT_EQ(told, many);
}

TEST_F(FeedsTest, AWaiterIsWokenOnceUntilItReads) {
  const WaiterId waiter{1, 1};
  open();
  feeds.join(kKey, waiter, clock.now());
  EXPECT_THAT(feeds.read(kKey, waiter, 0)->completions, IsEmpty());

  EXPECT_EQ(add({finished(1)}), waiter);
  EXPECT_EQ(add({finished(2)}), std::nullopt);
  EXPECT_EQ(feeds.read(kKey, waiter, 0)->completions.size(), 2u);
  EXPECT_EQ(add({finished(3)}), waiter);
  feeds.leave(kKey, waiter, clock.now());
  EXPECT_EQ(add({finished(4)}), std::nullopt);
}

TEST_F(FeedsTest, OfTwoPollsTheNewerIsToldAndTheOlderIsNot) {
  const WaiterId older{0, 1}, newer{1, 1};
  open();
  EXPECT_EQ(feeds.join(kKey, older, clock.now()), std::nullopt);
  EXPECT_EQ(feeds.join(kKey, newer, clock.now()), older);
  EXPECT_EQ(add({finished(1)}), newer);

  EXPECT_EQ(feeds.read(kKey, older, 0), std::nullopt);
  feeds.leave(kKey, older, clock.now());
  EXPECT_THAT(feeds.read(kKey, newer, 0)->completions, ElementsAre(finished(1)));
}

TEST_F(FeedsTest, WhatIsAcknowledgedIsNotToldAgain) {
  open();
  add({finished(1), finished(2), finished(3)});
  poll(0);

  feeds.acknowledge(kKey, std::vector<base::SampleId>{{2}, {99}});

  EXPECT_THAT(poll(0).completions, ElementsAre(finished(1), finished(3)));
}

TEST_F(FeedsTest, IdleFeedsAreDroppedAndThoseWithSomethingToTellWhenTheClientHasGivenUp) {
  const FeedKey quiet{{"tenant"}, {"quiet"}, 0}, polled{{"tenant"}, {"polled"}, 0};
  open();
  add({finished(1)});
  feeds.open(quiet, 0, clock.now());
  feeds.open(polled, 0, clock.now());
  feeds.join(polled, {0, 1}, clock.now());

  clock.advance(299s);
  EXPECT_EQ(feeds.drop_idle(clock.now()), 3u);
  clock.advance(2s);
  EXPECT_EQ(feeds.drop_idle(clock.now()), 2u);
  EXPECT_THAT(poll(0).completions, ElementsAre(finished(1)));
  clock.advance(7201s);
  EXPECT_EQ(feeds.drop_idle(clock.now()), 1u);
  EXPECT_TRUE(feeds.read(polled, {0, 1}, 0));
}

}  // namespace
}  // namespace tinker::futures
