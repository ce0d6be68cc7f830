// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/api.h"
#include "base/clock.h"
#include "forward/forwarder.h"
#include "forward/upstreams.h"
#include "loop/aside.h"
#include "loop/event_loop.h"

namespace tinker::control {

// What one worker counts, read on its own thread.
struct WorkerCounts {
  forward::ForwardCounts forward;
  std::size_t connections = 0;
  std::size_t polls_waiting = 0;
  std::uint64_t accept_pauses = 0;
  std::uint64_t idle_shed = 0;
};

struct WorkerDoor {
  loop::EventLoop* loop;
  std::function<WorkerCounts()> counts;
};

// The daemon as the operator's calls see it. Borrowed from Daemon; outlives the control server.
struct House {
  loop::EventLoop& loop;  // the control server's own
  api::Shared& shared;
  forward::Upstreams& upstreams;
  std::vector<WorkerDoor> workers;
  std::string listening;  // "http://127.0.0.1:8000"
  base::Monotonic started;
  std::function<std::uint64_t()> access_lines_dropped;
  std::function<void()> settings_changed;  // live settings that are not read where they are used
  loop::Aside& aside;                      // for what may wait

  // Asks all workers and runs `done` on `loop` with the sum of what they count.
  void count(std::function<void(WorkerCounts)> done) const;
};

}  // namespace tinker::control
