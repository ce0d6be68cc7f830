// SPDX-License-Identifier: Apache-2.0
#include "futures/inspect.h"

#include "futures/numbers.h"
#include "futures/stripe.h"
#include "futures/table.h"
#include "futures/walk.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

namespace tinker::futures {
namespace {

using Groups = std::map<std::string, Group>;

void add(Groups& groups, const std::string& name, const Use& use) {
  Group& group = groups[name];
  group.held += use.held;
  group.live += use.live;
}

std::vector<Group> ordered(Groups groups) {
  std::vector<Group> result;
  result.reserve(groups.size());
  for (auto& [name, group] : groups) result.push_back({name, group.held, group.live});
  return result;
}

std::vector<AgeBand> bands_of(const std::vector<base::Monotonic>& accepted, base::Monotonic now) {
  using namespace std::chrono_literals;
  std::vector<AgeBand> bands{{"< 1 s", 1s},
                             {"< 10 s", 10s},
                             {"< 1 min", 1min},
                             {"< 10 min", 10min},
                             {"< 1 h", 1h},
                             {"< 10 h", 10h},
                             {"10 h and more", base::Seconds{std::numeric_limits<double>::infinity()}}};
  for (const base::Monotonic at : accepted) {
    const auto band = std::find_if(bands.begin(), bands.end(), [&](const AgeBand& b) { return now - at < b.below; });
    ++band->live;
  }
  return bands;
}

// The age that a share of the samples does not exceed (nearest rank). Reorders `accepted`.
base::Seconds age_at(double share, std::vector<base::Monotonic>& accepted, base::Monotonic now) {
  if (accepted.empty()) return {};
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(accepted.size() - 1) + 0.5);
  const auto nth = accepted.begin() + rank;
  std::nth_element(accepted.begin(), nth, accepted.end(), std::greater<>{});
  return now - *nth;
}

bool matches(const Entry& entry, const Filter& filter) {
  const Origin& origin = entry.origin->first;
  if (filter.state && *filter.state != entry.state) return false;
  if (!filter.model.empty() && filter.model != origin.model) return false;
  return filter.session.empty() || filter.session == origin.session.text || filter.session == origin.sampling_session.text;
}

Record record_of(const Entry& entry, base::Monotonic now) {
  const Origin& origin = entry.origin->first;
  const bool live = is_live(entry.state);
  const base::Monotonic until = live ? now : entry.ended;
  const base::Monotonic started = entry.attempts > 0 ? entry.started : until;
  Record record{
      .id = entry.id,
      .state = entry.state,
      .tenant = origin.tenant,
      .session = origin.session,
      .sampling_session = origin.sampling_session,
      .model = origin.model,
      .seq_id = entry.seq_id,
      .num_samples = entry.num_samples,
      .age = now - entry.accepted,
      .queued = started - entry.accepted,
      .upstream = until - started,
      .attempts = entry.attempts,
      .waiters = static_cast<std::uint32_t>(entry.waiters.size()),
      .polls = entry.polls,
      .duplicates = entry.duplicates,
      .deliveries = entry.deliveries,
      .request_bytes = live ? entry.bytes.size() : 0,
      .result_bytes = live ? 0 : entry.bytes.size(),
  };
  if (!live) record.since_end = now - entry.ended;
  if (entry.polls > 0) record.since_poll = now - entry.polled;
  if (entry.deliveries > 0) record.since_delivery = now - entry.delivered;
  if (entry.state == State::confirmed) record.since_confirmation = now - entry.confirmed;
  if (entry.failure) record.failure = *entry.failure;
  return record;
}

}  // namespace

std::uint64_t Totals::all() const { return std::accumulate(held.begin(), held.end(), std::uint64_t{0}); }

Totals& Totals::operator+=(const Totals& other) {
  for (std::size_t i = 0; i < kStates; ++i) held[i] += other.held[i];
  waiters += other.waiters;
  request_bytes += other.request_bytes;
  result_bytes += other.result_bytes;
  accepted += other.accepted;
  duplicates += other.duplicates;
  conflicts += other.conflicts;
  completed += other.completed;
  failed += other.failed;
  delivered += other.delivered;
  evicted += other.evicted;
  return *this;
}

std::optional<State> Table::state(base::SampleId id) const {
  const Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  const Entry* entry = stripe.find(id);
  if (entry == nullptr) return std::nullopt;
  return entry->state;
}

Totals Table::totals() const {
  Totals sum;
  for (std::size_t i = 0; i < kStripes; ++i) {
    const std::lock_guard lock(stripes_[i].mutex);
    sum += stripes_[i].totals;
  }
  return sum;
}

base::Seconds Table::oldest_live(base::Monotonic now) const {
  base::Monotonic oldest = now;
  for (std::size_t i = 0; i < kStripes; ++i) {
    const std::lock_guard lock(stripes_[i].mutex);
    if (const Entry* first = stripes_[i].live.first()) oldest = std::min(oldest, first->accepted);
  }
  return now - oldest;
}

Census Table::census(base::Monotonic now) const {
  Census census;
  Groups sessions, sampling_sessions, models;
  for (std::size_t i = 0; i < kStripes; ++i) {
    const Stripe& stripe = stripes_[i];
    std::vector<std::pair<Origin, Use>> origins;
    {
      const std::lock_guard lock(stripe.mutex);
      census.totals += stripe.totals;
      origins.assign(stripe.origins.begin(), stripe.origins.end());
    }
    for (const auto& [origin, use] : origins) {
      add(sessions, origin.session.text, use);
      add(sampling_sessions, origin.sampling_session.text, use);
      add(models, origin.model, use);
    }
  }
  census.by_session = ordered(std::move(sessions));
  census.by_sampling_session = ordered(std::move(sampling_sessions));
  census.by_model = ordered(std::move(models));

  auto accepted = pick_all(
      stripes_.get(), [](const Entry& entry) { return is_live(entry.state) ? std::optional(entry.accepted) : std::nullopt; });
  census.by_age = bands_of(accepted, now);
  census.age_p50 = age_at(0.50, accepted, now);
  census.age_p90 = age_at(0.90, accepted, now);
  census.age_p99 = age_at(0.99, accepted, now);
  census.oldest = oldest_live(now);
  return census;
}

Listing Table::list(const Filter& filter, base::Monotonic now) const {
  struct Match {
    base::Monotonic accepted;
    base::SampleId id;
    auto operator<=>(const Match&) const = default;
  };
  auto matched = pick_all(stripes_.get(), [&](const Entry& entry) {
    return matches(entry, filter) ? std::optional(Match{entry.accepted, entry.id}) : std::nullopt;
  });
  const std::size_t shown = std::min(filter.limit, matched.size());
  std::partial_sort(matched.begin(), matched.begin() + static_cast<std::ptrdiff_t>(shown), matched.end());

  Listing listing;
  listing.more = matched.size() - shown;
  for (std::size_t i = 0; i < shown; ++i) {
    if (auto record = show(matched[i].id, now)) listing.records.push_back(std::move(*record));  // unless evicted meanwhile
  }
  return listing;
}

std::optional<Record> Table::show(base::SampleId id, base::Monotonic now) const {
  const Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  const Entry* entry = stripe.find(id);
  if (entry == nullptr) return std::nullopt;
  return record_of(*entry, now);
}

}  // namespace tinker::futures
