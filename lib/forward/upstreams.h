// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "forward/upstream_url.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"

namespace tinker::forward {

// One upstream as last read; immutable but for its counters. Any thread.
struct Upstream {
  std::size_t index = 0;  // which of several; the same for as long as the daemon runs
  UpstreamUrl url;
  // What its name resolved to, IPv4 first; never empty. A host name such as localhost may stand for one that nobody listens on.
  std::vector<http::SocketAddress> addresses;

  // The address to connect to now, and what moves on to the next one. Nothing happens when another call moved on from `from`.
  std::size_t place() const { return place_.load(std::memory_order_relaxed); }
  void unreachable(std::size_t from) const { place_.compare_exchange_strong(from, (from + 1) % addresses.size()); }

 private:
  mutable std::atomic<std::size_t> place_{0};
};

// An upstream chosen for one request, which counts as outstanding there until this goes. Outlives Upstreams.
class Choice {
 public:
  Choice() = default;
  Choice(std::shared_ptr<const Upstream> upstream, std::shared_ptr<std::atomic<std::size_t>> outstanding)
      : upstream_(std::move(upstream)), outstanding_(std::move(outstanding)) {
    outstanding_->fetch_add(1, std::memory_order_relaxed);
  }
  Choice(Choice&&) noexcept = default;
  Choice& operator=(Choice&& other) noexcept {
    std::swap(upstream_, other.upstream_);
    std::swap(outstanding_, other.outstanding_);
    return *this;
  }
  ~Choice() {
    if (outstanding_) outstanding_->fetch_sub(1, std::memory_order_relaxed);
  }

  explicit operator bool() const { return upstream_ != nullptr; }
  const Upstream& operator*() const { return *upstream_; }
  const Upstream* operator->() const { return upstream_.get(); }

 private:
  std::shared_ptr<const Upstream> upstream_;
  std::shared_ptr<std::atomic<std::size_t>> outstanding_;
};

// How often the source is read and names are resolved.
struct ReadingTimes {
  base::Seconds apart{0.05};  // between two readings, however many calls ask
  base::Seconds watch{2};     // the published URL is read again without being asked
  base::Seconds resolve{30};  // and so are the names of fixed URLs
};

// Which upstream, and its address: fixed URLs (--upstream), or what the engine publishes in engine_state, which is watched and
// never cached for ever (cases.md U10).
//
// Of several, the one with the fewest outstanding requests.
//
// Owned by  Daemon; one for all workers.
// Thread    any. Reading and name look-ups happen on a thread of its own, `upstreams`; answers are posted to the asking loop.
class Upstreams {
 public:
  using Read = std::function<void(base::Result<std::optional<std::string>>)>;
  // Reads the published URL: a database call behind a function, so that this room does not see the store. Called on the thread
  // `upstreams`, at once and until stop(); `then` runs once, on any thread.
  using Source = std::function<void(Read then)>;
  using Done = std::function<void(base::Result<void>)>;

  // Precondition: `fixed` is not empty.
  explicit Upstreams(std::vector<UpstreamUrl> fixed, ReadingTimes times = {});
  explicit Upstreams(Source source, ReadingTimes times = {});
  ~Upstreams();
  Upstreams(const Upstreams&) = delete;
  Upstreams& operator=(const Upstreams&) = delete;

  // The upstream for the next request, as last read; of several rather another one than number `avoid`. Empty when nothing was
  // read yet, or nothing is published: refresh() then says which.
  Choice choose(std::optional<std::size_t> avoid = std::nullopt);

  // Reads and resolves anew; `done` is posted to `reply_to`, which must outlive this or its stop(). What is asked for while a
  // reading is due is answered by that one. A reading that fails leaves what was known of the same URL, and is then no error.
  // Errors (unavailable): nothing is published, the URL is none, the name does not resolve; the source's own.
  void refresh(loop::EventLoop& reply_to, Done done);

  // Nothing is posted any more after this, and what was asked for stays unanswered. Under 0.2 s, though a name look-up may
  // hang.
  void stop();

  // The base URLs known now, for status.
  std::vector<std::string> known() const;

 private:
  struct State;
  void start();
  std::shared_ptr<State> state_;  // its thread may hang in a name look-up and then outlives this
};

}  // namespace tinker::forward
