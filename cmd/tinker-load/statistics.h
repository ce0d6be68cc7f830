// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace tinker::load {

// Times of one kind; percentiles are exact.
class Samples {
 public:
  void add(base::Seconds time) { seconds_.push_back(static_cast<float>(time.count())); }
  std::size_t count() const { return seconds_.size(); }
  // `part` in [0, 1]; 1 is the largest. 0 without any.
  double percentile_sec(double part) const;

 private:
  mutable std::vector<float> seconds_;
};

// What a process has used, from /proc.
struct ProcessUse {
  double cpu_sec = 0;  // user and system
  std::int64_t peak_rss_bytes = 0;
};
// nullopt when there is no such process.
std::optional<ProcessUse> use_of(int pid);

}  // namespace tinker::load
