// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "futures/state.h"

namespace tinker::futures {

// A sample that asks to be admitted.
struct Submission {
  base::TenantId tenant;
  base::SessionId session;                   // of the training run; may be empty
  base::SamplingSessionId sampling_session;  // may be empty: then there is no dedup
  std::optional<std::int64_t> seq_id;
  std::uint64_t content_hash = 0;  // of the request's meaning; equal for a re-send
  std::string model;               // as the upstream names it
  std::uint32_t num_samples = 1;
  base::SharedBytes request;  // the upstream's body; let go when the sample ends
};

struct Admitted {
  base::SampleId id;
  bool duplicate = false;  // a re-send: this sample was admitted before
};

// Why a sample failed, as the client reads it (wire.md §5.2).
enum class Category { user, server, unknown };
struct Failure {
  Category category = Category::unknown;
  std::string text;
};

// A poll that waits, on which worker.
struct WaiterId {
  std::uint32_t worker = 0;
  std::uint64_t number = 0;
  auto operator<=>(const WaiterId&) const = default;
};

// What a poll finds.
struct Pending {
  State state;
};  // the waiter is registered
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
};  // poll again on behalf of this waiter: it finds Ready, Failed or Gone
struct Withdraw {
  base::SampleId id;
};  // take it out of the queue, or close its upstream request
using Effect = std::variant<Forward, Deliver, Withdraw>;
using Effects = std::vector<Effect>;

// Lengths of the clocks, live (design.md §4).
struct Clocks {
  base::Seconds completed_ttl{3600};  // completed, not delivered
  base::Seconds retrieved_ttl{300};   // since the last proven delivery
};

// The samples that were accepted and not yet forgotten: queued → in_flight → completed | failed → delivered → confirmed →
// evicted.
//
// Pure: events and a time in, effects out; no I/O, no clock of its own. So the simulation drives the very code that runs.
// Invariants: each admitted sample ends in exactly one outcome; a live one (queued, in flight, or with a waiter) is never
// evicted (cases.md S1); a delivery is proven only by its last byte.
//
// Thread    any; a mutex a stripe is held for pointer moves only. The stripe of an id is in its low bits.
class Table {
 public:
  // `first_number`: ids start above it; taken from the wall clock at start, so that ids never come back after a restart.
  Table(std::int64_t first_number, std::size_t max_outstanding);
  ~Table();

  // Errors: invalid_argument (same key, other content: 400 naming seq_id; never 409, which the SDK repeats), exhausted
  // (max_outstanding).
  base::Result<Admitted> submit(Submission submission, base::Monotonic now, Effects& effects);

  // The upstream's body of a queued or in-flight sample; nullopt once it ended. Marks it in flight / back in the queue.
  std::optional<base::SharedBytes> start(base::SampleId id, base::Monotonic now);
  void requeue(base::SampleId id, base::Monotonic now);
  void complete(base::SampleId id, base::SharedBytes sample_response, base::Monotonic now, const Clocks& clocks,
                Effects& effects);
  void fail(base::SampleId id, Failure failure, base::Monotonic now, const Clocks& clocks, Effects& effects);
  // Ends a live sample as failed with category user, "cancelled"; others are left alone. True if it was live.
  bool cancel(base::SampleId id, base::Monotonic now, const Clocks& clocks, Effects& effects);

  Found poll(base::SampleId id, WaiterId waiter, base::Monotonic now);
  // The waiter left, or was answered 408. Starts the clock again when it was the last.
  void leave(base::SampleId id, WaiterId waiter, base::Monotonic now, const Clocks& clocks);
  // The last byte of a result or failure left a live connection; then the client was seen to have read it.
  void delivered(base::SampleId id, base::Monotonic now, const Clocks& clocks);
  void confirmed(base::SampleId id, base::Monotonic now, const Clocks& clocks);

  // Evicts what is due. Call about once a second; costs what it evicts.
  std::size_t expire(base::Monotonic now);

 private:
  struct Stripe;
  std::vector<Stripe> stripes_;
};

}  // namespace tinker::futures
