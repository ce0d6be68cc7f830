// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

#include "loop/mailbox.h"

namespace tinker::loop {

// A thread for what may wait for a file and so has no place on a loop: an operator's look into the database.
//
// Owned by  Daemon; must go before the loops that its tasks post to.
// Thread    run() from any; tasks run one at a time on the thread `aside`.
class Aside {
 public:
  Aside();
  // Runs what was asked for, then ends the thread.
  ~Aside();

  // False when 64 tasks wait already.
  bool run(std::function<void()> task);

 private:
  Mailbox<std::function<void()>> tasks_{64};
  std::thread thread_;
};

}  // namespace tinker::loop
