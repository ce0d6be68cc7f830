// SPDX-License-Identifier: Apache-2.0
#include "futures/feed.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_set>

namespace tinker::futures {
namespace {

// Cursors of a client that is astray are followed up to here, which leaves as many again.
constexpr std::int64_t kMostCursor = std::int64_t{1} << 62;

struct Numbered {
  std::int64_t cursor;
  Completion completion;
};

}  // namespace

struct Feeds::Feed {
  std::deque<Numbered> log;                // by cursor
  std::unordered_set<base::SampleId> ids;  // of log
  std::optional<WaiterId> waiter;
  bool woken = false;        // the waiter is told and has not read
  base::Monotonic polled{};  // counts while nobody polls
};

std::size_t Feeds::Hash::operator()(const FeedKey& key) const {
  const std::size_t names =
      std::hash<base::TenantId>{}(key.tenant) * 31 + std::hash<base::SamplingSessionId>{}(key.sampling_session);
  return names * 31 + std::hash<std::int64_t>{}(key.clone);
}

Feeds::Feeds(std::int64_t first_cursor) : last_cursor_(first_cursor) {}
Feeds::~Feeds() = default;

Feeds::Feed* Feeds::find(const FeedKey& key) {
  const auto found = feeds_.find(key);
  return found == feeds_.end() ? nullptr : &found->second;
}

bool Feeds::open(const FeedKey& key, std::int64_t prev_cursor, base::Monotonic now) {
  const std::lock_guard lock(mutex_);
  const auto [feed, opened] = feeds_.try_emplace(key);
  if (!opened) return false;
  feed->second.polled = now;
  last_cursor_ = std::max(last_cursor_, std::min(prev_cursor, kMostCursor));
  open_ = feeds_.size();
  return true;
}

std::optional<WaiterId> Feeds::add(const FeedKey& key, std::span<const Completion> completions) {
  if (completions.empty() || open_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  Feed* feed = find(key);
  if (feed == nullptr) return std::nullopt;
  for (const Completion& completion : completions) {
    if (feed->ids.insert(completion.id).second) feed->log.push_back({++last_cursor_, completion});
  }
  if (!feed->waiter || feed->woken) return std::nullopt;
  feed->woken = true;
  return feed->waiter;
}

std::optional<WaiterId> Feeds::join(const FeedKey& key, WaiterId waiter, base::Monotonic now) {
  const std::lock_guard lock(mutex_);
  Feed* feed = find(key);
  if (feed == nullptr) return std::nullopt;
  const auto earlier = feed->waiter;
  feed->waiter = waiter;
  feed->woken = false;
  feed->polled = now;
  return earlier;
}

std::optional<Feeds::Answer> Feeds::read(const FeedKey& key, WaiterId waiter, std::int64_t prev_cursor) {
  Answer answer{.cursor = prev_cursor};
  const std::lock_guard lock(mutex_);
  Feed* feed = find(key);
  if (feed == nullptr || feed->waiter != waiter) return std::nullopt;
  if (prev_cursor > last_cursor_) {
    last_cursor_ = std::min(prev_cursor, kMostCursor);
    for (Numbered& numbered : feed->log) numbered.cursor = ++last_cursor_;
  } else {
    for (; !feed->log.empty() && feed->log.front().cursor <= prev_cursor; feed->log.pop_front()) {
      feed->ids.erase(feed->log.front().completion.id);
    }
  }
  const std::size_t count = std::min(feed->log.size(), kMostInAnswer);
  answer.completions.reserve(count);
  for (std::size_t i = 0; i < count; ++i) answer.completions.push_back(feed->log[i].completion);
  if (count > 0) answer.cursor = feed->log[count - 1].cursor;
  feed->woken = false;
  return answer;
}

void Feeds::leave(const FeedKey& key, WaiterId waiter, base::Monotonic now) {
  const std::lock_guard lock(mutex_);
  Feed* feed = find(key);
  if (feed == nullptr || feed->waiter != waiter) return;
  feed->waiter.reset();
  feed->polled = now;
}

void Feeds::acknowledge(const FeedKey& key, std::span<const base::SampleId> ids) {
  const std::lock_guard lock(mutex_);
  Feed* feed = find(key);
  if (feed == nullptr) return;
  std::size_t gone = 0;
  for (const base::SampleId id : ids) gone += feed->ids.erase(id);
  if (gone == 0) return;
  std::erase_if(feed->log, [&](const Numbered& numbered) { return !feed->ids.contains(numbered.completion.id); });
}

std::size_t Feeds::drop_idle(base::Monotonic now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(feeds_, [now](const auto& item) {
    const Feed& feed = item.second;
    return !feed.waiter && now - feed.polled >= (feed.log.empty() ? kIdle : kGivenUp);
  });
  open_ = feeds_.size();
  return open_;
}

}  // namespace tinker::futures
