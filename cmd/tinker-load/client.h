// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/deadline_list.h"
#include "base/error.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"
#include "tinker-load/load_options.h"
#include "tinker-load/multi_poll.h"
#include "tinker-load/result_check.h"
#include "tinker-load/tinker_calls.h"
#include "tinker-load/totals.h"

namespace tinker::load {

// Samples as an SDK does (wire.md §2, §3.2, §5.2, §5.3): submits with a bounded concurrency; one held poll a sample, 408, 5xx
// and `try_again` polled again at once; 429 after a second; broken connections after a growing pause. Checks that each result
// belongs to its request. With Poll::multi one poll tells which samples have ended, and their results are fetched. A 410 is a
// failure here, while the SDK samples anew: a lost result is what this client looks for.
//
// Owned by  main.
// Thread    the loop's.
class Client {
 public:
  // `done` runs when all samples have ended, or none can be made, from the loop.
  Client(loop::EventLoop& loop, const http::SocketAddress& server, LoadOptions options, std::function<void()> done);
  ~Client();

  // Makes the sessions and then samples. An error of the sessions ends the run: fatal() then says why.
  void start();

  const LoadTotals& totals() const { return totals_; }
  const std::string& fatal() const { return fatal_; }
  std::size_t outstanding() const { return next_ - totals_.ended(); }

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
  void await_result(Sample& sample);
  void create_sampling_session(const std::string& session);
  void begin_sampling(const std::string& sampling_session);
  void fill();
  void submit(Sample& sample);
  void submitted(Sample& sample, const http::Answer& answer);
  void poll(Sample& sample);
  void polled(Sample& sample, const http::Answer& answer);
  void fetch_more();
  void send(Sample& sample, const std::string& head, std::string body, Answered answered);
  void broken(Sample& sample, const http::Broken& how);
  void again_after(Sample& sample, base::Seconds pause);
  void again_after_growing_pause(Sample& sample);
  void pause_ended();
  void end(Sample& sample, std::uint64_t& count, const std::string& trouble = {});
  void give_up(std::string why);
  std::unique_ptr<http::ClientConnection> connect() const;
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

  // Poll::multi only.
  std::unique_ptr<MultiPoll> multi_;
  std::unordered_map<std::string, Sample*> awaited_;  // by request_id, from asample to the end
  std::deque<Sample*> fetchable_;                     // have ended at the server
  std::size_t fetching_ = 0;

  std::unique_ptr<http::ClientConnection> setup_connection_;
  LoadTotals totals_;
};

}  // namespace tinker::load
