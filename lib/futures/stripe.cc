// SPDX-License-Identifier: Apache-2.0
#include "futures/stripe.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tinker::futures {
namespace {

std::uint64_t mix(std::uint64_t x) {  // the finalizer of splitmix64: every bit of x moves every bit of the result
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

bool has_key(const Entry& entry) { return entry.seq_id && !entry.origin->first.sampling_session.empty(); }

std::uint64_t key_hash_of(const Entry& entry) {
  return key_hash(entry.origin->first.tenant, entry.origin->first.sampling_session, *entry.seq_id);
}

}  // namespace

bool has_key(const Submission& submission) { return submission.seq_id && !submission.sampling_session.empty(); }

std::uint64_t key_hash(const base::TenantId& tenant, const base::SamplingSessionId& sampling_session, std::int64_t seq_id) {
  const std::uint64_t names = mix(std::hash<base::TenantId>{}(tenant)) + std::hash<base::SamplingSessionId>{}(sampling_session);
  return mix(mix(names) + static_cast<std::uint64_t>(seq_id));
}

Entry* Stripe::find(base::SampleId id) {
  const auto found = entries.find(id.number);
  return found == entries.end() ? nullptr : &found->second;
}

const Entry* Stripe::find(base::SampleId id) const {
  const auto found = entries.find(id.number);
  return found == entries.end() ? nullptr : &found->second;
}

Entry* Stripe::find(const Submission& submission, std::uint64_t hash) {
  for (auto [it, end] = by_key.equal_range(hash); it != end; ++it) {
    const Origin& origin = it->second->origin->first;
    if (it->second->seq_id == submission.seq_id && origin.sampling_session == submission.sampling_session &&
        origin.tenant == submission.tenant) {
      return it->second;
    }
  }
  return nullptr;
}

Entry& Stripe::insert(base::SampleId id, Submission submission, base::Monotonic now) {
  Origin origin{std::move(submission.sampling_session), std::move(submission.tenant), std::move(submission.session),
                std::move(submission.model)};
  const auto shared = origins.try_emplace(std::move(origin)).first;
  Entry& entry = entries.try_emplace(id.number, id, shared).first->second;
  entry.seq_id = submission.seq_id;
  entry.content_hash = submission.content_hash;
  entry.accepted = now;
  entry.bytes = std::move(submission.request);
  entry.num_samples = submission.num_samples;
  if (has_key(entry)) by_key.emplace(key_hash_of(entry), &entry);

  live.put(entry, now);
  ++shared->second.held;
  ++shared->second.live;
  ++totals.held[static_cast<std::size_t>(entry.state)];
  ++totals.accepted;
  totals.request_bytes += entry.bytes.size();
  return entry;
}

bool Stripe::move(Entry& entry, Event event) {
  const auto next = after(entry.state, event);
  if (!next) return false;
  --totals.held[static_cast<std::size_t>(entry.state)];
  ++totals.held[static_cast<std::size_t>(*next)];
  if (is_live(entry.state) && !is_live(*next)) {
    --entry.origin->second.live;
    live.remove(entry);
  }
  entry.state = *next;
  return true;
}

void Stripe::join(Entry& entry, WaiterId waiter, base::Monotonic now) {
  entry.polled = now;
  if (std::find(entry.waiters.begin(), entry.waiters.end(), waiter) != entry.waiters.end()) return;
  ++entry.polls;
  ++totals.waiters;
  entry.waiters.push_back(waiter);
  if (!is_live(entry.state)) expiry.stop(entry);
}

bool Stripe::part(Entry& entry, WaiterId waiter) {
  const auto found = std::find(entry.waiters.begin(), entry.waiters.end(), waiter);
  if (found == entry.waiters.end()) return false;
  entry.waiters.erase(found);
  --totals.waiters;
  return true;
}

Stripe::Entries::node_type Stripe::rest(Entry& entry, base::Monotonic now) {
  if (!entry.waiters.empty() || is_live(entry.state)) return {};
  if (entry.acknowledged) return take_out(entry);
  expiry.start(entry, now);
  return {};
}

Stripe::Entries::node_type Stripe::take_out(Entry& entry) {
  if (is_live(entry.state) || !entry.waiters.empty()) std::abort();  // going on would lose a sample
  expiry.stop(entry);
  if (has_key(entry)) {
    for (auto [it, end] = by_key.equal_range(key_hash_of(entry)); it != end; ++it) {
      if (it->second != &entry) continue;
      by_key.erase(it);
      break;
    }
  }
  --totals.held[static_cast<std::size_t>(entry.state)];
  totals.result_bytes -= entry.bytes.size();
  ++totals.evicted;
  if (--entry.origin->second.held == 0) origins.erase(entry.origin);
  return entries.extract(entry.id.number);
}

}  // namespace tinker::futures
