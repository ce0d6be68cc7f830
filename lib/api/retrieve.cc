// SPDX-License-Identifier: Apache-2.0
#include "api/retrieve.h"

#include <utility>

#include "api/api.h"
#include "api/error_reply.h"
#include "api/handlers.h"
#include "base/overloaded.h"
#include "codec/json_body.h"

namespace tinker::api {
namespace {

constexpr std::size_t kJsonCacheBytes = std::size_t{32} << 20;

}  // namespace

void retrieve_future(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  const std::string text = body.text("request_id");
  const bool metadata_allowed = body.optional_boolean("allow_metadata_only").value_or(false);
  if (const auto error = body.error()) return call.reply.send(error_response(*error));

  const auto id = base::SampleId::parse(text);
  if (!id)
    return call.reply.send(
        detail_response(404, "Future not found: '" + text.substr(0, 64) + "' is no request_id that asample gave"));
  call.reply.set_request_id(text);
  const auto accept = call.request.fields.find("accept").value_or("");
  const bool protobuf = accept.find("application/x-protobuf") != std::string_view::npos;
  api.retrieval.poll(*id, {protobuf, metadata_allowed}, std::move(call.reply));
}

Retrieval::Retrieval(loop::EventLoop& loop, std::uint32_t worker, Shared& shared)
    : loop_(loop),
      worker_(worker),
      shared_(shared),
      hold_timer_(loop, [this] { hold_ended(); }),
      json_(kJsonCacheBytes),
      feed_polls_(loop, worker, shared) {}

void Retrieval::poll(base::SampleId id, PollForm form, http::Reply reply) {
  shared_.metrics.polls.add();
  auto waiter = std::make_unique<Waiter>();
  waiter->id = {worker_, ++last_number_};
  waiter->sample = id;
  waiter->form = form;
  waiter->reply = std::move(reply);
  Waiter& added = *waiter;
  waiters_.emplace(added.id.number, std::move(waiter));
  look(added);
}

void Retrieval::wake(futures::WaiterId waiter) {
  if (!loop_.here()) return loop_.post([this, waiter] { wake(waiter); });
  const auto found = waiters_.find(waiter.number);
  if (found != waiters_.end()) look(*found->second);
}

void Retrieval::look(Waiter& waiter) {
  const futures::Found found = shared_.table.poll(waiter.sample, waiter.id, shared_.clock.now());
  std::visit(base::overloaded{
                 [&](const futures::Pending&) { wait(waiter); },
                 [&](const futures::Ready& ready) { answer_ready(waiter, ready); },
                 [&](const futures::Failed& failed) {
                   answer(waiter, json_response("{\"error\":" + json_text(failed.failure.text) + ",\"category\":\"" +
                                                std::string(futures::text(failed.failure.category)) + "\"}"));
                 },
                 [&](const futures::Gone&) {
                   answer_without_result(waiter, detail_response(410, "Future " + waiter.sample.text() +
                                                                          " is no longer here; submit the sample again"));
                 },
             },
             found);
}

void Retrieval::wait(Waiter& waiter) {
  if (released_) return answer_try_again(waiter);
  const std::uint64_t number = waiter.id.number;
  waiter.reply.on_gone([this, number] { left(number); });
  holds_.put(waiter,
             shared_.clock.now() + std::chrono::duration_cast<base::Monotonic::duration>(shared_.settings.poll_hold_sec.get()));
  set_timer();
}

void Retrieval::answer_ready(Waiter& waiter, const futures::Ready& ready) {
  const std::size_t size = ready.sample_response.size();
  if (waiter.form.metadata_allowed && size > static_cast<std::size_t>(shared_.settings.metadata_only_bytes.get())) {
    return answer_without_result(
        waiter, json_response("{\"status\":\"complete_metadata\",\"response_payload_size\":" + std::to_string(size) + "}"));
  }
  if (waiter.form.protobuf) return answer(waiter, {.content_type = "application/x-protobuf", .body = ready.sample_response});
  auto json = json_.of(waiter.sample, ready.sample_response);
  if (!json) return answer(waiter, json_response("{\"error\":" + json_text(json.error().text) + ",\"category\":\"server\"}"));
  answer(waiter, {.body = *json});
}

void Retrieval::answer(Waiter& waiter, http::Response response) {
  auto observer = [this, id = waiter.sample, who = waiter.id](http::Delivery delivery) {
    switch (delivery) {
      case http::Delivery::written:
        if (const auto lay_unread = shared_.table.delivered(id, who, shared_.clock.now()))
          shared_.metrics.pickup.add(*lay_unread);
        return;
      case http::Delivery::confirmed:
        return shared_.table.confirmed(id, shared_.clock.now());
      case http::Delivery::gone:
        return shared_.table.leave(id, who, shared_.clock.now());
    }
  };
  const auto ended = waiters_.extract(waiter.id.number);
  ended.mapped()->reply.send(std::move(response), std::move(observer));
}

void Retrieval::answer_without_result(Waiter& waiter, http::Response response) {
  shared_.table.leave(waiter.sample, waiter.id, shared_.clock.now());
  const auto ended = waiters_.extract(waiter.id.number);
  ended.mapped()->reply.send(std::move(response));
}

// 408 with an honest state (wire.md §5.3): a sample that still waits for a connection is paused for want of capacity.
void Retrieval::answer_try_again(Waiter& waiter) {
  shared_.metrics.polls_held.add();
  const bool queued = shared_.table.state(waiter.sample) == futures::State::queued;
  std::string body = "{\"type\":\"try_again\",\"request_id\":\"" + waiter.sample.text() + "\",\"queue_state\":";
  body += queued
              ? "\"paused_capacity\",\"queue_state_reason\":\"the sample waits for a free connection to the inference server\"}"
              : "\"active\",\"queue_state_reason\":null}";
  answer_without_result(waiter, json_response(std::move(body), 408));
}

void Retrieval::hold_ended() {
  const base::Monotonic now = shared_.clock.now();
  while (Waiter* waiter = holds_.due(now)) answer_try_again(*waiter);
  set_timer();
}

void Retrieval::release_all() {
  released_ = true;
  while (!waiters_.empty()) answer_try_again(*waiters_.begin()->second);
  feed_polls_.release_all();
}

void Retrieval::left(std::uint64_t number) {
  const auto ended = waiters_.extract(number);
  if (ended.empty()) return;
  shared_.table.leave(ended.mapped()->sample, ended.mapped()->id, shared_.clock.now());
}

void Retrieval::set_timer() {
  const Waiter* first = holds_.first();
  if (first == nullptr) return hold_timer_.cancel();
  if (!hold_timer_.pending() || first->deadline != timer_deadline_) {
    timer_deadline_ = first->deadline;
    hold_timer_.after(first->deadline - shared_.clock.now());
  }
}

}  // namespace tinker::api
