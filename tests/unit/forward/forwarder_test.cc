// SPDX-License-Identifier: Apache-2.0
#include "forward/forwarder.h"

#include <event2/event.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forward/call.h"
#include "unit/forward/fake_network.h"
#include "unit/forward/run_until.h"

namespace tinker::forward {
namespace {

using http::Breakage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSample =
    R"({"choices":[{"index":0,"finish_reason":"stop","token_ids":[1],"logprobs":{"token_logprobs":[-0.5]}}]})";
constexpr std::string_view kAborted =
    R"({"choices":[{"index":0,"finish_reason":"abort","token_ids":[],"logprobs":{"token_logprobs":[]}}]})";

constexpr ReadingTimes kUnwatched{.apart = base::Seconds{0.001}, .watch = base::Seconds{3600}, .resolve = base::Seconds{3600}};

// A forwarder whose network is the test's and whose upstream is what the engine published.
class ForwarderTest : public testing::Test {
 protected:
  ForwarderTest() {
    run_until(loop_, [&] { return bool(upstreams_->choose()); });
    forwarder_ = make_forwarder();
  }

  static std::vector<UpstreamUrl> urls(std::initializer_list<const char*> texts) {
    std::vector<UpstreamUrl> all;
    for (const char* text : texts) all.push_back(*UpstreamUrl::parse(text));
    return all;
  }

  std::unique_ptr<Forwarder> make_forwarder() {
    ForwardHooks hooks{
        .start = [this](base::SampleId id) -> std::optional<base::SharedBytes> {
          if (ended_already_.contains(id.number)) return std::nullopt;
          return base::SharedBytes("body of " + id.text());
        },
        .done = [this](base::SampleId id,
                       Outcome outcome) { EXPECT_TRUE(outcomes_.emplace(id.number, std::move(outcome)).second); },
        .limits = [this] { return limits_; }};
    return std::make_unique<Forwarder>(loop_, clock_, *upstreams_, board_, std::move(hooks), network_.connect(), /*seed=*/7);
  }
  void use_upstreams(std::unique_ptr<Upstreams> upstreams) {
    forwarder_.reset();
    upstreams_ = std::move(upstreams);
    forwarder_ = make_forwarder();
  }

  void push(std::int64_t number, std::string queue = "session") {
    forwarder_->push({.id = {number}, .queue = std::move(queue), .session_header = "session:" + std::to_string(number)});
  }
  // Until as many requests wait for an answer.
  void await_requests(std::size_t count) {
    ASSERT_TRUE(run_until(loop_, [&] { return network_.waiting() == count; }));
  }
  // The body of the request that is answered next.
  std::string first_body() { return std::string(network_.first().body.view()); }
  std::string failure(std::int64_t number) {
    const auto found = outcomes_.find(number);
    if (found == outcomes_.end()) return "not ended";
    return found->second ? "delivered" : found->second.error().text;
  }
  bool delivered(std::int64_t number) { return outcomes_.contains(number) && outcomes_.at(number).has_value(); }

  loop::EventLoop loop_{"test"};
  base::FakeClock clock_;
  FakeNetwork network_;
  ForwardLimits limits_{.max_connections = 4, .retry_pause = base::Seconds{0.002}};
  std::atomic<int> reads_{0};
  std::atomic<int> published_port_{8000};
  std::set<std::int64_t> ended_already_;
  std::map<std::int64_t, Outcome> outcomes_;
  std::unique_ptr<Upstreams> upstreams_ = std::make_unique<Upstreams>(
      [this](Upstreams::Read then) {
        ++reads_;
        const int port = published_port_;
        then(port == 0 ? std::nullopt : std::optional("http://127.0.0.1:" + std::to_string(port) + "/p"));
      },
      kUnwatched);
  JobBoard board_;
  std::unique_ptr<Forwarder> forwarder_;
};

TEST_F(ForwarderTest, SendsTheBodyAndDeliversTheSample) {
  push(1);

  ASSERT_EQ(network_.waiting(), 1u);
  EXPECT_EQ(network_.first().address, "127.0.0.1:8000");
  EXPECT_THAT(network_.first().head, StartsWith("POST /p/v1/completions HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n"));
  EXPECT_THAT(network_.first().head, HasSubstr("\r\nContent-Length: 10\r\nX-Session-ID: session:1\r\n"));
  EXPECT_EQ(first_body(), "body of s1");
  network_.answer(200, kSample);

  ASSERT_TRUE(delivered(1)) << failure(1);
  EXPECT_EQ(outcomes_.at(1)->tokens, 1u);
  const ForwardCounts counts = forwarder_->counts();
  EXPECT_EQ(counts.requests, 1u);
  EXPECT_EQ(counts.in_flight, 0u);
  EXPECT_EQ(counts.idle, 1u);
  EXPECT_EQ(counts.bytes_in, kSample.size());
}

TEST_F(ForwarderTest, HandsTheTimeoutsOn) {
  limits_.read = base::Seconds{11};
  limits_.connect = base::Seconds{3};
  push(1);

  EXPECT_EQ(network_.first().limits.read, base::Seconds{11});
  EXPECT_EQ(network_.first().limits.connect, base::Seconds{3});
}

TEST_F(ForwarderTest, KeepsToTheLimitOfConnections) {
  for (int i = 1; i <= 10; ++i) push(i);

  EXPECT_EQ(network_.waiting(), 4u);
  EXPECT_EQ(board_.size(), 6u);
  for (int i = 1; i <= 10; ++i) network_.answer(200, kSample);

  EXPECT_EQ(outcomes_.size(), 10u);
  EXPECT_EQ(network_.most_open(), 4u);
  EXPECT_EQ(network_.connected(), 4u);
}

TEST_F(ForwarderTest, ARaisedLimitActsThoughNothingEnds) {
  limits_.max_connections = 1;
  for (int i = 1; i <= 3; ++i) push(i);
  ASSERT_EQ(network_.waiting(), 1u);

  limits_.max_connections = 3;

  await_requests(3);
}

TEST_F(ForwarderTest, TakesTurnsBetweenSessions) {
  limits_.max_connections = 1;
  for (int i = 1; i <= 3; ++i) push(i, "training");
  for (int i = 11; i <= 12; ++i) push(i, "evaluation");

  std::vector<std::string> order;
  while (network_.waiting() > 0) {
    order.push_back(first_body());
    network_.answer(200, kSample);
  }

  EXPECT_THAT(order, ElementsAre("body of s1", "body of s2", "body of s11", "body of s3", "body of s12"));
}

TEST_F(ForwarderTest, SkipsAJobThatEndedWhileItWaited) {
  ended_already_ = {1};
  push(1);
  push(2);

  EXPECT_EQ(first_body(), "body of s2");
  EXPECT_EQ(network_.waiting(), 1u);
  EXPECT_TRUE(outcomes_.empty());
}

TEST_F(ForwarderTest, AJobInFlightIsNotTakenTwice) {
  push(1);
  push(1);

  EXPECT_EQ(network_.waiting(), 1u);
  EXPECT_EQ(board_.size(), 0u);
}

TEST_F(ForwarderTest, A5xxIsTriedOnceMoreAfterTheAddressWasReadAgain) {
  push(1);
  const int reads = reads_;
  network_.answer(503, "No available workers", "text/plain");
  EXPECT_EQ(network_.waiting(), 0u);  // it pauses
  EXPECT_TRUE(outcomes_.empty());

  await_requests(1);
  EXPECT_GT(reads_, reads);
  EXPECT_EQ(first_body(), "body of s1");
  network_.answer(200, kSample);

  EXPECT_TRUE(delivered(1)) << failure(1);
  EXPECT_EQ(forwarder_->counts().retries, 1u);
}

TEST_F(ForwarderTest, ASecond5xxIsFinal) {
  push(1);
  network_.answer(500, "first");
  await_requests(1);

  network_.answer(502, "second");

  EXPECT_EQ(failure(1), "vLLM /v1/completions returned 502: second");
  EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
  EXPECT_EQ(forwarder_->counts().retries, 1u);
  EXPECT_EQ(forwarder_->counts().failures, 1u);
}

TEST_F(ForwarderTest, ARefusalIsFinalAndKeepsTheConnection) {
  push(1);
  network_.answer(400, "temperature");

  EXPECT_EQ(failure(1), "vLLM /v1/completions returned 400: temperature");
  EXPECT_EQ(outcomes_.at(1).error().blame, Blame::user);
  EXPECT_EQ(forwarder_->counts().idle, 1u);
}

TEST_F(ForwarderTest, AConnectFailureIsTriedOnceMore) {
  for (const auto kind : {Breakage::connect_failed, Breakage::connect_timed_out}) {
    outcomes_.clear();
    push(1);
    network_.break_off(kind);
    await_requests(1);
    network_.break_off(kind);

    EXPECT_THAT(failure(1), StartsWith("cannot reach vLLM at http://127.0.0.1:8000/p/v1/completions: "));
    EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
  }
}

TEST_F(ForwarderTest, WhatMayBeGeneratingIsNeverSentAgain) {
  for (const auto kind : {Breakage::write_failed, Breakage::closed_early, Breakage::cut_short, Breakage::read_timed_out,
                          Breakage::malformed, Breakage::too_large}) {
    outcomes_.clear();
    push(1);
    network_.break_off(kind);

    ASSERT_TRUE(outcomes_.contains(1));
    EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
  }
  EXPECT_EQ(forwarder_->counts().requests, 6u);
  EXPECT_EQ(forwarder_->counts().retries, 0u);
}

TEST_F(ForwarderTest, U5_AResetOnAReusedConnectionGoesToANewOneAtOnce) {
  for (const auto kind : {Breakage::closed_early, Breakage::write_failed}) {
    outcomes_.clear();
    push(1);
    push(2);
    network_.answer(200, kSample);
    network_.answer(200, kSample);  // two idle connections, and the upstream is about to close both
    push(3);
    ASSERT_FALSE(network_.first().fresh);
    network_.break_off(kind);

    ASSERT_EQ(network_.waiting(), 1u);
    EXPECT_TRUE(network_.first().fresh);
    network_.answer(200, kSample);
    EXPECT_TRUE(delivered(3)) << failure(3);
  }
  EXPECT_EQ(forwarder_->counts().reconnects, 2u);
  EXPECT_EQ(forwarder_->counts().retries, 0u);
}

TEST_F(ForwarderTest, U5_TheNewConnectionDoesNotUseUpTheRetry) {
  push(1);
  network_.answer(200, kSample);
  push(2);
  network_.break_off(Breakage::closed_early);
  network_.answer(503, "");
  await_requests(1);
  network_.answer(200, kSample);

  EXPECT_TRUE(delivered(2)) << failure(2);
}

TEST_F(ForwarderTest, U5_AFreshConnectionThatIsClosedIsFinal) {
  push(1);
  network_.answer(200, kSample);
  push(2);
  network_.break_off(Breakage::closed_early);
  network_.break_off(Breakage::closed_early);

  EXPECT_THAT(failure(2), StartsWith("Server disconnected"));
}

TEST_F(ForwarderTest, U6_AnAbortedSampleIsForwardedAgain) {
  push(1);
  network_.answer(200, kAborted);
  EXPECT_TRUE(outcomes_.empty());
  await_requests(1);
  network_.answer(200, kSample);

  EXPECT_TRUE(delivered(1)) << failure(1);
  EXPECT_EQ(forwarder_->counts().aborts, 1u);
  EXPECT_EQ(forwarder_->counts().failures, 0u);
}

TEST_F(ForwarderTest, U6_ASecondAbortIsAnExplicitFailureOfTheServer) {
  push(1);
  network_.answer(200, kAborted);
  await_requests(1);
  network_.answer(200, kAborted);

  EXPECT_THAT(failure(1), StartsWith("vLLM aborted the generation (finish_reason 'abort' after 0 tokens)"));
  EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
  EXPECT_EQ(forwarder_->counts().aborts, 2u);
}

TEST_F(ForwarderTest, U6_AnAbortLeavesTheRetryForTheRestartThatFollows) {
  push(1);
  network_.answer(200, kAborted);
  await_requests(1);
  network_.break_off(Breakage::connect_failed);
  await_requests(1);
  network_.answer(200, kSample);

  EXPECT_TRUE(delivered(1)) << failure(1);
  EXPECT_EQ(forwarder_->counts().requests, 3u);
}

TEST_F(ForwarderTest, U9_MissingLogprobsAreCounted) {
  push(1);
  network_.answer(200, R"({"choices":[{"index":0,"finish_reason":"stop","token_ids":[1],"logprobs":null}]})");

  EXPECT_TRUE(delivered(1)) << failure(1);
  EXPECT_EQ(forwarder_->counts().logprobs_missing, 1u);
}

TEST_F(ForwarderTest, U10_ARouterThatMovedIsFoundByTheRetry) {
  push(1);
  published_port_ = 9000;
  network_.break_off(Breakage::connect_failed);
  await_requests(1);

  EXPECT_EQ(network_.first().address, "127.0.0.1:9000");
  network_.answer(200, kSample);
  EXPECT_TRUE(delivered(1)) << failure(1);
}

TEST_F(ForwarderTest, U10_SamplesGoToTheNewUrlThoughNothingFailed) {
  use_upstreams(std::make_unique<Upstreams>(
      [this](Upstreams::Read then) { then("http://127.0.0.1:" + std::to_string(published_port_)); },
      ReadingTimes{.apart = base::Seconds{0.001}, .watch = base::Seconds{0.005}, .resolve = base::Seconds{30}}));
  push(1);
  await_requests(1);
  network_.answer(200, kSample);

  published_port_ = 9000;
  ASSERT_TRUE(run_until(loop_, [&] { return upstreams_->known() == std::vector<std::string>{"http://127.0.0.1:9000"}; }));
  push(2);

  EXPECT_EQ(network_.first().address, "127.0.0.1:9000");
  EXPECT_EQ(network_.open(), 1u);  // the idle one to the old address was dropped
}

TEST_F(ForwarderTest, NothingPublishedIsAFailureThatSaysSo) {
  published_port_ = 0;
  push(1);
  network_.answer(500, "");

  ASSERT_TRUE(run_until(loop_, [&] { return outcomes_.contains(1); }));
  EXPECT_THAT(failure(1), StartsWith("inference engine not ready: no proxy URL published"));
  EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
}

TEST_F(ForwarderTest, OfSeveralUpstreamsTheRetryGoesToAnother) {
  use_upstreams(std::make_unique<Upstreams>(urls({"http://127.0.0.1:1", "http://127.0.0.1:2"}), kUnwatched));
  push(1);
  const std::string failed = network_.first().address;
  network_.break_off(Breakage::connect_failed);
  await_requests(1);

  EXPECT_NE(network_.first().address, failed);
}

TEST_F(ForwarderTest, AWithdrawnJobLeavesTheQueue) {
  limits_.max_connections = 1;
  for (int i = 1; i <= 3; ++i) push(i);

  forwarder_->withdraw({2});
  network_.answer(200, kSample);

  EXPECT_EQ(first_body(), "body of s3");
  EXPECT_FALSE(outcomes_.contains(2));
}

TEST_F(ForwarderTest, AWithdrawnJobInFlightClosesItsConnectionAndMakesRoom) {
  limits_.max_connections = 1;
  push(1);
  push(2);

  forwarder_->withdraw({1});

  ASSERT_EQ(network_.waiting(), 1u);
  EXPECT_EQ(first_body(), "body of s2");
  EXPECT_TRUE(network_.first().fresh);
  EXPECT_EQ(network_.open(), 1u);
  EXPECT_TRUE(outcomes_.empty());
}

TEST_F(ForwarderTest, AJobMayBeWithdrawnWhileItPauses) {
  push(1);
  network_.answer(500, "");

  forwarder_->withdraw({1});
  push(2);
  const int reads = reads_;
  ASSERT_TRUE(run_until(loop_, [until = std::chrono::steady_clock::now() + std::chrono::milliseconds{20}] {
    return std::chrono::steady_clock::now() > until;
  }));

  EXPECT_EQ(reads_, reads);
  EXPECT_EQ(network_.waiting(), 1u);
  EXPECT_EQ(first_body(), "body of s2");
}

TEST_F(ForwarderTest, AJobMayBeWithdrawnWhileTheAddressIsRead) {
  std::vector<Upstreams::Read> asked;
  std::mutex mutex;
  use_upstreams(std::make_unique<Upstreams>(
      [&](Upstreams::Read then) {
        std::lock_guard guard(mutex);
        asked.push_back(std::move(then));
      },
      kUnwatched));
  push(1);
  push(2);
  forwarder_->withdraw({1});
  ASSERT_TRUE(run_until(loop_, [&] {
    std::lock_guard guard(mutex);
    for (auto& then : asked) then("http://127.0.0.1:8000");
    asked.clear();
    return network_.waiting() == 1;
  }));

  EXPECT_EQ(first_body(), "body of s2");
  upstreams_->stop();
}

TEST_F(ForwarderTest, WithdrawingWhatIsUnknownDoesNothing) {
  push(1);
  forwarder_->withdraw({99});

  EXPECT_EQ(network_.waiting(), 1u);
}

TEST_F(ForwarderTest, AForwarderThatGoesClosesAllAndCallsNobody) {
  for (int i = 1; i <= 6; ++i) push(i);
  network_.answer(500, "");
  forwarder_.reset();
  event_base_loop(loop_.base(), EVLOOP_NONBLOCK);

  EXPECT_EQ(network_.open(), 0u);
  EXPECT_TRUE(outcomes_.empty());
}

// What a job makes the network do is counted: a forwarder that searched among its connections would do more with more of them.
TEST_F(ForwarderTest, U1_AJobCostsAsMuchWithTwoThousandInFlightAsWithTen) {
  limits_.max_connections = 4096;
  std::int64_t next = 1;
  const auto cost_of_a_hundred = [&](std::size_t in_flight) {
    while (network_.waiting() < in_flight) push(next++);
    const std::size_t touches = network_.touches(), connected = network_.connected();
    for (int i = 0; i < 100; ++i) {
      network_.answer(200, kSample);
      push(next++);
    }
    return std::pair(network_.touches() - touches, network_.connected() - connected);
  };

  const auto with_ten = cost_of_a_hundred(10);
  const auto with_two_thousand = cost_of_a_hundred(2000);

  EXPECT_EQ(with_ten, with_two_thousand);
  EXPECT_EQ(with_ten.second, 0u);  // each used a connection that was there
}

TEST(Jittered, SpreadsAPauseOverHalfToOneAndAHalfOfIt) {
  std::minstd_rand random(3);
  double least = 10, most = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double pause = jittered(base::Seconds{2}, random).count();
    least = std::min(least, pause);
    most = std::max(most, pause);
  }

  EXPECT_GE(least, 1.0);
  EXPECT_LT(least, 1.05);
  EXPECT_LT(most, 3.0);
  EXPECT_GT(most, 2.95);
}

}  // namespace
}  // namespace tinker::forward
