// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/connections_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "http/server.h"
#include "unit/forward/run_until.h"

namespace tinker::load {
namespace {

// A daemon that tells of so many connections, one call after the other.
class FakeControl {
 public:
  FakeControl(loop::EventLoop& loop, const std::string& socket, std::vector<std::string> statuses)
      : statuses_(std::move(statuses)) {
    http::ServerHooks hooks;
    hooks.handle = [this](http::Request&&, http::Reply reply) {
      const std::string& status = statuses_[std::min(calls++, statuses_.size() - 1)];
      reply.send({.status = 200, .body = base::SharedBytes(std::string(status))});
    };
    auto server = http::Server::listen(loop, http::ListenAddress::unix_socket(socket, 0600), std::move(hooks));
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
  }

  std::size_t calls = 0;

 private:
  const std::vector<std::string> statuses_;
  std::unique_ptr<http::Server> server_;
};

class ConnectionsWatchTest : public testing::Test {
 protected:
  const std::string socket_ = testing::TempDir() + "connections_watch_" + std::to_string(getpid());
  loop::EventLoop loop_{"load"};
};

TEST_F(ConnectionsWatchTest, KeepsTheMost) {
  FakeControl daemon(loop_, socket_, {R"({"clients":{"connections":"7"}})", R"({"clients":{"connections":"3"}})"});
  const auto watch = ConnectionsWatch::start(loop_, socket_);
  ASSERT_TRUE(watch.has_value()) << watch.error().text;

  ASSERT_TRUE(forward::run_until(loop_, [&] { return daemon.calls >= 3; }));

  EXPECT_EQ((*watch)->most(), 7u);
}

TEST_F(ConnectionsWatchTest, KnowsNoneWhenNobodyAnswers) {
  FakeControl daemon(loop_, socket_, {"what?"});
  const auto watch = ConnectionsWatch::start(loop_, socket_);
  ASSERT_TRUE(watch.has_value());

  ASSERT_TRUE(forward::run_until(loop_, [&] { return daemon.calls >= 2; }));

  EXPECT_FALSE((*watch)->most().has_value());
}

TEST_F(ConnectionsWatchTest, RefusesWhatCanBeNoSocket) {
  EXPECT_FALSE(ConnectionsWatch::start(loop_, std::string(200, 'x')).has_value());
}

}  // namespace
}  // namespace tinker::load
