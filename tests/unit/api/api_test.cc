// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "api/routes.h"
#include "tinker_public.pb.h"
#include "unit/api/api_fixture.h"

namespace tinker::api {
namespace {

using test::RawClient;

TEST_F(ApiTest, EachPathRefusesOtherMethodsAndNamesItsOwn) {
  for (const Route& row : routes()) {
    std::string path(row.path);
    if (const std::size_t at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, "x");

    const std::string got = send("PUT", path);

    EXPECT_EQ(status_of(got), 405) << path;
    EXPECT_NE(got.find("allow: " + std::string(row.method)), std::string::npos) << got;
    EXPECT_EQ(body_of(got), R"({"detail":"Method Not Allowed"})");
  }
}

TEST_F(ApiTest, AnUnknownPathIsNotFoundAndASurplusSlashIsTakenOff) {
  EXPECT_EQ(status_of(send("GET", "/api/v1/nothing")), 404);
  EXPECT_EQ(status_of(send("GET", "/api/v1/samplers/")), 404);
  EXPECT_EQ(status_of(send("GET", "/api/v1/samplers/a/b")), 404);
  const std::string moved = send("GET", "/api/v1/healthz/?x=1");
  EXPECT_EQ(status_of(moved), 307);
  EXPECT_NE(moved.find("location: http://test/api/v1/healthz?x=1\r\n"), std::string::npos);
}

TEST_F(ApiTest, ACompressedBodyIsRefusedInWords) {
  const std::string got = send("POST", "/api/v1/asample", "{}", kJson, "Content-Encoding: zstd\r\n");

  EXPECT_EQ(status_of(got), 415);
  EXPECT_NE(got.find("zstd"), std::string::npos);
}

TEST_F(ApiTest, EveryPostRefusesABodyThatIsNoObjectAndStoresNothing) {
  const std::set<std::string_view> reads_no_body{"/api/v1/client/config", "/api/v1/client/dynamic_config", "/api/v1/telemetry",
                                                 "/api/v1/sessions/{id}/finish"};
  for (const Route& row : routes()) {
    if (row.method != "POST" || reads_no_body.contains(row.path)) continue;
    for (const char* body : {"", "{", "[]", "7", "null", "\"x\"", "{\"request_id\":7}"}) {
      EXPECT_EQ(status_of(send("POST", std::string(row.path), body)), 422) << row.path << " " << body;
    }
  }
  EXPECT_EQ(table.totals().accepted, 0u);
  EXPECT_EQ(db.sessions.size(), 1u);
}

TEST_F(ApiTest, ResultsAreProtobufForThoseWhoNameItAndJsonForOthers) {
  const std::string id = asample(0);

  const std::string protobuf = post("retrieve_future", poll_body(id), kProtobuf);
  const std::string json = post("retrieve_future", poll_body(id));
  const std::string either = post("retrieve_future", poll_body(id), "application/x-protobuf, application/json");

  tinker_public::SampleResponse response;
  ASSERT_TRUE(response.ParseFromString(body_of(protobuf)));
  EXPECT_EQ(response.sequences(0).tokens(), std::string("\x07\0\0\0", 4));
  EXPECT_NE(protobuf.find("content-type: application/x-protobuf"), std::string::npos);
  EXPECT_EQ(body_of(either), body_of(protobuf));
  EXPECT_EQ(body_of(json), R"({"type":"sample","sequences":[{"stop_reason":"stop","tokens":[7],"logprobs":[-0.5]}],)"
                           R"("prompt_logprobs":null,"topk_prompt_logprobs":null})");
}

TEST_F(ApiTest, C2_AReSendGetsTheFutureItHadAndOtherContentIsRefused) {
  const std::string id = asample(3);

  EXPECT_EQ(asample(3), id);
  const std::string other = post("asample", sample_body(3, R"(,"num_samples":2)"));

  EXPECT_EQ(status_of(other), 400);
  EXPECT_NE(other.find("seq_id 3"), std::string::npos);
  EXPECT_EQ(status_of(post("retrieve_future", poll_body(id))), 200);
  EXPECT_EQ(upstream.requests(), 1);
}

TEST_F(ApiTest, TheUpstreamIsToldTheSessionAndTheSequenceNumber) {
  asample(12);

  ASSERT_TRUE(asked_head.wait_for([](const std::string& head) { return !head.empty(); }));
  EXPECT_NE(asked_head.get().find("X-Session-ID: sampler:12\r\n"), std::string::npos) << asked_head.get();
}

TEST_F(ApiTest, C4_APollIsAnswered408AfterItsHoldWithAnHonestState) {
  upstream_holds();
  hold_polls_for("0.1");
  const std::string id = asample(0);

  const std::string got = post("retrieve_future", poll_body(id), kProtobuf);

  EXPECT_EQ(status_of(got), 408);
  EXPECT_EQ(body_of(got),
            R"({"type":"try_again","request_id":")" + id + R"(","queue_state":"active","queue_state_reason":null})");
}

TEST_F(ApiTest, C5_ASampleThatWaitsForAConnectionIsPausedForCapacity) {
  upstream_holds();
  ASSERT_TRUE(settings.forwarding_inference_max_connections.set({"1"}, config::Source::live));
  hold_polls_for("0.1");
  asample(0);
  const std::string waiting = asample(1);

  const std::string got = post("retrieve_future", poll_body(waiting));

  EXPECT_NE(got.find("\"queue_state\":\"paused_capacity\""), std::string::npos) << got;
}

TEST_F(ApiTest, S5_PollsAreReleasedAtOnceAndSoAreThoseThatStillCome) {
  upstream_holds();
  const std::string id = asample(0);
  ASSERT_TRUE(client.send(request("POST", "/api/v1/retrieve_future", poll_body(id), kJson)));
  wait_for_poll(1);

  server.call([this] { api->retrieval.release_all(); });

  EXPECT_EQ(status_of(client.answer()), 408);
  EXPECT_EQ(status_of(post("retrieve_future", poll_body(id))), 408);
}

TEST_F(ApiTest, C1_AResultThatLandsAfterItsPollerLeftIsThereForTheNextPoll) {
  upstream_holds();
  const std::string id = asample(0);
  RawClient leaver = server.client();
  ASSERT_TRUE(leaver.send(request("POST", "/api/v1/retrieve_future", poll_body(id), kProtobuf)));
  wait_for_poll(1);

  leaver.close();
  wait_for_poll(0);
  upstream.answer_held(kCompletion);

  EXPECT_EQ(status_of(post("retrieve_future", poll_body(id), kProtobuf)), 200);
}

TEST_F(ApiTest, ALargeResultIsAnnouncedFirstToThoseWhoAllowIt) {
  ASSERT_TRUE(settings.metadata_only_bytes.set({"0"}, config::Source::live));
  const std::string id = asample(0);

  const std::string announced = body_of(post("retrieve_future", poll_body(id, R"(,"allow_metadata_only":true)"), kProtobuf));
  const std::string fetched = body_of(post("retrieve_future", poll_body(id, R"(,"allow_metadata_only":false)"), kProtobuf));

  EXPECT_EQ(announced, R"({"status":"complete_metadata","response_payload_size":)" + std::to_string(fetched.size()) + "}");
  EXPECT_TRUE(tinker_public::SampleResponse().ParseFromString(fetched));
}

TEST_F(ApiTest, C3_WhatIsNoIdIsNotFoundAndAnIdThatIsGoneIsGone) {
  for (const char* text : {"x", "-1", "s-1", "s01", "s٣", "s99999999999999999999"}) {
    EXPECT_EQ(status_of(post("retrieve_future", poll_body(text))), 404) << text;
  }
  EXPECT_EQ(status_of(post("retrieve_future", poll_body("s123"))), 410);
}

TEST_F(ApiTest, AFailureIsA200WithItsOwner) {
  upstream_answers({http_answer(400, R"({"error":{"message":"too long"}})")});
  const std::string failed = post("retrieve_future", poll_body(asample(0)), kProtobuf);

  EXPECT_EQ(status_of(failed), 200);
  EXPECT_NE(failed.find("content-type: application/json"), std::string::npos);
  EXPECT_NE(body_of(failed).find(R"("category":"user")"), std::string::npos);
  EXPECT_NE(body_of(failed).find("too long"), std::string::npos);
}

TEST_F(ApiTest, ACancelledSampleLeavesTheUpstreamAndIsAlwaysASuccess) {
  upstream_holds();
  const std::string id = asample(0);
  while (upstream.requests() == 0) std::this_thread::yield();

  EXPECT_EQ(status_of(post("cancel_future", poll_body(id))), 200);
  EXPECT_EQ(status_of(post("cancel_future", poll_body(id))), 200);
  EXPECT_EQ(status_of(post("cancel_future", poll_body("no id"))), 200);

  while (upstream.left() == 0) std::this_thread::yield();
  EXPECT_NE(post("retrieve_future", poll_body(id)).find("cancelled"), std::string::npos);
  EXPECT_EQ(metrics.samples_cancelled.value(), 1u);
}

TEST_F(ApiTest, ADrainRefusesNewSamplesWith429) {
  const std::string id = asample(0);
  table.set_draining(true);

  const std::string refused = post("asample", sample_body(1));

  EXPECT_EQ(status_of(refused), 429);
  EXPECT_NE(refused.find("retry-after: 1\r\n"), std::string::npos);
  EXPECT_EQ(asample(0), id) << "a re-send gets its future during a drain, too";
}

TEST_F(ApiTest, JoiningClientsGetNumbersOfTheirOwn) {
  std::set<std::string> answers;
  for (int i = 0; i < 5; ++i) answers.insert(body_of(post("join_sampling_session", R"({"sampling_session_id":"sampler"})")));

  EXPECT_EQ(answers.size(), 5u);
  EXPECT_EQ(status_of(post("join_sampling_session", R"({"sampling_session_id":"none"})")), 404);
}

TEST_F(ApiTest, AnUnknownSamplingSessionIsNotFound) {
  const std::string got =
      post("asample", R"({"prompt":{"chunks":[]},"sampling_params":{"max_tokens":1},"sampling_session_id":"none","seq_id":0})");

  EXPECT_EQ(status_of(got), 404);
  EXPECT_EQ(body_of(got), R"({"detail":"Sampling session not found"})");
}

TEST_F(ApiTest, ClientConfigServesTheLiveLimit) {
  ASSERT_TRUE(settings.sample_max_concurrent_requests.set({"77"}, config::Source::live));

  EXPECT_NE(post("client/config", "not even JSON").find("\"sample_max_concurrent_requests\":77"), std::string::npos);
}

TEST_F(ApiTest, ClientConfigSwitchesOnWhatTheSdkKnows) {
  const auto flags = [this](const std::string& body, const std::string& fields = "") {
    const std::string got = body_of(send("POST", "/api/v1/client/config", body, kJson, fields));
    const bool many = got.find(R"("sample_use_retrieve_futures":true)") != std::string::npos;
    const bool join = got.find(R"("sample_join_sampling_session":true)") != std::string::npos;
    EXPECT_EQ(many, got.find(R"("sample_use_retrieve_futures":false)") == std::string::npos) << got;
    EXPECT_EQ(join, got.find(R"("sample_join_sampling_session":false)") == std::string::npos) << got;
    return std::pair(many, join);
  };

  EXPECT_EQ(flags(R"({"sdk_version":"0.38.0"})"), std::pair(true, true));
  EXPECT_EQ(flags(R"({"sdk_version":"0.27.0"})"), std::pair(true, false));
  EXPECT_EQ(flags(R"({"sdk_version":"0.26.9"})"), std::pair(false, false));
  EXPECT_EQ(flags("{}", "X-SDK-Version: 0.33.1\r\n"), std::pair(true, true));
  for (const char* body : {"", "{}", "[]", R"({"sdk_version":38})", R"({"sdk_version":"new"})"}) {
    EXPECT_EQ(flags(body), std::pair(false, false)) << body;
  }
  ASSERT_TRUE(settings.retrieve_futures.set({"false"}, config::Source::live));
  EXPECT_EQ(flags(R"({"sdk_version":"0.38.0"})"), std::pair(false, true));
}

TEST(BodyLimit, IsTheRoutesOwn) {
  EXPECT_EQ(body_limit("POST", "/api/v1/asample", 123), 123u);
  EXPECT_EQ(body_limit("POST", "/api/v1/retrieve_future", 123), std::size_t{1} << 20);
  EXPECT_EQ(body_limit("POST", "/api/v1/telemetry", 123), std::size_t{16} << 20);
  EXPECT_EQ(body_limit("POST", "/api/v1/retrieve_futures", 123), std::size_t{16} << 20);
  EXPECT_EQ(body_limit("POST", "/elsewhere", 123), std::size_t{1} << 20);
}

}  // namespace
}  // namespace tinker::api
