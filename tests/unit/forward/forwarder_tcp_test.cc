// SPDX-License-Identifier: Apache-2.0
// The forwarder with http's connections and codec's decoder behind it, against upstreams that answer with recorded bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "forward/forwarder.h"
#include "support/scripted_upstream.h"
#include "unit/forward/capture.h"
#include "unit/forward/run_until.h"

namespace tinker::forward {
namespace {

using test::ScriptedUpstream;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using After = ScriptedUpstream::After;
using Reply = ScriptedUpstream::Reply;
using Request = ScriptedUpstream::Request;

const std::string kBody =
    R"({"choices":[{"index":0,"finish_reason":"stop","token_ids":[1],"logprobs":{"token_logprobs":[-0.5]}}]})";
const std::string kSample =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(kBody.size()) + "\r\n\r\n" + kBody;

// Samples go to the upstream whose URL is published; the test's thread is the loop's.
class ForwarderTcpTest : public testing::Test {
 protected:
  void start(const std::string& url) {
    publish(url);
    ASSERT_TRUE(run_until(loop_, [&] { return !upstreams_->known().empty(); }));
    ForwardHooks hooks{.start = [this](base::SampleId id) { return std::optional(base::SharedBytes(bodies_.at(id.number))); },
                       .done = [this](base::SampleId id, Outcome outcome) { outcomes_.emplace(id.number, std::move(outcome)); },
                       .limits = [this] { return limits_; }};
    forwarder_ = std::make_unique<Forwarder>(loop_, clock_, *upstreams_, board_, std::move(hooks));
  }
  void publish(const std::string& url) {
    std::lock_guard guard(mutex_);
    published_ = url;
  }

  void push(std::int64_t number, std::string body = "{}", std::uint32_t num_samples = 1) {
    bodies_[number] = std::move(body);
    forwarder_->push({.id = {number}, .queue = "session", .wants = {.num_samples = num_samples}});
  }
  // Runs one job to its end: "delivered", or why not.
  std::string forward(std::int64_t number) {
    push(number);
    EXPECT_TRUE(run_until(loop_, [&] { return outcomes_.contains(number); }));
    return ended(number);
  }
  std::string ended(std::int64_t number) {
    if (!outcomes_.contains(number)) return "not ended";
    return outcomes_.at(number) ? "delivered" : outcomes_.at(number).error().text;
  }

  loop::EventLoop loop_{"test"};
  base::SystemClock clock_;
  ForwardLimits limits_{.max_connections = 8, .retry_pause = base::Seconds{0.002}};
  std::mutex mutex_;  // guards published_
  std::string published_;
  std::map<std::int64_t, std::string> bodies_;
  std::map<std::int64_t, Outcome> outcomes_;
  std::unique_ptr<Upstreams> upstreams_ = std::make_unique<Upstreams>(
      [this](Upstreams::Read then) {
        std::string url;
        {
          std::lock_guard guard(mutex_);
          url = published_;
        }
        then(url.empty() ? std::nullopt : std::optional(url));
      },
      ReadingTimes{.apart = base::Seconds{0.001}, .watch = base::Seconds{0.01}, .resolve = base::Seconds{3600}});
  JobBoard board_;
  std::unique_ptr<Forwarder> forwarder_;
};

// What a captured answer holds; nullopt when it is no finished sample.
struct Sampled {
  std::uint32_t sequences = 0;
  std::size_t tokens = 0;
};
std::optional<Sampled> sampled(const std::string& bytes) {
  rapidjson::Document json;
  json.Parse(bytes.substr(bytes.find("\r\n\r\n") + 4).c_str());
  if (json.HasParseError() || !json.IsObject() || !json.HasMember("choices")) return std::nullopt;
  Sampled all;
  for (const auto& choice : json["choices"].GetArray()) {
    if (!choice["token_ids"].IsArray() || choice["finish_reason"] == "abort") return std::nullopt;
    const auto& logprobs = choice["logprobs"];
    if (logprobs.IsObject() && logprobs["token_logprobs"].Size() != choice["token_ids"].Size()) return std::nullopt;  // an echo
    ++all.sequences;
    all.tokens += choice["token_ids"].Size();
  }
  return all;
}

std::vector<std::string> all_captures() {
  std::vector<std::string> names;
  const std::filesystem::path root = std::string(TINKER_VECTORS) + "/vllm";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = std::filesystem::relative(entry.path(), root).string();
    if (name.ends_with(".http") && !name.ends_with("_request-full.http")) names.push_back(name.substr(0, name.size() - 5));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(ForwarderTcpTest, EveryCaptureBecomesASampleOrAnExplicitFailure) {
  const std::vector<std::string> names = all_captures();
  ASSERT_GT(names.size(), 100u);
  ScriptedUpstream vllm([](const Request& request) { return Reply{capture(request.body)}; });
  start(vllm.url());

  for (std::size_t i = 0; i < names.size(); ++i) {
    push(static_cast<std::int64_t>(i), names[i], sampled(capture(names[i])).value_or(Sampled{1}).sequences);
  }
  ASSERT_TRUE(run_until(loop_, [&] { return outcomes_.size() == names.size(); }));

  int delivered = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const Outcome& outcome = outcomes_.at(static_cast<std::int64_t>(i));
    const std::string bytes = capture(names[i]);
    const std::string status = bytes.substr(9, 3);
    const auto expected = sampled(bytes);
    if (status == "200" && expected) {
      ASSERT_TRUE(outcome) << outcome.error().text;
      EXPECT_EQ(outcome->tokens, expected->tokens);
      ++delivered;
    } else {
      ASSERT_FALSE(outcome);
      EXPECT_THAT(outcome.error().text, StartsWith("vLLM "));
      EXPECT_THAT(outcome.error().text, status == "200" ? HasSubstr("") : HasSubstr("returned " + status + ": "));
    }
  }
  EXPECT_GT(delivered, 50);
}

TEST_F(ForwarderTcpTest, SendsTheRequestOfTheContract) {
  std::mutex mutex;
  std::string head;
  ScriptedUpstream vllm([&](const Request& request) {
    std::lock_guard guard(mutex);
    head = request.head;
    return Reply{kSample};
  });
  start(vllm.url() + "/prefix/");

  EXPECT_EQ(forward(1), "delivered");

  std::lock_guard guard(mutex);
  EXPECT_THAT(head, AllOf(StartsWith("POST /prefix/v1/completions HTTP/1.1\r\nHost: 127.0.0.1:"),
                          HasSubstr("\r\nContent-Type: application/json\r\nContent-Length: 2\r\n")));
}

TEST_F(ForwarderTcpTest, U1_FiveHundredAtOnceEachGetTheirOwnAnswer) {
  limits_.max_connections = 500;
  ScriptedUpstream vllm([](const Request&) { return Reply{"", After::hold}; });
  start(vllm.url());
  for (int i = 0; i < 600; ++i) push(i);
  ASSERT_TRUE(run_until(loop_, [&] { return vllm.requests() == 500; }));
  EXPECT_EQ(forwarder_->counts().in_flight, 500u);

  vllm.answer_held(kSample);
  ASSERT_TRUE(run_until(loop_, [&] { return vllm.requests() == 600; }));
  vllm.answer_held(kSample);

  ASSERT_TRUE(run_until(loop_, [&] { return outcomes_.size() == 600; }));
  EXPECT_EQ(vllm.connections(), 500);
  for (int i = 0; i < 600; ++i) EXPECT_EQ(ended(i), "delivered");
}

TEST_F(ForwarderTcpTest, U5_AResetOfAReusedConnectionGoesToANewOne) {
  ScriptedUpstream vllm([](const Request& request) {
    return request.on_connection == 0 ? Reply{kSample} : Reply{"", After::reset};
  });
  start(vllm.url());

  for (int i = 0; i < 5; ++i) EXPECT_EQ(forward(i), "delivered");

  EXPECT_EQ(forwarder_->counts().retries, 0u);
  EXPECT_GE(forwarder_->counts().reconnects, 2u);
}

TEST_F(ForwarderTcpTest, U5_AFreshConnectionThatIsClosedWithoutAByteIsFinal) {
  ScriptedUpstream vllm([](const Request&) { return Reply{"", After::close}; });
  start(vllm.url());

  EXPECT_THAT(forward(1), StartsWith("Server disconnected: "));

  EXPECT_EQ(vllm.requests(), 1);
}

TEST_F(ForwarderTcpTest, U5_AnUpstreamThatClosesAfterEachAnswerCostsNoSample) {
  ScriptedUpstream vllm([](const Request&) { return Reply{kSample, After::close}; });
  start(vllm.url());

  for (int i = 0; i < 20; ++i) EXPECT_EQ(forward(i), "delivered");

  EXPECT_EQ(vllm.connections(), 20);
}

TEST_F(ForwarderTcpTest, U5_IdleConnectionsAreClosedFirst) {
  limits_.idle = base::Seconds{0.01};
  ScriptedUpstream vllm([](const Request&) { return Reply{kSample}; });
  start(vllm.url());
  EXPECT_EQ(forward(1), "delivered");

  EXPECT_TRUE(run_until(loop_, [&] { return vllm.left() == 1; }));

  EXPECT_EQ(forwarder_->counts().connections, 0u);
}

TEST_F(ForwarderTcpTest, U6_AnAbortIsForwardedAgainToTheVllmThatCameBack) {
  ScriptedUpstream vllm([](const Request& request) {
    return Reply{capture(request.number == 0 ? "direct/shutdown-sigterm" : "direct/ok-n1-max64")};
  });
  start(vllm.url());

  EXPECT_EQ(forward(1), "delivered");

  EXPECT_EQ(outcomes_.at(1)->tokens, 64u);
  EXPECT_EQ(forwarder_->counts().aborts, 1u);
}

TEST_F(ForwarderTcpTest, U7_NanInTheModelIsTheServersFault) {
  ScriptedUpstream vllm([](const Request&) { return Reply{capture("nan/sampled")}; });
  start(vllm.url());

  EXPECT_THAT(forward(1), HasSubstr("Out of range float values"));

  EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
  EXPECT_EQ(vllm.requests(), 1);
}

TEST_F(ForwarderTcpTest, U9_ABodyCutShortIsAnExplicitFailure) {
  for (const std::string& bytes : {kSample.substr(0, kSample.size() - 10), kSample.substr(0, 30),
                                   std::string("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40\r\n{\"choices\"")}) {
    outcomes_.clear();
    ScriptedUpstream vllm([&](const Request&) { return Reply{bytes, After::close}; });
    forwarder_.reset();
    start(vllm.url());
    ASSERT_TRUE(run_until(loop_, [&] { return upstreams_->known().front() == vllm.url(); }));

    EXPECT_THAT(forward(1), StartsWith("Server disconnected: ")) << bytes;

    EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
    EXPECT_EQ(vllm.requests(), 1);
  }
}

TEST_F(ForwarderTcpTest, AnAnswerThatIsNoHttpIsAnExplicitFailure) {
  ScriptedUpstream vllm([](const Request&) { return Reply{"SSH-2.0-OpenSSH_9.2\r\n\r\n", After::close}; });
  start(vllm.url());

  EXPECT_THAT(forward(1), HasSubstr("is not HTTP"));

  EXPECT_EQ(outcomes_.at(1).error().blame, Blame::server);
}

TEST_F(ForwarderTcpTest, ASilentUpstreamIsGivenUpAfterTheReadTimeout) {
  limits_.read = base::Seconds{0.05};
  ScriptedUpstream vllm([](const Request&) { return Reply{"", After::hold}; });
  start(vllm.url());

  EXPECT_THAT(forward(1),
              AllOf(HasSubstr("the request to " + vllm.url() + "/v1/completions was given up: no byte from 127.0.0.1:"),
                    HasSubstr("for 0.05 s"), HasSubstr("forwarding_inference_timeout_sec")));

  EXPECT_EQ(vllm.requests(), 1);
}

TEST_F(ForwarderTcpTest, U10_ARouterRestartedOnAnotherPortIsFoundByTheRetry) {
  ScriptedUpstream moved([](const Request&) { return Reply{kSample}; });
  {
    ScriptedUpstream old([](const Request&) { return Reply{kSample, After::close}; });
    start(old.url());
    EXPECT_EQ(forward(1), "delivered");
  }
  publish(moved.url());

  EXPECT_EQ(forward(2), "delivered");

  EXPECT_EQ(moved.requests(), 1);
}

TEST_F(ForwarderTcpTest, U10_ARouterThatMovedIsFollowedThoughTheOldOneStillAnswers) {
  ScriptedUpstream old([](const Request&) { return Reply{kSample}; });
  ScriptedUpstream moved([](const Request&) { return Reply{kSample}; });
  start(old.url());
  EXPECT_EQ(forward(1), "delivered");

  publish(moved.url());
  ASSERT_TRUE(run_until(loop_, [&] { return upstreams_->known().front() == moved.url(); }));
  EXPECT_EQ(forward(2), "delivered");

  EXPECT_EQ(moved.requests(), 1);
  EXPECT_TRUE(run_until(loop_, [&] { return old.left() == 1; }));
}

TEST_F(ForwarderTcpTest, AnUpstreamThatIsNotThereIsNamed) {
  std::string url;
  {
    ScriptedUpstream gone([](const Request&) { return Reply{}; });
    url = gone.url();
  }
  start(url);

  EXPECT_THAT(forward(1), StartsWith("cannot reach vLLM at " + url + "/v1/completions: "));

  EXPECT_EQ(forwarder_->counts().retries, 1u);
  EXPECT_EQ(forwarder_->counts().connections, 0u);
}

TEST_F(ForwarderTcpTest, WithdrawingClosesTheConnectionSoThatVllmStopsGenerating) {
  ScriptedUpstream vllm([](const Request&) { return Reply{"", After::hold}; });
  start(vllm.url());
  push(1);
  ASSERT_TRUE(run_until(loop_, [&] { return vllm.requests() == 1; }));

  forwarder_->withdraw({1});

  EXPECT_TRUE(run_until(loop_, [&] { return vllm.left() == 1; }));
  EXPECT_TRUE(outcomes_.empty());
}

struct Form {
  const char* name;
  std::string bytes;
  After after;
  int connections;  // for two samples
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

std::string chunked(const std::string& body) {
  const auto hex = [](std::size_t size) {
    char text[20];
    std::snprintf(text, sizeof text, "%zX", size);
    return std::string(text);
  };
  return "5;name=value\r\n" + body.substr(0, 5) + "\r\n" + hex(body.size() - 5) + "\r\n" + body.substr(5) + "\r\n0\r\n";
}
std::string with_length(const std::string& head) { return head + std::to_string(kBody.size()) + "\r\n\r\n" + kBody; }

class AnswerForm : public ForwarderTcpTest, public testing::WithParamInterface<Form> {};

TEST_P(AnswerForm, U12_IsDecoded) {
  ScriptedUpstream vllm([](const Request&) { return Reply{GetParam().bytes, GetParam().after}; });
  start(vllm.url());

  EXPECT_EQ(forward(1), "delivered");
  EXPECT_EQ(forward(2), "delivered");

  EXPECT_EQ(outcomes_.at(1)->tokens, 1u);
  EXPECT_EQ(vllm.connections(), GetParam().connections);
}

INSTANTIATE_TEST_SUITE_P(
    Each, AnswerForm,
    testing::Values(
        Form{"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + kSample, After::keep,
             1},
        Form{"chunked_with_trailers",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(kBody) + "X-Sum: 1\r\nX-B: 2\r\n\r\n",
             After::keep, 1},
        Form{"chunked", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunked(kBody) + "\r\n", After::keep, 1},
        Form{"http_1_0_to_the_end", "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + kBody, After::close, 2},
        Form{"http_1_0_with_length", with_length("HTTP/1.0 200 OK\r\nContent-Length: "), After::close, 2},
        Form{"close_without_length", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + kBody, After::close, 2},
        Form{"close_with_length", with_length("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: "), After::keep, 2},
        Form{"names_in_any_case", with_length("HTTP/1.1 200 OK\r\ncONTENT-tYPE: application/json\r\nCoNtEnT-LeNgTh: "),
             After::keep, 1},
        Form{"no_reason", with_length("HTTP/1.1 200 \r\nContent-Length: "), After::keep, 1}),
    [](const auto& form) { return form.param.name; });

}  // namespace
}  // namespace tinker::forward
