// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/deadline_list.h"

namespace tinker::futures {

struct Entry;

// Lengths of the clocks (design.md §4).
struct Clocks {
  base::Seconds completed_ttl{3600};  // ended, not delivered, no poll that waits or reads
  base::Seconds retrieved_ttl{300};   // since the last proven delivery
};

// The two clocks of the entries of a stripe: an ordered list each, so that expiring costs what it evicts and never a scan.
//
// The lists are ordered by when a clock was started, not by when it ends: its length is compared when it is asked for, so a
// length that is changed live holds for all entries at once, and the order stays true.
//
// Owned by  a stripe, under its lock. Entries leave by themselves when they are destroyed.
class Expiry {
 public:
  // Starts the clock that the entry's state asks for; one that runs starts anew. Precondition: the entry has ended.
  void start(Entry& entry, base::Monotonic now);
  void stop(Entry& entry);
  // An entry whose clock has run out at `now`, else nullptr. The caller stops or destroys it before it asks again.
  Entry* due(base::Monotonic now, const Clocks& clocks) const;

 private:
  base::DeadlineList<Entry> undelivered_;
  base::DeadlineList<Entry> delivered_;
};

}  // namespace tinker::futures
