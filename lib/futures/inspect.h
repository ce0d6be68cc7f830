// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/ids.h"
#include "futures/sample.h"
#include "futures/state.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the control room and the metrics ask of a table: copies, made a part of a stripe at a time, so that no sample waits for
// an operator. So they are not of one moment.
namespace tinker::futures {

struct Totals {
  // Now.
  std::array<std::uint64_t, kStates> held{};  // by State
  std::uint64_t waiters = 0;                  // polls that wait or read
  std::uint64_t request_bytes = 0;            // of live samples
  std::uint64_t result_bytes = 0;             // of the others
  // Since the start.
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;  // re-sends that were given the id they had
  std::uint64_t conflicts = 0;   // re-sends with other content, refused
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t delivered = 0;  // samples that were read at least once
  std::uint64_t evicted = 0;

  std::uint64_t held_in(State state) const { return held[static_cast<std::size_t>(state)]; }
  std::uint64_t live() const { return held_in(State::queued) + held_in(State::in_flight); }
  std::uint64_t all() const;
  Totals& operator+=(const Totals& other);
};

// Samples of one session, sampling session or model. The name is empty for those that have none.
struct Group {
  std::string name;
  std::size_t held = 0;
  std::size_t live = 0;
};

// Live samples that were accepted less than `below` ago, and no less than the band before.
struct AgeBand {
  std::string_view text;  // "< 1 s"
  base::Seconds below{};  // infinite in the last band
  std::size_t live = 0;
};

struct Census {
  Totals totals;
  std::vector<Group> by_session;  // each ordered by name
  std::vector<Group> by_sampling_session;
  std::vector<Group> by_model;
  std::vector<AgeBand> by_age;
  base::Seconds age_p50{}, age_p90{}, age_p99{}, oldest{};  // of live samples; zero when there are none
};

// Which samples to list. An empty text matches all.
struct Filter {
  std::optional<State> state;
  std::string session;  // session or sampling session
  std::string model;
  std::size_t limit = 100;
};

// All there is to know of one sample. Times are ages, so that no clock need be explained.
struct Record {
  base::SampleId id;
  State state = State::queued;
  base::TenantId tenant;
  base::SessionId session;
  base::SamplingSessionId sampling_session;
  std::string model;
  std::optional<std::int64_t> seq_id;
  std::uint32_t num_samples = 1;

  base::Seconds age{};       // since it was accepted
  base::Seconds queued{};    // until it was first sent upstream, or ended; so far
  base::Seconds upstream{};  // from then until it ended; so far
  std::optional<base::Seconds> since_end;
  std::optional<base::Seconds> since_poll;
  std::optional<base::Seconds> since_delivery;
  std::optional<base::Seconds> since_confirmation;

  std::uint32_t attempts = 0;
  std::uint32_t waiters = 0;
  std::uint32_t polls = 0;
  std::uint32_t duplicates = 0;
  std::uint32_t deliveries = 0;
  std::size_t request_bytes = 0;  // held now: none once it ended
  std::size_t result_bytes = 0;
  std::optional<Failure> failure;
};

struct Listing {
  std::vector<Record> records;  // the longest held first
  std::size_t more = 0;         // how many matched beyond the limit
};

}  // namespace tinker::futures
