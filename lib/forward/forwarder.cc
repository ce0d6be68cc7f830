// SPDX-License-Identifier: Apache-2.0
#include "forward/forwarder.h"

#include <unordered_map>
#include <utility>

#include "forward/call.h"
#include "forward/pool.h"

namespace tinker::forward {
namespace {

// A raised max_connections takes effect within this time, though nothing ends meanwhile.
constexpr base::Seconds kLimitCheck{1};

}  // namespace

struct Forwarder::Impl {
  Impl(loop::EventLoop& loop, const base::Clock& clock, Upstreams& upstreams, JobBoard& its_board, ForwardHooks given,
       Connect connect, std::uint32_t seed)
      : hooks(std::move(given)),
        board(its_board),
        seat(board.sit(hooks.limits().max_connections, [this, &loop] { loop.post([this] { fill(); }); })),
        pool(loop, clock, connect ? std::move(connect) : tcp_links(loop), hooks.limits),
        around{loop,
               upstreams,
               pool,
               hooks.limits,
               std::minstd_rand(seed),
               counts,
               [this](base::SampleId id, Outcome outcome) { end(id, std::move(outcome)); }},
        room_timer(
            loop, [this] { board.call_all(); }, loop::Priority::upstream) {}
  ~Impl() { board.leave(seat); }

  // Starts jobs as long as some wait and there is room.
  void fill() {
    while (auto job = board.take(seat, hooks.limits().max_connections)) start(*std::move(job));
    if (board.size() > 0 && !room_timer.pending()) room_timer.after(kLimitCheck);
  }

  void start(Job job) {
    const base::SampleId id = job.id;
    auto body = hooks.start(id);
    if (!body) return board.ended(seat);
    calls.try_emplace(id, around, std::move(job), *std::move(body)).first->second.begin();
  }

  void end(base::SampleId id, Outcome outcome) {
    calls.erase(id);
    board.ended(seat);
    hooks.done(id, std::move(outcome));
    fill();
  }

  const ForwardHooks hooks;
  ForwardCounts counts;
  JobBoard& board;
  JobBoard::Seat& seat;
  Pool pool;
  Surroundings around;
  std::unordered_map<base::SampleId, Call> calls;  // in flight
  loop::Timer room_timer;
};

Forwarder::Forwarder(loop::EventLoop& loop, const base::Clock& clock, Upstreams& upstreams, JobBoard& board, ForwardHooks hooks,
                     Connect connect, std::uint32_t seed)
    : impl_(std::make_unique<Impl>(loop, clock, upstreams, board, std::move(hooks), std::move(connect), seed)) {}

Forwarder::~Forwarder() = default;

void Forwarder::push(Job job) {
  if (impl_->calls.contains(job.id)) return;
  if (impl_->board.put(std::move(job), impl_->seat)) impl_->fill();
}

void Forwarder::withdraw(base::SampleId id) {
  if (impl_->board.withdraw(id) || impl_->calls.erase(id) == 0) return;
  impl_->board.ended(impl_->seat);
  impl_->fill();
}

ForwardCounts Forwarder::counts() const {
  ForwardCounts counts = impl_->counts;
  counts.in_flight = impl_->calls.size();
  counts.connections = impl_->pool.open();
  counts.idle = impl_->pool.idle();
  return counts;
}

}  // namespace tinker::forward
