// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "http/server.h"
#include "http/socket_address.h"
#include "loop/event_loop.h"
#include "loop/handles.h"

namespace tinker::http {

// A listening socket, accepted from in bulk.
//
// Owned by  Server.
// Thread    the loop's.
// Owns      the socket, and the file of a Unix socket, which it removes at its end if it is still its own.
//
// Running out of descriptors, memory or room closes what can be done without, and then pauses accepting for a moment instead of
// spinning on a socket that stays readable; the kernel's backlog holds who comes meanwhile (cases.md C11).
class Listener {
 public:
  struct Hooks {
    // Gets non-blocking sockets with TCP_NODELAY.
    std::function<void(loop::FileDescriptor, const SocketAddress& peer)> accepted;
    // Whether one more may be accepted.
    std::function<bool()> has_room;
    // Closes a connection that can be done without; false when there is none.
    std::function<bool()> make_room;
  };

  // Errors name the address, the reason and what to do.
  static base::Result<std::unique_ptr<Listener>> open(loop::EventLoop& loop, const ListenAddress& address, Hooks hooks);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint64_t pauses() const { return pauses_; }

  // Accepts who is in the backlog of a socket of our own, since closing it would reset them, and closes it. An inherited socket
  // stays open for whoever takes over.
  void stop();

 private:
  Listener(loop::EventLoop& loop, loop::FileDescriptor fd, Hooks hooks);
  // Accepts up to `most` connections; false when there is nobody left or accepting has paused.
  bool accept_some(int most);
  // Before somebody who waits can be accepted; false when accepting has paused.
  bool make_room();
  void remove_socket_file();

  loop::FileDescriptor fd_;
  loop::EventPtr event_;
  loop::Timer resume_;
  const Hooks hooks_;
  std::uint16_t port_ = 0;
  std::uint64_t pauses_ = 0;
  bool inherited_ = false;
  std::string path_;  // of a Unix socket that was made here
  dev_t device_ = 0;  // which file that was
  ino_t inode_ = 0;
};

}  // namespace tinker::http
