// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tinker-load/report.h"
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
  const LoadCounts& counts() const { return client_->counts(); }

  loop::EventLoop loop_{"load"};
  FakeTinker server_{loop_};
  std::unique_ptr<Client> client_;
  bool done_ = false;
};

TEST_F(ClientTest, CompletesEverySampleOnConnectionsThatItKeeps) {
  ASSERT_TRUE(run({.num_requests = 500, .max_outstanding = 20}));

  EXPECT_EQ(counts().completed, 500u);
  EXPECT_EQ(counts().wrong + counts().failed + counts().repolls + counts().reconnects, 0u);
  EXPECT_EQ(counts().first_trouble, "");
  EXPECT_EQ(client_->outstanding(), 0u);
  EXPECT_EQ(client_->submit_times().count(), 500u);
  EXPECT_EQ(client_->sample_times().count(), 500u);
  EXPECT_GT(client_->took().count(), 0);
  EXPECT_EQ(server_.submits, 500u);
  EXPECT_LE(server_.peers.size(), 23u);  // two for the sessions, one for healthz
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
  const std::uint64_t probes = server_.probes;
  ASSERT_TRUE(forward::run_until(loop_, [&] { return server_.probes >= probes + 2; }));  // time for more submits

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
  EXPECT_EQ(counts().first_trouble, "result of s3: sequence 0: token 0 of another request");
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
  EXPECT_THAT(counts().first_trouble, HasSubstr("asample: status 422: {\"detail\":\"no\"}"));
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
  EXPECT_NE(counts().first_trouble, "");
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
  EXPECT_EQ(client_->ended(), 0u);
}

TEST_F(ClientTest, StopsWhenASamplingSessionHasNoName) {
  server_.others["/api/v1/create_sampling_session"] = FakeTinker::json(200, "{}");

  ASSERT_TRUE(run({}));

  EXPECT_EQ(client_->fatal(), "/api/v1/create_sampling_session: status 200: {}");
}

TEST_F(ClientTest, CountsProbesThatFail) {
  server_.others["/api/v1/healthz"] = FakeTinker::json(500, "");
  std::vector<http::Reply> held;
  server_.on_poll = [&](const Sample&, http::Reply& reply) {
    held.push_back(reply);
    return true;
  };
  start({.num_requests = 1});

  ASSERT_TRUE(forward::run_until(loop_, [this] { return counts().healthz_failed >= 2; }));

  EXPECT_EQ(client_->health_times().count(), 0u);
}

TEST_F(ClientTest, IsReportedWithAllItsFigures) {
  ASSERT_TRUE(run({.num_requests = 40}));

  const LoadReport report{*client_, ProcessUse{.cpu_sec = 0.004, .peak_rss_bytes = 5'000'000}, 0.002};
  rapidjson::Document json;
  json.Parse(report_json(report).c_str());

  ASSERT_FALSE(json.HasParseError());
  EXPECT_EQ(json["completed"].GetInt64(), 40);
  EXPECT_EQ(json["failed"].GetInt64(), 0);
  EXPECT_STREQ(json["first_trouble"].GetString(), "");
  EXPECT_EQ(json["server_cpu_us_per_sample"].GetDouble(), 100);
  EXPECT_EQ(json["server_peak_rss_mb"].GetDouble(), 5);
  EXPECT_EQ(json["own_cpu_us_per_sample"].GetDouble(), 50);
  EXPECT_LE(json["sample_p50_ms"].GetDouble(), json["sample_max_ms"].GetDouble());
  EXPECT_THAT(report_text(report), HasSubstr("server_cpu_us_per_sample           100.0 us\n"));
}

}  // namespace
}  // namespace tinker::load
