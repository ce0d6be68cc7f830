// SPDX-License-Identifier: Apache-2.0
#include "control/server.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tinker::control {
namespace {

// The daemon's user and group own the socket, so these are root, the daemon itself and the operators' group. Whoever else an
// administrator lets connect by a wider mode may only look.
bool may_change(const http::Request& request) {
  if (!request.credentials) return false;
  const http::PeerCredentials& peer = *request.credentials;
  return peer.uid == 0 || peer.uid == geteuid() || peer.gid == getegid() || std::ranges::count(peer.groups, getegid()) > 0;
}

constexpr unsigned kSocketMode = 0660;
constexpr std::size_t kBodyBytes = 64 * 1024;

}  // namespace

ControlServer::ControlServer(House& house) : house_(house) {
  add_daemon_calls(dispatcher_, house_);
  add_store_calls(dispatcher_, house_);
  add_futures_calls(dispatcher_, house_);
  add_config_calls(dispatcher_, house_);
}

base::Result<std::unique_ptr<ControlServer>> ControlServer::listen(House& house, const std::string& socket) {
  std::unique_ptr<ControlServer> server(new ControlServer(house));
  if (const std::vector<std::string> missing = server->dispatcher_.missing(); !missing.empty()) {
    return base::fail(base::Code::internal, "the operator's call " + missing.front() + " has no handler");
  }
  http::ServerHooks hooks;
  hooks.handle = [&dispatcher = server->dispatcher_](http::Request&& request, http::Reply reply) {
    dispatcher.handle(request, may_change(request), std::move(reply));
  };
  hooks.body_limit = [](std::string_view, std::string_view) { return kBodyBytes; };
  auto listening = http::Server::listen(house.loop, http::ListenAddress::unix_socket(socket, kSocketMode), std::move(hooks));
  if (!listening) return tl::unexpected(listening.error());
  server->server_ = std::move(*listening);
  return server;
}

}  // namespace tinker::control
