// SPDX-License-Identifier: Apache-2.0
#include "store/busy_wait.h"

#include <algorithm>
#include <iterator>

namespace tinker::store {
namespace {

using std::chrono::milliseconds;
// SQLite has no queue of those who wait for a lock: short pauses are what gives us a turn beside a busy engine.
constexpr milliseconds kPauses[] = {milliseconds{1}, milliseconds{2}, milliseconds{5}, milliseconds{10}, milliseconds{20}};

}  // namespace

void BusyWait::wait_until(Time deadline) {
  deadline_ = deadline;
  deadline_given_ = true;
}

void BusyWait::stop_by(Time deadline) {
  {
    std::lock_guard lock(mutex_);
    stop_ = deadline;
  }
  stopped_.notify_all();
}

bool BusyWait::stopping() const {
  std::lock_guard lock(mutex_);
  return stop_ != Time::max();
}

bool BusyWait::pause(int attempt) {
  const Time now = Time::clock::now();
  if (attempt == 0 && !deadline_given_) deadline_ = deadline(now);
  std::unique_lock lock(mutex_);
  const Time end = std::min(deadline_, stop_);
  if (now >= end) return false;
  const auto step = kPauses[std::min<std::size_t>(attempt, std::size(kPauses) - 1)];
  stopped_.wait_until(lock, std::min(now + step, end));
  return true;
}

}  // namespace tinker::store
