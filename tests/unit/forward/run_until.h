// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <event2/event.h>

#include <chrono>
#include <functional>

#include "loop/event_loop.h"

namespace tinker::forward {

// Turns the loop on this thread until `reached`; false when that takes longer than 20 s.
inline bool run_until(loop::EventLoop& loop, const std::function<bool()>& reached) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  loop::Timer look(loop, [] {});
  while (!reached()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    look.after(base::Seconds{0.002});
    event_base_loop(loop.base(), EVLOOP_ONCE);
  }
  return true;
}

}  // namespace tinker::forward
