// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/error.h"

namespace tinker::http {

// A resolved address. Names are resolved off the loop (forward/upstreams).
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  // "127.0.0.1", "::1" or "[::1]", and "localhost" for 127.0.0.1; no other name.
  static base::Result<SocketAddress> numeric(const std::string& host, std::uint16_t port);
  // Fails when `path` is empty or longer than the 107 bytes that the kernel takes.
  static base::Result<SocketAddress> unix_socket(const std::string& path);

  bool is_unix() const { return storage.ss_family == AF_UNIX; }
  std::uint16_t port() const;  // 0 for a Unix socket
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }

  // "127.0.0.1:8000", "[::1]:8000", "unix:/run/tinkerd/control.sock".
  std::string text() const;
};

}  // namespace tinker::http
