// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/deadline_list.h"
#include "forward/limits.h"
#include "forward/link.h"
#include "loop/event_loop.h"

namespace tinker::forward {

class Pool;

// A connection of the pool. Whoever holds it may send on it and then gives it back; destroying it closes it.
class PooledLink : public base::DeadlineList<PooledLink>::Hook {
 public:
  ~PooledLink();
  Link& operator*() const { return *link_; }
  Link* operator->() const { return link_.get(); }

 private:
  friend class Pool;
  PooledLink(Pool& pool, std::size_t upstream, const http::SocketAddress& address);

  Pool& pool_;
  const std::size_t upstream_;
  const http::SocketAddress address_;
  const std::unique_ptr<Link> link_;
  std::list<std::unique_ptr<PooledLink>>::iterator place_;  // among the idle ones of its upstream, while it is idle
};

// Keep-alive connections to the upstreams. The one used last is used next, so that the others grow old and are closed; an idle
// one is closed after ForwardLimits::idle, before the upstream closes it just as a request is written (cases.md U5).
//
// At most ForwardLimits::max_connections are open, as long as no more are held at once; when the limit shrinks, idle ones are
// closed first and busy ones when they are given back. Nothing here is ever searched: the cost of an exchange does not depend
// on how many are open (U1).
//
// Owned by  Forwarder; outlives what it handed out.
// Thread    its loop's.
class Pool {
 public:
  Pool(loop::EventLoop& loop, const base::Clock& clock, Connect connect, std::function<ForwardLimits()> limits);

  // A connection to `address` of upstream number `upstream`: an idle one, else a new one. Idle ones to an earlier address of
  // this upstream are closed.
  std::unique_ptr<PooledLink> take(std::size_t upstream, const http::SocketAddress& address);
  // The same, and never one that was used before.
  std::unique_ptr<PooledLink> take_fresh(std::size_t upstream, const http::SocketAddress& address);
  // Keeps it for the next exchange if it can serve one and is still wanted; else closes it.
  void give_back(std::unique_ptr<PooledLink> link);

  std::size_t open() const { return open_; }
  std::size_t idle() const { return idle_; }

 private:
  friend class PooledLink;
  struct Resting {
    http::SocketAddress address;
    std::list<std::unique_ptr<PooledLink>> links;  // the one used last is first
  };

  Resting& resting(std::size_t upstream, const http::SocketAddress& address);
  std::unique_ptr<PooledLink> take_out(PooledLink& link);
  void close_due();
  void close_until(std::size_t allowed);

  const base::Clock& clock_;
  const Connect connect_;
  const std::function<ForwardLimits()> limits_;
  std::size_t open_ = 0;
  std::size_t idle_ = 0;
  base::DeadlineList<PooledLink> deadlines_;  // of the idle ones, over all upstreams
  std::vector<Resting> resting_;              // by number of upstream
  loop::Timer timer_;                         // set for the first deadline
};

}  // namespace tinker::forward
