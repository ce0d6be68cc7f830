// SPDX-License-Identifier: Apache-2.0
#include "forward/link.h"

#include <utility>

namespace tinker::forward {
namespace {

class TcpLink final : public Link {
 public:
  TcpLink(loop::EventLoop& loop, const http::SocketAddress& address) : connection_(loop, address) {}

  void send(std::string head, base::SharedBytes body, const http::ClientLimits& limits,
            http::ClientConnection::Done done) override {
    connection_.send(std::move(head), std::move(body), limits, std::move(done));
  }
  bool reusable() const override { return connection_.reusable(); }
  void on_idle_closed(std::function<void()> closed) override { connection_.on_idle_closed(std::move(closed)); }

 private:
  http::ClientConnection connection_;
};

}  // namespace

Connect tcp_links(loop::EventLoop& loop) {
  return [&loop](const http::SocketAddress& address) { return std::make_unique<TcpLink>(loop, address); };
}

}  // namespace tinker::forward
