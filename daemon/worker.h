// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "api/api.h"
#include "base/error.h"
#include "control/house.h"
#include "forward/upstreams.h"
#include "http/server.h"
#include "loop/event_loop.h"

namespace tinker::daemon {

// One event loop with its listener, its connections, its polls and its share of the upstream pool.
//
// Owned by  Daemon, from start to stop.
// Thread    constructed and destroyed by main while its thread does not run; start() and stop() by main; the rest is its own.
class Worker {
 public:
  // Errors: those of http::Server::listen.
  static base::Result<std::unique_ptr<Worker>> make(std::uint32_t number, api::Shared& shared, api::Crew& crew,
                                                    forward::Upstreams& upstreams, const http::ListenAddress& address,
                                                    std::function<void(const http::Exchange&)> finished);
  Worker(std::uint32_t number, api::Shared& shared, api::Crew& crew, forward::Upstreams& upstreams);
  ~Worker();

  void start();
  // Stops accepting and answers every waiting poll 408, then ends the thread when the answers have left, at the latest after
  // `patience` (design.md §9).
  void stop(base::Seconds patience);
  // Waits for the thread's end.
  void join();

  std::uint16_t port() const { return server_->port(); }
  // How the control room sees this worker.
  control::WorkerDoor door();

 private:
  void finish_when_quiet(base::Monotonic deadline);

  api::Shared& shared_;
  loop::EventLoop loop_;
  api::Api api_;
  std::unique_ptr<http::Server> server_;
  loop::Timer quiet_timer_;
  base::Monotonic quiet_deadline_{};
  std::thread thread_;
};

}  // namespace tinker::daemon
