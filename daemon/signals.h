// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "loop/event_loop.h"

namespace tinker::daemon {

// Runs functions on a loop when the process gets a signal. One object a process. Thread: the loop's.
class Signals {
 public:
  Signals(loop::EventLoop& loop, std::function<void()> stop, std::function<void()> reopen_log);
  ~Signals();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tinker::daemon
