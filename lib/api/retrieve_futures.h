// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "api/futures_request.h"
#include "base/deadline_list.h"
#include "futures/feed.h"
#include "http/reply.h"
#include "loop/event_loop.h"

namespace tinker::api {

struct Shared;

// The retrieve_futures polls of one worker: each waits for its feed until samples of its client end or it is held long enough.
// Every one is answered 200: a 404 or 410 would end all samples of that client (wire.md §5.6), and a sampling session that
// nobody knows merely has nothing to tell.
//
// Owned by  a worker's Retrieval.
// Thread    its loop's; wake() may be called from any.
class FeedPolls {
 public:
  FeedPolls(loop::EventLoop& loop, std::uint32_t worker, Shared& shared);

  // Returns the earlier poll of the same client that this one takes the place of, on whichever worker: it is to be woken.
  [[nodiscard]] std::optional<futures::WaiterId> poll(FuturesRequest request, http::Reply reply);
  // The poll's feed has something to tell, or another poll has taken its place. It is answered soon: what ends within the same
  // few milliseconds shares the answer.
  void wake(futures::WaiterId poll);
  // Answers all at once, and those that still come: the daemon stops.
  void release_all();
  std::size_t waiting() const { return polls_.size(); }

 private:
  struct Poll : base::DeadlineList<Poll>::Hook {
    futures::WaiterId id;
    futures::FeedKey feed;
    std::int64_t prev_cursor = 0;
    http::Reply reply;
    bool woken = false;
  };

  void acknowledge(const FuturesRequest& request);
  void hold(Poll& poll, base::Seconds time);
  void answer(Poll& poll, const futures::Feeds::Answer& answer);
  // Answers with what there is.
  void answer(Poll& poll);
  void due();
  void left(std::uint64_t number);
  void set_timer();
  void drop_idle();

  loop::EventLoop& loop_;
  const std::uint32_t worker_;
  Shared& shared_;
  bool released_ = false;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Poll>> polls_;
  base::DeadlineList<Poll> holds_;  // until poll_hold_sec is over
  base::DeadlineList<Poll> soon_;   // woken
  loop::Timer timer_;
  loop::Timer idle_timer_;
};

}  // namespace tinker::api
