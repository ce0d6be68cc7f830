// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/client.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <utility>

namespace tinker::load {
namespace {

constexpr base::Seconds kLongestPause{30};
constexpr base::Seconds kConnectPatience{30};

double seconds_of(base::Monotonic time) { return base::Seconds(time.time_since_epoch()).count(); }

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
      check_(options_.body, options_.output_tokens, options_.num_samples),
      submit_head_(head("/api/v1/asample", "application/json")),
      poll_head_(head("/api/v1/retrieve_future", "application/x-protobuf")),
      pause_timer_(loop, [this] { pause_ended(); }) {}

Client::~Client() = default;

// All but the length.
std::string Client::head(const char* path, const char* accept) const {
  return std::string("POST ") + path + " HTTP/1.1\r\nHost: " + server_.text() + "\r\nAccept: " + accept +
         "\r\nContent-Type: application/json\r\nX-API-Key: tml-load\r\nUser-Agent: tinker-load/" TINKER_VERSION
         "\r\nX-Tinker-Sampling-Backpressure: 1\r\nContent-Length: ";
}

void Client::start() {
  call_once("/api/v1/create_session", create_session_body(), "session_id",
            [this](const std::string& session) { create_sampling_session(session); });
}

void Client::create_sampling_session(const std::string& session) {
  call_once("/api/v1/create_sampling_session", create_sampling_session_body(session, options_.base_model),
            "sampling_session_id", [this](const std::string& sampling_session) { begin_sampling(sampling_session); });
}

void Client::begin_sampling(const std::string& sampling_session) {
  asample_.emplace(sampling_session, options_.num_samples, options_.output_tokens);
  totals_.began_sec = totals_.ended_sec = seconds_of(clock_.now());
  if (options_.poll == Poll::multi) {
    multi_ = std::make_unique<MultiPoll>(loop_, server_, options_, sampling_session,
                                         head("/api/v1/retrieve_futures", "application/json"), totals_,
                                         MultiPoll::Hooks{.finished =
                                                              [this](const std::string& request_id) {
                                                                fetchable_.push_back(awaited_.at(request_id));
                                                                fetch_more();
                                                              },
                                                          .lost = [this](const std::string& why) { give_up(why); }});
  }
  fill();
}

// A call that must go well, before the samples.
void Client::call_once(const char* path, std::string body, const char* wanted, std::function<void(std::string)> then) {
  setup_connection_ = connect();
  std::string whole = head(path, "application/json") + std::to_string(body.size()) + "\r\n\r\n";
  setup_connection_->send(
      std::move(whole), base::SharedBytes(std::move(body)), {.connect = base::Seconds{10}, .read = base::Seconds{30}},
      [this, path, wanted, then = std::move(then)](tl::expected<http::Answer, http::Broken> answer) {
        std::string text = answer && answer->status == 200 ? text_member(answer->body.view(), wanted) : std::string();
        if (!text.empty()) return then(std::move(text));
        give_up(std::string(path) + ": " + (answer ? brief(*answer) : answer.error().text + " (is the server running?)"));
      });
}

void Client::give_up(std::string why) {
  fatal_ = std::move(why);
  done_();
}

// At the lower priority, so that the poll for many samples is heard among them.
std::unique_ptr<http::ClientConnection> Client::connect() const {
  auto connection = std::make_unique<http::ClientConnection>(loop_, server_, loop::Priority::upstream);
  if (options_.source) connection->come_from(*options_.source);
  return connection;
}

// Submits as many as may be under way.
void Client::fill() {
  while (next_ < options_.num_requests && submitting_ < options_.submit_concurrency &&
         outstanding() < options_.most_outstanding()) {
    Sample& sample = samples_.emplace_back();
    sample.number = next_++;
    sample.began = clock_.now();
    ++submitting_;
    submit(sample);
  }
}

void Client::submit(Sample& sample) {
  const auto prompt = prompt_of(key_of_number(sample.number), options_.prompt_tokens);
  send(sample, submit_head_, asample_->write(sample.number, prompt),
       [this, &sample](const http::Answer& answer) { submitted(sample, answer); });
}

// A sample that must be submitted again keeps its place among submit_concurrency: when all are refused, the client pauses as a
// whole, as the SDK's does.
void Client::submitted(Sample& sample, const http::Answer& answer) {
  if (answer.status == 429) {
    ++totals_.counts.throttled;
    return again_after(sample, base::Seconds{options_.first_pause_sec});
  }
  if (answer.status == 408 || answer.status == 409 || answer.status >= 500) {
    totals_.troubles.add("asample: " + brief(answer));
    return again_after_growing_pause(sample);
  }
  --submitting_;
  const Promise promise = answer.status == 200 ? read_promise(answer.body.view(), options_.num_samples) : Promise{};
  if (promise.request_id.empty()) return end(sample, totals_.counts.failed, "asample: " + brief(answer));
  if (!promise.has_sequence_ids) ++totals_.counts.no_sequence_ids;
  if (promise.has_sequence_ids && !promise.fits)
    return end(sample, totals_.counts.wrong, "asample: sample_sequence_ids that do not fit: " + brief(answer));
  sample.request_id = promise.request_id;
  sample.setbacks = 0;
  totals_.submit_times.add(clock_.now() - sample.began);
  await_result(sample);
  fill();
}

void Client::await_result(Sample& sample) {
  if (!multi_) return poll(sample);
  awaited_.emplace(sample.request_id, &sample);
  multi_->await(sample.request_id);
}

// Fetches results of samples that have ended, a bounded number at a time: with a connection each, all of them would need as
// many connections as polls would.
void Client::fetch_more() {
  while (!fetchable_.empty() && fetching_ < options_.fetch_concurrency) {
    Sample& sample = *fetchable_.front();
    fetchable_.pop_front();
    ++fetching_;
    poll(sample);
  }
}

void Client::poll(Sample& sample) {
  if (std::exchange(sample.polled, true)) ++totals_.counts.repolls;
  send(sample, poll_head_, retrieve_future_body(sample.request_id),
       [this, &sample](const http::Answer& answer) { polled(sample, answer); });
}

void Client::polled(Sample& sample, const http::Answer& answer) {
  if (answer.status == 429) return again_after_growing_pause(sample);
  sample.setbacks = 0;
  if (answer.status == 408 || answer.status >= 500) return poll(sample);
  const bool protobuf =
      answer.fields.find("content-type").value_or("").find("application/x-protobuf") != std::string_view::npos;
  if (answer.status == 200 && !protobuf && text_member(answer.body.view(), "type") == "try_again") return poll(sample);
  if (answer.status != 200 || !protobuf)
    return end(sample, totals_.counts.failed, "retrieve_future of " + sample.request_id + ": " + brief(answer));
  const std::string fault = check_.fault(key_of_number(sample.number), answer.body.view());
  if (!fault.empty()) return end(sample, totals_.counts.wrong, "result of " + sample.request_id + ": " + fault);
  totals_.sample_times.add(clock_.now() - sample.began);
  end(sample, totals_.counts.completed);
}

// Sends on a connection that was kept, or on a new one.
void Client::send(Sample& sample, const std::string& head, std::string body, Answered answered) {
  if (idle_.empty()) {
    sample.connection = connect();
  } else {
    sample.connection = std::move(idle_.back());
    idle_.pop_back();
  }
  std::string whole = head + std::to_string(body.size()) + "\r\n\r\n";
  sample.connection->send(std::move(whole), base::SharedBytes(std::move(body)),
                          {.connect = kConnectPatience, .read = base::Seconds{options_.poll_timeout_sec}},
                          [this, &sample, answered = std::move(answered)](tl::expected<http::Answer, http::Broken> answer) {
                            auto connection = std::move(sample.connection);
                            if (!answer) return broken(sample, answer.error());
                            if (connection->reusable()) idle_.push_back(std::move(connection));
                            answered(*answer);
                          });
}

void Client::broken(Sample& sample, const http::Broken& how) {
  const bool abandoned = how.kind == http::Breakage::read_timed_out && !sample.request_id.empty();
  ++(abandoned ? totals_.counts.abandoned_polls : totals_.counts.reconnects);
  totals_.troubles.add(how.text);
  again_after_growing_pause(sample);
}

// 1, 2, 4 … s, as the SDK waits.
void Client::again_after_growing_pause(Sample& sample) {
  const double pause = options_.first_pause_sec * std::pow(2.0, std::min<std::uint32_t>(sample.setbacks++, 5));
  again_after(sample, std::min(base::Seconds{pause}, kLongestPause));
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

// `sample` may be gone afterwards.
void Client::end(Sample& sample, std::uint64_t& count, const std::string& trouble) {
  ++count;
  totals_.troubles.add(trouble);
  totals_.ended_sec = seconds_of(clock_.now());
  if (awaited_.erase(sample.request_id) > 0) {
    multi_->retrieved(sample.request_id);
    --fetching_;
  }
  sample.ended = true;
  while (!samples_.empty() && samples_.front().ended) samples_.pop_front();
  if (totals_.ended() == options_.num_requests) return multi_ ? multi_->finish(done_) : done_();
  fetch_more();
  fill();
}

}  // namespace tinker::load
