// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/error.h"
#include "http/server.h"
#include "loop/event_loop.h"
#include "tinker-load/completion_body.h"

namespace tinker::load {

enum class VllmMode { instant, latency, barrier };

struct RouterOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8100;
  VllmMode mode = VllmMode::instant;
  std::size_t max_num_seqs = 2048;  // latency: generations at a time
  double gen_seconds = 5;           // latency: each takes so long
  std::size_t barrier = 0;          // barrier: answers when so many wait …
  double hold_seconds = 10;         // … or so long after the first
  std::size_t output_tokens = 16;
  Body body = Body::minimal;
};

struct RouterCounts {
  std::uint64_t requests = 0;
  std::uint64_t answered = 0;
  std::uint64_t aborted = 0;  // the client left first
  std::size_t most_in_flight = 0;
};

// A vLLM router that needs no GPU: POST /v1/completions, GET /health and /v1/models.
//
// Owned by  main.
// Thread    the loop's.
class Router {
 public:
  static base::Result<std::unique_ptr<Router>> listen(loop::EventLoop& loop, RouterOptions options);

  std::uint16_t port() const { return server_->port(); }
  const RouterCounts& counts() const { return counts_; }

 private:
  struct Generation {
    std::uint64_t key;
    std::uint32_t choices;
    std::string model;
    http::Reply reply;
  };

  Router(loop::EventLoop& loop, RouterOptions options);
  void handle(http::Request&& request, http::Reply reply);
  void complete(http::Request&& request, http::Reply reply);
  void arrive(Generation generation);
  void answer(Generation& generation);
  // Latency: lets waiting generations begin, ends those whose time has come.
  void advance();
  void left(std::uint64_t number);
  void end_barrier();

  const RouterOptions options_;
  CompletionBody bodies_;
  loop::Timer timer_;
  RouterCounts counts_;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, Generation> held_;             // all that are not answered, by number
  std::deque<std::uint64_t> waiting_;                              // latency: not begun; may name some that left
  std::deque<std::pair<base::Monotonic, std::uint64_t>> running_;  // latency: by the time of their end
  std::unique_ptr<http::Server> server_;                           // last: its connections go first
};

}  // namespace tinker::load
