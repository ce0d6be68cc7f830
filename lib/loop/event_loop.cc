// SPDX-License-Identifier: Apache-2.0
#include "loop/event_loop.h"

#include <event2/event.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <system_error>

namespace tinker::loop {
namespace {

// How long, and over how many callbacks, upstream events run before the client side is looked at again.
constexpr timeval kMaxDispatch{.tv_sec = 0, .tv_usec = 2000};
constexpr int kMaxDispatchCallbacks = 16;

EventBasePtr make_base() {
  const EventConfigPtr config(event_config_new());
  if (!config) throw std::bad_alloc{};
  event_config_set_flag(config.get(), EVENT_BASE_FLAG_NOLOCK);
  event_config_set_max_dispatch_interval(config.get(), &kMaxDispatch, kMaxDispatchCallbacks,
                                         static_cast<int>(Priority::upstream));
  EventBasePtr base(event_base_new_with_config(config.get()));
  if (!base) throw std::runtime_error("cannot make an event loop: libevent found no usable backend");
  event_base_priority_init(base.get(), 2);
  return base;
}

}  // namespace

EventLoop::EventLoop(std::string name)
    : name_(std::move(name)), base_(make_base()), wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!wake_fd_.valid()) throw std::system_error(errno, std::generic_category(), "cannot open an eventfd");
  wake_event_.reset(event_new(
      base_.get(), wake_fd_.get(), EV_READ | EV_PERSIST,
      [](evutil_socket_t, short, void* self) { static_cast<EventLoop*>(self)->run_posted(); }, this));
  event_priority_set(wake_event_.get(), static_cast<int>(Priority::client));
  event_add(wake_event_.get(), nullptr);
}

EventLoop::~EventLoop() = default;

void EventLoop::run() {
  thread_ = std::this_thread::get_id();
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  while (!stopping_) {
    if (event_base_loop(base_.get(), EVLOOP_NO_EXIT_ON_EMPTY) < 0) break;
  }
  stopping_ = false;
  run_posted();
}

void EventLoop::stop() {
  post([this] {
    stopping_ = true;
    event_base_loopbreak(base_.get());
  });
}

void EventLoop::post(Task task) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  if (first) wake();
}

bool EventLoop::here() const {
  const std::thread::id thread = thread_;
  return thread == std::thread::id{} || thread == std::this_thread::get_id();
}

void EventLoop::wake() {
  const std::uint64_t one = 1;
  // The counter cannot overflow: it is written once a batch and read before the batch is taken.
  [[maybe_unused]] const ssize_t written = write(wake_fd_.get(), &one, sizeof one);
}

void EventLoop::run_posted() {
  std::uint64_t count;
  [[maybe_unused]] const ssize_t got = read(wake_fd_.get(), &count, sizeof count);
  std::vector<Task> tasks;
  {
    std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (Task& task : tasks) task();
}

Timer::Timer(EventLoop& loop, std::function<void()> fire, Priority priority) : fire_(std::move(fire)) {
  event_.reset(evtimer_new(
      loop.base(), [](evutil_socket_t, short, void* self) { static_cast<Timer*>(self)->fire_(); }, this));
  event_priority_set(event_.get(), static_cast<int>(priority));
}

Timer::~Timer() = default;

void Timer::after(base::Seconds delay) {
  const auto us = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(delay).count());
  const timeval tv{.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
  event_add(event_.get(), &tv);
}

void Timer::cancel() { event_del(event_.get()); }

bool Timer::pending() const { return event_pending(event_.get(), EV_TIMEOUT, nullptr) != 0; }

}  // namespace tinker::loop
