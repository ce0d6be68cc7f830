// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "forward/fair_queue.h"

namespace tinker::forward {

// The jobs of all workers that wait for their turn: one fair queue, and forwarders that take from it.
//
// While a job waits, no forwarder has room, or one with room was called. A job is taken by the forwarder that put it up, unless
// that one is full or has more in flight than the others: no worker is idle while another queues, and hardly a job changes
// threads.
//
// Owned by  Daemon; outlives the forwarders.
// Thread    any; a mutex is held for pointer moves only, and nothing is called under it.
class JobBoard {
 public:
  // A forwarder's place at the board.
  class Seat {
    friend class JobBoard;
    std::function<void()> call_;
    std::size_t most_ = 0;       // may be in flight at once, as of its last look
    std::size_t in_flight_ = 0;  // taken and not ended
    bool called_ = false;        // and has not looked since
  };

  // `call` is run, on any thread, when there are jobs for this forwarder to take; it makes its thread call take().
  Seat& sit(std::size_t most, std::function<void()> call);
  void leave(Seat& seat);

  // Puts a job up; one that waits already stays where it is. False when another forwarder was called to take it; else the
  // caller is to call take().
  bool put(Job job, Seat& by);
  // The next job, which is in flight until ended(). nullopt when none waits, or when `most` are in flight.
  std::optional<Job> take(Seat& seat, std::size_t most);
  void ended(Seat& seat);
  // Takes a job out wherever it stands. False when it does not wait here.
  bool withdraw(base::SampleId id);

  // Has all forwarders look again, since limits are read when they do.
  void call_all();
  std::size_t size() const;

 private:
  Seat* least_busy_with_room();
  bool rather_takes_it_itself(const Seat& seat) const;

  mutable std::mutex mutex_;
  FairQueue queue_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::size_t in_flight_ = 0;  // over all seats
};

}  // namespace tinker::forward
