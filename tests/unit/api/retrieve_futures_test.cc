// SPDX-License-Identifier: Apache-2.0
#include "api/retrieve_futures.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <set>
#include <string>

#include "unit/api/api_fixture.h"

namespace tinker::api {
namespace {

using test::RawClient;

class RetrieveFuturesTest : public ApiTest {
 protected:
  struct Told {
    std::set<std::string> finished, failed;
    std::int64_t cursor = 0;
  };

  static std::string many_body(std::int64_t prev_cursor, const std::string& more = "", const std::string& session = "sampler") {
    return R"({"target":{"type":"sampling_session","sampling_session_id":")" + session +
           R"(","cloned_sampler_id":0},"prev_cursor":)" + std::to_string(prev_cursor) + more + "}";
  }
  static Told told(const std::string& got) {
    EXPECT_EQ(status_of(got), 200) << got;
    rapidjson::Document json;
    const std::string body = body_of(got);
    json.Parse(body.data(), body.size());
    Told told{.finished = {}, .failed = {}, .cursor = json["cursor"].GetInt64()};
    for (const auto& one : json["completions"].GetArray()) {
      const bool finished = std::string(one["state"].GetString()) == "finished";
      EXPECT_EQ(one.HasMember("response_payload_uncompressed_size"), finished);
      if (finished) {
        EXPECT_GT(one["response_payload_uncompressed_size"].GetInt64(), 0);
      }
      (finished ? told.finished : told.failed).insert(one["request_id"].GetString());
    }
    return told;
  }
  Told poll_many(std::int64_t prev_cursor, const std::string& more = "") {
    return told(post("retrieve_futures", many_body(prev_cursor, more)));
  }
  void hold_poll(RawClient& poller, std::int64_t prev_cursor) {
    ASSERT_TRUE(poller.send(request("POST", "/api/v1/retrieve_futures", many_body(prev_cursor), kJson)));
  }
  static base::SampleId id_of(const std::string& text) { return *base::SampleId::parse(text); }
  void wait_for_end(const std::string& id) {
    while (futures::is_live(*table.state(id_of(id)))) std::this_thread::yield();
  }
};

TEST_F(RetrieveFuturesTest, ReportsWhatEndedBeforeTheFirstPoll) {
  const std::string id = asample(0);
  wait_for_end(id);

  const Told first = poll_many(0);
  const Told second = poll_many(first.cursor, R"(,"timeout":0.0)");

  EXPECT_EQ(first.finished, std::set{id});
  EXPECT_TRUE(second.finished.empty());
  EXPECT_EQ(second.cursor, first.cursor);
}

TEST_F(RetrieveFuturesTest, AHeldPollIsAnsweredWhenASampleEnds) {
  upstream_holds();
  const std::string id = asample(0);
  RawClient poller = server.client();
  hold_poll(poller, 0);
  wait_for_poll(1);

  while (upstream.requests() == 0) std::this_thread::yield();
  upstream.answer_held(kCompletion);

  EXPECT_EQ(told(poller.answer()).finished, std::set{id});
  wait_for_poll(0);
}

TEST_F(RetrieveFuturesTest, AFailureIsReportedAndFetched) {
  upstream_answers({http_answer(400, R"({"error":{"message":"too long"}})")});
  const std::string id = asample(0);

  EXPECT_EQ(poll_many(0).failed, std::set{id});
  EXPECT_NE(post("retrieve_future", poll_body(id), kProtobuf).find("too long"), std::string::npos);
}

TEST_F(RetrieveFuturesTest, TheSizeIsThatOfTheResult) {
  const std::string id = asample(0);
  wait_for_end(id);

  const std::string announced = body_of(post("retrieve_futures", many_body(0)));
  const std::string fetched = body_of(post("retrieve_future", poll_body(id), kProtobuf));

  EXPECT_NE(announced.find("\"response_payload_uncompressed_size\":" + std::to_string(fetched.size()) + "}"), std::string::npos)
      << announced;
}

TEST_F(RetrieveFuturesTest, IsHeldAsLongAsItAsksButNoLongerThanTheServerHoldsPolls) {
  hold_polls_for("0.1");
  EXPECT_EQ(poll_many(17, R"(,"timeout":3000)").cursor, 17);
  EXPECT_EQ(poll_many(17).cursor, 17);
  hold_polls_for("40");
  EXPECT_EQ(poll_many(17, R"(,"timeout":0.05)").cursor, 17);
  EXPECT_EQ(poll_many(17, R"(,"timeout":0)").cursor, 17);
  EXPECT_EQ(metrics.polls_held.value(), 3u);
}

TEST_F(RetrieveFuturesTest, AnUnknownSessionHasNothingToTell) {
  hold_polls_for("0.1");

  EXPECT_TRUE(told(post("retrieve_futures", many_body(3, "", "nobody's"))).finished.empty());
}

TEST_F(RetrieveFuturesTest, AnAcknowledgedResultIsGone) {
  const std::string id = asample(0);
  const Told first = poll_many(0);
  EXPECT_EQ(status_of(post("retrieve_future", poll_body(id), kProtobuf)), 200);

  poll_many(first.cursor, R"(,"timeout":0,"retrieved_request_ids":[")" + id + R"(","s1","x"])");

  EXPECT_EQ(table.totals().all(), 0u);
  EXPECT_EQ(status_of(post("retrieve_future", poll_body(id), kProtobuf)), 410);
}

TEST_F(RetrieveFuturesTest, AnotherSessionsAcknowledgementFreesNothing) {
  const std::string id = asample(0);
  wait_for_end(id);

  post("retrieve_futures", many_body(0, R"(,"timeout":0,"retrieved_request_ids":[")" + id + R"("])", "other"));

  EXPECT_EQ(status_of(post("retrieve_future", poll_body(id), kProtobuf)), 200);
}

TEST_F(RetrieveFuturesTest, TheNewerOfTwoPollsIsTold) {
  upstream_holds();
  const std::string id = asample(0);
  RawClient older = server.client(), newer = server.client();
  hold_poll(older, 5);
  wait_for_poll(1);
  hold_poll(newer, 5);

  const Told empty = told(older.answer());
  wait_for_poll(1);
  while (upstream.requests() == 0) std::this_thread::yield();
  upstream.answer_held(kCompletion);

  EXPECT_TRUE(empty.finished.empty());
  EXPECT_EQ(empty.cursor, 5);
  EXPECT_EQ(told(newer.answer()).finished, std::set{id});
}

TEST_F(RetrieveFuturesTest, WhatAPollerThatLeftWasToBeToldIsToldToTheNext) {
  upstream_holds();
  const std::string id = asample(0);
  RawClient leaver = server.client();
  hold_poll(leaver, 0);
  wait_for_poll(1);
  leaver.close();
  wait_for_poll(0);

  while (upstream.requests() == 0) std::this_thread::yield();
  upstream.answer_held(kCompletion);

  EXPECT_EQ(poll_many(0).finished, std::set{id});
  EXPECT_EQ(poll_many(0).finished, std::set{id}) << "it did not say that it has it";
}

TEST_F(RetrieveFuturesTest, ClonesAreToldOfTheirOwn) {
  const std::string original = asample(1);
  const std::string clone =
      body_of(post("asample", R"({"prompt":{"chunks":[{"tokens":[1,2]}]},"sampling_params":{"max_tokens":4},)"
                              R"("sampling_session_id":"sampler","seq_id":7000000001})"));
  const std::string of_clone =
      R"({"target":{"type":"sampling_session","sampling_session_id":"sampler","cloned_sampler_id":7}})";

  const Told told_original = poll_many(0);
  const Told told_clone = told(post("retrieve_futures", of_clone));

  EXPECT_EQ(told_original.finished, std::set{original});
  ASSERT_EQ(told_clone.finished.size(), 1u);
  EXPECT_NE(clone.find("\"" + *told_clone.finished.begin() + "\""), std::string::npos);
}

TEST_F(RetrieveFuturesTest, S5_PollsAreReleasedAtOnceAndSoAreThoseThatStillCome) {
  RawClient poller = server.client();
  hold_poll(poller, 9);
  wait_for_poll(1);

  server.call([this] { api->retrieval.release_all(); });

  EXPECT_EQ(told(poller.answer()).cursor, 9);
  EXPECT_EQ(poll_many(9).cursor, 9);
}

}  // namespace
}  // namespace tinker::api
