// SPDX-License-Identifier: Apache-2.0
#include "daemon/signals.h"

#include <event2/event.h>

#include <csignal>
#include <utility>
#include <vector>

namespace tinker::daemon {

struct Signals::Impl {
  std::function<void()> stop;
  std::function<void()> reopen_log;
  std::vector<loop::EventPtr> events;

  void watch(loop::EventLoop& loop, int signal, event_callback_fn run) {
    events.emplace_back(evsignal_new(loop.base(), signal, run, this));
    event_add(events.back().get(), nullptr);
  }
};

Signals::Signals(loop::EventLoop& loop, std::function<void()> stop, std::function<void()> reopen_log)
    : impl_(new Impl{std::move(stop), std::move(reopen_log), {}}) {
  const auto stop_now = [](evutil_socket_t, short, void* self) { static_cast<Impl*>(self)->stop(); };
  impl_->watch(loop, SIGTERM, stop_now);
  impl_->watch(loop, SIGINT, stop_now);
  impl_->watch(loop, SIGUSR1, [](evutil_socket_t, short, void* self) { static_cast<Impl*>(self)->reopen_log(); });
}

Signals::~Signals() = default;

}  // namespace tinker::daemon
