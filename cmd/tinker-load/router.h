// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "http/server.h"
#include "loop/event_loop.h"
#include "tinker-load/asked.h"
#include "tinker-load/completion_body.h"

namespace tinker::load {

enum class VllmMode { instant, latency, barrier };

struct RouterOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8100;
  VllmMode mode = VllmMode::instant;
  std::size_t max_num_seqs = 2048;  // latency: generations at a time
  double gen_seconds = 5;           // latency: each takes so long
  std::size_t barrier = 0;          // barrier: opens when so many have come …
  double hold_seconds = 10;         // … or so long after the first, and stays open
  std::size_t output_tokens = 16;
  Body body = Body::minimal;
  // Bodies of that size in all may wait to be sent; further ones are made when those have gone. 32,768 answers of 2.5 MB that
  // end at once would not fit into memory.
  std::size_t unsent_limit_bytes = std::size_t{128} << 20;
};

struct RouterCounts {
  std::uint64_t requests = 0;        // POST /v1/completions, refused ones included
  std::uint64_t answered = 0;        // the whole result was sent
  std::uint64_t aborted = 0;         // the client left first
  std::uint64_t refused = 0;         // 400
  std::size_t most_in_flight = 0;    // from arrival to the last byte of the answer
  std::size_t most_connections = 0;  // seen at a request
};

// A vLLM router that needs no GPU: POST /v1/completions, GET /health and /v1/models.
//
// Owned by  main.
// Thread    the loop's.
class Router {
 public:
  static base::Result<std::unique_ptr<Router>> listen(loop::EventLoop& loop, RouterOptions options);
  ~Router();

  std::uint16_t port() const { return server_->port(); }
  const RouterCounts& counts() const { return counts_; }
  // Generations that have begun and not ended; latency only.
  std::size_t generating() const { return generating_; }
  // Bodies that were made and not sent.
  std::size_t unsent_bytes() const { return unsent_bytes_; }

 private:
  struct Generation {
    Asked asked;
    http::Reply reply;
    bool begun = false;
  };

  Router(loop::EventLoop& loop, RouterOptions options);
  void handle(http::Request&& request, http::Reply reply);
  void complete(http::Request&& request, http::Reply reply);
  void arrive(Generation generation);
  // Latency: ends the generations whose time has come, begins others in their place.
  void advance();
  void open_barrier();
  // Answers those that have ended, as far as unsent_limit_bytes allows.
  void answer_ended();
  void answer(Generation& generation);
  void left(std::uint64_t number);

  const RouterOptions options_;
  CompletionBody bodies_;
  loop::Timer timer_;
  RouterCounts counts_;
  bool barrier_open_ = false;
  std::size_t in_flight_ = 0;
  std::size_t generating_ = 0;
  std::size_t unsent_bytes_ = 0;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, Generation> held_;  // all that no body was made for, by number
  // These may name some that left.
  std::deque<std::uint64_t> waiting_;                              // to begin, or at the barrier
  std::deque<std::pair<base::Monotonic, std::uint64_t>> running_;  // by the time of their end
  std::deque<std::uint64_t> ended_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tinker::load
