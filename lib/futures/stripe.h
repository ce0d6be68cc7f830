// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "futures/entry.h"
#include "futures/expiry.h"
#include "futures/inspect.h"
#include "futures/sample.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace tinker::futures {

// One share of the table: its entries by id and by key, its clocks and its sums.
//
// Owned by  Table.
// Thread    any, holding `mutex`, which guards all members. Nothing is called under it that could block or take another lock.
struct alignas(64) Stripe {
  using Entries = std::unordered_map<std::int64_t, Entry>;

  mutable std::mutex mutex;
  std::int64_t last_serial = 0;
  Entries entries;
  std::unordered_multimap<std::uint64_t, Entry*> by_key;  // by key_hash
  Origins origins;
  Expiry expiry;                   // of ended entries
  base::DeadlineList<Entry> live;  // the others, in the order in which they were accepted
  Totals totals;

  Entry* find(base::SampleId id);
  const Entry* find(base::SampleId id) const;
  // The entry that was admitted under the submission's key, or nullptr. Precondition: has_key(submission).
  Entry* find(const Submission& submission, std::uint64_t key_hash);

  // Precondition: no entry has the id or the key.
  Entry& insert(base::SampleId id, Submission submission, base::Monotonic now);
  // Moves the entry to the state after `event`, in the sums too; false when the event means nothing in its state.
  bool move(Entry& entry, Event event);
  // Lets `waiter` in, which stops the clock; nothing changes when it is in.
  void join(Entry& entry, WaiterId waiter, base::Monotonic now);
  // Lets `waiter` go; false when it is not in.
  bool part(Entry& entry, WaiterId waiter);
  // What becomes of an entry whose waiter ended: its clock starts with the last one, or it is taken out as below when it is
  // acknowledged. Nothing, an empty node, while it is live or has other waiters.
  Entries::node_type rest(Entry& entry, base::Monotonic now);
  // Takes an ended entry out of everything. The caller lets the node go after the lock, for its bytes may be many.
  Entries::node_type take_out(Entry& entry);
};

// A sample with a sampling session and a seq_id has a key (with its tenant): a re-send is known by it.
bool has_key(const Submission& submission);
std::uint64_t key_hash(const base::TenantId& tenant, const base::SamplingSessionId& sampling_session, std::int64_t seq_id);

}  // namespace tinker::futures
