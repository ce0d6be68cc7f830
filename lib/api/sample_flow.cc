// SPDX-License-Identifier: Apache-2.0
#include "api/sample_flow.h"

#include <utility>

#include "api/api.h"
#include "base/overloaded.h"

namespace tinker::api {
namespace {

futures::Category category_of(forward::Blame blame) {
  switch (blame) {
    case forward::Blame::user:
      return futures::Category::user;
    case forward::Blame::server:
      return futures::Category::server;
  }
  __builtin_unreachable();
}

}  // namespace

SampleFlow::SampleFlow(loop::EventLoop& loop, std::uint32_t worker, Shared& shared, Crew& crew, Retrieval& retrieval,
                       forward::Upstreams& upstreams)
    : loop_(loop),
      worker_(worker),
      shared_(shared),
      crew_(crew),
      retrieval_(retrieval),
      forwarder_(loop, shared.clock, upstreams, shared.jobs, hooks()) {
  crew_[worker] = this;
}

base::Result<futures::Admitted> SampleFlow::submit(futures::Submission submission, forward::Job job) {
  futures::Effects effects;
  auto admitted = shared_.table.submit(std::move(submission), shared_.clock.now(), effects);
  if (!admitted) {
    shared_.metrics.samples_refused.add();
    return admitted;
  }
  job.id = admitted->id;
  carry_out(effects, std::move(job));
  return admitted;
}

void SampleFlow::cancel(base::SampleId id) {
  futures::Effects effects;
  if (shared_.table.cancel(id, shared_.clock.now(), effects)) shared_.metrics.samples_cancelled.add();
  carry_out(effects);
}

void SampleFlow::carry_out(const futures::Effects& effects, forward::Job job) {
  for (const futures::Effect& effect : effects) {
    std::visit(base::overloaded{
                   [&](const futures::Forward&) { forwarder_.push(std::move(job)); },
                   [&](const futures::Deliver& deliver) { crew_[deliver.waiter.worker]->retrieval_.wake(deliver.waiter); },
                   [&](const futures::Report& report) {
                     if (const auto poll = shared_.feeds.add(report.feed, {&report.completion, 1})) wake(*poll);
                   },
                   [&](const futures::Withdraw& withdraw) {
                     for (SampleFlow* flow : crew_) flow->withdraw(withdraw.id);
                   },
               },
               effect);
  }
}

void SampleFlow::wake(futures::WaiterId poll) { crew_[poll.worker]->retrieval_.feeds().wake(poll); }

// The job may be any worker's: each looks for it on its own thread.
void SampleFlow::withdraw(base::SampleId id) {
  if (!loop_.here()) return loop_.post([this, id] { withdraw(id); });
  forwarder_.withdraw(id);
}

void SampleFlow::ended(base::SampleId id, forward::Outcome outcome) {
  futures::Effects effects;
  const base::Monotonic now = shared_.clock.now();
  std::optional<futures::Course> course;
  if (outcome) {
    shared_.metrics.tokens_sampled.add(outcome->tokens);
    course = shared_.table.complete(id, std::move(outcome->sample_response), now, effects);
  } else {
    course = shared_.table.fail(id, {category_of(outcome.error().blame), std::move(outcome.error().text)}, now, effects);
  }
  if (course) {
    shared_.metrics.queue.add(course->queued);
    shared_.metrics.upstream.add(course->upstream);
  }
  carry_out(effects);
}

forward::ForwardHooks SampleFlow::hooks() {
  return {
      .start = [this](base::SampleId id) { return shared_.table.start(id, shared_.clock.now()); },
      .done = [this](base::SampleId id, forward::Outcome outcome) { ended(id, std::move(outcome)); },
      .limits = [this] { return limits(); },
  };
}

// This worker's share of the pool: the first workers take what does not divide.
forward::ForwardLimits SampleFlow::limits() const {
  const config::Settings& settings = shared_.settings;
  const auto most = static_cast<std::size_t>(settings.forwarding_inference_max_connections.get());
  return {.max_connections = (most + crew_.size() - 1 - worker_) / crew_.size(),
          .connect = settings.forwarding_connect_timeout_sec.get(),
          .read = settings.forwarding_inference_timeout_sec.get(),
          .idle = settings.upstream_idle_sec.get()};
}

}  // namespace tinker::api
