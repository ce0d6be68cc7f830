// SPDX-License-Identifier: Apache-2.0
#include "forward/fair_queue.h"

#include <utility>

namespace tinker::forward {
namespace {

// An index that was larger gives its memory back once a burst is over.
constexpr std::size_t kKeptBuckets = 4096;

}  // namespace

void FairQueue::push(Job job) {
  if (contains(job.id)) return;
  const auto known = named_.find(job.queue);
  Turns::iterator turn;
  if (known != named_.end()) {
    turn = known->second;
  } else {
    turn = turns_.insert(turns_.end(), Turn{std::move(job.queue), {}});
    named_.emplace(turn->name, turn);
  }
  job.queue = {};
  const base::SampleId id = job.id;
  places_.emplace(id, Place{turn, turn->jobs.insert(turn->jobs.end(), std::move(job))});
}

std::optional<Job> FairQueue::pop() {
  if (turns_.empty()) return std::nullopt;
  const auto turn = turns_.begin();
  Job job = std::move(turn->jobs.front());
  job.queue = turn->name;
  turn->jobs.pop_front();
  places_.erase(job.id);
  turns_.splice(turns_.end(), turns_, turn);
  if (turn->jobs.empty()) end_turn(turn);
  return job;
}

bool FairQueue::withdraw(base::SampleId id) {
  const auto found = places_.find(id);
  if (found == places_.end()) return false;
  const auto [turn, job] = found->second;
  places_.erase(found);
  turn->jobs.erase(job);
  if (turn->jobs.empty()) end_turn(turn);
  return true;
}

void FairQueue::end_turn(Turns::iterator turn) {
  named_.erase(turn->name);
  turns_.erase(turn);
  if (named_.empty() && named_.bucket_count() > kKeptBuckets) named_ = {};
  if (places_.empty() && places_.bucket_count() > kKeptBuckets) places_ = {};
}

}  // namespace tinker::forward
