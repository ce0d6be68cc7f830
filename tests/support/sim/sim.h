// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "futures/numbers.h"
#include "futures/table.h"

namespace tinker::sim {

// A sample of one training run, ready to be submitted. Equal content is a re-send.
futures::Submission sample(std::string sampling_session, std::int64_t seq_id = 1, std::string content = "prompt");

class Sim;

// A client's poll, seen from the client. Copies are the same poll. It may be dropped at any time: it then goes on waiting.
class Poll {
 public:
  // No answer yet.
  bool waiting() const;
  bool gone() const;
  // Reads the answer to its last byte. Fails the test when there is no result, or no failure, to read.
  std::string body();
  futures::Failure failure();
  // Goes away: while it waits, or after `bytes` of the result. Reading them all is a delivery.
  void hang_up();
  void hang_up_after(std::size_t bytes);
  // Is answered 408, because it was held long enough.
  void time_out() { hang_up(); }
  // Sends the next request on the connection on which it read its answer.
  void confirm();
  // How many times it was told that the sample had ended.
  int told() const;

 private:
  friend class Sim;
  struct Line;
  explicit Poll(std::shared_ptr<Line> line) : line_(std::move(line)) {}
  std::shared_ptr<Line> line_;
};

// The futures table with everything around it played by the test: clients, upstream, and a clock that is moved.
//
// Effects are carried out at once: what is forwarded, withdrawn and reported is written down, and a poll that is told looks
// again.
class Sim {
 public:
  Sim();

  base::Result<futures::Admitted> submit(futures::Submission submission);
  // submit() of what must be admitted.
  base::SampleId accept(futures::Submission submission);
  bool start(base::SampleId id);
  // Outcomes; false when the sample had one.
  bool complete(base::SampleId id, std::string result);
  bool fail(base::SampleId id, std::string text, futures::Category category = futures::Category::server);
  bool cancel(base::SampleId id);
  Poll poll(base::SampleId id);

  // Moves the clock, then expires as the daemon does. Returns how many were evicted.
  std::size_t pass(base::Seconds time);
  std::optional<futures::State> state(base::SampleId id) const { return table.state(id); }

  base::FakeClock clock;
  futures::Clocks clocks;
  futures::Table table;
  std::vector<base::SampleId> forwarded;
  std::vector<base::SampleId> withdrawn;
  std::vector<futures::Report> reported;

 private:
  friend class Poll;
  void carry_out(const futures::Effects& effects);

  std::map<futures::WaiterId, std::shared_ptr<Poll::Line>> lines_;
  std::uint64_t last_waiter_ = 0;
};

}  // namespace tinker::sim
