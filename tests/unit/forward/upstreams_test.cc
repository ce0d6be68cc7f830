// SPDX-License-Identifier: Apache-2.0
#include "forward/upstreams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "unit/forward/run_until.h"

namespace tinker::forward {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

UpstreamUrl url(std::string_view text) { return *UpstreamUrl::parse(text); }

constexpr ReadingTimes kQuick{.apart = base::Seconds{0.001}, .watch = base::Seconds{0.005}, .resolve = base::Seconds{30}};
constexpr ReadingTimes kUnwatched{.apart = base::Seconds{0.001}, .watch = base::Seconds{3600}, .resolve = base::Seconds{3600}};

// What the engine publishes, and how often it was read.
class Published {
 public:
  Upstreams::Source source() {
    return [this](Upstreams::Read then) {
      base::Result<std::optional<std::string>> value;
      {
        std::lock_guard guard(mutex_);
        ++reads_;
        value = value_;
      }
      then(std::move(value));
    };
  }
  void set(base::Result<std::optional<std::string>> value) {
    std::lock_guard guard(mutex_);
    value_ = std::move(value);
  }
  int reads() const {
    std::lock_guard guard(mutex_);
    return reads_;
  }

 private:
  mutable std::mutex mutex_;  // guards all below
  base::Result<std::optional<std::string>> value_{std::nullopt};
  int reads_ = 0;
};

class UpstreamsTest : public testing::Test {
 protected:
  base::Result<void> refresh(Upstreams& upstreams) {
    std::optional<base::Result<void>> outcome;
    upstreams.refresh(loop_, [&](base::Result<void> result) { outcome = std::move(result); });
    EXPECT_TRUE(run_until(loop_, [&] { return outcome.has_value(); }));
    return outcome.value_or(base::fail(base::Code::internal, "no answer"));
  }
  static std::string address(const Choice& choice) { return choice ? choice->addresses.at(choice->place()).text() : "none"; }

  loop::EventLoop loop_{"test"};
  Published published_;
};

TEST_F(UpstreamsTest, AFixedNumericUrlServesAtOnce) {
  Upstreams upstreams({url("http://127.0.0.1:8000/x")}, kUnwatched);

  const Choice choice = upstreams.choose();

  EXPECT_EQ(address(choice), "127.0.0.1:8000");
  EXPECT_EQ(choice->url.prefix, "/x");
  EXPECT_THAT(upstreams.known(), ElementsAre("http://127.0.0.1:8000/x"));
}

TEST_F(UpstreamsTest, ANameIsResolvedIpv4First) {
  Upstreams upstreams({url("http://localhost:8000")}, kUnwatched);

  const auto outcome = refresh(upstreams);

  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_EQ(address(upstreams.choose()), "127.0.0.1:8000");
}

TEST_F(UpstreamsTest, ANameThatDoesNotResolveIsNamed) {
  const std::string label(70, 'x');  // longer than a label may be: refused without asking a name server
  Upstreams upstreams({url("http://" + label + ":8000")}, kUnwatched);

  const auto outcome = refresh(upstreams);

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::Code::unavailable);
  EXPECT_THAT(outcome.error().text, HasSubstr("cannot resolve the host of upstream http://" + label + ":8000: "));
  EXPECT_FALSE(upstreams.choose());
}

TEST_F(UpstreamsTest, OneNameThatDoesNotResolveLeavesTheOthers) {
  Upstreams upstreams({url("http://" + std::string(70, 'x')), url("http://127.0.0.1:8001")}, kUnwatched);

  EXPECT_TRUE(refresh(upstreams));

  EXPECT_EQ(address(upstreams.choose()), "127.0.0.1:8001");
}

TEST_F(UpstreamsTest, SaysThatNothingIsPublished) {
  Upstreams upstreams(published_.source(), kUnwatched);

  const auto outcome = refresh(upstreams);

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::Code::unavailable);
  EXPECT_THAT(outcome.error().text, HasSubstr("inference engine not ready: no proxy URL published"));
  EXPECT_FALSE(upstreams.choose());
}

TEST_F(UpstreamsTest, SaysThatThePublishedUrlCannotBeUsed) {
  published_.set("https://router:1");
  Upstreams upstreams(published_.source(), kUnwatched);

  const auto outcome = refresh(upstreams);

  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().text,
              HasSubstr("published an address that cannot be used: upstream URL 'https://router:1' is https"));
}

TEST_F(UpstreamsTest, U10_ARefreshFindsTheNewUrl) {
  published_.set("http://127.0.0.1:8000");
  Upstreams upstreams(published_.source(), kUnwatched);
  ASSERT_TRUE(refresh(upstreams));
  ASSERT_EQ(address(upstreams.choose()), "127.0.0.1:8000");

  published_.set("http://127.0.0.1:9000");
  ASSERT_TRUE(refresh(upstreams));

  EXPECT_EQ(address(upstreams.choose()), "127.0.0.1:9000");
}

TEST_F(UpstreamsTest, U10_TheNewUrlIsNoticedThoughNothingFailed) {
  published_.set("http://127.0.0.1:8000");
  Upstreams upstreams(published_.source(), kQuick);
  ASSERT_TRUE(run_until(loop_, [&] { return address(upstreams.choose()) == "127.0.0.1:8000"; }));

  published_.set("http://127.0.0.1:9000");

  EXPECT_TRUE(run_until(loop_, [&] { return address(upstreams.choose()) == "127.0.0.1:9000"; }));
  EXPECT_THAT(upstreams.known(), ElementsAre("http://127.0.0.1:9000"));
}

TEST_F(UpstreamsTest, U10_TheUrlIsForgottenWhenTheEngineTakesItBack) {
  published_.set("http://127.0.0.1:8000");
  Upstreams upstreams(published_.source(), kQuick);
  ASSERT_TRUE(run_until(loop_, [&] { return bool(upstreams.choose()); }));

  published_.set(std::nullopt);

  EXPECT_TRUE(run_until(loop_, [&] { return !upstreams.choose(); }));
  EXPECT_TRUE(upstreams.known().empty());
}

TEST_F(UpstreamsTest, ADatabaseThatCannotBeReadLeavesTheUpstreamAlone) {
  published_.set("http://127.0.0.1:8000");
  Upstreams upstreams(published_.source(), kUnwatched);
  ASSERT_TRUE(refresh(upstreams));

  published_.set(base::fail(base::Code::unavailable, "database is locked"));

  EXPECT_TRUE(refresh(upstreams));
  EXPECT_EQ(address(upstreams.choose()), "127.0.0.1:8000");
}

TEST_F(UpstreamsTest, ADatabaseThatCouldNeverBeReadIsTheError) {
  published_.set(base::fail(base::Code::unavailable, "database is locked"));
  Upstreams upstreams(published_.source(), kUnwatched);

  const auto outcome = refresh(upstreams);

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().text, "database is locked");
}

TEST_F(UpstreamsTest, ManyRequestsForARefreshAreAnsweredByFewReadings) {
  published_.set("http://127.0.0.1:8000");
  Upstreams upstreams(published_.source(), {.apart = base::Seconds{0.2}, .watch = base::Seconds{3600}});

  int answered = 0;
  for (int i = 0; i < 2000; ++i) upstreams.refresh(loop_, [&](const base::Result<void>&) { ++answered; });
  ASSERT_TRUE(run_until(loop_, [&] { return answered == 2000; }));

  EXPECT_LE(published_.reads(), 3);  // the first one, what came meanwhile, and the rest
}

TEST_F(UpstreamsTest, TheSameAddressStaysTheSameUpstream) {
  published_.set("http://127.0.0.1:8000");
  Upstreams upstreams(published_.source(), kUnwatched);
  ASSERT_TRUE(refresh(upstreams));
  const Choice before = upstreams.choose();

  ASSERT_TRUE(refresh(upstreams));

  EXPECT_EQ(&*before, &*upstreams.choose());
}

TEST_F(UpstreamsTest, OfSeveralTheOneWithFewestOutstandingIsChosen) {
  Upstreams upstreams({url("http://127.0.0.1:1"), url("http://127.0.0.1:2"), url("http://127.0.0.1:3")}, kUnwatched);
  std::vector<std::vector<Choice>> held(3);
  const auto choose = [&] {
    Choice choice = upstreams.choose();
    const std::size_t index = choice->index;
    held[index].push_back(std::move(choice));
    return index;
  };

  for (int i = 0; i < 9; ++i) choose();

  EXPECT_EQ(held[0].size(), 3u);
  EXPECT_EQ(held[1].size(), 3u);
  EXPECT_EQ(held[2].size(), 3u);
  held[1].clear();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(choose(), 1u);
}

TEST_F(UpstreamsTest, TheOneThatFailedIsAvoidedWhenThereIsAnother) {
  Upstreams upstreams({url("http://127.0.0.1:1"), url("http://127.0.0.1:2")}, kUnwatched);
  std::vector<Choice> held;

  for (int i = 0; i < 4; ++i) {
    held.push_back(upstreams.choose(/*avoid=*/0));
    EXPECT_EQ(held.back()->index, 1u);
  }
  Upstreams alone({url("http://127.0.0.1:1")}, kUnwatched);

  EXPECT_EQ(alone.choose(/*avoid=*/0)->index, 0u);
}

TEST_F(UpstreamsTest, AnAddressThatCannotBeReachedGivesWayToTheNext) {
  Upstream upstream;
  for (const std::uint16_t port : {1, 2, 3}) upstream.addresses.push_back(*http::SocketAddress::numeric("127.0.0.1", port));

  upstream.unreachable(0);
  EXPECT_EQ(upstream.place(), 1u);
  upstream.unreachable(0);  // another call met the same
  EXPECT_EQ(upstream.place(), 1u);
  upstream.unreachable(1);
  upstream.unreachable(2);

  EXPECT_EQ(upstream.place(), 0u);
}

TEST_F(UpstreamsTest, AChoiceOutlivesTheUpstreams) {
  Choice choice;
  {
    Upstreams upstreams({url("http://127.0.0.1:8000")}, kUnwatched);
    choice = upstreams.choose();
  }

  EXPECT_EQ(address(choice), "127.0.0.1:8000");
}

TEST_F(UpstreamsTest, StopDoesNotWaitForASourceThatNeverAnswers) {
  std::mutex mutex;
  std::vector<Upstreams::Read> never;
  int answered = 0;
  {
    Upstreams upstreams(
        [&](Upstreams::Read then) {
          std::lock_guard guard(mutex);
          never.push_back(std::move(then));
        },
        kQuick);
    upstreams.refresh(loop_, [&](const base::Result<void>&) { ++answered; });
    ASSERT_TRUE(run_until(loop_, [&] {
      std::lock_guard guard(mutex);
      return !never.empty();
    }));
    upstreams.stop();
    upstreams.refresh(loop_, [&](const base::Result<void>&) { ++answered; });
  }

  for (auto& then : never) then(std::nullopt);  // an answer after all is harmless
  event_base_loop(loop_.base(), EVLOOP_NONBLOCK);
  EXPECT_EQ(answered, 0);
}

}  // namespace
}  // namespace tinker::forward
