// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "loop/handles.h"

namespace tinker::loop {

// Events of the client side run before upstream bodies: 2,000 results that arrive at once are seconds of decoding, and neither
// a poll nor healthz may wait behind them (design.md §3). A number is libevent's: lower runs first.
enum class Priority : int { client = 0, upstream = 1 };

// One thread, one event_base, and all that hangs on it.
//
// Owned by  whoever runs the thread: the daemon's workers, the harness.
// Thread    the one that calls run(). post() and stop() may be called from any; the rest belongs to that thread.
// Owns      the event_base, the wake-up descriptor and the tasks posted to it.
// Blocks    never: no file, name look-up or database call in a task.
class EventLoop {
 public:
  using Task = std::function<void()>;

  // `name` names the thread that runs it ("w0").
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until stop(). Tasks that were posted before stop() are still run.
  void run();
  void stop();

  // Runs `task` on the loop's thread, in the order of posting. Many posts before the loop wakes cost one wake-up.
  void post(Task task);

  // True on the thread that runs it or ran it last, and before run() was called.
  bool here() const;
  event_base* base() const { return base_.get(); }

 private:
  void wake();
  void run_posted();

  std::string name_;
  EventBasePtr base_;
  FileDescriptor wake_fd_;
  EventPtr wake_event_;
  std::atomic<std::thread::id> thread_{};
  bool stopping_ = false;  // loop's thread only

  std::mutex mutex_;  // guards posted_; nothing is called while it is held
  std::vector<Task> posted_;
};

// A timer of a loop that runs a function once each time it was set. Loop's thread.
class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> fire, Priority priority = Priority::client);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Fires after `delay`; a timer that is already set is set anew.
  void after(base::Seconds delay);
  void cancel();
  bool pending() const;

 private:
  std::function<void()> fire_;
  EventPtr event_;
};

}  // namespace tinker::loop
