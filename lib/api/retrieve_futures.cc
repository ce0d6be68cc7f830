// SPDX-License-Identifier: Apache-2.0
#include "api/retrieve_futures.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/api.h"
#include "api/error_reply.h"
#include "api/handlers.h"

namespace tinker::api {
namespace {

constexpr base::Seconds kGather{0.005};  // from the first completion to the answer
constexpr base::Seconds kLookForIdle{60};

base::Monotonic::duration on_the_clock(base::Seconds time) {
  return std::chrono::duration_cast<base::Monotonic::duration>(time);
}

// The size of a result goes with it, so that the client fetches it in one round trip (wire.md §5.6).
std::string body_of(const futures::Feeds::Answer& answer) {
  std::string body = "{\"completions\":[";
  body.reserve(64 + 112 * answer.completions.size());
  for (const futures::Completion& completion : answer.completions) {
    if (body.back() != '[') body += ',';
    body += completion.result_bytes ? "{\"state\":\"finished\",\"request_id\":\"" : "{\"state\":\"failed\",\"request_id\":\"";
    body += completion.id.text();
    body += '"';
    if (completion.result_bytes) {
      body += ",\"response_payload_uncompressed_size\":";
      body += std::to_string(*completion.result_bytes);
    }
    body += '}';
  }
  return body + "],\"cursor\":" + std::to_string(answer.cursor) + "}";
}

}  // namespace

void retrieve_futures(Api& api, Call call) {
  auto request = parse_futures_request(call.request.body);
  if (!request) return call.reply.send(error_response(request.error()));
  call.reply.set_request_id(request->feed.sampling_session.text);
  if (const auto earlier = api.retrieval.feeds().poll(std::move(*request), std::move(call.reply))) api.flow.wake(*earlier);
}

FeedPolls::FeedPolls(loop::EventLoop& loop, std::uint32_t worker, Shared& shared)
    : loop_(loop), worker_(worker), shared_(shared), timer_(loop, [this] { due(); }), idle_timer_(loop, [this] {
        drop_idle();
      }) {}

std::optional<futures::WaiterId> FeedPolls::poll(FuturesRequest request, http::Reply reply) {
  shared_.metrics.polls.add();
  acknowledge(request);
  auto made = std::make_unique<Poll>();
  Poll& poll = *made;
  poll.id = {worker_, ++last_number_};
  poll.feed = std::move(request.feed);
  poll.prev_cursor = request.prev_cursor;
  poll.reply = std::move(reply);
  polls_.emplace(poll.id.number, std::move(made));

  const bool opened = shared_.feeds.open(poll.feed, poll.prev_cursor, shared_.clock.now());
  const auto earlier = shared_.feeds.join(poll.feed, poll.id, shared_.clock.now());
  if (opened) shared_.feeds.add(poll.feed, shared_.table.undelivered(poll.feed));
  if (opened && !idle_timer_.pending()) idle_timer_.after(kLookForIdle);
  const base::Seconds most = shared_.settings.poll_hold_sec.get();
  const base::Seconds time = released_ ? base::Seconds{0} : std::min(most, request.timeout.value_or(most));
  const auto found = shared_.feeds.read(poll.feed, poll.id, poll.prev_cursor);
  if (found && found->completions.empty() && time.count() > 0) {
    hold(poll, time);
  } else {
    answer(poll, found.value_or(futures::Feeds::Answer{.completions = {}, .cursor = poll.prev_cursor}));
  }
  return earlier;
}

void FeedPolls::acknowledge(const FuturesRequest& request) {
  if (request.retrieved.empty()) return;
  shared_.feeds.acknowledge(request.feed, request.retrieved);
  for (const base::SampleId id : request.retrieved)
    shared_.table.acknowledge(id, request.feed.tenant, request.feed.sampling_session);
}

void FeedPolls::hold(Poll& poll, base::Seconds time) {
  poll.reply.on_gone([this, number = poll.id.number] { left(number); });
  holds_.put(poll, shared_.clock.now() + on_the_clock(time));
  set_timer();
}

void FeedPolls::wake(futures::WaiterId id) {
  if (!loop_.here()) return loop_.post([this, id] { wake(id); });
  const auto found = polls_.find(id.number);
  if (found == polls_.end() || std::exchange(found->second->woken, true)) return;
  Poll& poll = *found->second;
  holds_.remove(poll);
  soon_.put(poll, shared_.clock.now() + on_the_clock(kGather));
  set_timer();
}

void FeedPolls::answer(Poll& poll) {
  const auto found = shared_.feeds.read(poll.feed, poll.id, poll.prev_cursor);
  answer(poll, found.value_or(futures::Feeds::Answer{.completions = {}, .cursor = poll.prev_cursor}));
}

void FeedPolls::answer(Poll& poll, const futures::Feeds::Answer& answer) {
  shared_.feeds.leave(poll.feed, poll.id, shared_.clock.now());
  const auto ended = polls_.extract(poll.id.number);
  ended.mapped()->reply.send(json_response(body_of(answer)));
}

void FeedPolls::due() {
  const base::Monotonic now = shared_.clock.now();
  while (Poll* poll = soon_.due(now)) answer(*poll);
  while (Poll* poll = holds_.due(now)) {
    shared_.metrics.polls_held.add();
    answer(*poll);
  }
  set_timer();
}

void FeedPolls::release_all() {
  released_ = true;
  while (!polls_.empty()) answer(*polls_.begin()->second);
}

void FeedPolls::left(std::uint64_t number) {
  const auto ended = polls_.extract(number);
  if (!ended.empty()) shared_.feeds.leave(ended.mapped()->feed, ended.mapped()->id, shared_.clock.now());
}

void FeedPolls::set_timer() {
  const Poll* first = soon_.empty() ? holds_.first() : soon_.first();
  if (!soon_.empty() && !holds_.empty() && holds_.first()->deadline < first->deadline) first = holds_.first();
  if (first == nullptr) return timer_.cancel();
  timer_.after(first->deadline - shared_.clock.now());
}

void FeedPolls::drop_idle() {
  if (shared_.feeds.drop_idle(shared_.clock.now()) > 0) idle_timer_.after(kLookForIdle);
}

}  // namespace tinker::api
