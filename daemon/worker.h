// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <thread>

#include "api/api.h"
#include "base/error.h"
#include "control/house.h"
#include "forward/upstreams.h"
#include "http/server.h"
#include "loop/event_loop.h"

namespace tinker::daemon {

// One event loop with its file table, its listener, its connections, its polls and its share of the upstream pool.
//
// All workers' loops are made before the first of them starts, and each starts before anything else is opened: a file table
// is a copy of what was open then, and has the wake-up descriptor of every loop (design.md §3).
//
// Owned by  Daemon.
// Thread    its methods are main's, but for what hangs on its loop: that is made, used and destroyed by its own thread, in
// whose
//           file table its descriptors are.
class Worker {
 public:
  // All workers pass `loops_ended` when their loops have ended: until then the others may post here.
  Worker(std::uint32_t number, std::latch& loops_ended);
  ~Worker();

  // Starts the thread; returns once it has its file table. False when it shares that of the process.
  bool start();
  // Makes the API. `shared`, `crew` and `upstreams` outlive the thread.
  void make_api(api::Shared& shared, api::Crew& crew, forward::Upstreams& upstreams);
  // Opens the listener and serves. Errors: those of http::Server::listen.
  base::Result<void> listen(const http::ListenAddress& address, std::function<void(const http::Exchange&)> finished);
  std::uint16_t port() const { return server_->port(); }

  // Stops accepting and answers every waiting poll 408, then ends the loop when the answers have left, at the latest after
  // `patience` (design.md §9).
  void stop(base::Seconds patience);
  // Ends the loop as it is.
  void stop_now() { loop_.stop(); }
  // Waits for the thread's end; all workers must have been stopped.
  void join();

  // How the control room sees this worker.
  control::WorkerDoor door();

 private:
  void run();
  // Runs `task` on the worker's thread, and waits for its end.
  void call(const std::function<void()>& task);
  void finish_when_quiet();

  const std::uint32_t number_;
  std::latch& loops_ended_;
  loop::EventLoop loop_;
  loop::Timer quiet_timer_;
  base::Monotonic quiet_deadline_{};
  const base::Clock* clock_ = nullptr;
  std::optional<api::Api> api_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

}  // namespace tinker::daemon
