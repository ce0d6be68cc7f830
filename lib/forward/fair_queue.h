// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "codec/completion.h"

namespace tinker::forward {

// A sample that waits for its turn. Its body stays with the futures table until then.
struct Job {
  base::SampleId id;
  std::string queue;           // whose turn it takes: the sampling session, or the model for samples without one
  std::string session_header;  // value of X-Session-ID, or empty (server-contract.md §4.2)
  codec::CompletionWants wants;
};

// Whose turn it is: round robin between queues, first in first out within one. So an evaluation of 10 samples is served within
// its first 20 turns though a burst of 131,072 came before it (design.md §2).
//
// push, pop and withdraw cost the same however many jobs and queues there are; a queue that becomes empty leaves nothing
// behind.
//
// Owned by  JobBoard, whose mutex guards it.
class FairQueue {
 public:
  FairQueue() = default;
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // A new queue has its turn after all that wait now. A job that waits already stays where it is.
  void push(Job job);
  // The next job; its queue then waits until every other queue had a turn. nullopt when none waits.
  std::optional<Job> pop();
  // Takes a job out wherever it stands. False when it does not wait here.
  bool withdraw(base::SampleId id);

  bool contains(base::SampleId id) const { return places_.contains(id); }
  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  // Queues with at least one job.
  std::size_t queues() const { return turns_.size(); }

 private:
  // One queue. Its jobs are kept without their queue's name, which is here once.
  struct Turn {
    std::string name;
    std::list<Job> jobs;
  };
  using Turns = std::list<Turn>;
  struct Place {
    Turns::iterator turn;
    std::list<Job>::iterator job;
  };

  void end_turn(Turns::iterator turn);

  Turns turns_;                                                  // the first is next
  std::unordered_map<std::string_view, Turns::iterator> named_;  // by Turn::name, which stays where it is
  std::unordered_map<base::SampleId, Place> places_;
};

}  // namespace tinker::forward
