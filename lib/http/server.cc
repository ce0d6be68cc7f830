// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "http/connections.h"
#include "http/listener.h"
#include "http/socket_address.h"

namespace tinker::http {
namespace {

class ListeningServer final : public Server {
 public:
  ListeningServer(loop::EventLoop& loop, ServerHooks hooks) : connections_(loop, std::move(hooks)) {}

  base::Result<void> open(loop::EventLoop& loop, const ListenAddress& address) {
    auto listener = Listener::open(
        loop, address,
        {.accepted = [this](loop::FileDescriptor fd, const SocketAddress& peer) { connections_.add(std::move(fd), peer); },
         .has_room = [this] { return connections_.has_room(); },
         .make_room = [this] { return connections_.shed_idle(); }});
    if (!listener) return tl::unexpected(std::move(listener.error()));
    listener_ = std::move(*listener);
    return {};
  }

  std::uint16_t port() const override { return listener_->port(); }
  std::size_t connections() const override { return connections_.size(); }
  std::uint64_t accept_pauses() const override { return listener_->pauses(); }
  std::uint64_t idle_shed() const override { return connections_.shed(); }
  void drain() override {
    listener_->stop();
    connections_.drain();
  }

 private:
  Connections connections_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

ListenAddress ListenAddress::tcp(std::string host, std::uint16_t port) { return {.host = std::move(host), .port = port}; }

ListenAddress ListenAddress::unix_socket(std::string path, unsigned mode) { return {.path = std::move(path), .mode = mode}; }

ListenAddress ListenAddress::inherited(int descriptor) { return {.descriptor = descriptor}; }

base::Result<void> check_nobody_listens(const ListenAddress& address) {
  auto resolved = SocketAddress::numeric(address.host, address.port);
  if (!resolved) return base::fail(resolved.error().code, "cannot listen: " + resolved.error().text);
  // Without SO_REUSEPORT the kernel refuses an address that any socket listens on.
  const loop::FileDescriptor probe(socket(resolved->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(probe.get(), resolved->get(), resolved->size) == 0 || errno != EADDRINUSE) return {};
  return base::fail(base::Code::conflict,
                    "cannot listen on " + resolved->text() + ": another program listens there; stop it or choose another port");
}

base::Result<std::unique_ptr<Server>> Server::listen(loop::EventLoop& loop, const ListenAddress& address, ServerHooks hooks) {
  // Bufferevents write with writev, which has no MSG_NOSIGNAL: a client that leaves must not end the process.
  std::signal(SIGPIPE, SIG_IGN);
  auto server = std::make_unique<ListeningServer>(loop, std::move(hooks));
  if (auto opened = server->open(loop, address); !opened) return tl::unexpected(std::move(opened.error()));
  return server;
}

}  // namespace tinker::http
