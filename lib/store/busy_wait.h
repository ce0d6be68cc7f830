// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace tinker::store {

// How long a connection waits for a database that another process has locked: up to a deadline, and no longer than a stop
// allows. Real time and not a Clock, for it is another process that is waited for.
//
// Owned by  whoever owns the connection. Thread: the connection's; stop_by() may be called from any.
class BusyWait {
 public:
  using Time = base::Monotonic;

  explicit BusyWait(base::Seconds limit) : limit_(limit) {}

  base::Seconds limit() const { return limit_; }
  // A deadline for what began to wait at `since`.
  Time deadline(Time since) const { return since + std::chrono::duration_cast<Time::duration>(limit_); }

  // From here on statements wait until `deadline`. Without it each waits for `limit` from its first refusal.
  void wait_until(Time deadline);

  // Nothing waits beyond `deadline` any more; who waits at this moment is told.
  void stop_by(Time deadline);
  bool stopping() const;

  // SQLite's busy handler: waits a little, longer with each `attempt`; false when the time is over.
  bool pause(int attempt);

 private:
  const base::Seconds limit_;
  Time deadline_ = Time::max();  // connection's thread only
  bool deadline_given_ = false;  // connection's thread only

  mutable std::mutex mutex_;  // guards stop_; nothing is called while it is held
  std::condition_variable stopped_;
  Time stop_ = Time::max();
};

}  // namespace tinker::store
