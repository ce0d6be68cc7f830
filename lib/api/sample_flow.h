// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "forward/forwarder.h"
#include "futures/table.h"
#include "loop/event_loop.h"

namespace tinker::api {

class Retrieval;
class SampleFlow;
struct Shared;

// All workers' flows, by number: an effect may concern a waiter or a job of another worker. Has its full size before the first
// flow is made, and all its flows before the first request.
using Crew = std::vector<SampleFlow*>;

// Carries out what the futures table decides: here the rooms of a sample meet (style.md §3).
//
// Owned by  a worker's Api.
// Thread    its loop's; waking a poll and withdrawing a job are posted to the worker that has it.
class SampleFlow {
 public:
  SampleFlow(loop::EventLoop& loop, std::uint32_t worker, Shared& shared, Crew& crew, Retrieval& retrieval,
             forward::Upstreams& upstreams);

  // admit → queue: a new sample is queued; a re-send gets the id it had. `job` needs no id.
  // Errors: those of Table::submit.
  base::Result<futures::Admitted> submit(futures::Submission submission, forward::Job job);
  // Ends a live sample and frees its place upstream; nothing when it is unknown or ended.
  void cancel(base::SampleId id);

  // A poll for many samples, of any worker, has something to be told.
  void wake(futures::WaiterId poll);

  forward::ForwardCounts counts() const { return forwarder_.counts(); }
  forward::ForwardLimits limits() const;

 private:
  // `job` is of the sample that was just admitted.
  void carry_out(const futures::Effects& effects, forward::Job job = {});
  void withdraw(base::SampleId id);
  void ended(base::SampleId id, forward::Outcome outcome);
  forward::ForwardHooks hooks();

  loop::EventLoop& loop_;
  const std::uint32_t worker_;
  Shared& shared_;
  Crew& crew_;
  Retrieval& retrieval_;
  forward::Forwarder forwarder_;
};

}  // namespace tinker::api
