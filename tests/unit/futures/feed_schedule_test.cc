// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "futures/feed.h"
#include "futures/numbers.h"
#include "futures/table.h"
#include "support/sim/sim.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;

// A client as SDK 0.38 polls: one poll at a time with the cursor of its last answer, and acknowledgements until one arrived.
struct Client {
  FeedKey key;
  std::int64_t cursor = 0;
  std::set<base::SampleId> waits;  // ended or not
  std::set<base::SampleId> read;   // to be acknowledged
  std::optional<WaiterId> polls;
};

// A random schedule of clients that submit and poll for many, over networks that lose answers and daemons that drop idle feeds.
// Whatever happens, a client is told of each of its samples, and only of its own, and no cursor goes back.
class FeedSchedule {
 public:
  explicit FeedSchedule(std::uint64_t seed) : random_(seed) {
    for (const char* session : {"s1", "s2"}) {
      for (std::int64_t clone = 0; clone < 2; ++clone) clients_.push_back({.key = {{"tenant"}, {session}, clone}});
    }
  }

  void step() {
    Client& client = clients_[static_cast<std::size_t>(below(static_cast<int>(clients_.size())))];
    const int what = below(100);
    if (what < 30) return submit(client);
    if (what < 60) return end(any_live());
    if (what < 68) return start_poll(client, client.cursor);
    if (what < 92) return answer(client, /*arrives=*/below(4) > 0);
    if (what < 94) return start_poll(client, astray(client));
    if (what < 96) return restart_client(client);
    clock_.advance(std::chrono::seconds(below(what < 99 ? 10 : 400)));
    feeds_.drop_idle(clock_.now());
    if (below(10) == 0) feeds_.drop_idle(clock_.now() + 7200s);  // as if it had been away that long
  }

  // All ends, and polls come through: then nobody waits.
  void finish() {
    while (!live_.empty()) end(any_live());
    for (Client& client : clients_) {
      client.polls.reset();
      for (int i = 0; i < 100 && !(client.waits.empty() && client.read.empty()); ++i) {
        start_poll(client, client.cursor);
        answer(client, true);
      }
      EXPECT_TRUE(client.waits.empty()) << client.waits.size() << " samples were never told";
    }
    EXPECT_EQ(table_.totals().all(), 0u) << "acknowledged samples are gone";
    EXPECT_GT(dropped_answers_, 50);
    EXPECT_GT(displaced_, 50);
    EXPECT_GT(woken_, 50);
    EXPECT_GT(scanned_, 50);
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  void submit(Client& client) {
    const std::int64_t seq_id = client.key.clone * kSeqIdsOfClone + ++last_seq_id_;
    Effects effects;
    const auto admitted = table_.submit(sim::sample(client.key.sampling_session.text, seq_id), clock_.now(), effects);
    ASSERT_TRUE(admitted);
    client.waits.insert(admitted->id);
    live_.push_back(admitted->id);
  }

  std::optional<base::SampleId> any_live() {
    if (live_.empty()) return std::nullopt;
    std::swap(live_[static_cast<std::size_t>(below(static_cast<int>(live_.size())))], live_.back());
    const auto id = live_.back();
    live_.pop_back();
    return id;
  }

  void end(std::optional<base::SampleId> id) {
    if (!id) return;
    Effects effects;
    if (below(5) == 0) {
      table_.fail(*id, {}, clock_.now(), effects);
    } else {
      table_.complete(*id, base::SharedBytes("abc"), clock_.now(), effects);
    }
    for (const Effect& effect : effects) {
      const auto* report = std::get_if<Report>(&effect);
      if (report == nullptr) continue;
      if (feeds_.add(report->feed, {&report->completion, 1})) ++woken_;
    }
  }

  std::int64_t astray(const Client& client) {
    const std::int64_t cursors[] = {0, -1, client.cursor - below(100), kFirst - 1, clients_[0].cursor + (1 << 20)};
    return cursors[below(5)];
  }

  // The client's program ends without a word, and another takes its place.
  void restart_client(Client& client) {
    client.cursor = 0;
    client.polls.reset();
  }

  void start_poll(Client& client, std::int64_t cursor) {
    const std::vector<base::SampleId> read(client.read.begin(), client.read.end());
    feeds_.acknowledge(client.key, read);
    for (const base::SampleId id : read) table_.acknowledge(id, client.key.tenant, client.key.sampling_session);
    if (feeds_.open(client.key, cursor, clock_.now())) {
      const auto missed = table_.undelivered(client.key);
      scanned_ += static_cast<int>(missed.size());
      feeds_.add(client.key, missed);
    }
    client.cursor = cursor;
    client.polls = WaiterId{0, ++last_waiter_};
    if (feeds_.join(client.key, *client.polls, clock_.now())) ++displaced_;
  }

  void answer(Client& client, bool arrives) {
    if (!client.polls) return;
    const auto said = feeds_.read(client.key, *client.polls, client.cursor);
    feeds_.leave(client.key, *std::exchange(client.polls, std::nullopt), clock_.now());
    ASSERT_TRUE(said);
    EXPECT_GE(said->cursor, client.cursor);
    EXPECT_EQ(said->cursor == client.cursor, said->completions.empty());
    if (!arrives) {
      ++dropped_answers_;
      return;
    }
    client.cursor = said->cursor;
    client.read.clear();
    for (const Completion& completion : said->completions) {
      EXPECT_EQ(table_.show(completion.id, clock_.now()).value_or(Record{}).sampling_session, client.key.sampling_session);
      client.waits.erase(completion.id);
      client.read.insert(completion.id);
    }
  }

  static constexpr std::int64_t kFirst = 1'000'000;
  std::mt19937_64 random_;
  base::FakeClock clock_;
  Table table_{first_number_of(clock_.wall()), 1'000'000};
  Feeds feeds_{kFirst};
  std::vector<Client> clients_;
  std::vector<base::SampleId> live_;
  std::int64_t last_seq_id_ = 0;
  std::uint64_t last_waiter_ = 0;
  int dropped_answers_ = 0, displaced_ = 0, woken_ = 0, scanned_ = 0;
};

// The parameter is the seed: the name of a failing test replays it.
class AnyFeedSchedule : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AnyFeedSchedule, TellsEachSampleToItsClient) {
  FeedSchedule schedule(GetParam());
  for (int step = 0; step < 30'000; ++step) {
    schedule.step();
    ASSERT_FALSE(HasFailure()) << "seed " << GetParam() << ", step " << step;
  }
  schedule.finish();
}

INSTANTIATE_TEST_SUITE_P(Seed, AnyFeedSchedule, testing::Range<std::uint64_t>(1, 7), testing::PrintToStringParamName());

}  // namespace
}  // namespace tinker::futures
