// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"

namespace tinker::load {

// Asks a daemon on its control socket how many clients are connected, five times a second.
//
// Thread    the loop's.
class ConnectionsWatch {
 public:
  // Fails when `socket` can be no path of a socket.
  static base::Result<std::unique_ptr<ConnectionsWatch>> start(loop::EventLoop& loop, const std::string& socket);
  ~ConnectionsWatch();

  // The most that were seen; nullopt when the daemon never answered.
  std::optional<std::uint64_t> most() const { return most_; }

 private:
  ConnectionsWatch(loop::EventLoop& loop, const http::SocketAddress& socket);
  void ask();

  loop::EventLoop& loop_;
  const http::SocketAddress socket_;
  loop::Timer timer_;
  std::unique_ptr<http::ClientConnection> connection_;
  std::optional<std::uint64_t> most_;
};

}  // namespace tinker::load
