// SPDX-License-Identifier: Apache-2.0
#include "forward/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tinker::forward {
namespace {

bool same(const http::SocketAddress& a, const http::SocketAddress& b) {
  return a.size == b.size && std::memcmp(&a.storage, &b.storage, a.size) == 0;
}

}  // namespace

PooledLink::PooledLink(Pool& pool, std::size_t upstream, const http::SocketAddress& address)
    : pool_(pool), upstream_(upstream), address_(address), link_(pool.connect_(address)) {
  ++pool_.open_;
}

PooledLink::~PooledLink() { --pool_.open_; }

Pool::Pool(loop::EventLoop& loop, const base::Clock& clock, Connect connect, std::function<ForwardLimits()> limits)
    : clock_(clock),
      connect_(std::move(connect)),
      limits_(std::move(limits)),
      timer_(
          loop, [this] { close_due(); }, loop::Priority::upstream) {}

std::unique_ptr<PooledLink> Pool::take(std::size_t upstream, const http::SocketAddress& address) {
  close_due();
  auto& idle = resting(upstream, address).links;
  while (!idle.empty()) {
    auto link = take_out(*idle.front());
    if ((*link)->reusable()) return link;
  }
  return take_fresh(upstream, address);
}

std::unique_ptr<PooledLink> Pool::take_fresh(std::size_t upstream, const http::SocketAddress& address) {
  resting(upstream, address);
  const std::size_t most = limits_().max_connections;
  close_until(most == 0 ? 0 : most - 1);
  return std::unique_ptr<PooledLink>(new PooledLink(*this, upstream, address));
}

void Pool::give_back(std::unique_ptr<PooledLink> link) {
  const ForwardLimits limits = limits_();
  Resting& home = resting_[link->upstream_];
  if (!(*link)->reusable() || !same(link->address_, home.address) || open_ > limits.max_connections) return;

  PooledLink& idle = *link;
  home.links.push_front(std::move(link));
  idle.place_ = home.links.begin();
  ++idle_;
  deadlines_.put(idle, clock_.now() + std::chrono::duration_cast<base::Monotonic::duration>(limits.idle));
  idle->on_idle_closed([this, &idle] { take_out(idle); });
  if (!timer_.pending()) timer_.after(limits.idle);
}

// The idle connections of an upstream; a new address makes those to the old one useless.
Pool::Resting& Pool::resting(std::size_t upstream, const http::SocketAddress& address) {
  if (upstream >= resting_.size()) resting_.resize(upstream + 1);
  Resting& home = resting_[upstream];
  if (same(home.address, address)) return home;
  while (!home.links.empty()) take_out(*home.links.back());
  home.address = address;
  return home;
}

// Takes `link` out of the idle ones; what is returned is closed when it is dropped.
std::unique_ptr<PooledLink> Pool::take_out(PooledLink& link) {
  auto& links = resting_[link.upstream_].links;
  auto owned = std::move(*link.place_);
  links.erase(link.place_);
  deadlines_.remove(link);
  --idle_;
  return owned;
}

void Pool::close_due() {
  const base::Monotonic now = clock_.now();
  while (PooledLink* link = deadlines_.due(now)) take_out(*link);
  close_until(limits_().max_connections);
  if (const PooledLink* next = deadlines_.first()) {
    if (!timer_.pending()) timer_.after(next->deadline - now);
  }
}

// Closes idle connections, the oldest first, until no more than `allowed` are open or none is idle.
void Pool::close_until(std::size_t allowed) {
  while (open_ > allowed && !deadlines_.empty()) take_out(*deadlines_.first());
}

}  // namespace tinker::forward
