// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/health_probe.h"

namespace tinker::load {
namespace {

constexpr base::Seconds kEvery{0.1};
constexpr base::Seconds kPatience{30};

}  // namespace

HealthProbe::HealthProbe(loop::EventLoop& loop, const http::SocketAddress& server)
    : loop_(loop), server_(server), timer_(loop, [this] { ask(); }) {
  ask();
}

HealthProbe::~HealthProbe() = default;

void HealthProbe::ask() {
  if (!connection_) connection_ = std::make_unique<http::ClientConnection>(loop_, server_, loop::Priority::client);
  const base::Monotonic began = base::SystemClock{}.now();
  connection_->send("GET /api/v1/healthz HTTP/1.1\r\nHost: " + server_.text() + "\r\n\r\n", {},
                    {.connect = kPatience, .read = kPatience},
                    [this, began](const tl::expected<http::Answer, http::Broken>& answer) {
                      if (answer && answer->status == 200) {
                        times_.add(base::SystemClock{}.now() - began);
                      } else {
                        ++failed_;
                      }
                      if (!answer || !connection_->reusable()) connection_.reset();
                      timer_.after(kEvery);
                    });
}

}  // namespace tinker::load
