// SPDX-License-Identifier: Apache-2.0
#include "futures/expiry.h"

#include "futures/entry.h"

#include <cassert>

namespace tinker::futures {
namespace {

// The hook's time is the start of the clock. Compared as seconds, since a length may be longer than the clock can count.
Entry* first_due(const base::DeadlineList<Entry>& list, base::Monotonic now, base::Seconds ttl) {
  Entry* first = list.first();
  if (first == nullptr || now - first->deadline < ttl) return nullptr;
  return first;
}

}  // namespace

void Expiry::start(Entry& entry, base::Monotonic now) {
  switch (entry.state) {
    case State::completed:
    case State::failed:
      return undelivered_.put(entry, now);
    case State::delivered:
    case State::confirmed:
      return delivered_.put(entry, now);
    case State::queued:
    case State::in_flight:
      assert(!"no clock runs for a live sample");
      return;
  }
}

void Expiry::stop(Entry& entry) { undelivered_.remove(entry); }  // from whichever list it is in

Entry* Expiry::due(base::Monotonic now, const Clocks& clocks) const {
  if (Entry* entry = first_due(undelivered_, now, clocks.completed_ttl)) return entry;
  return first_due(delivered_, now, clocks.retrieved_ttl);
}

}  // namespace tinker::futures
