// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/forward/run_until.h"
#include "unit/tinker-load/fake_tinker.h"

namespace tinker::load {
namespace {

using testing::HasSubstr;
using Sample = FakeTinker::Sample;

class ClientTest : public testing::Test {
 protected:
  // Samples until the end; false when that does not come.
  bool run(LoadOptions options) {
    start(options);
    return ended();
  }
  void start(LoadOptions options) {
    options.first_pause_sec = 0.001;
    client_ = std::make_unique<Client>(loop_, *http::SocketAddress::numeric("127.0.0.1", server_.port()), options,
                                       [this] { done_ = true; });
    client_->start();
  }
  bool ended() {
    return forward::run_until(loop_, [this] { return done_; });
  }
  const LoadTotals& totals() const { return client_->totals(); }
  const LoadCounts& counts() const { return totals().counts; }
  const std::vector<Troubles::Trouble>& troubles() const { return totals().troubles.all(); }

  loop::EventLoop loop_{"load"};
  FakeTinker server_{loop_};
  std::unique_ptr<Client> client_;
  bool done_ = false;
};

TEST_F(ClientTest, CompletesEverySampleOnConnectionsThatItKeeps) {
  ASSERT_TRUE(run({.num_requests = 500, .max_outstanding = 20}));

  EXPECT_EQ(counts().completed, 500u);
  EXPECT_EQ(counts().wrong + counts().failed + counts().repolls + counts().reconnects, 0u);
  EXPECT_TRUE(troubles().empty());
  EXPECT_EQ(client_->outstanding(), 0u);
  EXPECT_EQ(totals().submit_times.count(), 500u);
  EXPECT_EQ(totals().sample_times.count(), 500u);
  EXPECT_GT(totals().seconds(), 0);
  EXPECT_EQ(server_.submits, 500u);
  EXPECT_LE(server_.peers.size(), 22u);  // two for the sessions
}

TEST_F(ClientTest, ChecksEachOfSeveralSequences) {
  ASSERT_TRUE(run({.num_requests = 50, .num_samples = 3}));

  EXPECT_EQ(counts().completed, 50u);
}

TEST_F(ClientTest, KeepsToMaxOutstanding) {
  ASSERT_TRUE(run({.num_requests = 200, .max_outstanding = 7}));

  EXPECT_EQ(server_.most_outstanding, 7u);
}

TEST_F(ClientTest, KeepsToSubmitConcurrency) {
  std::vector<std::pair<std::uint64_t, http::Reply>> held;
  bool holding = true;
  server_.on_submit = [&](const Sample& sample, http::Reply& reply) {
    if (holding) held.emplace_back(sample.number, reply);
    return holding;
  };
  start({.num_requests = 100, .max_outstanding = 1000, .submit_concurrency = 5});
  ASSERT_TRUE(forward::run_until(loop_, [&] { return held.size() >= 5; }));
  event_base_loop(loop_.base(), EVLOOP_NONBLOCK);  // all that is due

  EXPECT_EQ(held.size(), 5u);

  holding = false;
  for (auto& [number, reply] : held) reply.send(FakeTinker::accepted(number));
  ASSERT_TRUE(ended());
  EXPECT_EQ(counts().completed, 100u);
}

TEST_F(ClientTest, NoticesTheResultOfAnotherRequest) {
  server_.on_poll = [](const Sample& sample, http::Reply& reply) {
    if (sample.number != 3) return false;
    reply.send(FakeTinker::result(sample.key + 1));
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10}));

  EXPECT_EQ(counts().completed, 9u);
  EXPECT_EQ(counts().wrong, 1u);
  ASSERT_EQ(troubles().size(), 1u);
  EXPECT_EQ(troubles()[0].text, "result of s3: sequence 0: token 0 of another request");
}

TEST_F(ClientTest, PollsAgainAtOnceWhereTheSdkDoes) {
  server_.on_poll = [](const Sample& sample, http::Reply& reply) {
    switch (sample.polls) {
      case 1:
        reply.send(FakeTinker::json(408, R"({"type":"try_again","queue_state":"active"})"));
        return true;
      case 2:
        reply.send(FakeTinker::json(200, R"({"type": "try_again"})"));
        return true;
      case 3:
        reply.send(FakeTinker::json(503, ""));
        return true;
      case 4:
        reply.send(FakeTinker::json(429, ""));
        return true;
      default:
        return false;
    }
  };

  ASSERT_TRUE(run({.num_requests = 10}));

  EXPECT_EQ(counts().completed, 10u);
  EXPECT_EQ(counts().repolls, 40u);
}

TEST_F(ClientTest, SubmitsAgainWhatWasRefusedForNow) {
  server_.on_submit = [](const Sample& sample, http::Reply& reply) {
    if (sample.submits > 3) return false;
    const int statuses[] = {429, 500, 408};
    reply.send(FakeTinker::json(statuses[sample.submits - 1], R"({"detail":"later"})"));
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10, .submit_concurrency = 3}));

  EXPECT_EQ(counts().completed, 10u);
  EXPECT_EQ(counts().throttled, 10u);
  EXPECT_EQ(server_.submits, 40u);
}

TEST_F(ClientTest, FailsWhatNoClientGoesOnAfter) {
  server_.on_submit = [](const Sample& sample, http::Reply& reply) {
    if (sample.number > 1) return false;
    reply.send(sample.number == 0 ? FakeTinker::json(422, R"({"detail":"no"})") : FakeTinker::json(200, R"({"id":"x"})"));
    return true;
  };
  server_.on_poll = [](const Sample& sample, http::Reply& reply) {
    if (sample.number > 4) return false;
    if (sample.number == 2) reply.send(FakeTinker::json(200, R"({"error":"upstream","category":"server"})"));
    if (sample.number == 3) reply.send(FakeTinker::json(410, R"({"detail":"gone"})"));
    if (sample.number == 4) reply.send(FakeTinker::json(404, R"({"detail":"unknown"})"));
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10}));

  EXPECT_EQ(counts().failed, 5u);
  EXPECT_EQ(counts().completed, 5u);
  EXPECT_EQ(troubles().size(), 5u);
  EXPECT_THAT(troubles()[0].text, HasSubstr("asample: status 422: {\"detail\":\"no\"}"));
}

TEST_F(ClientTest, GoesOnAfterConnectionsBroke) {
  std::vector<http::Reply> held;
  server_.on_poll = [&](const Sample& sample, http::Reply& reply) {
    if (sample.polls > 1) return false;
    held.push_back(reply);
    if (held.size() == 10) loop_.post([this] { server_.restart(); });
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10}));

  EXPECT_EQ(counts().completed, 10u);
  EXPECT_GE(counts().reconnects, 10u);
  EXPECT_EQ(counts().repolls, 10u);
  EXPECT_EQ(counts().abandoned_polls, 0u);
  EXPECT_FALSE(troubles().empty());
}

TEST_F(ClientTest, CountsPollsThatTheServerHeldForTooLong) {
  std::vector<http::Reply> held;
  server_.on_poll = [&](const Sample& sample, http::Reply& reply) {
    if (sample.number >= 3 || sample.polls > 1) return false;
    held.push_back(reply);
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10, .poll_timeout_sec = 0.2}));

  EXPECT_EQ(counts().completed, 10u);
  EXPECT_GE(counts().abandoned_polls, 3u);
  EXPECT_EQ(counts().reconnects, 0u);
}

TEST_F(ClientTest, StopsWhenThereIsNoSession) {
  server_.others["/api/v1/create_session"] = FakeTinker::json(401, R"({"detail":"who?"})");

  ASSERT_TRUE(run({}));

  EXPECT_EQ(client_->fatal(), "/api/v1/create_session: status 401: {\"detail\":\"who?\"}");
  EXPECT_EQ(totals().ended(), 0u);
}

TEST_F(ClientTest, StopsWhenASamplingSessionHasNoName) {
  server_.others["/api/v1/create_sampling_session"] = FakeTinker::json(200, "{}");

  ASSERT_TRUE(run({}));

  EXPECT_EQ(client_->fatal(), "/api/v1/create_sampling_session: status 200: {}");
}

TEST_F(ClientTest, NoticesSequenceIdsThatDoNotFit) {
  server_.on_submit = [](const Sample& sample, http::Reply& reply) {
    const char* answers[] = {R"({"request_id":"s0"})", R"({"request_id":"s1","sample_sequence_ids":["a"]})",
                             R"({"request_id":"s2","sample_sequence_ids":["a","a"]})",
                             R"({"request_id":"s3","sample_sequence_ids":["a",""]})"};
    if (sample.number > 3) return false;
    reply.send(FakeTinker::json(200, answers[sample.number]));
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10, .num_samples = 2}));

  EXPECT_EQ(counts().no_sequence_ids, 1u);
  EXPECT_EQ(counts().wrong, 3u);
  EXPECT_EQ(counts().completed, 7u);
  ASSERT_EQ(troubles().size(), 3u);
  EXPECT_THAT(troubles()[0].text, HasSubstr("sample_sequence_ids that do not fit"));
}

TEST_F(ClientTest, ComesFromTheAddressThatItWasGiven) {
  ASSERT_TRUE(run({.num_requests = 10, .source = *http::SocketAddress::numeric("127.0.0.7", 0)}));

  EXPECT_EQ(counts().completed, 10u);
  for (const std::string& peer : server_.peers) EXPECT_THAT(peer, HasSubstr("127.0.0.7"));
}

TEST_F(ClientTest, FetchesWhatThePollForManyTells) {
  ASSERT_TRUE(run({.num_requests = 300, .fetch_concurrency = 10, .num_samples = 2, .poll = Poll::multi}));

  EXPECT_EQ(counts().completed, 300u);
  EXPECT_EQ(totals().sample_times.count(), 300u);
  EXPECT_TRUE(troubles().empty());
  EXPECT_EQ(server_.acknowledged.size(), 300u);
}

TEST_F(ClientTest, FetchesNoMoreThanFetchConcurrencyAtATime) {
  std::vector<std::pair<std::uint64_t, http::Reply>> held;
  std::size_t polls = 0;
  server_.on_poll = [&](const Sample& sample, http::Reply& reply) {
    ++polls;
    held.emplace_back(sample.key, reply);
    return true;
  };
  start({.num_requests = 30, .fetch_concurrency = 3, .poll = Poll::multi});

  for (std::size_t fetched = 0; fetched < 30;) {
    ASSERT_TRUE(forward::run_until(loop_, [&] { return held.size() >= std::min<std::size_t>(3, 30 - fetched); }));
    EXPECT_LE(held.size(), 3u);
    fetched += held.size();
    for (auto& [key, reply] : std::exchange(held, {})) reply.send(FakeTinker::result(key));
  }

  ASSERT_TRUE(ended());
  EXPECT_EQ(polls, 30u);
  EXPECT_EQ(counts().completed, 30u);
}

TEST_F(ClientTest, GivesUpWhenThePollForManyIsRefused) {
  server_.on_poll_many = [](const rapidjson::Document&, http::Reply& reply) {
    reply.send(FakeTinker::json(404, R"({"detail":"Not Found"})"));
    return true;
  };

  ASSERT_TRUE(run({.num_requests = 10, .poll = Poll::multi}));

  EXPECT_EQ(client_->fatal(), R"(retrieve_futures: status 404: {"detail":"Not Found"})");
}

}  // namespace
}  // namespace tinker::load
