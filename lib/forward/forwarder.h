// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ids.h"
#include "codec/completion.h"
#include "forward/upstreams.h"
#include "loop/event_loop.h"

namespace tinker::forward {

// A sample that waits for its turn. Its body stays with the futures table until then.
struct Job {
  base::SampleId id;
  std::string queue;           // whose turn it takes: the sampling session, or the model for samples without one
  std::string session_header;  // value of X-Session-ID, or empty (server-contract.md §4.2)
  codec::CompletionWants wants;
};

// Whose error it is, as the client will read it (wire.md §5.2).
enum class Blame { user, server };
struct Failure {
  Blame blame = Blame::server;
  std::string text;  // bounded: at most 1 KB of the upstream's words
};
using Outcome = tl::expected<codec::Completion, Failure>;

// Read when used, so live settings may stand behind it.
struct ForwardLimits {
  std::size_t max_connections = 2048;  // forwarding_inference_max_connections; this loop's share
  base::Seconds connect{60};
  base::Seconds read{2048};        // forwarding_inference_timeout_sec, between bytes
  base::Seconds idle{2};           // an idle connection is closed before vLLM closes it after 5 s (cases.md U5)
  base::Seconds retry_pause{0.5};  // before the one retry; jittered by half
};

// What happened, for metrics; each may be empty.
struct ForwardHooks {
  // The job's turn: the upstream's body, or nullopt when the sample ended meanwhile; then it is skipped.
  std::function<std::optional<base::SharedBytes>(base::SampleId)> start;
  // Exactly once for each job that was started and not withdrawn.
  std::function<void(base::SampleId, Outcome)> done;
  std::function<ForwardLimits()> limits;
};

struct ForwardCounts {
  std::size_t queued = 0, in_flight = 0, connections = 0, idle = 0;
  std::uint64_t requests = 0, retries = 0, failures = 0, aborts = 0, logprobs_missing = 0;
  std::uint64_t bytes_out = 0, bytes_in = 0;
};

// queue → forward → decode: takes jobs in fair order, sends each over a keep-alive connection, decodes its answer.
//
// The cost of a job does not depend on how many are queued or in flight (cases.md U1). At most ForwardLimits::max_connections
// at once. Connect failures and 5xx are tried once more, after the upstream's address was read again; a closed reused
// connection that gave no byte goes to a new connection (U5) without counting as that retry; a read or write failure is final,
// for the upstream may be generating; an answer whose finish_reason is `abort` is forwarded once more, then an explicit failure
// (U6).
//
// Owned by  a worker.
// Thread    its loop's.
// Blocks    never; names are resolved by Upstreams' own thread.
class Forwarder {
 public:
  Forwarder(loop::EventLoop& loop, const base::Clock& clock, Upstreams& upstreams, ForwardHooks hooks);
  ~Forwarder();  // closes all connections; no `done` is called

  void push(Job job);
  // Takes a job out of the queue, or closes its upstream request; nothing when it is unknown.
  void withdraw(base::SampleId id);
  ForwardCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tinker::forward
