// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "http/socket_address.h"
#include "tinker-load/sample_key.h"

namespace tinker::load {

enum class Poll {
  single,  // a held retrieve_future a sample
  multi,   // a held retrieve_futures a sampling session (wire.md §5.6)
};

// What a client does, or several together.
struct LoadOptions {
  std::string base_model = "tiny";
  std::size_t num_requests = 1000;
  std::size_t max_outstanding = 0;       // samples between their submit and their result; 0: all
  std::size_t submit_concurrency = 400;  // asample requests at a time, as in the SDK (wire.md §3.2)
  std::size_t fetch_concurrency = 400;   // multi: results fetched at a time
  std::size_t prompt_tokens = 16;
  std::size_t output_tokens = 16;
  std::uint32_t num_samples = 1;
  Body body = Body::minimal;  // how the router writes: what is expected of logprobs
  Poll poll = Poll::single;
  double poll_timeout_sec = 45;                    // as in the SDK on httpx (wire.md §1.4)
  double first_pause_sec = 1;                      // after a 429 or a broken connection, as in the SDK; tests have less time
  std::optional<http::SocketAddress> source = {};  // where connections come from

  std::size_t most_outstanding() const;
};

// The share of process `k` of `processes`: its part of the samples, and to a loopback address a source of its own,
// 127.0.0.(2+k).
LoadOptions share_of(const LoadOptions& all, std::size_t k, std::size_t processes, const http::SocketAddress& server);

// "http://HOST:PORT" with a numeric host.
base::Result<http::SocketAddress> read_url(std::string_view url);

}  // namespace tinker::load
