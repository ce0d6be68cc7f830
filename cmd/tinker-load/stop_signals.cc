// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/stop_signals.h"

#include <event2/event.h>

#include <csignal>

namespace tinker::load {

StopSignals::StopSignals(loop::EventLoop& loop) : loop_(loop) {
  for (const int signal : {SIGINT, SIGTERM}) {
    events_.emplace_back(evsignal_new(
        loop.base(), signal,
        [](evutil_socket_t, short, void* self) {
          auto& signals = *static_cast<StopSignals*>(self);
          signals.stopped_ = true;
          signals.loop_.stop();
        },
        this));
    event_add(events_.back().get(), nullptr);
  }
}

StopSignals::~StopSignals() = default;

}  // namespace tinker::load
