// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

#include <atomic>
#include <cstddef>

namespace tinker::futures {

// Whether the daemon takes new samples: not while it drains, and not beyond max_outstanding (queued or in flight, all workers).
//
// Owned by  Table.
// Thread    any; atomics, no lock.
class Admission {
 public:
  explicit Admission(std::size_t max_outstanding) : max_outstanding_(max_outstanding) {}

  // Takes a place; false when there is none. Each place that was taken is given back once.
  bool take();
  void give_back();
  // Why take() said no: exhausted, with the numbers and what to do. 429 to the client, which tries again.
  base::Error refusal() const;

  std::size_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }
  std::size_t max_outstanding() const { return max_outstanding_.load(std::memory_order_relaxed); }
  // Live. Lowered below outstanding(), it refuses new samples and ends none.
  void set_max_outstanding(std::size_t max) { max_outstanding_.store(max, std::memory_order_relaxed); }
  // Live. What is outstanding goes on.
  void set_draining(bool draining) { draining_.store(draining, std::memory_order_relaxed); }
  bool draining() const { return draining_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<std::size_t> max_outstanding_;
  std::atomic<bool> draining_{false};
};

}  // namespace tinker::futures
