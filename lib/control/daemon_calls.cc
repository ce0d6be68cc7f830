// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <string_view>

#include "control/server.h"
#include "observe/metrics.h"

namespace tinker::control {
namespace {

void add_counter(Status& status, std::string_view name, std::uint64_t value, std::string_view help) {
  Status::Counter& counter = *status.add_counters();
  counter.set_name(std::string(name));
  counter.set_value(static_cast<std::int64_t>(value));
  counter.set_help(std::string(help));
}

// Without a walk over the samples: programs that watch ask for the status all the time.
void set_samples(Status& status, const futures::Table& table, base::Monotonic now) {
  const futures::Totals totals = table.totals();
  Status::Samples& samples = *status.mutable_samples();
  const auto held = [&](futures::State state) { return static_cast<std::int64_t>(totals.held_in(state)); };
  samples.set_queued(held(futures::State::queued));
  samples.set_in_flight(held(futures::State::in_flight));
  samples.set_completed(held(futures::State::completed));
  samples.set_failed(held(futures::State::failed));
  samples.set_delivered(held(futures::State::delivered) + held(futures::State::confirmed));
  samples.set_request_bytes(static_cast<std::int64_t>(totals.request_bytes));
  samples.set_result_bytes(static_cast<std::int64_t>(totals.result_bytes));
  samples.set_oldest_live_sec(table.oldest_live(now).count());

  add_counter(status, "samples_accepted", totals.accepted, "asample requests that became a future");
  add_counter(status, "samples_duplicate", totals.duplicates, "asample requests sent again, answered with the future they had");
  add_counter(status, "samples_completed", totals.completed, "samples that ended with a result");
  add_counter(status, "samples_failed", totals.failed, "samples that ended with an explicit failure");
  add_counter(status, "samples_delivered", totals.delivered, "samples whose outcome left a live connection to its last byte");
  add_counter(status, "samples_evicted", totals.evicted, "outcomes forgotten after their time");
}

void set_workers(Status& status, const WorkerCounts& counts, std::size_t queued, std::int64_t max_connections) {
  Status::Upstream& upstream = *status.mutable_upstream();
  upstream.set_queued(static_cast<std::int64_t>(queued));
  upstream.set_in_flight(static_cast<std::int64_t>(counts.forward.in_flight));
  upstream.set_connections(static_cast<std::int64_t>(counts.forward.connections));
  upstream.set_idle(static_cast<std::int64_t>(counts.forward.idle));
  upstream.set_max_connections(max_connections);
  Status::Clients& clients = *status.mutable_clients();
  clients.set_connections(static_cast<std::int64_t>(counts.connections));
  clients.set_polls_waiting(static_cast<std::int64_t>(counts.polls_waiting));
  clients.set_accept_pauses(static_cast<std::int64_t>(counts.accept_pauses));
  clients.set_idle_shed(static_cast<std::int64_t>(counts.idle_shed));

  add_counter(status, "upstream_requests", counts.forward.requests, "requests sent upstream, second tries included");
  add_counter(status, "upstream_retries", counts.forward.retries, "second tries after a connect failure or a 5xx");
  add_counter(status, "upstream_reconnects", counts.forward.reconnects,
              "requests sent again because the upstream had closed an idle connection");
  add_counter(status, "upstream_aborts", counts.forward.aborts, "answers with finish_reason abort");
  add_counter(status, "upstream_failures", counts.forward.failures, "samples whose forwarding ended as a failure");
  add_counter(status, "logprobs_missing", counts.forward.logprobs_missing, "samples whose absent logprobs became zeros");
  add_counter(status, "upstream_bytes_out", counts.forward.bytes_out, "bytes sent upstream");
  add_counter(status, "upstream_bytes_in", counts.forward.bytes_in, "bytes of bodies received from upstream");
}

void set_metrics(Status& status, const observe::Metrics& metrics, std::uint64_t lines_dropped) {
  for (const observe::Counter* counter : metrics.counters)
    add_counter(status, counter->name(), counter->value(), counter->help());
  add_counter(status, "access_lines_dropped", lines_dropped, "access-log lines that the log could not take");
  for (const observe::Times* times : metrics.stages) {
    Status::Stage& stage = *status.add_stages();
    stage.set_name(std::string(times->name()) + ": " + std::string(times->help()));
    stage.set_count(static_cast<std::int64_t>(times->count()));
    stage.set_mean_sec(times->mean_sec());
    stage.set_p50_sec(times->percentile_sec(0.5));
    stage.set_p90_sec(times->percentile_sec(0.9));
    stage.set_p99_sec(times->percentile_sec(0.99));
  }
}

Status status_of(const House& house, const WorkerCounts& counts) {
  const base::Monotonic now = house.shared.clock.now();
  const config::Settings& settings = house.shared.settings;
  Status status;
  status.set_version(TINKER_VERSION);
  status.set_pid(getpid());
  status.set_uptime_sec(base::Seconds{now - house.started}.count());
  status.set_listening(house.listening);
  status.set_base_model(settings.base_model.get());
  status.set_draining(house.shared.table.draining());
  for (const std::string& url : house.upstreams.known()) status.add_upstreams(url);
  status.set_workers(static_cast<std::int64_t>(house.workers.size()));
  status.set_access_log(settings.access_log.get());
  status.set_state_dir(settings.state_dir.get());
  set_samples(status, house.shared.table, now);
  set_workers(status, counts, house.shared.jobs.size(), settings.forwarding_inference_max_connections.get());
  set_metrics(status, house.shared.metrics, house.access_lines_dropped());
  return status;
}

DrainState drain_state(const House& house) {
  DrainState state;
  state.set_draining(house.shared.table.draining());
  state.set_live_samples(static_cast<std::int64_t>(house.shared.table.outstanding()));
  return state;
}

}  // namespace

void add_daemon_calls(Dispatcher& dispatcher, House& house) {
  dispatcher.on<GetStatusRequest, Status>("GetStatus", [&house](const GetStatusRequest&, Dispatcher::Answer<Status> answer) {
    house.count([&house, answer](const WorkerCounts& counts) { answer(status_of(house, counts)); });
  });
  dispatcher.on<DrainRequest, DrainState>("Drain", [&house](const DrainRequest&, Dispatcher::Answer<DrainState> answer) {
    house.shared.table.set_draining(true);
    answer(drain_state(house));
  });
  dispatcher.on<ResumeRequest, DrainState>("Resume", [&house](const ResumeRequest&, Dispatcher::Answer<DrainState> answer) {
    house.shared.table.set_draining(false);
    answer(drain_state(house));
  });
  dispatcher.on<GetVersionRequest, Version>("GetVersion", [](const GetVersionRequest&, Dispatcher::Answer<Version> answer) {
    Version version;
    version.set_version(TINKER_VERSION);
    answer(std::move(version));
  });
}

}  // namespace tinker::control
