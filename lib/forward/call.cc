// SPDX-License-Identifier: Apache-2.0
#include "forward/call.h"

#include <string>
#include <utility>

#include "forward/request_head.h"

namespace tinker::forward {

base::Seconds jittered(base::Seconds pause, std::minstd_rand& random) {
  return pause * std::uniform_real_distribution<double>(0.5, 1.5)(random);
}

Call::Call(Surroundings& around, Job job, base::SharedBytes body)
    : around_(around), job_(std::move(job)), body_(std::move(body)) {}

void Call::begin() { enter(State::choosing); }

void Call::enter(State state) {
  state_ = state;
  switch (state) {
    case State::choosing:
      return choose();
    case State::reading:
      return read();
    case State::exchanging:
      return exchange();
    case State::pausing:
      return pause();
  }
}

void Call::choose() {
  upstream_ = around_.upstreams.choose(avoid_);
  enter(upstream_ ? State::exchanging : State::reading);
}

void Call::read() {
  self_ = std::make_shared<Call*>(this);
  around_.upstreams.refresh(around_.loop, [weak = std::weak_ptr<Call*>(self_)](const base::Result<void>& outcome) {
    const auto self = weak.lock();
    if (!self) return;
    Call& call = **self;
    if (!outcome) return call.end(tl::unexpected(Failure{Blame::server, outcome.error().text}));
    call.enter(State::choosing);
  });
}

void Call::exchange() {
  const ForwardLimits limits = around_.limits();
  place_ = upstream_->place();
  const http::SocketAddress& address = upstream_->addresses[place_];
  link_ = needs_fresh_link_ ? around_.pool.take_fresh(upstream_->index, address) : around_.pool.take(upstream_->index, address);
  read_timeout_ = limits.read;

  std::string head = completion_request_head(upstream_->url, job_.session_header, body_.size());
  ++around_.counts.requests;
  around_.counts.bytes_out += head.size() + body_.size();
  const http::ClientLimits http_limits{.connect = limits.connect, .read = limits.read};
  (*link_)->send(std::move(head), body_, http_limits, [this](tl::expected<http::Answer, http::Broken> result) {
    result ? answered(*result) : broke(result.error());
  });
}

void Call::pause() {
  timer_.emplace(
      around_.loop, [this] { enter(State::reading); }, loop::Priority::upstream);
  timer_->after(jittered(around_.limits().retry_pause, around_.random));
}

void Call::answered(const http::Answer& answer) {
  around_.counts.bytes_in += answer.body.size();
  around_.pool.give_back(std::move(link_));
  follow(judge(answer, job_.wants, upstream_->url));
}

void Call::broke(const http::Broken& broken) {
  link_.reset();
  Verdict verdict = judge(broken, upstream_->url, read_timeout_);
  if (verdict.next == Next::retry) upstream_->unreachable(place_);
  follow(std::move(verdict));
}

void Call::follow(Verdict verdict) {
  switch (verdict.next) {
    case Next::deliver:
      if (verdict.completion.logprobs_missing) ++around_.counts.logprobs_missing;
      return end(std::move(verdict.completion));
    case Next::fail:
      return end(tl::unexpected(std::move(verdict.failure)));
    case Next::retry:
      if (!retried_) ++around_.counts.retries;
      return try_again(retried_, verdict);
    case Next::regenerate:
      ++around_.counts.aborts;
      return try_again(regenerated_, verdict);
    case Next::reconnect:
      ++around_.counts.reconnects;
      needs_fresh_link_ = true;
      return enter(State::exchanging);
  }
}

// Once for each reason; `used` says whether that was.
void Call::try_again(bool& used, Verdict& verdict) {
  if (used) return end(tl::unexpected(std::move(verdict.failure)));
  used = true;
  avoid_ = upstream_->index;
  upstream_ = {};
  needs_fresh_link_ = false;
  enter(State::pausing);
}

void Call::end(Outcome outcome) {
  if (!outcome) ++around_.counts.failures;
  around_.ended(job_.id, std::move(outcome));  // destroys this
}

}  // namespace tinker::forward
