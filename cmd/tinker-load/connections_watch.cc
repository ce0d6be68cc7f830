// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/connections_watch.h"

#include <algorithm>

#include "control/calls.h"

namespace tinker::load {
namespace {

constexpr base::Seconds kEvery{0.2};
constexpr base::Seconds kPatience{10};

std::string status_path() {
  for (const control::CallRow& row : control::calls()) {
    if (row.command == "status") return row.path;
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<ConnectionsWatch>> ConnectionsWatch::start(loop::EventLoop& loop, const std::string& socket) {
  const auto address = http::SocketAddress::unix_socket(socket);
  if (!address) return tl::unexpected(address.error());
  std::unique_ptr<ConnectionsWatch> watch(new ConnectionsWatch(loop, *address));
  watch->ask();
  return watch;
}

ConnectionsWatch::ConnectionsWatch(loop::EventLoop& loop, const http::SocketAddress& socket)
    : loop_(loop), socket_(socket), timer_(loop, [this] { ask(); }) {}

ConnectionsWatch::~ConnectionsWatch() = default;

void ConnectionsWatch::ask() {
  if (!connection_) connection_ = std::make_unique<http::ClientConnection>(loop_, socket_, loop::Priority::client);
  connection_->send("GET " + status_path() + " HTTP/1.1\r\nHost: tinkerd\r\n\r\n", {},
                    {.connect = kPatience, .read = kPatience}, [this](const tl::expected<http::Answer, http::Broken>& answer) {
                      control::Status status;
                      if (answer && answer->status == 200 && control::from_json(answer->body.view(), status)) {
                        const auto now = static_cast<std::uint64_t>(status.clients().connections());
                        most_ = std::max(most_.value_or(0), now);
                      }
                      if (!answer || !connection_->reusable()) connection_.reset();
                      timer_.after(kEvery);
                    });
}

}  // namespace tinker::load
