// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace tinker::base {

// Every TTL and time-out runs on the monotonic clock: the wall clock may jump by hours (cases.md S8). The wall clock is for
// what people and databases read.
using Monotonic = std::chrono::steady_clock::time_point;
using Wall = std::chrono::system_clock::time_point;
using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::milliseconds;

// Time is handed in, so that tests move it. Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Monotonic now() const = 0;
  virtual Wall wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  Monotonic now() const override { return std::chrono::steady_clock::now(); }
  Wall wall() const override { return std::chrono::system_clock::now(); }
};

// Stands still until it is moved. One thread.
class FakeClock final : public Clock {
 public:
  Monotonic now() const override { return now_; }
  Wall wall() const override { return wall_; }
  void advance(Monotonic::duration by) {
    now_ += by;
    wall_ += std::chrono::duration_cast<Wall::duration>(by);
  }
  void jump_wall(Wall::duration by) { wall_ += by; }

 private:
  Monotonic now_{std::chrono::hours{1}};
  Wall wall_{std::chrono::hours{24 * 365 * 50}};
};

}  // namespace tinker::base
