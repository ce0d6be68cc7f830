// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/deadline_list.h"
#include "base/error.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"
#include "tinker-load/result_check.h"
#include "tinker-load/sample_key.h"
#include "tinker-load/statistics.h"
#include "tinker-load/tinker_calls.h"

namespace tinker::load {

struct LoadOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string base_model = "tiny";
  std::size_t num_requests = 1000;
  std::size_t max_outstanding = 10000;   // samples between their submit and their result
  std::size_t submit_concurrency = 400;  // asample requests at a time, as in the SDK (wire.md §3.2)
  std::size_t prompt_tokens = 16;
  std::size_t output_tokens = 16;
  std::uint32_t num_samples = 1;
  Body body = Body::minimal;     // how the router writes: what is expected of logprobs
  double poll_timeout_sec = 45;  // as in the SDK on httpx (wire.md §1.4)
  double first_pause_sec = 1;    // after a 429 or a broken connection, as in the SDK; tests have less time
};

struct LoadCounts {
  std::uint64_t completed = 0;        // with the result that belongs to the request
  std::uint64_t wrong = 0;            // with another one
  std::uint64_t failed = 0;           // with an error, or an answer that no client goes on after
  std::uint64_t repolls = 0;          // polls after the first
  std::uint64_t abandoned_polls = 0;  // polls that timed out
  std::uint64_t throttled = 0;        // asample answered 429
  std::uint64_t reconnects = 0;       // connections that broke under a request
  std::uint64_t healthz_failed = 0;   // probes without a 200
  std::string first_trouble;          // in words
};

// Samples as an SDK does (wire.md §2, §3.2, §5.2, §5.3): submits with a bounded concurrency; one held poll a sample, 408, 5xx
// and `try_again` polled again at once; 429 after a second; broken connections after a growing pause. Checks that each result
// belongs to its request. A 410 is a failure here, while the SDK samples anew: a lost result is what this client looks for.
//
// Owned by  main.
// Thread    the loop's.
class Client {
 public:
  // `done` runs when all samples have ended, from the loop.
  Client(loop::EventLoop& loop, const http::SocketAddress& server, LoadOptions options, std::function<void()> done);
  ~Client();

  // Makes the sessions and then samples. An error of the sessions ends the run: fatal() then says why.
  void start();

  const LoadCounts& counts() const { return counts_; }
  const std::string& fatal() const { return fatal_; }
  const Samples& submit_times() const { return submit_times_; }
  const Samples& sample_times() const { return sample_times_; }
  const Samples& health_times() const { return health_times_; }
  // From the first submit to the last result so far.
  base::Seconds took() const { return ended_ - began_; }
  std::size_t ended() const { return counts_.completed + counts_.wrong + counts_.failed; }
  std::size_t outstanding() const { return next_ - ended(); }

 private:
  struct Sample : base::DeadlineList<Sample>::Hook {
    std::uint64_t number = 0;
    std::string request_id;  // empty: not accepted yet
    base::Monotonic began{};
    std::unique_ptr<http::ClientConnection> connection;
    std::uint32_t setbacks = 0;  // in a row; the pause doubles with each
    bool polled = false;
    bool ended = false;
  };
  using Answered = std::function<void(const http::Answer&)>;

  // `then` is given the text of member `wanted` of the answer, which must be there.
  void call_once(const char* path, std::string body, const char* wanted, std::function<void(std::string)> then);
  void create_sampling_session(const std::string& session);
  void begin_sampling(const std::string& sampling_session);
  void fill();
  void submit(Sample& sample);
  void submitted(Sample& sample, const http::Answer& answer);
  void poll(Sample& sample);
  void polled(Sample& sample, const http::Answer& answer);
  void send(Sample& sample, const std::string& head, std::string body, Answered answered);
  void broken(Sample& sample, const http::Broken& how);
  void again_after(Sample& sample, base::Seconds pause);
  void again_after_growing_pause(Sample& sample);
  void pause_ended();
  void end(Sample& sample, std::uint64_t& count, const std::string& trouble = {});
  void note(const std::string& trouble);
  void probe_health();
  std::uint64_t key_of_number(std::uint64_t number) const { return (salt_ + number) & ((std::uint64_t{1} << 60) - 1); }
  std::string head(const char* path, const char* accept) const;

  loop::EventLoop& loop_;
  const http::SocketAddress server_;
  const LoadOptions options_;
  const std::function<void()> done_;
  const base::SystemClock clock_;
  const std::uint64_t salt_;  // results of an earlier run do not pass
  const ResultCheck check_;
  const std::string submit_head_, poll_head_;

  std::optional<AsampleBody> asample_;  // once there is a sampling session
  std::string fatal_;
  std::deque<Sample> samples_;  // by number, from the oldest that has not ended; a deque, so that they stay where they are
  std::size_t next_ = 0;
  std::size_t submitting_ = 0;
  std::vector<std::unique_ptr<http::ClientConnection>> idle_;
  base::DeadlineList<Sample> pauses_;
  loop::Timer pause_timer_;

  std::unique_ptr<http::ClientConnection> health_connection_;
  loop::Timer health_timer_;
  std::unique_ptr<http::ClientConnection> setup_connection_;

  LoadCounts counts_;
  Samples submit_times_, sample_times_, health_times_;
  base::Monotonic began_{}, ended_{};
};

}  // namespace tinker::load
