// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "futures/numbers.h"
#include "futures/table.h"
#include "support/sim/sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tinker::futures {
namespace {

using namespace std::chrono_literals;
using Key = std::pair<std::string, std::int64_t>;

// What the table must hold of a sample, told in the plainest way.
struct Held {
  Submission submission;
  State state = State::queued;
  std::string outcome;  // the result, or the failure's text
  bool failed = false;
  bool acknowledged = false;
  std::set<WaiterId> waiters;
  base::Monotonic clock_start{};  // counts when ended and without waiters
};

// A random schedule of everything that happens to a table, played to the table and to a model of maps and sets that scans where
// the table must not. After each step the answer and the effects of the table are those of the model.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : random_(seed), table_(first_number_of(clock_.wall()), max_outstanding_) {}

  void step() {
    static constexpr std::pair<int, void (Schedule::*)()> kSteps[] = {
        {20, &Schedule::submit_new},
        {8, &Schedule::resend},
        {3, &Schedule::resend_changed},
        {15, &Schedule::start},
        {4, &Schedule::requeue},
        {16, &Schedule::complete},
        {5, &Schedule::fail},
        {4, &Schedule::cancel},
        {22, &Schedule::poll},
        {5, &Schedule::look_again},
        {8, &Schedule::leave},
        {12, &Schedule::deliver},
        {2, &Schedule::end_no_waiter},
        {6, &Schedule::confirm},
        {3, &Schedule::acknowledge},
        {12, &Schedule::pass_time},
        {6, &Schedule::expire},
        {1, &Schedule::change_clocks},
        {1, &Schedule::jump_wall_clock},
        {1, &Schedule::change_admission},
    };
    static const int all = [] {
      int sum = 0;
      for (const auto& [weight, what] : kSteps) sum += weight;
      return sum;
    }();
    int left = below(all);
    for (const auto& [weight, what] : kSteps) {
      if ((left -= weight) < 0) return (this->*what)();
    }
  }

  // The sums of the table against a count of the model.
  void recount() {
    Totals expected;
    for (const auto& [id, held] : held_) {
      ++expected.held[static_cast<std::size_t>(held.state)];
      expected.waiters += held.waiters.size();
      if (is_live(held.state)) expected.request_bytes += held.submission.request.size();
      if (!is_live(held.state) && !held.failed) expected.result_bytes += held.outcome.size();
    }
    const Totals totals = table_.totals();
    EXPECT_EQ(totals.held, expected.held);
    EXPECT_EQ(totals.waiters, expected.waiters);
    EXPECT_EQ(totals.request_bytes, expected.request_bytes);
    EXPECT_EQ(totals.result_bytes, expected.result_bytes);
    EXPECT_EQ(totals.live(), table_.outstanding());
    EXPECT_EQ(totals.accepted, outcomes_.size());
    EXPECT_EQ(totals.all() + totals.evicted, totals.accepted);
    EXPECT_EQ(totals.duplicates, duplicates_);

    const Census census = table_.census(clock_.now());
    for (const auto* groups : {&census.by_session, &census.by_sampling_session, &census.by_model}) {
      std::size_t held = 0, live = 0;
      for (const Group& group : *groups) held += group.held, live += group.live;
      EXPECT_EQ(held, held_.size());
      EXPECT_EQ(live, expected.live());
    }
    EXPECT_EQ(table_.list({.limit = 7}, clock_.now()).more, held_.size() - std::min<std::size_t>(7, held_.size()));
  }

  // Lets all come to its end: then each admitted sample had exactly one outcome, and nothing is left.
  void finish() {
    while (!waiting_.empty()) end_waiter(waiting_.begin()->first, /*proven=*/false);
    for (const auto& [id, outcomes] : outcomes_) {
      const auto held = held_.find(id);
      if (held != held_.end() && is_live(held->second.state)) complete(id);
    }
    clocks_ = {.completed_ttl = 1s, .retrieved_ttl = 1s};
    clock_.advance(1s);
    expire();
    expect_reached();
    for (const auto& [id, outcomes] : outcomes_) EXPECT_EQ(outcomes, 1) << id.text();
    EXPECT_TRUE(held_.empty());
    recount();
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  // Mostly of a sample that is held; else any that was given, or none.
  base::SampleId any_id() {
    if (given_.empty()) return {1};
    const auto given = given_[static_cast<std::size_t>(below(static_cast<int>(given_.size())))];
    if (below(10) == 0 || held_.empty()) return given;
    const auto held = std::next(held_.begin(), below(static_cast<int>(held_.size())));
    return held->first;
  }
  Held* find(base::SampleId id) {
    const auto found = held_.find(id);
    return found == held_.end() ? nullptr : &found->second;
  }

  // Submitting.

  Submission submission() {
    static const char* kSessions[] = {"", "s1", "s2", "s3"};
    return sim::sample(kSessions[below(4)], ++last_seq_id_, "prompt " + std::to_string(below(1000)));
  }

  void submit_new() {
    const Submission sample = submission();
    const bool room = table_.outstanding() < max_outstanding_;
    const auto admitted = table_.submit(sample, clock_.now(), effects_);
    ASSERT_EQ(admitted.has_value(), room);
    if (!room) {
      ++reached_["refused"];
      return expect_effects({});
    }
    EXPECT_FALSE(admitted->duplicate);
    EXPECT_TRUE(outcomes_.emplace(admitted->id, 0).second) << admitted->id.text() << " was given before";
    given_.push_back(admitted->id);
    held_[admitted->id].submission = sample;
    if (!sample.sampling_session.empty()) keys_[{sample.sampling_session.text, *sample.seq_id}] = admitted->id;
    expect_effects({"forward " + admitted->id.text()});
  }

  void resend() {
    const Held* held = find(any_id());
    if (held == nullptr || held->submission.sampling_session.empty()) return;
    const auto admitted = table_.submit(held->submission, clock_.now(), effects_);
    ASSERT_TRUE(admitted.has_value());
    EXPECT_TRUE(admitted->duplicate);
    EXPECT_EQ(admitted->id, keys_.at({held->submission.sampling_session.text, *held->submission.seq_id}));
    ++duplicates_;
    ++reached_["re-sent " + std::string(text(held->state))];
    expect_effects({});
  }

  void resend_changed() {
    const Held* held = find(any_id());
    if (held == nullptr || held->submission.sampling_session.empty()) return;
    Submission changed = held->submission;
    ++changed.content_hash;
    const auto refused = table_.submit(changed, clock_.now(), effects_);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, base::Code::invalid_argument);
    expect_effects({});
  }

  // The upstream.

  void start() {
    const auto id = any_id();
    Held* held = find(id);
    const bool live = held != nullptr && is_live(held->state);
    const auto request = table_.start(id, clock_.now());
    ASSERT_EQ(request.has_value(), live);
    if (!live) return;
    EXPECT_EQ(request->view(), held->submission.request.view());
    held->state = State::in_flight;
  }

  void requeue() {
    const auto id = any_id();
    table_.requeue(id);
    Held* held = find(id);
    if (held != nullptr && held->state == State::in_flight) held->state = State::queued;
  }

  void complete() { complete(any_id()); }
  void complete(base::SampleId id) {
    std::string result = "result " + std::to_string(below(1'000'000));
    const bool first = table_.complete(id, base::SharedBytes(result), clock_.now(), effects_).has_value();
    expect_end(id, first, State::completed, std::move(result), {});
  }

  void fail() {
    const auto id = any_id();
    std::string text = "failure " + std::to_string(below(1'000'000));
    const bool first = table_.fail(id, {Category::server, text}, clock_.now(), effects_).has_value();
    expect_end(id, first, State::failed, std::move(text), {});
  }

  void cancel() {
    const auto id = any_id();
    const bool first = table_.cancel(id, clock_.now(), effects_);
    expect_end(id, first, State::failed, "the sample was cancelled", {"withdraw " + id.text()});
  }

  void expect_end(base::SampleId id, bool first, State state, std::string outcome, std::vector<std::string> effects) {
    Held* held = find(id);
    ASSERT_EQ(first, held != nullptr && is_live(held->state));
    if (!first) return expect_effects({});
    ++outcomes_[id];
    held->state = state;
    held->outcome = std::move(outcome);
    held->failed = state == State::failed;
    held->clock_start = clock_.now();
    for (const WaiterId waiter : held->waiters) effects.push_back("deliver " + std::to_string(waiter.number));
    if (!held->submission.sampling_session.empty()) effects.push_back("report " + id.text());
    expect_effects(std::move(effects));
  }

  // Polls.

  void poll() {
    const auto id = any_id();
    const WaiterId waiter{static_cast<std::uint32_t>(below(3)), ++last_waiter_};
    if (Held* held = find(id)) {
      held->waiters.insert(waiter);
      waiting_.emplace(waiter, id);
    }
    expect_found(id, table_.poll(id, waiter, clock_.now()));
  }

  void look_again() {
    if (waiting_.empty()) return;
    const auto [waiter, id] = any_waiter();
    expect_found(id, table_.poll(id, waiter, clock_.now()));
  }

  void expect_found(base::SampleId id, const Found& found) {
    const Held* held = find(id);
    ++reached_["polled " + (held == nullptr ? "gone" : std::string(text(held->state)))];
    if (held == nullptr) {
      ASSERT_TRUE(std::holds_alternative<Gone>(found));
    } else if (is_live(held->state)) {
      ASSERT_TRUE(std::holds_alternative<Pending>(found));
      EXPECT_EQ(std::get<Pending>(found).state, held->state);
    } else if (held->failed) {
      ASSERT_TRUE(std::holds_alternative<Failed>(found));
      EXPECT_EQ(std::get<Failed>(found).failure.text, held->outcome);
    } else {
      ASSERT_TRUE(std::holds_alternative<Ready>(found));
      EXPECT_EQ(std::get<Ready>(found).sample_response.view(), held->outcome);
    }
  }

  std::pair<WaiterId, base::SampleId> any_waiter() {
    return *std::next(waiting_.begin(), below(static_cast<int>(waiting_.size())));
  }

  void leave() {
    if (!waiting_.empty()) end_waiter(any_waiter().first, /*proven=*/false);
  }

  void deliver() {
    if (waiting_.empty()) return;
    const auto [waiter, id] = any_waiter();
    if (is_live(held_.at(id).state)) return;
    end_waiter(waiter, /*proven=*/true);
    if (below(2) == 0) confirm(id);
  }

  void end_waiter(WaiterId waiter, bool proven) {
    const auto id = waiting_.at(waiter);
    waiting_.erase(waiter);
    Held& held = held_.at(id);  // one with a waiter is never evicted
    held.waiters.erase(waiter);
    held.clock_start = clock_.now();
    ++reached_[std::string(proven ? "proven " : "left ") + (held.waiters.empty() ? "by the last" : "while others wait")];
    if (proven) held.state = State::delivered;
    if (proven) table_.delivered(id, waiter, clock_.now());
    if (!proven) table_.leave(id, waiter, clock_.now());
    if (held.acknowledged && held.waiters.empty()) forget(id, "acknowledged, then left");
  }

  void acknowledge() {
    const auto id = any_id();
    Held* held = find(id);
    const base::SamplingSessionId session =
        held == nullptr || below(4) == 0 ? base::SamplingSessionId{"other"} : held->submission.sampling_session;
    const bool known = held != nullptr && !is_live(held->state) && session == held->submission.sampling_session;
    EXPECT_EQ(table_.acknowledge(id, {"tenant"}, session), known);
    if (!known) return;
    held->acknowledged = true;
    if (held->waiters.empty()) forget(id, "acknowledged");
  }

  // The table has evicted it.
  void forget(base::SampleId id, const std::string& how) {
    const Submission& gone = held_.at(id).submission;
    ++reached_[how];
    keys_.erase({gone.sampling_session.text, *gone.seq_id});
    held_.erase(id);
    EXPECT_EQ(table_.state(id), std::nullopt);
  }

  void end_no_waiter() {  // means nothing, whatever the sample's state
    const auto id = any_id();
    table_.leave(id, {9, 9}, clock_.now());
    EXPECT_EQ(table_.delivered(id, {9, 9}, clock_.now()), std::nullopt);
  }

  void confirm() { confirm(any_id()); }
  void confirm(base::SampleId id) {
    table_.confirmed(id, clock_.now());
    Held* held = find(id);
    if (held != nullptr && held->state == State::delivered) held->state = State::confirmed;
  }

  // Time and settings.

  void pass_time() {
    const int kind = below(100);
    clock_.advance(std::chrono::milliseconds(kind < 90 ? below(5'000) : kind < 99 ? below(60'000) : below(2'000'000)));
  }

  void expire() {
    std::vector<base::SampleId> due;
    for (const auto& [id, held] : held_) {
      if (is_live(held.state) || !held.waiters.empty()) continue;
      const bool read = held.state == State::delivered || held.state == State::confirmed;
      if (clock_.now() - held.clock_start >= (read ? clocks_.retrieved_ttl : clocks_.completed_ttl)) due.push_back(id);
    }
    EXPECT_EQ(table_.expire(clock_.now(), clocks_), due.size());
    for (const auto id : due) forget(id, "evicted " + std::string(text(held_.at(id).state)));
  }

  void change_clocks() {
    clocks_.completed_ttl = base::Seconds{1.0 + below(7200)};
    clocks_.retrieved_ttl = base::Seconds{1.0 + below(600)};
  }

  void jump_wall_clock() { clock_.jump_wall(std::chrono::hours(below(200) - 100)); }

  void change_admission() {
    max_outstanding_ = static_cast<std::size_t>(below(300));
    table_.set_max_outstanding(max_outstanding_);
  }

  // A schedule that never came to these would prove little.
  void expect_reached() {
    for (const char* what : {"refused",           "re-sent queued",         "re-sent in_flight",  "re-sent completed",
                             "re-sent failed",    "re-sent delivered",      "re-sent confirmed",  "polled gone",
                             "polled queued",     "polled in_flight",       "polled completed",   "polled failed",
                             "polled delivered",  "polled confirmed",       "proven by the last", "proven while others wait",
                             "left by the last",  "left while others wait", "evicted completed",  "evicted failed",
                             "evicted delivered", "evicted confirmed",      "acknowledged",       "acknowledged, then left"}) {
      EXPECT_GT(reached_[what], 20) << what;
    }
  }

  void expect_effects(std::vector<std::string> expected) {
    std::vector<std::string> effects;
    for (const Effect& effect : std::exchange(effects_, {})) {
      if (const auto* forward = std::get_if<Forward>(&effect)) effects.push_back("forward " + forward->id.text());
      if (const auto* withdraw = std::get_if<Withdraw>(&effect)) effects.push_back("withdraw " + withdraw->id.text());
      if (const auto* report = std::get_if<Report>(&effect)) effects.push_back("report " + report->completion.id.text());
      if (const auto* deliver = std::get_if<Deliver>(&effect)) {
        effects.push_back("deliver " + std::to_string(deliver->waiter.number));
      }
    }
    EXPECT_THAT(effects, testing::UnorderedElementsAreArray(expected));
  }

  std::mt19937_64 random_;
  base::FakeClock clock_;
  Clocks clocks_;
  std::size_t max_outstanding_ = 100;
  Table table_;
  Effects effects_;

  std::map<base::SampleId, Held> held_;
  std::map<Key, base::SampleId> keys_;
  std::map<WaiterId, base::SampleId> waiting_;
  std::map<base::SampleId, int> outcomes_;  // of every sample that was ever admitted
  std::vector<base::SampleId> given_;       // ids, in the order in which they were given
  std::map<std::string, int> reached_;
  std::uint64_t duplicates_ = 0;
  std::int64_t last_seq_id_ = 0;
  std::uint64_t last_waiter_ = 0;
};

// The parameter is the seed: the name of a failing test replays it.
class AnySchedule : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AnySchedule, KeepsThePromises) {
  constexpr int kStepsPerSeed = 50'000;
  Schedule schedule(GetParam());
  for (int step = 0; step < kStepsPerSeed; ++step) {
    schedule.step();
    if (step % 500 == 0) schedule.recount();
    ASSERT_FALSE(HasFailure()) << "seed " << GetParam() << ", step " << step;
  }
  schedule.finish();
}

INSTANTIATE_TEST_SUITE_P(Seed, AnySchedule, testing::Range<std::uint64_t>(1, 7), testing::PrintToStringParamName());

}  // namespace
}  // namespace tinker::futures
