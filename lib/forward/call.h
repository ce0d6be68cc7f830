// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "base/bytes.h"
#include "base/clock.h"
#include "forward/counts.h"
#include "forward/fair_queue.h"
#include "forward/limits.h"
#include "forward/outcome.h"
#include "forward/pool.h"
#include "forward/upstreams.h"
#include "forward/verdict.h"
#include "loop/event_loop.h"

namespace tinker::forward {

// What all calls of a forwarder share.
struct Surroundings {
  loop::EventLoop& loop;
  Upstreams& upstreams;
  Pool& pool;
  std::function<ForwardLimits()> limits;
  std::minstd_rand random;  // spreads the pauses, so that 2,000 calls that failed together do not come back together
  ForwardCounts& counts;
  // Runs once for each call that was begun, never from inside begin(); destroys the call.
  std::function<void(base::SampleId, Outcome)> ended;
};

// `pause` spread evenly over half to one and a half of it.
base::Seconds jittered(base::Seconds pause, std::minstd_rand& random);

// One job's way to the upstream and back, with its one retry:
//
//   choosing → exchanging → (ended)
//       ↓          ↓ ↺ on a new connection, when the upstream had closed the idle one (cases.md U5)
//    reading ← pausing     after a connect failure or 5xx, and after an abort (U6); once each
//
// Owned by  Forwarder.
// Thread    its loop's.
// Owns      its connection while it exchanges; destroying the call closes it, so that vLLM stops generating
//           (vectors/vllm/README.md §3).
class Call {
 public:
  Call(Surroundings& around, Job job, base::SharedBytes body);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void begin();

 private:
  enum class State {
    choosing,    // takes the upstream as last read
    reading,     // waits until the upstream's address was read anew
    exchanging,  // on a connection, or waiting for one to be made
    pausing,     // before it tries again
  };

  void enter(State state);
  void choose();
  void read();
  void exchange();
  void pause();
  void answered(const http::Answer& answer);
  void broke(const http::Broken& broken);
  void follow(Verdict verdict);
  void try_again(bool& used, Verdict& verdict);
  void end(Outcome outcome);

  Surroundings& around_;
  const Job job_;
  const base::SharedBytes body_;

  State state_ = State::choosing;
  Choice upstream_;
  std::size_t place_ = 0;             // of its address
  std::optional<std::size_t> avoid_;  // the upstream that failed
  std::unique_ptr<PooledLink> link_;
  bool needs_fresh_link_ = false;
  bool retried_ = false;
  bool regenerated_ = false;
  base::Seconds read_timeout_{};
  std::optional<loop::Timer> timer_;
  std::shared_ptr<Call*> self_;  // lets an answer of Upstreams find out that this has gone
};

}  // namespace tinker::forward
