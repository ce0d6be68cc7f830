// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "http/socket_address.h"
#include "support/http_test_server.h"
#include "support/temporary_folder.h"

namespace tinker::http {
namespace {

using test::HttpTestServer;
using test::RawClient;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kGet = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string kHold = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";

Response text(std::string body) { return {.content_type = "text/plain", .body = base::SharedBytes(std::move(body))}; }

TEST(Server, SharesItsPortWithOtherWorkers) {
  HttpTestServer first;
  HttpTestServer second({.address = ListenAddress::tcp("127.0.0.1", first.port())});

  EXPECT_EQ(second.error, "");
  EXPECT_EQ(second.port(), first.port());
}

TEST(Server, S9_ADaemonFindsOutThatThePortIsTaken) {
  HttpTestServer other;
  const auto taken = check_nobody_listens(ListenAddress::tcp("127.0.0.1", other.port()));

  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, base::Code::conflict);
  EXPECT_THAT(taken.error().text, HasSubstr("another program listens there"));
  EXPECT_TRUE(check_nobody_listens(ListenAddress::tcp("127.0.0.1", 0)));
}

TEST(Server, SaysWhyItCannotListen) {
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::tcp("nowhere.example", 1)}).error,
              HasSubstr("'nowhere.example' is no IP address"));
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::tcp("192.0.2.1", 0)}).error,
              HasSubstr("no interface of this machine has that address"));
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::unix_socket("/no/such/folder/s", 0600)}).error,
              HasSubstr("its directory does not exist"));
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::unix_socket(std::string(200, 'p'), 0600)}).error,
              HasSubstr("1 to 107 are possible"));
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::inherited(0)}).error, HasSubstr("is no listening socket"));
}

TEST(Server, ListensOnIpv6) {
  HttpTestServer server({.address = ListenAddress::tcp("[::1]", 0)});
  if (!server.error.empty()) GTEST_SKIP() << "no IPv6 here: " << server.error;
  EXPECT_NE(server.port(), 0);
}

TEST(Server, ServesAUnixSocketAndKnowsItsClients) {
  const test::TemporaryFolder folder;
  std::optional<PeerCredentials> seen;
  std::string peer;
  HttpTestServer server(
      {.address = ListenAddress::unix_socket(folder.file("s"), 0660), .handle = [&](Request&& request, Reply reply) {
         seen = request.credentials;
         peer = request.peer;
         reply.send({});
       }});
  struct stat file {};
  ASSERT_EQ(stat(folder.file("s").c_str(), &file), 0);

  auto client = RawClient::unix_socket(folder.file("s"));
  client.send(kGet);

  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(file.st_mode & 0777, 0660u);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->pid, getpid());
  EXPECT_EQ(seen->uid, getuid());
  EXPECT_EQ(peer, "unix:" + std::to_string(getpid()) + "/" + std::to_string(getuid()));
}

TEST(Server, RemovesItsSocketFileAndNoOther) {
  const test::TemporaryFolder folder;
  { HttpTestServer server({.address = ListenAddress::unix_socket(folder.file("s"), 0600)}); }
  EXPECT_FALSE(std::filesystem::exists(folder.file("s")));

  {
    HttpTestServer server({.address = ListenAddress::unix_socket(folder.file("s"), 0600)});
    std::filesystem::remove(folder.file("s"));
    std::ofstream(folder.file("s")) << "somebody else's";
  }
  EXPECT_TRUE(std::filesystem::exists(folder.file("s")));
}

TEST(Server, S9_ReplacesASocketFileOnlyWhenNobodyAnswers) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s");
  HttpTestServer living({.address = ListenAddress::unix_socket(path, 0600)});
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::unix_socket(path, 0600)}).error,
              HasSubstr("another process answers there"));
  EXPECT_TRUE(RawClient::unix_socket(path).connected());

  // A socket whose process is gone.
  const std::string stale = folder.file("stale");
  {
    const loop::FileDescriptor dead(socket(AF_UNIX, SOCK_STREAM, 0));
    auto address = *SocketAddress::unix_socket(stale);
    ASSERT_EQ(bind(dead.get(), address.get(), address.size), 0);
  }
  HttpTestServer replaced({.address = ListenAddress::unix_socket(stale, 0600)});
  EXPECT_EQ(replaced.error, "");

  std::ofstream(folder.file("file")) << "precious";
  EXPECT_THAT(HttpTestServer({.address = ListenAddress::unix_socket(folder.file("file"), 0600)}).error,
              HasSubstr("a file that is no socket is in the way"));
}

TEST(Server, AcceptsFromAnInheritedSocketAndLeavesItOpen) {
  const loop::FileDescriptor inherited(socket(AF_INET, SOCK_STREAM, 0));
  auto address = *SocketAddress::numeric("127.0.0.1", 0);
  ASSERT_EQ(bind(inherited.get(), address.get(), address.size), 0);
  ASSERT_EQ(listen(inherited.get(), 10), 0);
  std::uint16_t port = 0;
  {
    HttpTestServer server({.address = ListenAddress::inherited(inherited.get())});
    ASSERT_EQ(server.error, "");
    port = server.port();
    auto client = server.client();
    client.send(kGet);
    EXPECT_THAT(client.answer(), EndsWith("GET /x "));
    server.call([&] { server.server().drain(); });
  }

  EXPECT_TRUE(RawClient::tcp(port).connected()) << "the next process finds the listener open";
}

TEST(Server, DrainLetsRequestsEndAndClosesTheRest) {
  HttpTestServer server;
  auto busy = server.client();
  auto idle = server.client();
  auto untouched = server.client();
  idle.send(kGet);
  idle.answer();
  busy.send(kHold);
  ASSERT_TRUE(server.wait_for_held(1));
  ASSERT_TRUE(server.wait_for_connections(3));
  const std::uint16_t port = server.port();

  server.call([&] { server.server().drain(); });

  EXPECT_EQ(idle.rest(), "");
  EXPECT_EQ(untouched.rest(), "");
  EXPECT_TRUE(idle.closed() && untouched.closed());
  EXPECT_FALSE(RawClient::tcp(port).connected());
  server.answer_held(0, text("the end"));
  EXPECT_THAT(busy.rest(), AllOf(HasSubstr("\r\nconnection: close\r\n"), EndsWith("the end")));
}

TEST(Server, DrainAnswersWhatIsAlreadyInTheKernel) {
  HttpTestServer server;
  auto backlogged = std::optional<RawClient>();
  auto sent = server.client();
  ASSERT_TRUE(server.wait_for_connections(1));

  server.call([&] {
    // The loop is busy here: both requests wait in the kernel, one of them on a connection not yet accepted.
    sent.send(kGet);
    backlogged = RawClient::tcp(server.server().port());
    backlogged->send(kGet);
    server.server().drain();
  });

  EXPECT_THAT(sent.rest(), AllOf(HasSubstr("\r\nconnection: close\r\n"), EndsWith("GET /x ")));
  EXPECT_THAT(backlogged->rest(), AllOf(HasSubstr("\r\nconnection: close\r\n"), EndsWith("GET /x ")));
}

TEST(Server, TellsGoneWhenItIsDestroyed) {
  test::Watched<int> left;
  {
    HttpTestServer server;
    auto client = server.client();
    client.send(kHold);
    ASSERT_TRUE(server.wait_for_held(1));
    server.call([&] { server.held()[0].on_gone([&] { left.change([](int& times) { ++times; }); }); });
  }
  EXPECT_EQ(left.get(), 1);
}

TEST(Server, C11_TakesAThousandConnectionsAtOnce) {
  HttpTestServer server;
  std::vector<RawClient> clients;
  for (int i = 0; i < 1200; ++i) {
    clients.push_back(server.client());
    if (!clients.back().connected()) break;
  }
  ASSERT_EQ(clients.size(), 1200u);
  for (auto& client : clients) ASSERT_TRUE(client.send(kGet));
  for (auto& client : clients) ASSERT_THAT(client.answer(), EndsWith("GET /x "));
}

// While it lives, no descriptor is left but `late`, the highest that is open.
class NoMoreDescriptors {
 public:
  explicit NoMoreDescriptors(int late) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit tight{.rlim_cur = static_cast<rlim_t>(late), .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  }
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Server, C11_PausesAcceptingWithoutDescriptors) {
  HttpTestServer server;
  auto before = server.client();
  auto waiting = server.client();  // its descriptor is taken before the limit falls
  ASSERT_TRUE(before.send(kHold));
  ASSERT_TRUE(server.wait_for_held(1));
  ASSERT_TRUE(server.wait_for_connections(2));
  const std::uint16_t port = server.port();
  RawClient late = RawClient::tcp_unconnected();

  // Asked once before: the sanitizers need descriptors for their first look at a type.
  const auto pauses_now = [&] { return server.call([&] { return server.server().accept_pauses(); }); };
  ASSERT_EQ(pauses_now(), 0u);

  std::uint64_t pauses = 0;
  std::string unharmed;
  {
    const NoMoreDescriptors none(late.fd());
    ASSERT_TRUE(late.connect_to(port));
    const auto deadline = std::chrono::steady_clock::now() + RawClient::kPatience;
    while (pauses_now() < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    server.answer_held(0, text("held"));
    unharmed = before.answer();
    pauses = pauses_now();
  }

  EXPECT_GE(pauses, 2u);
  EXPECT_LT(pauses, 100u) << "it spins";
  EXPECT_THAT(unharmed, EndsWith("held"));
  EXPECT_TRUE(server.wait_for_connections(2)) << "the answered one is idle and made room";
}

TEST(Server, C11_WithoutDescriptorsOneIdleConnectionMakesRoomForANewOne) {
  HttpTestServer server;
  std::vector<RawClient> idle;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(server.client());
    idle.back().send(kGet);
    ASSERT_THAT(idle.back().answer(), EndsWith("GET /x "));
  }
  const auto shed_now = [&] { return server.call([&] { return server.server().idle_shed(); }); };
  ASSERT_EQ(shed_now(), 0u);
  const std::uint16_t port = server.port();
  RawClient late = RawClient::tcp_unconnected();
  {
    const NoMoreDescriptors none(late.fd());
    ASSERT_TRUE(late.connect_to(port));
    late.send(kGet);

    EXPECT_THAT(late.answer(), EndsWith("GET /x "));
  }
  EXPECT_EQ(shed_now(), 1u);
  EXPECT_EQ(idle[0].rest(), "");
  idle[1].send(kGet);
  EXPECT_THAT(idle[1].answer(), EndsWith("GET /x ")) << "one was enough";
}

TEST(Server, C11_BeyondItsConnectionsTheOneThatIsIdleLongestMakesRoom) {
  HttpTestServer server({.limits = {.connections = 2}});
  auto older = server.client(), newer = server.client();
  for (RawClient* client : {&older, &newer}) {
    client->send(kGet);
    ASSERT_THAT(client->answer(), EndsWith("GET /x "));
  }
  auto third = server.client();
  third.send(kGet);

  EXPECT_THAT(third.answer(), EndsWith("GET /x "));
  EXPECT_EQ(older.rest(), "");
  newer.send(kGet);
  EXPECT_THAT(newer.answer(), EndsWith("GET /x "));
  EXPECT_EQ(server.call([&] { return server.server().idle_shed(); }), 1u);
}

TEST(Server, C11_BeyondItsConnectionsOfWhichNoneIsIdleNewOnesWait) {
  HttpTestServer server({.limits = {.connections = 2}});
  auto one = server.client(), two = server.client();
  one.send(kHold);
  two.send(kHold);
  ASSERT_TRUE(server.wait_for_held(2));
  auto third = server.client();
  third.send(kGet);
  const auto pauses_now = [&] { return server.call([&] { return server.server().accept_pauses(); }); };
  const auto deadline = std::chrono::steady_clock::now() + RawClient::kPatience;
  while (pauses_now() == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(server.connections(), 2u);

  server.answer_held(0, text("held"));
  server.answer_held(1, text("held"));

  EXPECT_THAT(third.answer(), EndsWith("GET /x "));
  EXPECT_EQ(server.connections(), 2u);
}

TEST(Server, IgnoresSigpipe) {
  HttpTestServer server;
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace tinker::http
