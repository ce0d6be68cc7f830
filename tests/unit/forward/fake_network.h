// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "forward/link.h"

namespace tinker::forward {

// A network of which the test decides each event: what was sent waits in sent() until the test answers or breaks it.
class FakeNetwork {
 public:
  struct Exchange {
    std::string address;
    std::string head;
    base::SharedBytes body;
    http::ClientLimits limits;
    bool fresh = false;  // the first one on its connection
    http::ClientConnection::Done done;
  };

  Connect connect() {
    return [this](const http::SocketAddress& address) { return std::make_unique<FakeLink>(*this, address.text()); };
  }

  // Not yet answered, in the order of sending. An exchange whose connection was closed is not among them.
  std::size_t waiting() const { return waiting_; }
  std::size_t open() const { return open_; }
  std::size_t most_open() const { return most_open_; }
  std::size_t connected() const { return connected_; }
  // Calls to links: what an exchange costs here must not grow with the number of links.
  std::size_t touches() const { return touches_; }

  const Exchange& first() { return *front()->exchange_; }

  void answer(int status, std::string_view body, std::string_view content_type = "application/json", bool keep = true) {
    FakeLink* link = front();
    http::Answer answer{.status = status};
    answer.fields.add("content-type", content_type);
    answer.body.append(body);
    link->reusable_ = keep;
    finish(link, std::move(answer));
  }

  void break_off(http::Breakage kind) {
    FakeLink* link = front();
    link->reusable_ = false;
    const bool reused = !link->exchange_->fresh;
    finish(link, tl::unexpected(http::Broken{kind, reused, "as the test wanted"}));
  }

  // The other side closes a connection that is idle.
  void close_idle(std::size_t nth) {
    std::size_t seen = 0;
    for (FakeLink* link : links_) {
      if (link->exchange_ || !link->closed_ || seen++ != nth) continue;
      link->reusable_ = false;
      auto closed = link->closed_;
      return closed();
    }
  }

 private:
  class FakeLink final : public Link {
   public:
    FakeLink(FakeNetwork& network, std::string address) : network_(network), address_(std::move(address)) {
      network_.links_.push_back(this);
      ++network_.connected_;
      ++network_.open_;
      network_.most_open_ = std::max(network_.most_open_, network_.open_);
    }
    ~FakeLink() override {
      std::erase(network_.links_, this);
      std::erase(network_.order_, this);
      --network_.open_;
      if (exchange_) --network_.waiting_;
    }
    void send(std::string head, base::SharedBytes body, const http::ClientLimits& limits,
              http::ClientConnection::Done done) override {
      ++network_.touches_;
      exchange_ = std::make_unique<Exchange>(
          Exchange{address_, std::move(head), std::move(body), limits, std::exchange(fresh_, false), std::move(done)});
      network_.order_.push_back(this);
      ++network_.waiting_;
    }
    bool reusable() const override {
      ++network_.touches_;
      return reusable_;
    }
    void on_idle_closed(std::function<void()> closed) override {
      ++network_.touches_;
      closed_ = std::move(closed);
    }

    FakeNetwork& network_;
    const std::string address_;
    bool fresh_ = true;
    bool reusable_ = false;
    std::unique_ptr<Exchange> exchange_;
    std::function<void()> closed_;
  };

  FakeLink* front() { return order_.at(0); }

  void finish(FakeLink* link, tl::expected<http::Answer, http::Broken> result) {
    order_.pop_front();
    --waiting_;
    const std::unique_ptr<Exchange> exchange = std::move(link->exchange_);
    exchange->done(std::move(result));
  }

  std::deque<FakeLink*> links_;
  std::deque<FakeLink*> order_;  // of those that wait for an answer
  std::size_t waiting_ = 0, open_ = 0, most_open_ = 0, connected_ = 0, touches_ = 0;
};

}  // namespace tinker::forward
