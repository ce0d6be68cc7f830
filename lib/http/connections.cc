// SPDX-License-Identifier: Apache-2.0
#include "http/connections.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace tinker::http {
namespace {

constexpr base::Seconds kLinger{2};
// Deadlines are seconds long; coming to them in steps spares wake-ups.
constexpr base::Seconds kTimerStep{0.01};

std::unique_ptr<const PeerCredentials> credentials_of(int fd, const SocketAddress& peer) {
  if (!peer.is_unix()) return nullptr;
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return nullptr;
  auto credentials = std::make_unique<PeerCredentials>(PeerCredentials{.pid = found.pid, .uid = found.uid, .gid = found.gid});
  gid_t groups[64];
  socklen_t groups_size = sizeof groups;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &groups_size) == 0)
    credentials->groups.assign(groups, groups + groups_size / sizeof groups[0]);
  return credentials;
}

base::Seconds length_of(Connections::Wait what, const ServerLimits& limits) {
  switch (what) {
    case Connections::Wait::first_byte:
      return limits.first_byte;
    case Connections::Wait::request:
      return limits.request;
    case Connections::Wait::idle:
      return limits.idle;
    case Connections::Wait::write:
      return limits.write;
    case Connections::Wait::linger:
      return kLinger;
  }
  return kLinger;
}

}  // namespace

Connections::Connections(loop::EventLoop& loop, ServerHooks hooks)
    : loop_(loop),
      hooks_(std::move(hooks)),
      scratch_(new char[kScratchBytes]),
      timer_(loop, [this] { run_due(); }),
      notices_due_(event_new(
          loop.base(), -1, 0, [](evutil_socket_t, short, void* self) { static_cast<Connections*>(self)->run_notices(); },
          this)) {
  event_priority_set(notices_due_.get(), static_cast<int>(loop::Priority::client));
}

Connections::~Connections() {
  while (!open_.empty()) open_.back()->close();
  run_notices();
}

void Connections::add(loop::FileDescriptor fd, const SocketAddress& peer) {
  auto credentials = credentials_of(fd.get(), peer);
  std::string name =
      credentials ? "unix:" + std::to_string(credentials->pid) + "/" + std::to_string(credentials->uid) : peer.text();
  loop::BuffereventPtr events(bufferevent_socket_new(loop_.base(), fd.get(), BEV_OPT_CLOSE_ON_FREE));
  if (!events) return;
  fd.release();
  bufferevent_priority_set(events.get(), static_cast<int>(loop::Priority::client));
  auto connection = std::make_unique<ServerConnection>(*this, std::move(events), std::move(name), std::move(credentials));
  connection->index_ = open_.size();
  wait(*connection, Wait::first_byte);
  open_.push_back(std::move(connection));
}

void Connections::drain() {
  draining_ = true;
  // Backwards: a connection that closes has the last one put in its place.
  for (std::size_t i = open_.size(); i-- > 0;) open_[i]->close_if_idle();
}

bool Connections::shed_idle() {
  const auto& idle = waits_[static_cast<std::size_t>(Wait::idle)];
  ServerConnection* longest = idle.first();
  while (longest != nullptr && !longest->close_if_idle()) longest = idle.after(*longest);
  if (longest != nullptr) ++shed_;
  return longest != nullptr;
}

void Connections::wait(ServerConnection& connection, Wait what) {
  const auto length = std::chrono::duration_cast<base::Monotonic::duration>(length_of(what, limits()));
  const base::Monotonic deadline = std::chrono::steady_clock::now() + length;
  waits_[static_cast<std::size_t>(what)].put(connection, deadline);
  wake_at(deadline);
}

void Connections::stop_waiting(ServerConnection& connection) {
  waits_[0].remove(connection);  // takes it out of whichever list it is in
}

void Connections::wake_at(base::Monotonic deadline) {
  if (deadline >= timer_at_) return;
  timer_at_ = deadline;
  timer_.after(std::max(kTimerStep, base::Seconds(deadline - std::chrono::steady_clock::now())));
}

void Connections::run_due() {
  timer_at_ = base::Monotonic::max();
  const base::Monotonic now = std::chrono::steady_clock::now();
  for (auto& waits : waits_) {
    while (ServerConnection* connection = waits.due(now)) {
      waits.remove(*connection);
      connection->on_deadline();
    }
  }
  for (const auto& waits : waits_)
    if (const ServerConnection* next = waits.first()) wake_at(next->deadline);
}

void Connections::notify(std::function<void(Delivery)> observer, Delivery delivery) {
  if (!observer) return;
  notices_.push_back({std::move(observer), delivery, {}});
  event_active(notices_due_.get(), 0, 0);
}

void Connections::notify(std::function<void()> left) {
  if (!left) return;
  notices_.push_back({{}, Delivery::gone, std::move(left)});
  event_active(notices_due_.get(), 0, 0);
}

void Connections::run_notices() {
  // A notice may cause others and close connections: those are for the next round, or for the end of this loop.
  while (!notices_.empty() || !closed_.empty()) {
    const auto notices = std::exchange(notices_, {});
    const auto closed = std::exchange(closed_, {});
    for (const Notice& notice : notices) {
      if (notice.observer) notice.observer(notice.delivery);
      if (notice.left) notice.left();
    }
  }
}

void Connections::remove(ServerConnection& connection) {
  const std::size_t index = connection.index_;
  closed_.push_back(std::move(open_[index]));
  if (index + 1 < open_.size()) {
    open_[index] = std::move(open_.back());
    open_[index]->index_ = index;
  }
  open_.pop_back();
  event_active(notices_due_.get(), 0, 0);
}

}  // namespace tinker::http
