// SPDX-License-Identifier: Apache-2.0
#include "control/house.h"

#include <memory>
#include <utility>

namespace tinker::control {
namespace {

void add(WorkerCounts& sum, const WorkerCounts& one) {
  sum.forward.in_flight += one.forward.in_flight;
  sum.forward.connections += one.forward.connections;
  sum.forward.idle += one.forward.idle;
  sum.forward.requests += one.forward.requests;
  sum.forward.retries += one.forward.retries;
  sum.forward.reconnects += one.forward.reconnects;
  sum.forward.aborts += one.forward.aborts;
  sum.forward.failures += one.forward.failures;
  sum.forward.logprobs_missing += one.forward.logprobs_missing;
  sum.forward.bytes_out += one.forward.bytes_out;
  sum.forward.bytes_in += one.forward.bytes_in;
  sum.connections += one.connections;
  sum.polls_waiting += one.polls_waiting;
  sum.accept_pauses += one.accept_pauses;
  sum.idle_shed += one.idle_shed;
}

struct Gathering {
  std::size_t missing;
  WorkerCounts sum;
  std::function<void(WorkerCounts)> done;
};

}  // namespace

void House::count(std::function<void(WorkerCounts)> done) const {
  auto gathering = std::make_shared<Gathering>(Gathering{workers.size(), {}, std::move(done)});
  for (const WorkerDoor& door : workers) {
    door.loop->post([&home = loop, gathering, counts = door.counts] {
      home.post([gathering, one = counts()] {
        add(gathering->sum, one);
        if (--gathering->missing == 0) gathering->done(gathering->sum);
      });
    });
  }
}

}  // namespace tinker::control
