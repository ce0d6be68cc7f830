// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "loop/event_loop.h"

namespace tinker::test {

// An event loop on a thread of its own. What lives on the loop is made, used and destroyed through call().
class LoopThread {
 public:
  explicit LoopThread(std::string name = "test") : loop_(std::move(name)), thread_([this] { loop_.run(); }) {}
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }

  loop::EventLoop& loop() { return loop_; }

  // Runs `work` on the loop's thread and returns what it returns.
  template <class Work>
  auto call(Work work) {
    using Returned = std::invoke_result_t<Work>;
    std::packaged_task<Returned()> task(std::move(work));
    auto done = task.get_future();
    loop_.post([&task] { task(); });
    return done.get();
  }

 private:
  loop::EventLoop loop_;
  std::thread thread_;
};

// A value that a loop's thread changes and a test waits for.
template <class T>
class Watched {
 public:
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change(value_);
    changed_.notify_all();  // under the lock: the waiter may destroy this as soon as it is gone
  }

  T get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  // Waits until `good(value)`; false when that has not come within `patience`.
  template <class Good>
  bool wait_for(Good good, std::chrono::milliseconds patience = std::chrono::seconds(20)) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return good(value_); });
  }

 private:
  mutable std::mutex mutex_;  // guards value_
  mutable std::condition_variable changed_;
  T value_{};
};

}  // namespace tinker::test
