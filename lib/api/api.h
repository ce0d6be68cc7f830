// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "api/retrieve.h"
#include "api/sample_flow.h"
#include "api/samplers.h"
#include "base/clock.h"
#include "config/settings.h"
#include "forward/job_board.h"
#include "futures/feed.h"
#include "futures/numbers.h"
#include "futures/table.h"
#include "http/server.h"
#include "loop/event_loop.h"
#include "observe/metrics.h"
#include "store/tinker_db.h"

namespace tinker::api {

// What the workers share. Borrowed for their whole life.
struct Shared {
  config::Settings& settings;
  const base::Clock& clock;
  futures::Table& table;
  store::TinkerDb& db;
  observe::Metrics& metrics;
  forward::JobBoard& jobs;
  std::atomic<std::int64_t> client_counter;  // of join_sampling_session
  std::size_t files_per_worker = 1024;       // that may be open at once; each connection is one
  futures::Feeds feeds{futures::first_number_of(clock.wall())};
};

// One worker's side of the API: what its handlers reach.
//
// Owned by  a worker.
// Thread    its loop's.
class Api {
 public:
  Api(loop::EventLoop& loop, std::uint32_t worker, Shared& shared, Crew& crew, forward::Upstreams& upstreams);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Hooks for an http::Server whose requests this Api handles; `finished` is the caller's.
  http::ServerHooks server_hooks();
  // Clients that this worker may have connected at once.
  std::size_t connection_limit() const;

  loop::EventLoop& loop;
  Shared& shared;
  Samplers samplers;
  Retrieval retrieval;
  SampleFlow flow;
};

}  // namespace tinker::api
