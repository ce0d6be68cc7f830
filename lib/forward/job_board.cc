// SPDX-License-Identifier: Apache-2.0
#include "forward/job_board.h"

#include <algorithm>
#include <utility>

namespace tinker::forward {
namespace {

// How many more than the mean a forwarder has in flight before it calls another: changing threads costs a wake-up.
constexpr std::size_t kUneven = 16;

}  // namespace

JobBoard::Seat& JobBoard::sit(std::size_t most, std::function<void()> call) {
  auto seat = std::make_unique<Seat>();
  seat->most_ = most;
  seat->call_ = std::move(call);
  const std::lock_guard lock(mutex_);
  return *seats_.emplace_back(std::move(seat));
}

void JobBoard::leave(Seat& seat) {
  const std::lock_guard lock(mutex_);
  in_flight_ -= seat.in_flight_;
  std::erase_if(seats_, [&](const auto& other) { return other.get() == &seat; });
}

bool JobBoard::put(Job job, Seat& by) {
  std::unique_lock lock(mutex_);
  queue_.push(std::move(job));
  if (rather_takes_it_itself(by)) return true;
  Seat* const taker = least_busy_with_room();
  if (taker == nullptr || taker == &by) return true;
  if (std::exchange(taker->called_, true)) return false;
  const auto call = taker->call_;
  lock.unlock();
  call();
  return false;
}

std::optional<Job> JobBoard::take(Seat& seat, std::size_t most) {
  std::unique_lock lock(mutex_);
  seat.called_ = false;
  seat.most_ = most;
  if (queue_.empty()) return std::nullopt;
  if (seat.in_flight_ < most) {
    ++seat.in_flight_;
    ++in_flight_;
    return queue_.pop();
  }
  // It may have been called for more jobs than it has room for.
  Seat* const other = least_busy_with_room();
  if (other == nullptr || std::exchange(other->called_, true)) return std::nullopt;
  const auto call = other->call_;
  lock.unlock();
  call();
  return std::nullopt;
}

void JobBoard::ended(Seat& seat) {
  const std::lock_guard lock(mutex_);
  --seat.in_flight_;
  --in_flight_;
}

bool JobBoard::withdraw(base::SampleId id) {
  const std::lock_guard lock(mutex_);
  return queue_.withdraw(id);
}

void JobBoard::call_all() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& seat : seats_) {
      if (!std::exchange(seat->called_, true)) calls.push_back(seat->call_);
    }
  }
  for (const auto& call : calls) call();
}

std::size_t JobBoard::size() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

JobBoard::Seat* JobBoard::least_busy_with_room() {
  Seat* least = nullptr;
  for (const auto& seat : seats_) {
    if (seat->in_flight_ < seat->most_ && (least == nullptr || seat->in_flight_ < least->in_flight_)) least = seat.get();
  }
  return least;
}

bool JobBoard::rather_takes_it_itself(const Seat& seat) const {
  return seat.in_flight_ < seat.most_ && seat.in_flight_ <= in_flight_ / seats_.size() + kUneven;
}

}  // namespace tinker::forward
