// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "http/client_connection.h"
#include "loop/event_loop.h"
#include "tinker-load/histogram.h"

namespace tinker::load {

// Asks a server for GET /api/v1/healthz every 100 ms, on a connection of its own. Lives in a process that does nothing else, so
// that it measures the server and not the client.
//
// Thread    the loop's.
class HealthProbe {
 public:
  HealthProbe(loop::EventLoop& loop, const http::SocketAddress& server);
  ~HealthProbe();

  const Histogram& times() const { return times_; }
  std::uint64_t failed() const { return failed_; }  // probes without a 200

 private:
  void ask();

  loop::EventLoop& loop_;
  const http::SocketAddress server_;
  loop::Timer timer_;
  std::unique_ptr<http::ClientConnection> connection_;
  Histogram times_;
  std::uint64_t failed_ = 0;
};

}  // namespace tinker::load
