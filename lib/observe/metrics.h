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

// What is counted where no room counts it for itself (futures::Totals, forward::ForwardCounts). Each once; `tinkerctl status`
// shows all.
//
// Owned by  Daemon. Thread: any.
struct Metrics {
  std::vector<Counter*> counters;  // filled by the members below, in the order in which they are shown
  std::vector<Times*> stages;

  Counter samples_refused{counters, "samples_refused",
                          "asample requests refused: no room, draining, or a seq_id used for other content"};
  Counter samples_cancelled{counters, "samples_cancelled", "live samples that their client abandoned"};
  Counter tokens_sampled{counters, "tokens_sampled", "tokens in all results"};
  Counter polls{counters, "polls", "retrieve_future and retrieve_futures requests"};
  Counter polls_held{counters, "polls_held", "polls answered without a result after poll_hold_sec"};
  Counter telemetry_dropped{counters, "telemetry_dropped", "telemetry posts counted and dropped unread"};

  Times queue{stages, "queue", "from accepted to sent upstream"};
  Times upstream{stages, "upstream", "from sent upstream to the whole answer"};
  Times pickup{stages, "pickup", "from the answer to its first delivery"};
};

}  // namespace tinker::observe
