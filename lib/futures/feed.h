// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/ids.h"
#include "futures/sample.h"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tinker::futures {

// Whose samples: one client's of a sampling session, of which each clone is a client of its own (wire.md §3.2, §5.6).
struct FeedKey {
  base::TenantId tenant;
  base::SamplingSessionId sampling_session;
  std::int64_t clone = 0;
  auto operator<=>(const FeedKey&) const = default;
};
inline constexpr std::int64_t kSeqIdsOfClone = 1'000'000'000;
inline std::int64_t clone_of(std::optional<std::int64_t> seq_id) { return seq_id.value_or(0) / kSeqIdsOfClone; }

// A sample that ended, as its client is told of it.
struct Completion {
  base::SampleId id;
  std::optional<std::size_t> result_bytes;  // nullopt: it failed
  auto operator<=>(const Completion&) const = default;
};

// What clients that poll retrieve_futures are still to be told: a feed each, the samples that ended under growing cursors.
//
// Pure: no I/O, no clock of its own. Invariants: a client that polls with the cursor of its last answer was told of all that a
// lower cursor stands for, so that is forgotten; what stands above is told at each poll until then, or until it is
// acknowledged. No cursor is given twice, by no feed, so a feed that was dropped and opened again cannot be mistaken for the
// earlier one. A cursor that was never given, or by another run, loses nothing: what is still to be told moves above it.
//
// Thread    any; a mutex, and no lock is taken under it.
class Feeds {
 public:
  struct Answer {
    std::vector<Completion> completions;
    std::int64_t cursor = 0;  // as polled, when there are none
  };

  // The SDK fetches at once what one answer tells, a connection each: with 512 in an answer it opened 360 for 5,000 samples
  // that ended together, with 4,096 it was 1,100, in the same time.
  static constexpr std::size_t kMostInAnswer = 512;
  // Without a poll for so long a feed is dropped: when there is something to tell, only when the SDK has given up by itself.
  static constexpr base::Seconds kIdle{300};
  static constexpr base::Seconds kGivenUp{7200};

  // Cursors are given above `first_cursor` (numbers.h): above those of earlier runs.
  explicit Feeds(std::int64_t first_cursor);
  ~Feeds();
  Feeds(const Feeds&) = delete;
  Feeds& operator=(const Feeds&) = delete;

  // Opens the feed; nothing when it is open. True when it was not: then the caller adds the samples that have ended
  // (Table::undelivered). What ends from now on is added as it ends, so that nothing falls between.
  bool open(const FeedKey& key, std::int64_t prev_cursor, base::Monotonic now);
  // The samples ended. Nothing when the feed is not open, and for those that are in it. The poll to wake, once until it reads.
  std::optional<WaiterId> add(const FeedKey& key, std::span<const Completion> completions);

  // `waiter` polls from now on, until leave(). Returns the poll that it takes the place of, whose read() now finds nullopt.
  std::optional<WaiterId> join(const FeedKey& key, WaiterId waiter, base::Monotonic now);
  // What to tell the waiter; at most kMostInAnswer. Nullopt when it is not (any more) the one that polls.
  std::optional<Answer> read(const FeedKey& key, WaiterId waiter, std::int64_t prev_cursor);
  void leave(const FeedKey& key, WaiterId waiter, base::Monotonic now);

  // The client has the outcomes of these samples; unknown ones are passed over.
  void acknowledge(const FeedKey& key, std::span<const base::SampleId> ids);

  // Drops the feeds that nobody polls any more; a later poll opens them again. Returns how many are left.
  std::size_t drop_idle(base::Monotonic now);

 private:
  struct Feed;
  struct Hash {
    std::size_t operator()(const FeedKey& key) const;
  };
  Feed* find(const FeedKey& key);

  std::atomic<std::size_t> open_{0};  // feeds_.size(), for add() without the lock

  std::mutex mutex_;  // guards the rest
  std::int64_t last_cursor_;
  std::unordered_map<FeedKey, Feed, Hash> feeds_;
};

}  // namespace tinker::futures
