// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tinker::observe {

// A count that only grows. Any thread.
class Counter {
 public:
  Counter(std::vector<Counter*>& all, std::string_view name, std::string_view help) : name_(name), help_(help) {
    all.push_back(this);
  }
  void add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }
  std::string_view name() const { return name_; }
  std::string_view help() const { return help_; }

 private:
  std::string_view name_, help_;
  std::atomic<std::uint64_t> value_{0};
};

// Times of one stage of a sample, in buckets whose bounds grow by a quarter: a percentile is within 12 % of the true one. Any
// thread.
class Times {
 public:
  Times(std::vector<Times*>& all, std::string_view name, std::string_view help) : name_(name), help_(help) {
    all.push_back(this);
  }
  void add(base::Seconds time);
  std::string_view name() const { return name_; }
  std::string_view help() const { return help_; }

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  double mean_sec() const;
  // `part` in (0, 1): the time that this part of all did not exceed; 0 without any.
  double percentile_sec(double part) const;

 private:
  static constexpr std::size_t kBuckets = 128;  // from 1 µs to 2,000,000 s
  static std::size_t bucket_of(double us);
  std::string_view name_, help_;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> total_us_{0};
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
};

// Every metric, once: what `tinkerctl status` shows is made from these.
//
// Owned by  Daemon. Thread: any.
struct Metrics {
  std::vector<Counter*> counters;  // filled by the members below, in the order in which they are shown
  std::vector<Times*> stages;

  Counter samples_accepted{counters, "samples_accepted", "asample requests that became a future"};
  Counter samples_duplicate{counters, "samples_duplicate", "asample requests sent again, answered with the future they had"};
  Counter samples_refused{counters, "samples_refused", "asample requests refused: no room, draining, or a seq_id used again"};
  Counter samples_completed{counters, "samples_completed", "samples that ended with a result"};
  Counter samples_failed{counters, "samples_failed", "samples that ended with an explicit failure"};
  Counter samples_cancelled{counters, "samples_cancelled", "samples that their client abandoned"};
  Counter samples_delivered{counters, "samples_delivered", "answers with a result whose last byte left a live connection"};
  Counter samples_evicted{counters, "samples_evicted", "results forgotten after their time"};
  Counter tokens_sampled{counters, "tokens_sampled", "tokens in all results"};
  Counter polls{counters, "polls", "retrieve_future requests"};
  Counter polls_held{counters, "polls_held", "polls answered 408 after poll_hold_sec"};
  Counter telemetry_dropped{counters, "telemetry_dropped", "telemetry posts counted and dropped unread"};
  Counter access_lines_dropped{counters, "access_lines_dropped", "access-log lines that the log could not take"};

  Times queue{stages, "queue", "from accepted to sent upstream"};
  Times upstream{stages, "upstream", "from sent upstream to the whole answer"};
  Times pickup{stages, "pickup", "from the answer to its first delivery"};
};

}  // namespace tinker::observe
