// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "http/message.h"
#include "http/reply.h"
#include "loop/event_loop.h"

namespace tinker::http {

// What a server does to protect itself. Read for each connection, so live settings may stand behind them.
struct ServerLimits {
  // Open at once. Beyond, the connection that is idle longest makes room for a new one; when none is idle, new ones wait in the
  // kernel's backlog.
  std::size_t connections = std::numeric_limits<std::size_t>::max();
  std::size_t head_bytes = 64 * 1024;  // 431 beyond
  std::size_t field_count = 200;       // 431 beyond
  base::Seconds first_byte{30};        // a new connection's first byte
  base::Seconds request{30};           // a head, once begun, must be whole; a body must bring 1 KB this often: 408
  base::Seconds idle{120};             // keep-alive; above the 90 s that SDKs keep connections (wire.md §1.5)
  base::Seconds write{60};             // an answer must make progress this often, else the connection is closed (cases.md C12)
};

struct ServerHooks {
  // A whole request. The handler answers now or later through the Reply; it must not destroy the Server.
  std::function<void(Request&&, Reply)> handle;
  // Largest body for this method and path; 413 beyond, before the body is read. Runs when the head is whole. Empty: 1 MiB.
  std::function<std::size_t(std::string_view method, std::string_view path)> body_limit;
  // Each finished exchange; may be empty.
  std::function<void(const Exchange&)> finished;
  std::function<ServerLimits()> limits;  // empty: as ServerLimits stands
};

// Where to listen: "host:port" of a TCP socket (numeric host), a Unix socket's path, or a socket that was opened before.
struct ListenAddress {
  static ListenAddress tcp(std::string host, std::uint16_t port);
  // A stale socket file is replaced; one that somebody answers on is an error. `mode` as in chmod, whatever the umask.
  static ListenAddress unix_socket(std::string path, unsigned mode);
  // A listening socket of systemd. The server accepts from a duplicate; the caller's stays open.
  static ListenAddress inherited(int descriptor);
  std::string host;
  std::uint16_t port = 0;
  std::string path;
  unsigned mode = 0;
  int descriptor = -1;
};

// Fails when any program listens on that TCP address. Server::listen alone does not notice another process of the same user,
// since workers share a port by SO_REUSEPORT; a daemon asks this before it starts them (cases.md S9).
base::Result<void> check_nobody_listens(const ListenAddress& address);

// A listening socket and the connections that it accepted: HTTP/1.1 for clients.
//
// Owned by  a worker, or the control room for its Unix socket.
// Thread    the loop's.
// Owns      the listener and all its connections. The destructor closes them; observers and on_gone() are told from inside it.
//
// Several requests in a row on one connection (pipelining) are handled one at a time and answered in order. A client that
// closes its side while a request waits or its answer is being written is gone: that is how pollers hang up. The process
// ignores SIGPIPE from the first listen() on.
class Server {
 public:
  // Errors name the address and the reason: in use, permission denied, no such host.
  static base::Result<std::unique_ptr<Server>> listen(loop::EventLoop& loop, const ListenAddress& address, ServerHooks hooks);
  virtual ~Server() = default;

  // The port that was bound, for port 0.
  virtual std::uint16_t port() const = 0;
  virtual std::size_t connections() const = 0;
  // Takes in who is in the backlog and stops listening; connections go on, answers from now on carry `Connection: close`, idle
  // ones are closed at once, unless a request is already in the kernel's buffer.
  virtual void drain() = 0;
  // EMFILE and the like, and ServerLimits::connections, pause accepting instead of spinning (cases.md C11); how often that
  // happened, and how many idle connections were closed before it came to that.
  virtual std::uint64_t accept_pauses() const = 0;
  virtual std::uint64_t idle_shed() const = 0;
};

}  // namespace tinker::http
