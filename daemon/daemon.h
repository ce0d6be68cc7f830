// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "api/api.h"
#include "base/clock.h"
#include "base/error.h"
#include "config/settings.h"
#include "control/house.h"
#include "control/server.h"
#include "daemon/worker.h"
#include "forward/job_board.h"
#include "forward/upstreams.h"
#include "futures/table.h"
#include "loop/aside.h"
#include "loop/event_loop.h"
#include "observe/access_log.h"
#include "observe/metrics.h"
#include "store/tinker_db.h"

namespace tinker::daemon {

// tinkerd's wiring: builds the rooms, starts their threads, takes signals, and ends them in reverse.
//
// Owned by  main().
// Thread    main.
// Blocks    at the start and the end; in between its loop carries the control socket, the signals and the clocks' timer.
class Daemon {
 public:
  // Builds everything, opens the store and the listeners. Errors say what, where and what to do.
  static base::Result<std::unique_ptr<Daemon>> make(config::Settings& settings);
  ~Daemon();

  // Serves until SIGTERM or SIGINT, then answers all waiting polls and returns.
  void run();

 private:
  explicit Daemon(config::Settings& settings);
  base::Result<void> start_workers();
  base::Result<void> open_store();
  base::Result<void> find_upstreams();
  base::Result<void> open_control();
  base::Result<void> listen();
  void expire();
  void apply_settings();
  void log_exchange(const http::Exchange& exchange);

  config::Settings& settings_;
  base::SystemClock clock_;
  observe::Metrics metrics_;
  loop::EventLoop loop_;
  loop::Timer expiry_timer_;
  futures::Table table_;
  forward::JobBoard jobs_;
  std::size_t files_per_worker_ = 0;
  std::unique_ptr<observe::AccessLog> access_log_;
  std::unique_ptr<store::TinkerDb> db_;
  std::unique_ptr<forward::Upstreams> upstreams_;
  std::unique_ptr<api::Shared> shared_;
  api::Crew crew_;
  std::latch loops_ended_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<loop::Aside> aside_;
  std::unique_ptr<control::House> house_;
  std::unique_ptr<control::ControlServer> control_;
};

}  // namespace tinker::daemon
