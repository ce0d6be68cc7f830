// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"

namespace tinker::forward {

// One keep-alive connection to an upstream, as http::ClientConnection describes it. Handed in, so that a test can be the
// network.
class Link {
 public:
  virtual ~Link() = default;
  virtual void send(std::string head, base::SharedBytes body, const http::ClientLimits& limits,
                    http::ClientConnection::Done done) = 0;
  virtual bool reusable() const = 0;
  virtual void on_idle_closed(std::function<void()> closed) = 0;
};

// Makes a link that connects when it first sends.
using Connect = std::function<std::unique_ptr<Link>(const http::SocketAddress&)>;

// Links over TCP on `loop`, which outlives them.
Connect tcp_links(loop::EventLoop& loop);

}  // namespace tinker::forward
