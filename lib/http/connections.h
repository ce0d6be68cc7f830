// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/deadline_list.h"
#include "http/message.h"
#include "http/server.h"
#include "http/server_connection.h"
#include "http/socket_address.h"
#include "loop/event_loop.h"
#include "loop/handles.h"

namespace tinker::http {

// The connections of a server, with what they share: deadlines, notices and scratch memory.
//
// Owned by  Server.
// Thread    the loop's.
// Owns      the connections; closed ones until the current event has been handled.
class Connections {
 public:
  // What a connection waits for. A list for each, so that a new deadline is nearly always the last of its list; one timer for
  // all lists.
  enum class Wait { first_byte, request, idle, write, linger };

  Connections(loop::EventLoop& loop, ServerHooks hooks);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void add(loop::FileDescriptor fd, const SocketAddress& peer);
  void drain();
  bool draining() const { return draining_; }
  std::size_t size() const { return open_.size(); }
  bool has_room() const { return size() < limits().connections; }
  // Closes the connection that is idle longest; false when none is idle.
  bool shed_idle();
  std::uint64_t shed() const { return shed_; }

  // For ServerConnection.
  loop::EventLoop& loop() { return loop_; }
  const ServerHooks& hooks() const { return hooks_; }
  ServerLimits limits() const { return hooks_.limits ? hooks_.limits() : ServerLimits{}; }
  void wait(ServerConnection& connection, Wait what);
  void stop_waiting(ServerConnection& connection);
  // Run after the current event, in order.
  void notify(std::function<void(Delivery)> observer, Delivery delivery);
  void notify(std::function<void()> left);
  void remove(ServerConnection& connection);
  // Shared between the calls of one loop; whoever uses it is done before it returns.
  std::string& head_scratch() { return head_scratch_; }
  char* scratch() { return scratch_.get(); }
  static constexpr std::size_t kScratchBytes = 64 * 1024;

 private:
  struct Notice {
    std::function<void(Delivery)> observer;
    Delivery delivery;
    std::function<void()> left;
  };
  static constexpr std::size_t kWaits = 5;

  void run_due();
  void run_notices();
  void wake_at(base::Monotonic deadline);

  loop::EventLoop& loop_;
  ServerHooks hooks_;
  bool draining_ = false;
  std::uint64_t shed_ = 0;
  std::unique_ptr<char[]> scratch_;
  std::string head_scratch_;
  base::DeadlineList<ServerConnection> waits_[kWaits];
  loop::Timer timer_;
  base::Monotonic timer_at_ = base::Monotonic::max();
  loop::EventPtr notices_due_;
  std::vector<Notice> notices_;
  std::vector<std::unique_ptr<ServerConnection>> closed_;
  std::vector<std::unique_ptr<ServerConnection>> open_;
};

}  // namespace tinker::http
