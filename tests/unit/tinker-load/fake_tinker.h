// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codec/completion.h"
#include "http/server.h"
#include "support/vectors.h"
#include "tinker-load/completion_body.h"
#include "tinker-load/sample_key.h"
#include "tinker-load/tinker_calls.h"

namespace tinker::load {

// A Tinker server that answers every sample rightly at its first poll, unless the test says otherwise.
class FakeTinker {
 public:
  struct Sample {
    std::uint64_t number;  // its seq_id
    std::uint64_t key;
    std::uint32_t choices;
    std::size_t submits = 0;
    std::size_t polls = 0;
  };

  explicit FakeTinker(loop::EventLoop& loop) : loop_(loop) { listen(0); }

  // What happens to a submit or a poll instead; true when it took the reply.
  std::function<bool(const Sample&, http::Reply&)> on_submit, on_poll;
  // What happens to a poll for many. Unless the test says otherwise it tells of all samples that were accepted, and waits for
  // one.
  std::function<bool(const rapidjson::Document&, http::Reply&)> on_poll_many;
  // What happens to any other call, by path.
  std::map<std::string, http::Response> others;

  std::uint16_t port() const { return server_->port(); }
  // All connections break; the port stays.
  void restart() {
    const std::uint16_t port = server_->port();
    server_.reset();
    listen(port);
  }

  static http::Response json(int status, std::string body) {
    return {.status = status, .body = base::SharedBytes(std::move(body))};
  }
  static http::Response accepted(std::uint64_t number, std::uint32_t choices = 1) {
    const std::string id = "s" + std::to_string(number);
    std::string sequences;
    for (std::uint32_t choice = 0; choice < choices; ++choice)
      sequences += (choice > 0 ? ",\"" : "\"") + id + "-" + std::to_string(choice) + "\"";
    return json(200, R"({"request_id": ")" + id + R"(", "sample_sequence_ids": [)" + sequences + "]}");
  }
  static http::Response completions(std::uint64_t cursor, const std::vector<std::string>& request_ids) {
    std::string list;
    for (const std::string& id : request_ids)
      list += std::string(list.empty() ? "" : ",") + R"({"state":"finished","request_id":")" + id + R"("})";
    return json(200, R"({"completions":[)" + list + R"(],"cursor":)" + std::to_string(cursor) + "}");
  }
  // The result of a request with that key.
  static http::Response result(std::uint64_t key, std::uint32_t choices = 1) {
    const std::string body =
        CompletionBody(Body::minimal, 16).write({.key = key, .choices = choices, .prompt_token_ids = "null"});
    codec::CompletionWants wants;
    wants.num_samples = choices;
    return {.content_type = "application/x-protobuf",
            .body = codec::decode_completion(support::buffer_of(body), wants)->sample_response};
  }

  std::size_t most_outstanding = 0;
  std::uint64_t submits = 0;
  std::uint64_t polls_for_many = 0;
  std::set<std::string> acknowledged;  // request ids, in polls for many
  std::set<std::string> peers;         // one for each connection

 private:
  void listen(std::uint16_t port) {
    http::ServerHooks hooks;
    hooks.handle = [this](http::Request&& request, http::Reply reply) { handle(request, std::move(reply)); };
    auto server = http::Server::listen(loop_, http::ListenAddress::tcp("127.0.0.1", port), std::move(hooks));
    ASSERT_TRUE(server.has_value()) << server.error().text;
    server_ = std::move(*server);
  }

  void handle(const http::Request& request, http::Reply reply) {
    peers.insert(request.peer);
    if (others.contains(request.path)) return reply.send(others.at(request.path));
    if (request.path == "/api/v1/asample") return submitted(request, std::move(reply));
    if (request.path == "/api/v1/retrieve_future") return polled(request, std::move(reply));
    if (request.path == "/api/v1/retrieve_futures") return polled_for_many(request, std::move(reply));
    if (request.path == "/api/v1/healthz") return reply.send(json(200, R"({"status":"ok"})"));
    if (request.path == "/api/v1/create_session") return reply.send(json(200, R"({"session_id": "session-1"})"));
    if (request.path == "/api/v1/create_sampling_session") {
      EXPECT_EQ(text_member(request.body, "session_id"), "session-1");
      EXPECT_EQ(text_member(request.body, "base_model"), "tiny");
      return reply.send(json(200, R"({"sampling_session_id": "sampling-1"})"));
    }
    ADD_FAILURE() << "unexpected " << request.path;
  }

  void submitted(const http::Request& request, http::Reply reply) {
    ++submits;
    rapidjson::Document body;
    body.Parse(request.body.data(), request.body.size());
    EXPECT_STREQ(body["sampling_session_id"].GetString(), "sampling-1");
    std::vector<std::int32_t> prompt;
    for (const auto& token : body["prompt"]["chunks"][0]["tokens"].GetArray()) prompt.push_back(token.GetInt());
    const std::uint64_t number = body["seq_id"].GetUint64();
    Sample& sample = samples_.try_emplace(number, Sample{number, key_of(prompt), body["num_samples"].GetUint()}).first->second;
    EXPECT_EQ(sample.key, key_of(prompt)) << "sent again as another request";
    ++sample.submits;
    most_outstanding = std::max(most_outstanding, samples_.size());
    if (on_submit && on_submit(sample, reply)) return;
    reply.send(accepted(number, sample.choices));
    ended_.push_back("s" + std::to_string(number));
    tell();
  }

  void polled(const http::Request& request, http::Reply reply) {
    const auto found = samples_.find(std::stoull(text_member(request.body, "request_id").substr(1)));
    ASSERT_NE(found, samples_.end());
    Sample& sample = found->second;
    ++sample.polls;
    if (on_poll && on_poll(sample, reply)) return;
    reply.send(result(sample.key, sample.choices));
    samples_.erase(found);
  }

  void polled_for_many(const http::Request& request, http::Reply reply) {
    ++polls_for_many;
    rapidjson::Document body;
    body.Parse(request.body.data(), request.body.size());
    EXPECT_STREQ(body["target"]["sampling_session_id"].GetString(), "sampling-1");
    for (const auto& id : body["retrieved_request_ids"].GetArray()) acknowledged.insert(id.GetString());
    if (on_poll_many && on_poll_many(body, reply)) return;
    EXPECT_EQ(body["prev_cursor"].GetUint64(), cursor_);
    if (body.HasMember("timeout")) return reply.send(completions(cursor_, {}));
    held_ = std::move(reply);
    tell();
  }
  void tell() {
    if (!held_ || ended_.empty()) return;
    held_->send(completions(cursor_ += ended_.size(), ended_));
    held_.reset();
    ended_.clear();
  }

  loop::EventLoop& loop_;
  std::unique_ptr<http::Server> server_;
  std::map<std::uint64_t, Sample> samples_;
  std::vector<std::string> ended_;  // that no poll for many has told
  std::optional<http::Reply> held_;
  std::uint64_t cursor_ = 0;
};

}  // namespace tinker::load
