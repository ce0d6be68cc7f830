// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/clock.h"
#include "base/deadline_list.h"
#include "base/ids.h"
#include "futures/sample.h"
#include "futures/state.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tinker::futures {

// Where samples come from and go to. Thousands of samples share one, so a stripe keeps each once and its entries point to it.
struct Origin {
  base::SamplingSessionId sampling_session;
  base::TenantId tenant;
  base::SessionId session;
  std::string model;
  auto operator<=>(const Origin&) const = default;
};

// How many entries have an origin; it is dropped with the last.
struct Use {
  std::uint32_t held = 0;
  std::uint32_t live = 0;
};
using Origins = std::map<Origin, Use>;

// One accepted sample. 131,072 of them are a normal load, so each byte here counts: futures_test prints the cost of an entry.
//
// Owned by  its stripe, under the stripe's lock.
struct Entry : base::DeadlineList<Entry>::Hook {
  Entry(base::SampleId its_id, Origins::iterator its_origin) : id(its_id), origin(its_origin) {}

  const base::SampleId id;
  const Origins::iterator origin;
  std::optional<std::int64_t> seq_id;
  std::uint64_t content_hash = 0;

  base::Monotonic accepted{};
  base::Monotonic started{};    // first sent upstream; counts when attempts > 0
  base::Monotonic ended{};      // counts when not live
  base::Monotonic polled{};     // last poll; counts when polls > 0
  base::Monotonic delivered{};  // last delivery; counts when deliveries > 0
  base::Monotonic confirmed{};  // counts when confirmed

  base::SharedBytes bytes;                 // the upstream's body while live, the result once completed
  std::shared_ptr<const Failure> failure;  // once failed
  std::vector<WaiterId> waiters;           // polls that found this entry and have not ended

  std::uint32_t num_samples = 1;
  std::uint32_t attempts = 0;
  std::uint32_t duplicates = 0;
  std::uint32_t polls = 0;
  std::uint32_t deliveries = 0;
  State state = State::queued;
  bool acknowledged = false;  // the client has the outcome: evicted when the last waiter ends
};

}  // namespace tinker::futures
