// SPDX-License-Identifier: Apache-2.0
#include "futures/table.h"

#include "futures/numbers.h"
#include "futures/stripe.h"
#include "futures/walk.h"

#include <charconv>
#include <string>
#include <utility>

namespace tinker::futures {
namespace {

constexpr std::size_t kEvictedAtOnce = 256;  // a hold of the lock; more are evicted in further holds

std::string hex(std::uint64_t value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr};
}

std::string tenths(base::Seconds seconds) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, seconds.count(), std::chars_format::fixed, 1).ptr};
}

// The refusal of a key that was used for other content. Both requests are named, so that the client's author finds them.
struct Conflict {
  base::SampleId earlier;
  std::uint64_t earlier_hash;
  base::Seconds age;

  base::Error error(const Submission& submission) const {
    return {.code = base::Code::invalid_argument,
            .text = "seq_id " + std::to_string(*submission.seq_id) + " of sampling session " +
                    submission.sampling_session.text + " belongs to " + earlier.text() + ", accepted " + tenths(age) +
                    " s ago with content " + hex(earlier_hash) + ", and this request has content " +
                    hex(submission.content_hash) + ": use a new seq_id for a new request, or re-send the same one unchanged"};
  }
};

FeedKey feed_of(const Entry& entry) {
  return {entry.origin->first.tenant, entry.origin->first.sampling_session, clone_of(entry.seq_id)};
}

// Precondition: the entry has ended.
Completion completion_of(const Entry& entry) {
  return {entry.id, entry.failure ? std::nullopt : std::optional(entry.bytes.size())};
}

Course course_of(const Entry& entry) {
  const base::Monotonic started = entry.attempts > 0 ? entry.started : entry.ended;
  return {.queued = started - entry.accepted, .upstream = entry.ended - started};
}

}  // namespace

Table::Table(std::int64_t first_number, std::size_t max_outstanding)
    : first_number_((first_number + static_cast<std::int64_t>(kStripes) - 1) >> kStripeBits << kStripeBits),
      stripes_(std::make_unique<Stripe[]>(kStripes)),
      admission_(max_outstanding) {}

Table::~Table() = default;

Stripe& Table::stripe_for(const Submission& submission, std::uint64_t key_hash) {
  if (has_key(submission)) return stripes_[key_hash % kStripes];
  return stripes_[next_stripe_.fetch_add(1, std::memory_order_relaxed) % kStripes];
}

base::Result<Admitted> Table::submit(Submission submission, base::Monotonic now, Effects& effects) {
  const bool keyed = has_key(submission);
  const std::uint64_t hash =
      keyed ? key_hash(submission.tenant, submission.sampling_session, *submission.seq_id) : std::uint64_t{0};
  Stripe& stripe = stripe_for(submission, hash);
  std::unique_lock lock(stripe.mutex);

  if (Entry* earlier = keyed ? stripe.find(submission, hash) : nullptr) {
    if (earlier->content_hash == submission.content_hash) {
      ++earlier->duplicates;
      ++stripe.totals.duplicates;
      return Admitted{.id = earlier->id, .duplicate = true};
    }
    ++stripe.totals.conflicts;
    const Conflict conflict{earlier->id, earlier->content_hash, now - earlier->accepted};
    lock.unlock();
    return tl::unexpected(conflict.error(submission));
  }
  if (!admission_.take()) {
    lock.unlock();
    return tl::unexpected(admission_.refusal());
  }
  const auto index = static_cast<std::int64_t>(&stripe - stripes_.get());
  const base::SampleId id{first_number_ + (++stripe.last_serial << kStripeBits) + index};
  stripe.insert(id, std::move(submission), now);
  lock.unlock();
  effects.emplace_back(Forward{id});
  return Admitted{.id = id};
}

std::optional<base::SharedBytes> Table::start(base::SampleId id, base::Monotonic now) {
  Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry == nullptr || !stripe.move(*entry, Event::start)) return std::nullopt;
  if (++entry->attempts == 1) entry->started = now;
  return entry->bytes;
}

void Table::requeue(base::SampleId id) {
  Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  if (Entry* entry = stripe.find(id)) stripe.move(*entry, Event::requeue);
}

std::optional<Course> Table::complete(base::SampleId id, base::SharedBytes sample_response, base::Monotonic now,
                                      Effects& effects) {
  return end(id, std::move(sample_response), nullptr, now, effects);
}

std::optional<Course> Table::fail(base::SampleId id, Failure failure, base::Monotonic now, Effects& effects) {
  return end(id, {}, std::make_shared<const Failure>(std::move(failure)), now, effects);
}

bool Table::cancel(base::SampleId id, base::Monotonic now, Effects& effects) {
  if (!fail(id, {.category = Category::user, .text = "the sample was cancelled"}, now, effects)) return false;
  effects.emplace_back(Withdraw{id});
  return true;
}

std::optional<Course> Table::end(base::SampleId id, base::SharedBytes result, std::shared_ptr<const Failure> failure,
                                 base::Monotonic now, Effects& effects) {
  base::SharedBytes request;  // let go after the lock
  Stripe& stripe = stripes_[stripe_of(id)];
  std::unique_lock lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry == nullptr || !stripe.move(*entry, failure ? Event::fail : Event::complete)) return std::nullopt;

  entry->ended = now;
  entry->failure = std::move(failure);
  request = std::exchange(entry->bytes, std::move(result));
  stripe.totals.request_bytes -= request.size();
  stripe.totals.result_bytes += entry->bytes.size();
  ++(entry->failure ? stripe.totals.failed : stripe.totals.completed);
  for (const WaiterId waiter : entry->waiters) effects.emplace_back(Deliver{waiter, id});
  if (!entry->origin->first.sampling_session.empty()) effects.emplace_back(Report{feed_of(*entry), completion_of(*entry)});
  if (entry->waiters.empty()) stripe.expiry.start(*entry, now);
  const Course course = course_of(*entry);
  lock.unlock();
  admission_.give_back();
  return course;
}

Found Table::poll(base::SampleId id, WaiterId waiter, base::Monotonic now) {
  Stripe& stripe = stripes_[stripe_of(id)];
  std::unique_lock lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry == nullptr) return Gone{};
  stripe.join(*entry, waiter, now);
  if (is_live(entry->state)) return Pending{entry->state};
  if (entry->failure == nullptr) return Ready{entry->bytes};
  const auto failure = entry->failure;
  lock.unlock();
  return Failed{*failure};
}

void Table::leave(base::SampleId id, WaiterId waiter, base::Monotonic now) {
  Stripe::Entries::node_type out;  // let go after the lock
  Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry == nullptr || !stripe.part(*entry, waiter)) return;
  out = stripe.rest(*entry, now);
}

std::optional<base::Seconds> Table::delivered(base::SampleId id, WaiterId waiter, base::Monotonic now) {
  Stripe::Entries::node_type out;  // let go after the lock
  Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry == nullptr || !stripe.part(*entry, waiter)) return std::nullopt;
  if (!stripe.move(*entry, Event::deliver)) return std::nullopt;
  entry->delivered = now;
  const bool first = ++entry->deliveries == 1;
  const base::Seconds lay_unread = now - entry->ended;
  if (first) ++stripe.totals.delivered;
  out = stripe.rest(*entry, now);
  return first ? std::optional(lay_unread) : std::nullopt;
}

void Table::confirmed(base::SampleId id, base::Monotonic now) {
  Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry != nullptr && stripe.move(*entry, Event::confirm)) entry->confirmed = now;
}

bool Table::acknowledge(base::SampleId id, const base::TenantId& tenant, const base::SamplingSessionId& sampling_session) {
  Stripe::Entries::node_type out;  // let go after the lock
  Stripe& stripe = stripes_[stripe_of(id)];
  const std::lock_guard lock(stripe.mutex);
  Entry* entry = stripe.find(id);
  if (entry == nullptr || is_live(entry->state)) return false;
  const Origin& origin = entry->origin->first;
  if (origin.tenant != tenant || origin.sampling_session != sampling_session) return false;
  entry->acknowledged = true;
  if (entry->waiters.empty()) out = stripe.take_out(*entry);
  return true;
}

std::vector<Completion> Table::undelivered(const FeedKey& feed) const {
  return pick_all(stripes_.get(), [&feed](const Entry& entry) {
    const Origin& origin = entry.origin->first;
    const bool unread = entry.state == State::completed || entry.state == State::failed;
    const bool of_feed = clone_of(entry.seq_id) == feed.clone && origin.sampling_session == feed.sampling_session &&
                         origin.tenant == feed.tenant;
    return unread && of_feed ? std::optional(completion_of(entry)) : std::nullopt;
  });
}

std::size_t Table::expire(base::Monotonic now, const Clocks& clocks) {
  std::size_t evicted = 0;
  std::vector<Stripe::Entries::node_type> out;  // let go after the lock
  out.reserve(kEvictedAtOnce);
  for (std::size_t i = 0; i < kStripes; ++i) {
    Stripe& stripe = stripes_[i];
    do {
      out.clear();
      const std::lock_guard lock(stripe.mutex);
      while (out.size() < kEvictedAtOnce) {
        Entry* entry = stripe.expiry.due(now, clocks);
        if (entry == nullptr) break;
        out.push_back(stripe.take_out(*entry));
      }
      evicted += out.size();
    } while (out.size() == kEvictedAtOnce);
  }
  return evicted;
}

}  // namespace tinker::futures
