// SPDX-License-Identifier: Apache-2.0
#include "api/sample_flow.h"

#include <algorithm>
#include <utility>

#include "api/api.h"
#include "base/overloaded.h"

namespace tinker::api {

SampleFlow::SampleFlow(loop::EventLoop& loop, std::uint32_t worker, Shared& shared, Crew& crew, Retrieval& retrieval,
                       forward::Upstreams& upstreams)
    : loop_(loop), shared_(shared), crew_(crew), retrieval_(retrieval), forwarder_(loop, shared.clock, upstreams, hooks()) {
  if (crew_.size() <= worker) crew_.resize(worker + 1);
  crew_[worker] = this;
}

base::Result<futures::Admitted> SampleFlow::submit(futures::Submission submission, forward::Job job) {
  if (shared_.draining) {
    return base::fail(base::Code::exhausted,
                      "the server is draining and takes no new samples; they are taken again after a resume or restart");
  }
  futures::Effects effects;
  auto admitted = shared_.table.submit(std::move(submission), shared_.clock.now(), effects);
  if (!admitted) {
    shared_.metrics.samples_refused.add();
    return admitted;
  }
  (admitted->duplicate ? shared_.metrics.samples_duplicate : shared_.metrics.samples_accepted).add();
  for (const futures::Effect& effect : effects) {
    if (!std::holds_alternative<futures::Forward>(effect)) continue;
    job.id = admitted->id;
    forwarder_.push(std::move(job));
  }
  return admitted;
}

void SampleFlow::cancel(base::SampleId id) {
  futures::Effects effects;
  if (shared_.table.cancel(id, shared_.clock.now(), effects)) shared_.metrics.samples_cancelled.add();
  carry_out(effects);
}
