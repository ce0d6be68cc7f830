// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loop/event_loop.h"

namespace tinker::load {

// SIGINT and SIGTERM stop the loop. One object at a time; earlier handlers are back at its end. Thread: the loop's.
class StopSignals {
 public:
  explicit StopSignals(loop::EventLoop& loop);
  ~StopSignals();

  bool stopped() const { return stopped_; }

 private:
  loop::EventLoop& loop_;
  bool stopped_ = false;
  std::vector<loop::EventPtr> events_;
};

}  // namespace tinker::load
