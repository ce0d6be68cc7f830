// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "api/json_cache.h"
#include "api/retrieve_futures.h"
#include "base/deadline_list.h"
#include "base/ids.h"
#include "futures/table.h"
#include "http/reply.h"
#include "loop/event_loop.h"

namespace tinker::api {

struct Shared;

// How a poll wants its answer.
struct PollForm {
  bool protobuf = false;          // Accept names application/x-protobuf (wire.md §8.2)
  bool metadata_allowed = false;  // allow_metadata_only (wire.md §5.4)
};

// The polls of one worker: each waits in the futures table until its sample ends, the poll is held long enough (408), or its
// client leaves. Whatever happens to the sample, each is answered within poll_hold_sec (cases.md C4).
//
// Owned by  a worker's Api.
// Thread    its loop's; wake() may be called from any.
class Retrieval {
 public:
  Retrieval(loop::EventLoop& loop, std::uint32_t worker, Shared& shared);

  void poll(base::SampleId id, PollForm form, http::Reply reply);
  // The sample that this waiter waits for has ended.
  void wake(futures::WaiterId waiter);
  // The polls for many samples.
  FeedPolls& feeds() { return feed_polls_; }
  // Answers all 408 at once, and those that still come: the daemon stops, and the clients poll the next process (design.md §9).
  void release_all();
  std::size_t waiting() const { return waiters_.size() + feed_polls_.waiting(); }

 private:
  struct Waiter : base::DeadlineList<Waiter>::Hook {
    futures::WaiterId id;
    base::SampleId sample;
    PollForm form;
    http::Reply reply;
  };

  void look(Waiter& waiter);
  void wait(Waiter& waiter);
  void hold_ended();
  void answer_try_again(Waiter& waiter);
  // Ends the waiter with an answer that hands out a result; `observer` follows its delivery.
  void answer(Waiter& waiter, http::Response response);
  // Ends it with an answer that does not.
  void answer_without_result(Waiter& waiter, http::Response response);
  void answer_ready(Waiter& waiter, const futures::Ready& ready);
  void left(std::uint64_t number);
  void set_timer();

  loop::EventLoop& loop_;
  const std::uint32_t worker_;
  Shared& shared_;
  bool released_ = false;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Waiter>> waiters_;
  base::DeadlineList<Waiter> holds_;
  loop::Timer hold_timer_;
  base::Monotonic timer_deadline_{};  // what hold_timer_ is set to
  JsonCache json_;
  FeedPolls feed_polls_;
};

}  // namespace tinker::api
