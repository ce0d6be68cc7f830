// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/client_connection.h"
#include "support/raw_client.h"
#include "tinker-load/report.h"
#include "unit/forward/run_until.h"

namespace tinker::load {
namespace {

using forward::run_until;
using testing::HasSubstr;

// A client of one request.
struct Asker {
  Asker(loop::EventLoop& loop, std::uint16_t port, const std::string& method, const std::string& path, const std::string& body)
      : connection(loop, *http::SocketAddress::numeric("127.0.0.1", port)) {
    connection.send(
        method + " " + path + " HTTP/1.1\r\nHost: router\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n",
        base::SharedBytes(body), {}, [this](tl::expected<http::Answer, http::Broken> result) {
          status = result ? result->status : -1;
          if (result) text = std::string(result->body.view());
        });
  }

  http::ClientConnection connection;
  std::optional<int> status;  // -1: broken
  std::string text;
};

class RouterTest : public testing::Test {
 protected:
  void listen(RouterOptions options) {
    options.port = 0;
    options_ = options;
    auto router = Router::listen(loop_, options);
    ASSERT_TRUE(router.has_value()) << router.error().text;
    router_ = std::move(*router);
  }

  std::unique_ptr<Asker> ask(const std::string& method, const std::string& path, const std::string& body = "") {
    return std::make_unique<Asker>(loop_, router_->port(), method, path, body);
  }
  // The request number `i`, which has come.
  std::unique_ptr<Asker> sample(std::uint64_t i) {
    auto asker = ask("POST", "/v1/completions", R"({"model":"tiny","n":1,"prompt":[)" + std::to_string(i) + "]}");
    const std::uint64_t before = router_->counts().requests;
    EXPECT_TRUE(run_until(loop_, [&] { return router_->counts().requests > before; }));
    return asker;
  }
  bool answered(const Asker& asker) {
    return run_until(loop_, [&] { return asker.status.has_value(); });
  }
  std::string expected(std::uint64_t i) const {
    return CompletionBody(options_.body, options_.output_tokens)
        .write({.key = i, .choices = 1, .prompt_tokens = 1, .model = "tiny", .prompt_token_ids = "null"});
  }

  loop::EventLoop loop_{"router"};
  RouterOptions options_;
  std::unique_ptr<Router> router_;
};

TEST_F(RouterTest, AnswersAtOnceWithTheBodyOfTheRequest) {
  listen({.body = Body::full});

  const auto first = sample(1);
  const auto second = sample(2);

  ASSERT_TRUE(answered(*first) && answered(*second));
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->text, expected(1));
  EXPECT_EQ(second->text, expected(2));
  EXPECT_EQ(router_->counts().requests, 2u);
  EXPECT_EQ(router_->counts().answered, 2u);
  EXPECT_GE(router_->counts().most_in_flight, 1u);
  EXPECT_EQ(router_->counts().most_connections, 2u);
}

TEST_F(RouterTest, AnswersWhatProbesAsk) {
  listen({});

  const auto health = ask("GET", "/health");
  const auto models = ask("GET", "/v1/models");
  const auto unknown = ask("GET", "/metrics");
  const auto wrong_method = ask("GET", "/v1/completions");

  ASSERT_TRUE(answered(*health) && answered(*models) && answered(*unknown) && answered(*wrong_method));
  EXPECT_EQ(health->status, 200);
  EXPECT_EQ(models->status, 200);
  EXPECT_THAT(models->text, HasSubstr(R"("id":"tiny")"));
  EXPECT_EQ(unknown->status, 404);
  EXPECT_EQ(wrong_method->status, 405);
  EXPECT_EQ(router_->counts().requests, 0u);
}

TEST_F(RouterTest, RefusesAsVllmDoes) {
  listen({});

  const auto asker = ask("POST", "/v1/completions", R"({"prompt":"\"text\""})");

  ASSERT_TRUE(answered(*asker));
  EXPECT_EQ(asker->status, 400);
  EXPECT_THAT(asker->text, HasSubstr(R"("type":"BadRequestError","param":null,"code":400}})"));
  EXPECT_EQ(router_->counts().refused, 1u);
}

TEST_F(RouterTest, HoldsAtTheBarrierUntilAllHaveCome) {
  listen({.mode = VllmMode::barrier, .barrier = 3, .hold_seconds = 3600});
  const auto first = sample(1);
  const auto second = sample(2);
  EXPECT_EQ(router_->counts().answered, 0u);
  EXPECT_EQ(router_->unsent_bytes(), 0u);

  const auto third = sample(3);

  ASSERT_TRUE(answered(*first) && answered(*second) && answered(*third));
  EXPECT_EQ(first->text, expected(1));
  EXPECT_EQ(third->text, expected(3));
  EXPECT_EQ(router_->counts().most_in_flight, 3u);
}

TEST_F(RouterTest, OpensTheBarrierWhenTheHoldTimeIsOver) {
  listen({.mode = VllmMode::barrier, .barrier = 0, .hold_seconds = 0.01});

  const auto asker = sample(1);

  ASSERT_TRUE(answered(*asker));
  EXPECT_EQ(asker->text, expected(1));
}

TEST_F(RouterTest, OpensTheNextBarrierAsTheFirst) {
  listen({.mode = VllmMode::barrier, .barrier = 1, .hold_seconds = 3600});
  const auto first = sample(1);
  ASSERT_TRUE(answered(*first));

  const auto second = sample(2);

  ASSERT_TRUE(answered(*second));
  EXPECT_EQ(second->text, expected(2));
}

TEST_F(RouterTest, GeneratesNoMoreThanMaxNumSeqsAtATime) {
  listen({.mode = VllmMode::latency, .max_num_seqs = 2, .gen_seconds = 3600});

  const auto first = sample(1);
  const auto second = sample(2);
  const auto third = sample(3);

  EXPECT_EQ(router_->generating(), 2u);
  EXPECT_EQ(router_->counts().most_in_flight, 3u);
}

TEST_F(RouterTest, GeneratesForAllInTurn) {
  listen({.mode = VllmMode::latency, .max_num_seqs = 1, .gen_seconds = 0.001});
  std::vector<std::unique_ptr<Asker>> askers;

  for (std::uint64_t i = 0; i < 20; ++i) askers.push_back(sample(i));

  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(answered(*askers[i]));
    EXPECT_EQ(askers[i]->text, expected(i));
  }
  EXPECT_EQ(router_->generating(), 0u);
}

TEST_F(RouterTest, GivesTheTurnOfAClientThatLeftToTheNextOne) {
  listen({.mode = VllmMode::latency, .max_num_seqs = 1, .gen_seconds = 3600});
  auto running = sample(1);
  auto waiting = sample(2);
  const auto next = sample(3);

  waiting.reset();
  ASSERT_TRUE(run_until(loop_, [&] { return router_->counts().aborted == 1; }));
  EXPECT_EQ(router_->generating(), 1u);
  running.reset();
  ASSERT_TRUE(run_until(loop_, [&] { return router_->counts().aborted == 2; }));

  EXPECT_EQ(router_->generating(), 1u);
}

TEST_F(RouterTest, MakesBodiesAsOthersHaveBeenSent) {
  listen({.output_tokens = 1'000'000, .unsent_limit_bytes = 1});
  const std::string request = "POST /v1/completions HTTP/1.1\r\nHost: router\r\nContent-Length: 14\r\n\r\n{\"prompt\":[1]}";
  auto slow = test::RawClient::tcp(router_->port(), 4096);
  ASSERT_TRUE(slow.send(request));
  ASSERT_TRUE(run_until(loop_, [&] { return router_->counts().requests == 1; }));
  const std::size_t one_body = router_->unsent_bytes();
  ASSERT_GT(one_body, 8'000'000u);  // more than the kernel takes for a client that does not read

  const auto second = sample(2);
  EXPECT_EQ(router_->unsent_bytes(), one_body);
  EXPECT_FALSE(second->status.has_value());
  slow.close();

  ASSERT_TRUE(answered(*second));
  EXPECT_EQ(second->text, expected(2));
  EXPECT_EQ(router_->counts().aborted, 1u);
  EXPECT_EQ(router_->unsent_bytes(), 0u);
}

TEST_F(RouterTest, MakesTheBodiesOfABarrierOneAfterTheOther) {
  listen({.mode = VllmMode::barrier, .barrier = 3, .hold_seconds = 3600, .output_tokens = 1'000'000, .unsent_limit_bytes = 1});
  const std::string request = "POST /v1/completions HTTP/1.1\r\nHost: router\r\nContent-Length: 14\r\n\r\n{\"prompt\":[1]}";
  auto slow = test::RawClient::tcp(router_->port(), 4096);
  ASSERT_TRUE(slow.send(request));
  ASSERT_TRUE(run_until(loop_, [&] { return router_->counts().requests == 1; }));
  const auto second = sample(1);
  const auto third = sample(1);
  const std::size_t one_body = expected(1).size();
  EXPECT_LE(router_->unsent_bytes(), one_body);
  EXPECT_GT(router_->unsent_bytes(), 0u);
  EXPECT_EQ(router_->counts().answered, 0u);

  slow.close();

  ASSERT_TRUE(answered(*second) && answered(*third));
  EXPECT_EQ(third->text, expected(1));
}

TEST_F(RouterTest, StopsWhileRequestsAreHeld) {
  for (const VllmMode mode : {VllmMode::barrier, VllmMode::latency}) {
    listen({.mode = mode, .gen_seconds = 3600, .hold_seconds = 3600});
    const auto asker = sample(1);

    router_.reset();

    ASSERT_TRUE(answered(*asker));
    EXPECT_EQ(asker->status, -1);
  }
}

TEST(RouterReport, TellsWhatTheRouterCounted) {
  rapidjson::Document json;
  json.Parse(router_json({.requests = 9, .answered = 5, .aborted = 3, .refused = 1, .most_in_flight = 4, .most_connections = 7})
                 .c_str());

  ASSERT_FALSE(json.HasParseError());
  EXPECT_EQ(json["requests"].GetInt64(), 9);
  EXPECT_EQ(json["answered"].GetInt64(), 5);
  EXPECT_EQ(json["aborted"].GetInt64(), 3);
  EXPECT_EQ(json["refused"].GetInt64(), 1);
  EXPECT_EQ(json["most_in_flight"].GetInt64(), 4);
  EXPECT_EQ(json["most_connections"].GetInt64(), 7);
  EXPECT_EQ(json.MemberCount(), 6u);
}

TEST_F(RouterTest, SaysWhyItCannotListen) {
  const auto router = Router::listen(loop_, {.host = "203.0.113.1"});

  ASSERT_FALSE(router.has_value());
  EXPECT_THAT(router.error().text, HasSubstr("203.0.113.1"));
}

}  // namespace
}  // namespace tinker::load
