// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "loop/handles.h"
#include "support/loop_thread.h"

namespace tinker::test {

// A step of what a scripted server does on one connection.
struct Step {
  enum class Do {
    read_request,   // waits for a whole request (head, and a body by Content-Length) and records it
    send,           // sends `bytes` as they are
    send_bytewise,  // the same, a byte a packet
    await_bytes,    // waits until the client has sent something
    wait,           // until the test calls release()
    close,          // a FIN, after what was sent
    reset,          // an RST
  } what;
  std::string bytes = {};
};
using Script = std::vector<Step>;

inline Step read_request() { return {Step::Do::read_request}; }
inline Step send(std::string bytes) { return {Step::Do::send, std::move(bytes)}; }
inline Step send_bytewise(std::string bytes) { return {Step::Do::send_bytewise, std::move(bytes)}; }
inline Step await_bytes() { return {Step::Do::await_bytes}; }
inline Step wait_for_release() { return {Step::Do::wait}; }
inline Step close_connection() { return {Step::Do::close}; }
inline Step reset_connection() { return {Step::Do::reset}; }

// "HTTP/1.1 200 OK" with that body and its length.
inline std::string ok(std::string_view body, std::string_view fields = "") {
  return "HTTP/1.1 200 OK\r\n" + std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

// A server on a loopback port that follows a script: the n-th connection does the n-th list of steps and then stays open until
// the client closes it. Each connection has a thread of its own.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    listener_ = loop::FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_.get(), 1024);
    socklen_t size = sizeof address;
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~ScriptedServer() {
    stopping_ = true;
    released_.change([](std::size_t& count) { count = SIZE_MAX / 2; });
    acceptor_.join();
    for (std::thread& worker : workers_) worker.join();
  }

  std::uint16_t port() const { return port_; }
  // Lets one more waiting step go on.
  void release() {
    released_.change([](std::size_t& count) { ++count; });
  }

  Watched<std::vector<std::string>> requests;  // as they came
  Watched<std::size_t> connections;            // accepted so far

 private:
  void accept_all() {
    for (std::size_t next = 0; !stopping_;) {
      if (!readable(listener_.get())) continue;
      loop::FileDescriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) continue;
      const Script script = next < scripts_.size() ? scripts_[next] : Script{close_connection()};
      ++next;
      connections.change([](std::size_t& count) { ++count; });
      workers_.emplace_back([this, script, fd = std::move(fd)]() mutable { follow(script, std::move(fd)); });
    }
  }

  void follow(const Script& script, loop::FileDescriptor fd) {
    std::string pending;
    std::size_t waits = 0;
    for (const Step& step : script) {
      switch (step.what) {
        case Step::Do::read_request:
          if (!read_one(fd.get(), pending)) return;
          break;
        case Step::Do::send:
          if (!send_all(fd.get(), step.bytes)) return;
          break;
        case Step::Do::send_bytewise:
          for (const char& c : step.bytes)
            if (!send_all(fd.get(), {&c, 1})) return;
          break;
        case Step::Do::await_bytes:
          while (!stopping_ && !readable(fd.get())) {
          }
          break;
        case Step::Do::wait: {
          const std::size_t wanted = ++waits;
          released_.wait_for([wanted](std::size_t count) { return count >= wanted; });
          break;
        }
        case Step::Do::close:
          return;
        case Step::Do::reset: {
          const linger at_once{.l_onoff = 1, .l_linger = 0};
          setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
          return;
        }
      }
    }
    while (!stopping_)
      if (readable(fd.get()) && !read_some(fd.get(), pending)) return;
  }

  bool read_one(int fd, std::string& pending) {
    std::size_t head = 0;
    while ((head = pending.find("\r\n\r\n")) == std::string::npos)
      if (!read_some(fd, pending)) return false;
    std::size_t size = head + 4;
    if (const std::size_t field = pending.find("Content-Length: "); field < head)
      size += std::strtoull(pending.c_str() + field + 16, nullptr, 10);
    while (pending.size() < size)
      if (!read_some(fd, pending)) return false;
    requests.change([&](auto& all) { all.push_back(pending.substr(0, size)); });
    pending.erase(0, size);
    return true;
  }

  bool read_some(int fd, std::string& pending) {
    while (!readable(fd))
      if (stopping_) return false;
    char bytes[65536];
    const ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got > 0) pending.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }

  static bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Looks for at most a moment, so that the destructor is heard.
  static bool readable(int fd) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, 20) > 0;
  }

  std::vector<Script> scripts_;
  loop::FileDescriptor listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  Watched<std::size_t> released_;
  std::list<std::thread> workers_;  // the acceptor's until it has ended
  std::thread acceptor_;
};

}  // namespace tinker::test
