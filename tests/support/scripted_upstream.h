// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "loop/handles.h"

namespace tinker::test {

// An upstream on a thread of its own that answers each request with the bytes that the test says, whether they are HTTP or not.
class ScriptedUpstream {
 public:
  enum class After { keep, close, reset, hold };
  struct Reply {
    std::string bytes;
    After after = After::keep;
  };
  struct Request {
    std::string head, body;
    int number;         // from 0, over all connections
    int on_connection;  // from 0
  };
  // Runs on the upstream's thread.
  using Script = std::function<Reply(const Request&)>;

  explicit ScriptedUpstream(Script script) : script_(std::move(script)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    listener_ = loop::FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_.get(), 4096) != 0)
      std::abort();
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedUpstream() {
    stopping_ = true;
    wake();
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int requests() const { return requests_; }
  int connections() const { return connections_; }
  // Connections that the other side closed.
  int left() const { return left_; }

  // Answers every request that is held, now or before the next look.
  void answer_held(std::string bytes) {
    {
      std::lock_guard guard(mutex_);
      for_held_ = std::move(bytes);
    }
    wake();
  }

 private:
  struct Connection {
    loop::FileDescriptor fd;
    std::string in, out;
    int requests = 0;
    bool held = false;
    After after = After::keep;
  };

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
  }

  void serve() {
    while (!stopping_) {
      std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      for (const Connection& connection : open_) {
        fds.push_back({connection.fd.get(), static_cast<short>(connection.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      }
      poll(fds.data(), fds.size(), -1);
      std::size_t i = 2;
      for (auto it = open_.begin(); it != open_.end(); ++i) {
        const bool lives = fds[i].revents == 0 || turn(*it);
        it = lives ? std::next(it) : open_.erase(it);
      }
      if (fds[1].revents != 0) release_held();
      if (fds[0].revents != 0) accept_all();
    }
  }

  void accept_all() {
    for (int fd; (fd = accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
      open_.emplace_back().fd = loop::FileDescriptor(fd);
      ++connections_;
    }
  }

  void release_held() {
    std::uint64_t count;
    [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
    std::lock_guard guard(mutex_);
    if (for_held_.empty()) return;
    for (Connection& connection : open_) {
      if (std::exchange(connection.held, false)) connection.out += for_held_;
    }
    for_held_.clear();
  }

  // False when the connection has ended.
  bool turn(Connection& connection) {
    char bytes[65536];
    for (ssize_t got; (got = recv(connection.fd.get(), bytes, sizeof bytes, 0)) != -1 || errno != EAGAIN;) {
      if (got <= 0) {
        ++left_;
        return false;
      }
      connection.in.append(bytes, static_cast<std::size_t>(got));
    }
    while (take_request(connection)) {
    }
    while (!connection.out.empty()) {
      const ssize_t sent = send(connection.fd.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      connection.out.erase(0, static_cast<std::size_t>(sent));
    }
    if (connection.after == After::reset) {
      const linger at_once{1, 0};
      setsockopt(connection.fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    return connection.after == After::keep || connection.after == After::hold;
  }

  bool take_request(Connection& connection) {
    const std::size_t head = connection.in.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const std::size_t field = connection.in.find("Content-Length: ");
    const std::size_t body = field < head ? std::strtoull(connection.in.c_str() + field + 16, nullptr, 10) : 0;
    if (connection.in.size() < head + 4 + body) return false;
    Reply reply =
        script_({connection.in.substr(0, head + 4), connection.in.substr(head + 4, body), requests_++, connection.requests++});
    connection.in.erase(0, head + 4 + body);
    connection.out += reply.bytes;
    connection.after = reply.after;
    connection.held = reply.after == After::hold;
    return true;
  }

  const Script script_;
  loop::FileDescriptor listener_;
  loop::FileDescriptor wake_;
  std::uint16_t port_ = 0;
  std::list<Connection> open_;  // the upstream's thread
  std::atomic<int> requests_{0}, connections_{0}, left_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards for_held_
  std::string for_held_;
  std::thread thread_;
};

}  // namespace tinker::test
