// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "http/message.h"
#include "http/socket_address.h"
#include "loop/event_loop.h"

namespace tinker::http {

// The answer to a request that we sent.
struct Answer {
  int status = 0;
  Fields fields;
  base::Buffer body;  // whole and contiguous
};

// How an exchange ended without an answer. What may be sent again depends on it (design.md §5).
enum class Breakage {
  connect_failed,  // refused, unreachable, reset while connecting
  connect_timed_out,
  write_failed,    // the connection broke while the request was being written
  closed_early,    // closed or reset before any byte of an answer
  cut_short,       // closed or reset in the middle of an answer
  read_timed_out,  // no byte for the read time-out
  malformed,       // not HTTP, a bad chunk, both lengths …
  too_large,
};
struct Broken {
  Breakage kind;
  bool reused;  // the connection had served an earlier exchange and broke within ClientLimits::idle_race: a close before any
                // byte may be the upstream's idle time-out (cases.md U5). Later, the upstream had the request and may be
                // generating.
  std::string text;  // e.g. "connection to 127.0.0.1:8000 refused"
};

struct ClientLimits {
  base::Seconds connect{60};
  base::Seconds read{2048};    // between bytes
  base::Seconds idle_race{5};  // see Broken::reused
  std::size_t head_bytes = 64 * 1024;
  std::size_t body_bytes = std::size_t{1} << 30;
};

// One keep-alive connection to an upstream, for one exchange at a time. Plain events; the body is read straight into one
// contiguous buffer sized by its length (design.md §3: 2.1 ms against 6.8 ms through a bufferevent, for 2.5 MB).
//
// Owned by  forward's pool, the harness's client.
// Thread    the loop's; runs at Priority::upstream.
// Blocks    never. TCP keep-alive and TCP_USER_TIMEOUT find a vanished host.
class ClientConnection {
 public:
  using Done = std::function<void(tl::expected<Answer, Broken>)>;

  ClientConnection(loop::EventLoop& loop, const SocketAddress& address, loop::Priority priority = loop::Priority::upstream);
  ~ClientConnection();  // closes; a Done that is due is not called
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Connections come from this address from now on, with any port. A pair of addresses has some 28,000 ports: a client that
  // holds more connections to one server comes from several.
  void come_from(const SocketAddress& source);

  // Sends `head` (request line, all fields, the empty line) and `body`; connects first when there is no connection. `done` runs
  // once, never from inside send(); the connection may be destroyed in it. Precondition: idle().
  void send(std::string head, base::SharedBytes body, const ClientLimits& limits, Done done);

  bool idle() const;
  // May serve another exchange: connected, and neither side asked to close.
  bool reusable() const;
  // `closed` runs when an idle connection is closed by the other side (or sends bytes nobody asked for).
  void on_idle_closed(std::function<void()> closed);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tinker::http
