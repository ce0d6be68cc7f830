// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "futures/feed.h"
#include "futures/numbers.h"
#include "futures/table.h"
#include "support/sim/sim.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;

constexpr int kClients = 3;
constexpr int kSamples = 4000;

// Samples end on one thread while their clients poll on others, and a timer drops feeds under their polls: feeds are opened and
// scanned for while samples end, which is where one could fall between.
TEST(FeedThreads, EachClientIsToldOfEachOfItsSamples) {
  const base::SystemClock clock;
  Table table(first_number_of(clock.wall()), kClients * kSamples);
  Feeds feeds(first_number_of(clock.wall()));
  std::array<std::set<base::SampleId>, kClients> submitted;
  std::vector<base::SampleId> all;
  for (int i = 0; i < kSamples; ++i) {
    for (int c = 0; c < kClients; ++c) {
      Effects effects;
      const auto id = table.submit(sim::sample("s1", c * kSeqIdsOfClone + i), clock.now(), effects)->id;
      submitted[static_cast<std::size_t>(c)].insert(id);
      all.push_back(id);
    }
  }

  std::atomic<bool> done{false};
  std::thread upstream([&] {
    for (const base::SampleId id : all) {
      Effects effects;
      table.complete(id, base::SharedBytes("abc"), clock.now(), effects);
      for (const Effect& effect : effects) {
        if (const auto* report = std::get_if<Report>(&effect)) feeds.add(report->feed, {&report->completion, 1});
      }
    }
  });
  std::thread timer([&] {
    while (!done) feeds.drop_idle(clock.now() + 2h);  // as if a poll were long ago
  });
  std::array<std::set<base::SampleId>, kClients> told;
  std::vector<std::thread> clients;
  for (std::uint32_t c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      const FeedKey key{{"tenant"}, {"s1"}, static_cast<std::int64_t>(c)};
      std::int64_t cursor = 0;
      std::vector<base::SampleId> read;
      for (std::uint64_t number = 1; told[c].size() < static_cast<std::size_t>(kSamples); ++number) {
        const WaiterId waiter{c, number};
        for (const base::SampleId id : read) table.acknowledge(id, key.tenant, key.sampling_session);
        feeds.acknowledge(key, read);
        const bool opened = feeds.open(key, cursor, clock.now());
        feeds.join(key, waiter, clock.now());
        if (opened) feeds.add(key, table.undelivered(key));
        const auto answer = feeds.read(key, waiter, cursor);
        feeds.leave(key, waiter, clock.now());
        if (!answer) continue;  // the feed was dropped before it joined
        EXPECT_GE(answer->cursor, cursor);
        cursor = answer->cursor;
        read.clear();
        for (const Completion& completion : answer->completions) {
          told[c].insert(completion.id);
          read.push_back(completion.id);
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  upstream.join();
  done = true;
  timer.join();

  EXPECT_EQ(told, submitted);
}

}  // namespace
}  // namespace tinker::futures
