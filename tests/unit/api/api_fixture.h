// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "api/api.h"
#include "api/routes.h"
#include "support/http_test_server.h"
#include "support/scripted_upstream.h"
#include "unit/api/fake_db.h"

namespace tinker::api {

inline constexpr const char* kProtobuf = "application/x-protobuf";
inline constexpr const char* kJson = "application/json";

inline std::string http_answer(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
inline const std::string kCompletion = http_answer(
    200, R"({"choices":[{"index":0,"logprobs":{"token_logprobs":[-0.5]},"finish_reason":"stop","token_ids":[7]}]})");

// The whole API on a real server, with a database in memory and an upstream that answers as the test says.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    db.training.insert("session");
    db.sessions["sampler"] = {{"sampler"}, {"session"}, 0, "tiny", std::nullopt};
    upstream_answers({kCompletion});
    EXPECT_TRUE(settings.base_model.set({"tiny"}, config::Source::flag));
    server.call([this] { api = std::make_unique<Api>(server.loop(), 0, shared, crew, upstreams); });
  }
  ~ApiTest() override {
    upstreams.stop();
    client.close();
    EXPECT_TRUE(server.wait_for_connections(0));
    server.call([this] { api.reset(); });
  }

  // What the client gets for a request: head and body.
  std::string send(const std::string& method, const std::string& path, const std::string& body = "", const char* accept = kJson,
                   const std::string& more_fields = "") {
    EXPECT_TRUE(client.send(request(method, path, body, accept, more_fields)));
    return client.answer();
  }
  static std::string request(const std::string& method, const std::string& path, const std::string& body, const char* accept,
                             const std::string& more_fields = "") {
    return method + " " + path + " HTTP/1.1\r\nHost: test\r\nAccept: " + accept + "\r\n" + more_fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string post(const std::string& call, const std::string& body, const char* accept = kJson) {
    return send("POST", "/api/v1/" + call, body, accept);
  }
  static int status_of(const std::string& answer) { return std::stoi(answer.substr(9, 3)); }
  static std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }
  static std::string sample_body(int seq_id, const std::string& more = "") {
    return R"({"prompt":{"chunks":[{"tokens":[1,2]}]},"sampling_params":{"max_tokens":4},"sampling_session_id":"sampler","seq_id":)" +
           std::to_string(seq_id) + more + "}";
  }
  std::string asample(int seq_id) {
    const std::string got = post("asample", sample_body(seq_id));
    EXPECT_EQ(status_of(got), 200) << got;
    const std::string body = body_of(got);
    const std::size_t at = body.find("\"request_id\":\"") + 14;
    return body.substr(at, body.find('"', at) - at);
  }
  static std::string poll_body(const std::string& id, const std::string& more = "") {
    return R"({"request_id":")" + id + "\"" + more + "}";
  }
  void hold_polls_for(const char* seconds) { ASSERT_TRUE(settings.poll_hold_sec.set({seconds}, config::Source::live)); }

  // What the upstream answers from now on; a completion when nothing was said.
  void upstream_answers(test::ScriptedUpstream::Reply reply) {
    answer.change([&](test::ScriptedUpstream::Reply& now) { now = std::move(reply); });
  }
  void upstream_holds() { upstream_answers({"", test::ScriptedUpstream::After::hold}); }
  void wait_for_poll(std::size_t count) {
    while (server.call([this] { return api->retrieval.waiting(); }) != count) std::this_thread::yield();
  }

  test::Watched<test::ScriptedUpstream::Reply> answer;
  test::Watched<std::string> asked_head;
  test::ScriptedUpstream upstream{[this](const test::ScriptedUpstream::Request& asked) {
    asked_head.change([&](std::string& head) { head = asked.head; });
    return answer.get();
  }};
  config::Settings settings;
  base::SystemClock clock;
  futures::Table table{1 << 20, 100};
  FakeDb db;
  observe::Metrics metrics;
  forward::JobBoard jobs;
  Shared shared{settings, clock, table, db, metrics, jobs, 41};
  Crew crew{1};
  forward::Upstreams upstreams{{*forward::UpstreamUrl::parse(upstream.url())}};
  std::unique_ptr<Api> api;
  test::HttpTestServer server{
      {.handle = [this](http::Request&& asked, http::Reply reply) { route(*api, std::move(asked), std::move(reply)); }}};
  test::RawClient client = server.client();
};

}  // namespace tinker::api
