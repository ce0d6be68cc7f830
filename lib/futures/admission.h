// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

#include <atomic>
#include <cstddef>

namespace tinker::futures {

// How many samples may be outstanding (queued or in flight) in the whole daemon, and how many are.
//
// Owned by  Table.
// Thread    any; two atomics, no lock.
class Admission {
 public:
  explicit Admission(std::size_t max_outstanding) : max_outstanding_(max_outstanding) {}

  // Takes a place; false when there is none. Each place that was taken is given back once.
  bool take();
  void give_back();
  // Why take() said no: exhausted, with both numbers and what to do. 429 to the client, which tries again.
  base::Error refusal() const;

  std::size_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }
  std::size_t max_outstanding() const { return max_outstanding_.load(std::memory_order_relaxed); }
  // Live. Lowered below outstanding(), it refuses new samples and ends none.
  void set_max_outstanding(std::size_t max) { max_outstanding_.store(max, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<std::size_t> max_outstanding_;
};

}  // namespace tinker::futures
