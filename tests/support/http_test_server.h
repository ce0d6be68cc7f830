// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/server.h"
#include "support/loop_thread.h"
#include "support/raw_client.h"

namespace tinker::test {

// An http::Server on a loop of its own that keeps what it was asked and how each exchange ended.
//
// It answers each request with its method, path and body, unless `handle` was set. Requests with a path under /hold wait in
// held() until the test answers them.
class HttpTestServer {
 public:
  struct Setup {
    http::ListenAddress address = http::ListenAddress::tcp("127.0.0.1", 0);
    http::ServerLimits limits = {};
    std::size_t body_limit = std::size_t{16} << 20;
    std::function<void(http::Request&&, http::Reply)> handle = {};
  };
  struct Logged {
    std::string method, path, peer, request_id;
    int status;
    std::uint64_t bytes_in, bytes_out;
  };

  HttpTestServer() : HttpTestServer(Setup{}) {}
  explicit HttpTestServer(Setup setup) : setup_(std::move(setup)) {
    thread_.call([this] {
      auto server = http::Server::listen(thread_.loop(), setup_.address, hooks());
      if (!server) error = server.error().text;
      if (server) server_ = std::move(*server);
    });
  }
  ~HttpTestServer() {
    thread_.call([this] {
      server_.reset();
      held_.clear();
    });
  }

  template <class Work>
  auto call(Work work) {
    return thread_.call(std::move(work));
  }
  RawClient client() { return RawClient::tcp(port()); }
  std::uint16_t port() {
    return call([this] { return server_->port(); });
  }
  std::size_t connections() {
    return call([this] { return server_->connections(); });
  }
  bool wait_for_connections(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + RawClient::kPatience;
    while (connections() != count) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  http::Server& server() { return *server_; }
  loop::EventLoop& loop() { return thread_.loop(); }
  void set_limits(http::ServerLimits limits) {
    call([&] { setup_.limits = limits; });
  }

  // Waits until `count` requests under /hold have come since the start.
  bool wait_for_held(std::size_t count) {
    return held_count_.wait_for([count](std::size_t now) { return now >= count; });
  }
  // Answers the request that was held as number `index`; the deliveries are added to deliveries().
  void answer_held(std::size_t index, http::Response response) {
    call([&] {
      held_[index].send(std::move(response), [this](http::Delivery delivery) {
        deliveries.change([delivery](auto& all) { all.push_back(delivery); });
      });
    });
  }
  std::vector<http::Reply>& held() { return held_; }

  Watched<std::vector<std::string>> handled;  // "METHOD /path?query" of each request
  Watched<std::vector<http::Delivery>> deliveries;
  Watched<std::vector<Logged>> finished;
  std::string error;  // why it does not listen

 private:
  http::ServerHooks hooks() {
    http::ServerHooks hooks;
    hooks.handle = [this](http::Request&& request, http::Reply reply) {
      const std::string query = request.query.empty() ? "" : "?" + request.query;
      handled.change([&](auto& all) { all.push_back(request.method + " " + request.path + query); });
      if (setup_.handle) return setup_.handle(std::move(request), std::move(reply));
      if (request.path.starts_with("/hold")) {
        held_.push_back(std::move(reply));
        return held_count_.change([](std::size_t& count) { ++count; });
      }
      reply.send({.content_type = "text/plain",
                  .body = base::SharedBytes(request.method + " " + request.path + query + " " + request.body)});
    };
    hooks.body_limit = [this](std::string_view, std::string_view) { return setup_.body_limit; };
    hooks.limits = [this] { return setup_.limits; };
    hooks.finished = [this](const http::Exchange& exchange) {
      finished.change([&](auto& all) {
        all.push_back({std::string(exchange.method), std::string(exchange.path), std::string(exchange.peer),
                       std::string(exchange.request_id), exchange.status, exchange.bytes_in, exchange.bytes_out});
      });
    };
    return hooks;
  }

  LoopThread thread_;
  Setup setup_;
  std::unique_ptr<http::Server> server_;
  std::vector<http::Reply> held_;
  Watched<std::size_t> held_count_;
};

}  // namespace tinker::test
