// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/ids.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tinker::futures {

// The layout of a sample's number, a positive int64:
//
//     62          18 17       6 5      0
//     start, 45 bits | serial  | stripe
//
// start   milliseconds of the Unix epoch at which the daemon started; 45 bits last until the year 3084.
// serial  counts from 1 in each stripe. It carries into the start when it overflows: a stripe may give 4,096 ids for each
//         millisecond of the run, and the daemon 262,144, and still stay below the first id of any later run.
// stripe  of the table, so that an id alone finds its lock.
//
// So an id of an earlier run is never given again, unless the wall clock was set back between the runs; whoever remembers
// earlier ids starts above the largest of them instead.
inline constexpr int kStripeBits = 6;
inline constexpr std::size_t kStripes = std::size_t{1} << kStripeBits;
inline constexpr int kStartShift = 18;
inline constexpr std::int64_t kLastStart = (std::int64_t{1} << (63 - kStartShift)) - 1;

// The number above which a run that starts at `start` gives its ids.
inline std::int64_t first_number_of(base::Wall start) {
  const std::int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(start.time_since_epoch()).count();
  return std::clamp<std::int64_t>(ms, 0, kLastStart) << kStartShift;
}

inline std::size_t stripe_of(base::SampleId id) { return static_cast<std::uint64_t>(id.number) % kStripes; }

}  // namespace tinker::futures
