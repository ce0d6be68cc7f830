// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/overloaded.h"
#include "futures/numbers.h"
#include "futures/table.h"
#include "support/sim/sim.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;

// What one thread is to do for others, in order.
template <class T>
class Inbox {
 public:
  void put(T item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_one();
  }
  // False when none came for a long time, or close() was called and all are taken.
  bool take(T& item) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 60s, [&] { return closed_ || !items_.empty(); }) || items_.empty()) return false;
    item = std::move(items_.front());
    items_.pop_front();
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

// Two workers that submit the same samples and poll them, an upstream that answers, a timer that expires and an operator who
// looks: all at once on one table.
class Daemon {
 public:
  static constexpr int kWorkers = 2;
  static constexpr int kSamples = 4000;

  void run() {
    std::thread upstream([this] { answer(); });
    std::thread timer([this] {
      while (!done_) expired_ += table_.expire(clock_.now(), clocks_);
    });
    std::thread operators([this] {
      while (!done_) look();
    });
    std::vector<std::thread> workers;
    for (std::uint32_t w = 0; w < kWorkers; ++w) workers.emplace_back([this, w] { work(w); });
    for (std::thread& worker : workers) worker.join();
    turns_.close();
    upstream.join();
    done_ = true;
    timer.join();
    operators.join();
  }

  // By worker and seq_id.
  std::array<std::vector<base::SampleId>, kWorkers> ids;
  std::array<std::vector<std::string>, kWorkers> bodies;
  std::map<base::SampleId, int> forwarded;  // the upstream's thread
  std::atomic<int> second_outcomes{0};

  Table& table() { return table_; }

 private:
  void carry_out(const Effects& effects) {
    for (const Effect& effect : effects) {
      std::visit(base::overloaded{[&](const Forward& e) { turns_.put(e.id); }, [](const Withdraw&) {}, [](const Report&) {},
                                  [&](const Deliver& e) { told_[e.waiter.worker].put(e); }},
                 effect);
    }
  }

  void answer() {
    base::SampleId id;
    while (turns_.take(id)) {
      ++forwarded[id];
      Effects effects;
      const auto request = table_.start(id, clock_.now());
      const std::string result = "result of " + std::string(request ? request->view() : "nothing");
      if (id.number % 3 == 0) table_.requeue(id);
      table_.complete(id, base::SharedBytes(result), clock_.now(), effects);
      if (table_.fail(id, {}, clock_.now(), effects)) ++second_outcomes;
      carry_out(effects);
    }
  }

  void work(std::uint32_t worker) {
    bodies[worker].resize(kSamples);
    std::map<std::uint64_t, int> waiting;  // waiter → seq_id
    std::uint64_t number = 0;
    for (int seq_id = 0; seq_id < kSamples; ++seq_id) {
      Effects effects;
      const auto admitted = table_.submit(sim::sample("s1", seq_id, "prompt " + std::to_string(seq_id)), clock_.now(), effects);
      carry_out(effects);
      ids[worker].push_back(admitted->id);

      const WaiterId hasty{worker, ++number};
      table_.poll(admitted->id, hasty, clock_.now());
      table_.leave(admitted->id, hasty, clock_.now());

      const WaiterId waiter{worker, ++number};
      if (!read(admitted->id, waiter, seq_id)) waiting[waiter.number] = seq_id;
    }
    Deliver told;
    while (!waiting.empty() && told_[worker].take(told)) {
      const auto found = waiting.find(told.waiter.number);
      if (found == waiting.end()) continue;  // the hasty one
      if (read(told.id, told.waiter, found->second)) waiting.erase(found);
    }
  }

  // True when the poll found its result, which it then reads to the last byte.
  bool read(base::SampleId id, WaiterId waiter, int seq_id) {
    const Found found = table_.poll(id, waiter, clock_.now());
    const auto* ready = std::get_if<Ready>(&found);
    if (ready == nullptr) return false;
    bodies[waiter.worker][static_cast<std::size_t>(seq_id)] = ready->sample_response.view();
    table_.delivered(id, waiter, clock_.now());
    table_.confirmed(id, clock_.now());
    return true;
  }

  void look() {
    const Census census = table_.census(clock_.now());
    EXPECT_LE(census.totals.completed, static_cast<std::uint64_t>(kSamples));
    for (const Record& record : table_.list({.limit = 10}, clock_.now()).records) table_.show(record.id, clock_.now());
    table_.set_max_outstanding(2 * kSamples);
  }

  base::SystemClock clock_;
  Clocks clocks_{.completed_ttl = 600s, .retrieved_ttl = 600s};
  Table table_{first_number_of(clock_.wall()), 2 * kSamples};
  Inbox<base::SampleId> turns_;
  std::array<Inbox<Deliver>, kWorkers> told_;
  std::atomic<bool> done_{false};
  std::atomic<std::size_t> expired_{0};
};

TEST(Threads, C2_SampleSentOnTwoConnectionsAtOnceIsOneSampleAndBothReadIt) {
  Daemon daemon;

  daemon.run();

  EXPECT_EQ(daemon.ids[0], daemon.ids[1]);
  EXPECT_EQ(std::set(daemon.ids[0].begin(), daemon.ids[0].end()).size(), static_cast<std::size_t>(Daemon::kSamples));
  EXPECT_EQ(daemon.forwarded.size(), static_cast<std::size_t>(Daemon::kSamples));
  for (const auto& [id, times] : daemon.forwarded) EXPECT_EQ(times, 1) << id.text();
  EXPECT_EQ(daemon.second_outcomes, 0);
  for (const auto& bodies : daemon.bodies) {
    for (int i = 0; i < Daemon::kSamples; ++i) {
      EXPECT_EQ(bodies[static_cast<std::size_t>(i)], "result of prompt " + std::to_string(i));
    }
  }
  const Totals totals = daemon.table().totals();
  EXPECT_EQ(totals.held_in(State::confirmed), static_cast<std::uint64_t>(Daemon::kSamples));
  EXPECT_EQ(totals.duplicates, static_cast<std::uint64_t>(Daemon::kSamples));
  EXPECT_EQ(totals.waiters, 0u);
  EXPECT_EQ(daemon.table().outstanding(), 0u);
}

// Short clocks: samples are evicted while others of their stripe come, are read and end.
TEST(Threads, EvictionsAreNotInTheWayOfOthers) {
  base::SystemClock clock;
  Table table(first_number_of(clock.wall()), 1000);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> evicted{0};
  std::thread timer([&] {
    while (!done) evicted += table.expire(clock.now(), {.completed_ttl = 0s, .retrieved_ttl = 0s});
  });
  std::vector<std::thread> workers;
  std::atomic<int> lost{0};
  for (std::uint32_t w = 0; w < 2; ++w) {
    workers.emplace_back([&, w] {
      for (int i = 0; i < 5000; ++i) {
        Effects effects;
        const auto id = table.submit(sim::sample(w == 0 ? "s1" : "", i), clock.now(), effects)->id;
        const WaiterId waiter{w, static_cast<std::uint64_t>(i)};
        table.poll(id, waiter, clock.now());
        table.complete(id, base::SharedBytes("abc"), clock.now(), effects);
        if (!std::holds_alternative<Ready>(table.poll(id, waiter, clock.now()))) ++lost;
        table.delivered(id, waiter, clock.now());
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  done = true;
  timer.join();
  evicted += table.expire(clock.now(), {.completed_ttl = 0s, .retrieved_ttl = 0s});

  EXPECT_EQ(lost, 0);
  EXPECT_EQ(evicted, 10'000u);
  EXPECT_EQ(table.totals().all(), 0u);
}

// The operator's walk begins a stripe again when its buckets are laid out anew.
TEST(Threads, ListShowsEachSampleOnceWhileTheTableGrows) {
  constexpr int kStable = 1000;
  base::SystemClock clock;
  Table table(first_number_of(clock.wall()), 1'000'000);
  Effects effects;
  for (int i = 0; i < kStable; ++i) table.submit(sim::sample("stable", i), clock.now(), effects);
  std::atomic<bool> done{false};
  std::thread growth([&] {
    Effects forwards;
    for (int i = 0; i < 30'000; ++i) table.submit(sim::sample("growing", i), clock.now(), forwards);
    done = true;
  });

  do {
    const Listing listing = table.list({.session = "stable", .limit = 2 * kStable}, clock.now());
    std::set<base::SampleId> listed;
    for (const Record& record : listing.records) listed.insert(record.id);
    EXPECT_EQ(listing.records.size(), static_cast<std::size_t>(kStable));
    EXPECT_EQ(listed.size(), static_cast<std::size_t>(kStable));
  } while (!done);
  growth.join();
}

}  // namespace
}  // namespace tinker::futures
