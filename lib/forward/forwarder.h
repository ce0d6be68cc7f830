// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ids.h"
#include "forward/counts.h"
#include "forward/job_board.h"
#include "forward/limits.h"
#include "forward/link.h"
#include "forward/outcome.h"
#include "forward/upstreams.h"
#include "loop/event_loop.h"

namespace tinker::forward {

// What the forwarder asks of its owner. None may destroy the forwarder; push and withdraw are allowed in all.
struct ForwardHooks {
  // The job's turn: the upstream's body, or nullopt when the sample ended meanwhile; then it is skipped.
  std::function<std::optional<base::SharedBytes>(base::SampleId)> start;
  // Exactly once for each job that was started and not withdrawn; never from inside push() or withdraw().
  std::function<void(base::SampleId, Outcome)> done;
  std::function<ForwardLimits()> limits;
};

// queue → forward → decode: takes jobs from the board in fair order, sends each over a keep-alive connection, decodes its
// answer.
//
// The cost of a job does not depend on how many are queued or in flight (cases.md U1). At most ForwardLimits::max_connections
// in flight at once. Connect failures and 5xx are tried once more, after a pause and after the upstream's address was read
// again; a closed reused connection that gave no byte goes to a new connection (U5) without counting as that retry; a read or
// write failure is final, for the upstream may be generating; an answer whose finish_reason is `abort` is forwarded once more,
// then an explicit failure (U6).
//
// Owned by  a worker.
// Thread    its loop's.
// Blocks    never; names are resolved by Upstreams' own thread.
class Forwarder {
 public:
  // `connect` empty: TCP. `seed` is of the pauses before a second try.
  Forwarder(loop::EventLoop& loop, const base::Clock& clock, Upstreams& upstreams, JobBoard& board, ForwardHooks hooks,
            Connect connect = {}, std::uint32_t seed = std::random_device{}());
  ~Forwarder();  // closes all connections; no `done` is called

  // Puts a job up for whichever forwarder has room for it. Nothing when it waits or is in flight here already.
  void push(Job job);
  // Takes a job off the board, or closes its upstream request; nothing when it is neither there nor in flight here.
  void withdraw(base::SampleId id);
  ForwardCounts counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tinker::forward
