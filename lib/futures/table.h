// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "futures/admission.h"
#include "futures/expiry.h"
#include "futures/feed.h"
#include "futures/inspect.h"
#include "futures/sample.h"
#include "futures/state.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace tinker::futures {

struct Stripe;

struct Admitted {
  base::SampleId id;
  bool duplicate = false;  // a re-send: this sample was admitted before
};

// What a poll finds.
struct Pending {
  State state;
};
struct Ready {
  base::SharedBytes sample_response;
};
struct Failed {
  Failure failure;
};
struct Gone {};  // evicted or never here: 410, the SDK submits again (wire.md §5.3)
using Found = std::variant<Pending, Ready, Failed, Gone>;

// What is to be done, after the lock is gone. A later step adds Journal here (style.md §3).
struct Forward {
  base::SampleId id;
};  // queue it
struct Deliver {
  WaiterId waiter;
  base::SampleId id;
};  // poll again on behalf of this waiter: it finds Ready or Failed
struct Withdraw {
  base::SampleId id;
};  // take it out of the queue, or close its upstream request
struct Report {
  FeedKey feed;
  Completion completion;
};  // tell the feed, if its client polls for many
using Effect = std::variant<Forward, Deliver, Withdraw, Report>;
using Effects = std::vector<Effect>;

// Where the time of a sample went.
struct Course {
  base::Seconds queued{};    // from its admission until it was first sent upstream, or ended
  base::Seconds upstream{};  // from then until it ended
};

// The samples that were accepted and not yet forgotten: queued → in_flight → completed | failed → delivered → confirmed →
// evicted.
//
// Pure: events and a time in, effects out; no I/O, no clock of its own. So the simulation drives the very code that runs.
// Invariants: each admitted sample ends in exactly one outcome, the first; one that is live or has a waiter is never evicted
// (cases.md S1); a delivery is proven only by its last byte.
//
// Waiters. A poll that found anything but Gone is a waiter of the sample, and ends by exactly one of delivered() and leave().
// Until then it stops the sample's clock, whether it waits for the outcome or is writing it; and when the sample ends, it gets
// one Deliver. The last to end starts the clock anew. So a result whose poll was abandoned waits its full time for the retry
// (cases.md C1), and a slow reader never loses what it reads.
//
// Effects are appended; whoever called carries them out, also those that concern other workers.
//
// Thread    any; a mutex a stripe is held for pointer moves only, and no lock is taken under it.
class Table {
 public:
  // Ids start above `first_number` (numbers.h). `max_outstanding` bounds the samples that are queued or in flight.
  Table(std::int64_t first_number, std::size_t max_outstanding);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Admits a new sample (one Forward), or finds the one that a re-send means: same tenant, sampling session, seq_id and
  // content, in whatever state it is, for as long as it is held (cases.md C2). A re-send is never refused for want of room or
  // because of a drain.
  // Errors: invalid_argument (same key, other content: 400 naming seq_id; never 409, which the SDK repeats), exhausted
  // (max_outstanding, or draining).
  base::Result<Admitted> submit(Submission submission, base::Monotonic now, Effects& effects);

  // The sample's turn upstream: its body, and it is in flight; nullopt once it ended. Each call counts as an attempt.
  std::optional<base::SharedBytes> start(base::SampleId id, base::Monotonic now);
  // An attempt came to nothing, and the sample waits for its turn again.
  void requeue(base::SampleId id);

  // The outcome, with a Deliver for each waiter, and a Report of a sample of a sampling session. Nullopt when the sample had
  // ended: the first outcome stands.
  std::optional<Course> complete(base::SampleId id, base::SharedBytes sample_response, base::Monotonic now, Effects& effects);
  std::optional<Course> fail(base::SampleId id, Failure failure, base::Monotonic now, Effects& effects);
  // Fails a live sample with category user, and asks for its Withdraw. False when it had ended or is unknown.
  bool cancel(base::SampleId id, base::Monotonic now, Effects& effects);

  // Makes `waiter` a waiter of the sample, unless it is Gone. Again for the same waiter: only looks.
  Found poll(base::SampleId id, WaiterId waiter, base::Monotonic now);
  // The waiter ends without proof that its client has the outcome: it hung up, or was answered 408 or with metadata only.
  // Nothing when it is no waiter.
  void leave(base::SampleId id, WaiterId waiter, base::Monotonic now);
  // The waiter ends, and the last byte of its answer left a live connection. How long the outcome lay unread, when this is the
  // first delivery of the sample. Nothing when it is no waiter; as leave() while the sample is live.
  std::optional<base::Seconds> delivered(base::SampleId id, WaiterId waiter, base::Monotonic now);
  // The client that was delivered to was seen to have read it: its connection sent the next request. The clock goes on.
  void confirmed(base::SampleId id, base::Monotonic now);

  // The client of the sample has its outcome and says so: evicts it at once, or when its last waiter ends. False when it is
  // unknown, live, or of another tenant or sampling session.
  bool acknowledge(base::SampleId id, const base::TenantId& tenant, const base::SamplingSessionId& sampling_session);
  // The samples of a feed that ended and that nobody has read yet: what a feed that is opened has missed. A walk over the
  // table.
  std::vector<Completion> undelivered(const FeedKey& feed) const;

  // Evicts what is due. Call about once a second; costs a lock a stripe and what it evicts. Returns how many.
  std::size_t expire(base::Monotonic now, const Clocks& clocks);

  // Live, and hold for the next submit().
  void set_max_outstanding(std::size_t max) { admission_.set_max_outstanding(max); }
  void set_draining(bool draining) { admission_.set_draining(draining); }
  bool draining() const { return admission_.draining(); }
  std::size_t outstanding() const { return admission_.outstanding(); }

  // For operators and metrics (inspect.h).
  std::optional<State> state(base::SampleId id) const;
  Totals totals() const;
  base::Seconds oldest_live(base::Monotonic now) const;  // its age; zero when none is live
  Census census(base::Monotonic now) const;              // walks over all samples
  Listing list(const Filter& filter, base::Monotonic now) const;
  std::optional<Record> show(base::SampleId id, base::Monotonic now) const;

 private:
  Stripe& stripe_for(const Submission& submission, std::uint64_t key_hash);
  std::optional<Course> end(base::SampleId id, base::SharedBytes result, std::shared_ptr<const Failure> failure,
                            base::Monotonic now, Effects& effects);

  const std::int64_t first_number_;
  const std::unique_ptr<Stripe[]> stripes_;
  std::atomic<std::size_t> next_stripe_{0};  // for samples without a key, round robin
  Admission admission_;
};

}  // namespace tinker::futures
