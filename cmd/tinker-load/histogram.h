// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"

namespace tinker::load {

// Times of one kind in logarithmic buckets, as in HdrHistogram: percentiles are right to 0.4 %, and those of several processes
// can be added. Resolves microseconds.
class Histogram {
 public:
  void add(base::Seconds time);
  void add(std::uint64_t us, std::uint64_t times);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  // `part` in [0, 1]; 1 is the largest. 0 without any.
  double percentile_sec(double part) const;
  // Each bucket that is not empty, smallest first: its time in microseconds, which add() puts into the same bucket, and its
  // count.
  void each(const std::function<void(std::uint64_t us, std::uint64_t times)>& visit) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
};

}  // namespace tinker::load
