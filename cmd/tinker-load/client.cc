// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/client.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include "tinker_public.pb.h"

namespace tinker::load {
namespace {

constexpr base::Seconds kHealthEvery{0.1};
constexpr base::Seconds kThrottlePause{1};
constexpr base::Seconds kLongestPause{30};

// The text of a member in a small JSON object that a Tinker server wrote.
std::string member(std::string_view json, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":\"";
  const std::size_t at = json.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = json.substr(at + key.size());
  return std::string(rest.substr(0, rest.find('"')));
}

template <class Number>
void append(base::Buffer& bytes, Number number) {
  bytes.append(&number, sizeof number);
}

std::string brief(const http::Answer& answer) {
  return "status " + std::to_string(answer.status) + ": " + std::string(answer.body.view().substr(0, 200));
}

}  // namespace

Client::Client(loop::EventLoop& loop, const http::SocketAddress& server, LoadOptions options, std::function<void()> done)
    : loop_(loop),
      server_(server),
      options_(std::move(options)),
      done_(std::move(done)),
      salt_(mix(std::random_device{}())),
      submit_head_(head("POST", "/api/v1/asample", "application/json")),
      poll_head_(head("POST", "/api/v1/retrieve_future", "application/x-protobuf")),
      pause_timer_(loop, [this] { pause_ended(); }),
      health_timer_(loop, [this] { probe_health(); }) {
  for (std::size_t i = kChecked; i < options_.output_tokens; ++i) {
    append(expected_tokens_, token_at(0, 0, i));
    append(expected_logprobs_, logprob_at(options_.body, 0, 0, i));
  }
}

Client::~Client() = default;

std::string Client::head(const char* method, const char* path, const char* accept) const {
  return std::string(method) + " " + path + " HTTP/1.1\r\nHost: " + server_.text() + "\r\nAccept: " + accept +
         "\r\nContent-Type: application/json\r\nX-API-Key: tml-load\r\nUser-Agent: tinker-load/" TINKER_VERSION
         "\r\nX-Tinker-Sampling-Backpressure: 1\r\nContent-Length: ";
}

void Client::start() {
  call_once("/api/v1/create_session",
            R"({"tags":["tinker-load"],"user_metadata":{},"sdk_version":"tinker-load","type":"create_session"})",
            [this](const std::string& answer) { create_sampling_session(member(answer, "session_id")); });
}

void Client::create_sampling_session(const std::string& session) {
  call_once("/api/v1/create_sampling_session",
            R"({"session_id":")" + session + R"(","sampling_session_seq_id":0,"base_model":")" + options_.base_model +
                R"(","type":"create_sampling_session"})",
            [this](const std::string& answer) {
              sampling_session_ = member(answer, "sampling_session_id");
              began_ = clock_.now();
              probe_health();
              fill();
            });
}

// A call that must go well, before the samples.
void Client::call_once(const char* path, std::string body, std::function<void(std::string)> then) {
  setup_connection_ = std::make_unique<http::ClientConnection>(loop_, server_, loop::Priority::client);
  std::string whole = head("POST", path, "application/json") + std::to_string(body.size()) + "\r\n\r\n";
  setup_connection_->send(std::move(whole), base::SharedBytes(std::move(body)),
                          {.connect = base::Seconds{10}, .read = base::Seconds{30}},
                          [this, path, then = std::move(then)](tl::expected<http::Answer, http::Broken> answer) {
                            if (answer && answer->status == 200) return then(std::string(answer->body.view()));
                            fatal_ = std::string(path) + ": " + (answer ? brief(*answer) : answer.error().text);
                            done_();
                          });
}

// Submits as many as may be under way.
void Client::fill() {
  while (next_ < options_.num_requests && submitting_ < options_.submit_concurrency &&
         outstanding() < options_.max_outstanding) {
    Sample& sample = samples_.emplace_back();
    sample.number = next_++;
    sample.began = clock_.now();
    ++submitting_;
    submit(sample);
  }
}

void Client::submit(Sample& sample) {
  std::string body = R"({"num_samples":)" + std::to_string(options_.num_samples) + R"(,"prompt":{"chunks":[{"tokens":[)";
  for (const std::int32_t token : prompt_of(key_of_number(sample.number), options_.prompt_tokens)) {
    if (body.back() != '[') body += ',';
    body += std::to_string(token);
  }
  body += R"(],"type":"encoded_text"}]},"sampling_params":{"max_tokens":)" + std::to_string(options_.output_tokens) +
          R"(,"temperature":1.0,"top_k":-1,"top_p":1.0},"sampling_session_id":")" + sampling_session_ + R"(","seq_id":)" +
          std::to_string(sample.number) + R"(,"prompt_logprobs":false,"topk_prompt_logprobs":0,"type":"sample"})";
  send(sample, submit_head_, std::move(body), [this, &sample](const http::Answer& answer) { submitted(sample, answer); });
}

void Client::submitted(Sample& sample, const http::Answer& answer) {
  if (answer.status == 429) {
    ++counts_.throttled;
    return again_after(sample, kThrottlePause);
  }
  if (answer.status == 408 || answer.status == 409 || answer.status >= 500) return again_after(sample, kThrottlePause);
  --submitting_;
  sample.request_id = answer.status == 200 ? member(answer.body.view(), "request_id") : std::string();
  if (sample.request_id.empty()) return end(sample, counts_.failed, "asample: " + brief(answer));
  submit_times_.add(clock_.now() - sample.began);
  poll(sample);
  fill();
}

void Client::poll(Sample& sample) {
  if (std::exchange(sample.polled, true)) ++counts_.repolls;
  std::string body = R"({"request_id":")" + sample.request_id + R"(","allow_metadata_only":false})";
  send(sample, poll_head_, std::move(body), [this, &sample](const http::Answer& answer) { polled(sample, answer); });
}

void Client::polled(Sample& sample, const http::Answer& answer) {
  if (answer.status == 408 || answer.status >= 500) return poll(sample);
  if (answer.status == 429) return again_after(sample, kThrottlePause);
  const auto type = answer.fields.find("content-type").value_or("");
  if (answer.status != 200 || type.find("application/x-protobuf") == std::string_view::npos)
    return end(sample, counts_.failed, "retrieve_future: " + brief(answer));
  if (!belongs(sample.number, answer.body.view()))
    return end(sample, counts_.wrong, "sample " + sample.request_id + " has a result of another request");
  sample_times_.add(clock_.now() - sample.began);
  end(sample, counts_.completed);
}

// Sends on a connection of its own, kept or new; a connection that breaks is tried again after 1, 2, 4 … s, as the SDK does.
void Client::send(Sample& sample, const std::string& head, std::string body, Answered answered) {
  if (!sample.connection) {
    if (idle_.empty()) {
      sample.connection = std::make_unique<http::ClientConnection>(loop_, server_, loop::Priority::client);
    } else {
      sample.connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  std::string whole = head + std::to_string(body.size()) + "\r\n\r\n";
  sample.connection->send(std::move(whole), base::SharedBytes(std::move(body)),
                          {.connect = base::Seconds{30}, .read = base::Seconds{options_.poll_timeout_sec}},
                          [this, &sample, answered = std::move(answered)](tl::expected<http::Answer, http::Broken> answer) {
                            if (answer) {
                              sample.troubles = 0;
                              release_connection(sample);
                              return answered(*answer);
                            }
                            sample.connection.reset();
                            ++counts_.reconnects;
                            if (counts_.first_trouble.empty()) counts_.first_trouble = answer.error().text;
                            const double pause = std::pow(2.0, std::min<std::uint32_t>(sample.troubles++, 5));
                            again_after(sample, std::min(base::Seconds{pause}, kLongestPause));
                          });
}

void Client::release_connection(Sample& sample) {
  if (sample.connection->reusable()) idle_.push_back(std::move(sample.connection));
  sample.connection.reset();
}

void Client::again_after(Sample& sample, base::Seconds pause) {
  pauses_.put(sample, clock_.now() + std::chrono::duration_cast<base::Monotonic::duration>(pause));
  pause_timer_.after(pauses_.first()->deadline - clock_.now());
}

void Client::pause_ended() {
  const base::Monotonic now = clock_.now();
  while (Sample* sample = pauses_.due(now)) {
    pauses_.remove(*sample);
    if (sample->request_id.empty()) {
      submit(*sample);
    } else {
      poll(*sample);
    }
  }
  if (!pauses_.empty()) pause_timer_.after(pauses_.first()->deadline - now);
}

void Client::end(Sample& sample, std::uint64_t& count, std::string trouble) {
  ++count;
  if (counts_.first_trouble.empty()) counts_.first_trouble = std::move(trouble);
  sample.request_id = std::string();
  ended_ = clock_.now();
  if (ended() == options_.num_requests) return done_();
  fill();
}

void Client::probe_health() {
  if (!health_connection_)
    health_connection_ = std::make_unique<http::ClientConnection>(loop_, server_, loop::Priority::client);
  const base::Monotonic began = clock_.now();
  health_connection_->send("GET /api/v1/healthz HTTP/1.1\r\nHost: " + server_.text() + "\r\n\r\n", {},
                           {.connect = base::Seconds{30}, .read = base::Seconds{30}},
                           [this, began](const tl::expected<http::Answer, http::Broken>& answer) {
                             if (answer) health_times_.add(clock_.now() - began);
                             if (!answer || !health_connection_->reusable()) health_connection_.reset();
                             health_timer_.after(kHealthEvery);
                           });
}

bool Client::belongs(std::uint64_t number, std::string_view sample_response) const {
  tinker_public::SampleResponse response;
  if (!response.ParseFromArray(sample_response.data(), static_cast<int>(sample_response.size()))) return false;
  if (response.sequences_size() != static_cast<int>(options_.num_samples)) return false;
  const std::uint64_t key = key_of_number(number);
  for (std::uint32_t choice = 0; choice < options_.num_samples; ++choice) {
    const tinker_public::SampledSequence& sequence = response.sequences(static_cast<int>(choice));
    const std::size_t bytes = 4 * options_.output_tokens;
    if (sequence.tokens().size() != bytes || sequence.logprobs().size() != bytes) return false;
    if ((sequence.stop_reason() == tinker_public::STOP_REASON_STOP) != stops(key, choice)) return false;
    for (std::size_t i = 0; i < std::min(kChecked, options_.output_tokens); ++i) {
      const std::int32_t token = token_at(key, choice, i);
      const float logprob = logprob_at(options_.body, key, choice, i);
      if (std::memcmp(sequence.tokens().data() + 4 * i, &token, 4) != 0 ||
          std::memcmp(sequence.logprobs().data() + 4 * i, &logprob, 4) != 0)
        return false;
    }
    const std::size_t checked = 4 * std::min(kChecked, options_.output_tokens);
    if (std::string_view(sequence.tokens()).substr(checked) != expected_tokens_.view()) return false;
    if (std::string_view(sequence.logprobs()).substr(checked) != expected_logprobs_.view()) return false;
  }
  return true;
}

}  // namespace tinker::load
