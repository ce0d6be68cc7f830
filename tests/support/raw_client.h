// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "loop/handles.h"

namespace tinker::test {

// A client that sends exactly the bytes it is told to, for tests of what no proper client would send. Blocking; every wait ends
// after kPatience, so that a test fails instead of hanging.
class RawClient {
 public:
  static constexpr std::chrono::seconds kPatience{20};

  // `receive_buffer_bytes` makes a slow reader: little fits into the kernel between the two sides.
  static RawClient tcp(std::uint16_t port, int receive_buffer_bytes = 0) {
    RawClient client = tcp_unconnected();
    if (receive_buffer_bytes > 0)
      setsockopt(client.fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    client.connect_to(port);
    return client;
  }
  static RawClient tcp_unconnected() { return RawClient(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  bool connect_to(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    return connected_;
  }

  static RawClient unix_socket(const std::string& path) {
    RawClient client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    client.connected_ = ::connect(client.fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    return client;
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }

  // False when the other side is gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!ready(POLLOUT)) return false;
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next whole answer by its content-length, head included; what came of it when the connection ends first.
  std::string answer(bool to_head_request = false) {
    std::size_t head = std::string::npos;
    while ((head = pending_.find("\r\n\r\n")) == std::string::npos)
      if (!read_more()) return std::exchange(pending_, {});
    head += 4;
    std::size_t size = head;
    if (const std::size_t field = pending_.find("content-length: "); !to_head_request && field < head)
      size += std::strtoull(pending_.c_str() + field + 16, nullptr, 10);
    while (pending_.size() < size)
      if (!read_more()) return std::exchange(pending_, {});
    if (pending_.size() == size) return std::exchange(pending_, {});
    std::string whole = pending_.substr(0, size);
    pending_.erase(0, size);
    return whole;
  }

  // All bytes until the other side closes; `closed` tells whether it did.
  std::string rest() {
    while (read_more()) {
    }
    return std::exchange(pending_, {});
  }
  bool closed() const { return closed_; }
  bool was_reset() const { return reset_; }

  // Waits until at least `count` bytes were read, or the end.
  std::string_view read(std::size_t count) {
    while (pending_.size() < count && read_more()) {
    }
    return pending_;
  }

  void half_close() { shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }
  void reset_connection() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_.reset();
  }

 private:
  explicit RawClient(int fd) : fd_(fd) {}

  bool ready(short events) {
    pollfd waiting{.fd = fd_.get(), .events = events, .revents = 0};
    return poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) > 0;
  }

  bool read_more() {
    if (!ready(POLLIN)) return false;
    char bytes[16384];
    const ssize_t got = recv(fd_.get(), bytes, sizeof bytes, 0);
    closed_ = closed_ || got <= 0;
    reset_ = reset_ || got < 0;
    if (got <= 0) return false;
    pending_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  loop::FileDescriptor fd_;
  std::string pending_;
  bool connected_ = false;
  bool closed_ = false;
  bool reset_ = false;
};

}  // namespace tinker::test
