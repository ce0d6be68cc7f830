// SPDX-License-Identifier: Apache-2.0
#include "http/listener.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tinker::http {
namespace {

// The kernel lowers it to net.core.somaxconn. A training step opens thousands of connections at once.
constexpr int kBacklog = 65535;
// Connections accepted before other events get their turn.
constexpr int kAcceptsPerTurn = 256;
constexpr base::Seconds kPause{0.1};

base::Code code_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return base::Code::permission_denied;
    case EADDRINUSE:
      return base::Code::conflict;
    case EADDRNOTAVAIL:
    case ENOENT:
      return base::Code::not_found;
    default:
      return base::Code::unavailable;
  }
}

std::string advice(int error) {
  switch (error) {
    case EADDRINUSE:
      return " (another program listens there; stop it or choose another port)";
    case EACCES:
    case EPERM:
      return " (ports below 1024 and foreign directories need a privilege)";
    case EADDRNOTAVAIL:
      return " (no interface of this machine has that address)";
    case ENOENT:
      return " (its directory does not exist)";
    default:
      return "";
  }
}

tl::unexpected<base::Error> cannot(const std::string& what, int error) {
  return base::fail(code_of(error), "cannot " + what + ": " + std::strerror(error) + advice(error));
}

void enable(int fd, int level, int option) {
  const int on = 1;
  setsockopt(fd, level, option, &on, sizeof on);
}

base::Result<loop::FileDescriptor> open_tcp(const ListenAddress& where) {
  auto address = SocketAddress::numeric(where.host, where.port);
  if (!address) return base::fail(address.error().code, "cannot listen: " + address.error().text);

  loop::FileDescriptor fd(socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return cannot("open a socket for " + address->text(), errno);
  enable(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  enable(fd.get(), SOL_SOCKET, SO_REUSEPORT);
  if (bind(fd.get(), address->get(), address->size) != 0 || listen(fd.get(), kBacklog) != 0)
    return cannot("listen on " + address->text(), errno);
  return fd;
}

// Removes the file at `path` if it is a socket that nobody answers on.
base::Result<void> remove_stale(const std::string& path, const SocketAddress& address) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return cannot("look at " + path, errno);
  }
  if (!S_ISSOCK(found.st_mode))
    return base::fail(base::Code::conflict, "cannot listen on " + path +
                                                ": a file that is no socket is in the way; remove it or choose another path");
  const loop::FileDescriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const bool refused = connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED;
  if (!refused)
    return base::fail(base::Code::conflict,
                      "cannot listen on " + path + ": another process answers there; stop it or choose another path");
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return cannot("remove the stale socket " + path, errno);
  return {};
}

base::Result<loop::FileDescriptor> open_unix(const ListenAddress& where) {
  auto address = SocketAddress::unix_socket(where.path);
  if (!address) return base::fail(address.error().code, "cannot listen: " + address.error().text);
  if (auto gone = remove_stale(where.path, *address); !gone) return tl::unexpected(gone.error());

  loop::FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return cannot("open a socket for " + where.path, errno);
  // The mode of the descriptor limits that of the file from its first moment; chmod then undoes what the umask took away.
  fchmod(fd.get(), where.mode);
  if (bind(fd.get(), address->get(), address->size) != 0) return cannot("listen on " + where.path, errno);
  if (chmod(where.path.c_str(), where.mode) != 0 || listen(fd.get(), kBacklog) != 0) {
    const int error = errno;
    unlink(where.path.c_str());
    return cannot("listen on " + where.path, error);
  }
  return fd;
}

base::Result<loop::FileDescriptor> open_inherited(int inherited) {
  loop::FileDescriptor fd(fcntl(inherited, F_DUPFD_CLOEXEC, 0));
  int listening = 0;
  socklen_t size = sizeof listening;
  if (!fd.valid() || getsockopt(fd.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0)
    return base::fail(base::Code::invalid_argument,
                      "descriptor " + std::to_string(inherited) + " is no listening socket; check the .socket unit");
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

}  // namespace

base::Result<std::unique_ptr<Listener>> Listener::open(loop::EventLoop& loop, const ListenAddress& address, Hooks hooks) {
  auto fd = address.descriptor >= 0 ? open_inherited(address.descriptor)
            : address.path.empty()  ? open_tcp(address)
                                    : open_unix(address);
  if (!fd) return tl::unexpected(fd.error());
  // Accepted sockets take these over from the listener: no call for each of them.
  enable(fd->get(), IPPROTO_TCP, TCP_NODELAY);
  enable(fd->get(), SOL_SOCKET, SO_KEEPALIVE);

  std::unique_ptr<Listener> listener(new Listener(loop, std::move(*fd), std::move(hooks)));
  listener->inherited_ = address.descriptor >= 0;
  SocketAddress bound;
  bound.size = sizeof bound.storage;
  getsockname(listener->fd_.get(), bound.get(), &bound.size);
  listener->port_ = bound.port();
  struct stat file {};
  if (!listener->inherited_ && !address.path.empty() && stat(address.path.c_str(), &file) == 0) {
    listener->path_ = address.path;
    listener->device_ = file.st_dev;
    listener->inode_ = file.st_ino;
  }
  return listener;
}

Listener::Listener(loop::EventLoop& loop, loop::FileDescriptor fd, Hooks hooks)
    : fd_(std::move(fd)), resume_(loop, [this] { event_add(event_.get(), nullptr); }), hooks_(std::move(hooks)) {
  event_.reset(event_new(
      loop.base(), fd_.get(), EV_READ | EV_PERSIST,
      [](evutil_socket_t, short, void* self) { static_cast<Listener*>(self)->accept_some(kAcceptsPerTurn); }, this));
  event_priority_set(event_.get(), static_cast<int>(loop::Priority::client));
  event_add(event_.get(), nullptr);
}

Listener::~Listener() { remove_socket_file(); }

void Listener::stop() {
  if (!fd_.valid()) return;
  resume_.cancel();
  for (int turn = 0; !inherited_ && turn < kBacklog / kAcceptsPerTurn && accept_some(kAcceptsPerTurn); ++turn) {
  }
  resume_.cancel();
  event_.reset();
  fd_.reset();
  remove_socket_file();
}

bool Listener::accept_some(int most) {
  for (int i = 0; i < most; ++i) {
    if (!hooks_.has_room()) return i > 0 || make_room();
    SocketAddress peer;
    peer.size = sizeof peer.storage;
    loop::FileDescriptor fd(accept4(fd_.get(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      hooks_.accepted(std::move(fd), peer);
      continue;
    }
    switch (errno) {
      case EAGAIN:
        return false;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        return i > 0 || make_room();
      default:  // of this one connection, which went away before it was accepted (accept(2))
        break;
    }
  }
  return true;
}

// Only for somebody who waits: whoever runs out after the first of a turn leaves it to the next event, since accept(2) says
// EMFILE whether anybody waits or not. A closed connection gives its descriptor back after the event.
bool Listener::make_room() {
  if (hooks_.make_room()) return true;
  ++pauses_;
  event_del(event_.get());
  resume_.after(kPause);
  return false;
}

void Listener::remove_socket_file() {
  struct stat now {};
  if (!path_.empty() && lstat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_) unlink(path_.c_str());
  path_.clear();
}

}  // namespace tinker::http
