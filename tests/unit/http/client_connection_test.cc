// SPDX-License-Identifier: Apache-2.0
#include "http/client_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_server.h"

namespace tinker::http {
namespace {

using test::await_bytes;
using test::close_connection;
using test::ok;
using test::read_request;
using test::reset_connection;
using test::Script;
using test::ScriptedServer;
using test::send;
using test::send_bytewise;
using test::wait_for_release;
using testing::EndsWith;
using testing::HasSubstr;

// A connection whose loop runs in the test's thread, until each exchange has ended.
class Exchanges {
 public:
  explicit Exchanges(std::uint16_t port)
      : loop_("client"), connection_(std::make_unique<ClientConnection>(loop_, *SocketAddress::numeric("127.0.0.1", port))) {}

  tl::expected<Answer, Broken> exchange(std::string head = get(), std::string body = {}) {
    std::optional<tl::expected<Answer, Broken>> result;
    bool inside = true;
    connection_->send(std::move(head), base::SharedBytes(std::move(body)), limits, [&](tl::expected<Answer, Broken> ended) {
      EXPECT_FALSE(inside) << "told from inside send()";
      result = std::move(ended);
      loop_.stop();
    });
    inside = false;
    loop_.run();
    return std::move(*result);
  }

  // Runs the loop until the other side has closed the idle connection.
  void wait_for_idle_close() {
    connection_->on_idle_closed([this] { loop_.stop(); });
    loop_.run();
  }

  static std::string get() { return "GET / HTTP/1.1\r\nHost: x\r\n\r\n"; }
  static std::string post(std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  }

  ClientConnection& connection() { return *connection_; }
  loop::EventLoop& loop() { return loop_; }

  ClientLimits limits{.connect = base::Seconds{20}, .read = base::Seconds{20}};

 private:
  loop::EventLoop loop_;
  std::unique_ptr<ClientConnection> connection_;
};

std::string body_of(const tl::expected<Answer, Broken>& result) {
  return result ? std::string(result->body.view()) : "broken: " + result.error().text;
}

// What one answer, sent as it is and followed by a FIN, is decoded to.
tl::expected<Answer, Broken> decoded(std::string answer) {
  ScriptedServer server({{read_request(), send(std::move(answer)), close_connection()}});
  return Exchanges(server.port()).exchange();
}

TEST(ClientConnection, KeepsTheConnectionBetweenExchanges) {
  ScriptedServer server({{read_request(), send(ok("one")), read_request(), send(ok("two"))}});
  Exchanges client(server.port());

  const auto first = client.exchange(client.post(5), "hello");
  EXPECT_TRUE(client.connection().reusable());
  const auto second = client.exchange();

  EXPECT_EQ(body_of(first), "one");
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(body_of(second), "two");
  EXPECT_EQ(server.connections.get(), 1u);
  EXPECT_THAT(server.requests.get().at(0), EndsWith("\r\n\r\nhello"));
}

TEST(ClientConnection, SendsAndReadsLargeBodies) {
  const std::string large(std::size_t{40} << 20, 'q');
  ScriptedServer server({{read_request(), send(ok(large))}});
  Exchanges client(server.port());

  const auto result = client.exchange(client.post(large.size()), large);

  ASSERT_TRUE(result);
  EXPECT_TRUE(result->body.view() == large);
  EXPECT_THAT(server.requests.get().at(0), EndsWith(large.substr(0, 100)));
}

TEST(ClientConnection, ReadsAnAnswerThatComesByteByByte) {
  ScriptedServer server(
      {{read_request(), send_bytewise(ok("hello")), read_request(),
        send_bytewise("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")}});
  Exchanges client(server.port());

  EXPECT_EQ(body_of(client.exchange()), "hello");
  EXPECT_EQ(body_of(client.exchange()), "hello!");
}

TEST(ClientConnection, U12_SkipsInterimAnswers) {
  EXPECT_EQ(body_of(decoded("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok("body"))), "body");
}

TEST(ClientConnection, U12_DecodesChunksWithExtensionsAndTrailers) {
  ScriptedServer server({{read_request(),
                          send("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
                               "5;a=b\r\nhello\r\nA\r\n, world...\r\n0\r\nX-Checksum: 1\r\nY: 2\r\n\r\n"),
                          read_request(), send(ok("next"))}});
  Exchanges client(server.port());

  const auto result = client.exchange();

  EXPECT_EQ(body_of(result), "hello, world...");
  EXPECT_FALSE(result->fields.find("x-checksum"));
  EXPECT_EQ(body_of(client.exchange()), "next");
  EXPECT_EQ(server.connections.get(), 1u);
}

TEST(ClientConnection, U12_DecodesManyLargeChunks) {
  std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string whole;
  for (int i = 0; i < 60; ++i) {
    const std::string chunk(100'000, static_cast<char>('a' + i % 26));
    answer += "186a0\r\n" + chunk + "\r\n";
    whole += chunk;
  }
  answer += "0\r\n\r\n";

  const auto result = decoded(answer);

  ASSERT_TRUE(result);
  EXPECT_TRUE(result->body.view() == whole);
}

TEST(ClientConnection, U12_ReadsHttp10UntilTheEnd) {
  const auto result = decoded("HTTP/1.0 200 OK\r\nServer: old\r\n\r\nall of it");

  EXPECT_EQ(body_of(result), "all of it");
}

TEST(ClientConnection, U12_ReadsAnAnswerWithoutLengthUntilTheEnd) {
  const std::string body(300'000, 'u');
  ScriptedServer server({{read_request(), send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body), close_connection()},
                         {read_request(), send(ok("next"))}});
  Exchanges client(server.port());

  EXPECT_EQ(body_of(client.exchange()), body);
  EXPECT_FALSE(client.connection().reusable());
  EXPECT_EQ(body_of(client.exchange()), "next");
}

TEST(ClientConnection, U12_TakesFieldNamesInAnyCase) {
  const auto result = decoded("HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh: 3\r\nCONTENT-TYPE: a/b\r\n\r\nabc");

  EXPECT_EQ(body_of(result), "abc");
  EXPECT_EQ(result->fields.find("content-type"), "a/b");
}

TEST(ClientConnection, DoesNotReuseWhatTheUpstreamCloses) {
  for (const std::string& fields : {std::string("Connection: close\r\n"), std::string("connection: a, CLOSE\r\n")}) {
    ScriptedServer server({{read_request(), send(ok("one", fields))}, {read_request(), send(ok("two"))}});
    Exchanges client(server.port());

    EXPECT_EQ(body_of(client.exchange()), "one");
    EXPECT_FALSE(client.connection().reusable());
    EXPECT_EQ(body_of(client.exchange()), "two");
  }
}

TEST(ClientConnection, HeadAndBodilessAnswersEndWithTheirHead) {
  ScriptedServer server(
      {{read_request(), send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), read_request(),
        send("HTTP/1.1 204 No Content\r\n\r\n"), read_request(), send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")}});
  Exchanges client(server.port());

  EXPECT_EQ(body_of(client.exchange("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")), "");
  EXPECT_EQ(client.exchange()->status, 204);
  EXPECT_EQ(body_of(client.exchange()), "");
  EXPECT_EQ(server.connections.get(), 1u);
}

TEST(ClientConnection, TellsWhenAnIdleConnectionIsClosed) {
  ScriptedServer server({{read_request(), send(ok("one")), wait_for_release(), close_connection()}});
  Exchanges client(server.port());
  client.exchange();

  server.release();
  client.wait_for_idle_close();

  EXPECT_FALSE(client.connection().reusable());
  EXPECT_TRUE(client.connection().idle());
}

TEST(ClientConnection, ClosesAnIdleConnectionThatSendsWhatNobodyAskedFor) {
  ScriptedServer server(
      {{read_request(), send(ok("one")), wait_for_release(), send(ok("spoof"))}, {read_request(), send(ok("two"))}});
  Exchanges client(server.port());
  client.exchange();

  server.release();
  client.wait_for_idle_close();

  EXPECT_EQ(body_of(client.exchange()), "two");
}

TEST(ClientConnection, DropsAConnectionWithBytesBehindTheAnswer) {
  ScriptedServer server({{read_request(), send(ok("one") + ok("spoof"))}, {read_request(), send(ok("two"))}});
  Exchanges client(server.port());

  EXPECT_EQ(body_of(client.exchange()), "one");
  EXPECT_EQ(body_of(client.exchange()), "two");
}

TEST(ClientConnection, U5_ACloseBeforeAnyByteIsToldApartOnAReusedConnection) {
  for (const test::Step& end : {close_connection(), reset_connection()}) {
    ScriptedServer server({{read_request(), send(ok("one")), read_request(), end}, {read_request(), end}});
    Exchanges client(server.port());
    client.exchange();

    const auto reused = client.exchange();
    const auto fresh = client.exchange();

    ASSERT_FALSE(reused);
    EXPECT_EQ(reused.error().kind, Breakage::closed_early) << reused.error().text;
    EXPECT_TRUE(reused.error().reused);
    ASSERT_FALSE(fresh);
    EXPECT_EQ(fresh.error().kind, Breakage::closed_early) << fresh.error().text;
    EXPECT_FALSE(fresh.error().reused);
  }
}

TEST(ClientConnection, U5_ACloseLongAfterTheRequestIsNoIdleTimeOut) {
  ScriptedServer server({{read_request(), send(ok("one")), read_request(), wait_for_release(), close_connection()}});
  Exchanges client(server.port());
  client.limits.idle_race = base::Seconds{0.01};
  client.exchange();
  loop::Timer later(client.loop(), [&] { server.release(); });
  later.after(base::Seconds{0.05});

  const auto broken = client.exchange();

  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, Breakage::closed_early);
  EXPECT_FALSE(broken.error().reused) << "the upstream had the request and may have been generating";
}

TEST(ClientConnection, SaysThatNobodyListens) {
  std::uint16_t port = 0;
  { port = ScriptedServer({}).port(); }

  const auto result = Exchanges(port).exchange();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Breakage::connect_failed);
  EXPECT_EQ(result.error().text, "connection to 127.0.0.1:" + std::to_string(port) + " refused");
}

TEST(ClientConnection, SaysThatAConnectionIsNotAccepted) {
  // A listener with a full backlog: the kernel drops further SYNs.
  const loop::FileDescriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  auto address = *SocketAddress::numeric("127.0.0.1", 0);
  bind(listener.get(), address.get(), address.size);
  listen(listener.get(), 0);
  address.size = sizeof address.storage;
  getsockname(listener.get(), address.get(), &address.size);
  std::vector<loop::FileDescriptor> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ::connect(fillers.back().get(), address.get(), address.size);
  }
  Exchanges client(address.port());
  client.limits.connect = base::Seconds{0.1};

  const auto result = client.exchange();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Breakage::connect_timed_out);
  EXPECT_THAT(result.error().text, HasSubstr("did not accept a connection within 0.1 s"));
}

TEST(ClientConnection, SaysThatNoByteCame) {
  ScriptedServer server({{read_request(), send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")}});
  Exchanges client(server.port());
  client.limits.read = base::Seconds{0.1};

  const auto result = client.exchange();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Breakage::read_timed_out);
  EXPECT_THAT(result.error().text, HasSubstr("for 0.1 s"));
}

TEST(ClientConnection, SaysThatTheRequestCouldNotBeWritten) {
  ScriptedServer server({{await_bytes(), reset_connection()}});
  Exchanges client(server.port());
  const std::string large(std::size_t{64} << 20, 'q');

  const auto result = client.exchange(client.post(large.size()), large);

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Breakage::write_failed) << result.error().text;
}

TEST(ClientConnection, SaysThatTheUpstreamTakesNoMoreOfTheRequest) {
  ScriptedServer server({{wait_for_release()}});
  Exchanges client(server.port());
  client.limits.read = base::Seconds{0.2};
  const std::string large(std::size_t{64} << 20, 'q');

  const auto result = client.exchange(client.post(large.size()), large);

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Breakage::write_failed) << result.error().text;
}

TEST(ClientConnection, TakesAnAnswerThatComesBeforeTheRequestWasReadWhole) {
  ScriptedServer server({{send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"), wait_for_release()}});
  Exchanges client(server.port());
  const std::string large(std::size_t{64} << 20, 'q');

  const auto result = client.exchange(client.post(large.size()), large);

  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->status, 413);
  EXPECT_FALSE(client.connection().reusable());
}

TEST(ClientConnection, SaysThatAnAnswerWasCutShort) {
  const std::vector<std::string> cuts = {
      "HTTP/1.1 200 OK\r\nConte",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
  };
  for (const std::string& cut : cuts) {
    const auto result = decoded(cut);
    ASSERT_FALSE(result) << cut;
    EXPECT_EQ(result.error().kind, Breakage::cut_short) << cut << " -> " << result.error().text;
  }
  EXPECT_THAT(decoded(cuts[1]).error().text, EndsWith("closed the connection after 5 bytes of the body of its answer of 10"));
}

TEST(ClientConnection, AResetOfAnAnswerWithoutLengthIsNotItsEnd) {
  ScriptedServer server({{read_request(), send("HTTP/1.1 200 OK\r\n\r\npart"), wait_for_release(), reset_connection()}});
  Exchanges client(server.port());
  loop::Timer soon(client.loop(), [&] { server.release(); });
  soon.after(base::Seconds{0.05});  // the part has arrived by then, or the reset comes first: both are broken

  const auto result = client.exchange();

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text, HasSubstr("broke the connection"));
}

TEST(ClientConnection, RefusesMalformedAnswers) {
  const std::vector<std::string> answers = {
      "garbage\r\n\r\n",
      "HTTP/2.0 200 OK\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
      "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    const auto result = decoded(answer);
    ASSERT_FALSE(result) << answer;
    EXPECT_EQ(result.error().kind, Breakage::malformed) << answer << " -> " << result.error().text;
    EXPECT_THAT(result.error().text, HasSubstr(" sent an answer that is malformed: "));
  }
}

TEST(ClientConnection, RefusesWhatIsTooLarge) {
  const std::vector<std::string> answers = {
      "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + std::string(1000, 'a') + "\r\n1\r\na\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'a'),
      "HTTP/1.1 200 OK\r\nA: " + std::string(5000, 'a') + "\r\nContent-Length: 0\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    ScriptedServer server({{read_request(), send(answer)}});
    Exchanges client(server.port());
    client.limits.body_bytes = 1000;
    client.limits.head_bytes = 4096;

    const auto result = client.exchange();

    ASSERT_FALSE(result) << answer.substr(0, 80);
    EXPECT_EQ(result.error().kind, Breakage::too_large) << result.error().text;
  }
}

TEST(ClientConnection, SurvivesMutatedAnswers) {
  const std::vector<std::string> seeds = {
      "HTTP/1.1 100 Continue\r\n\r\n" + ok("hello world", "Content-Type: a/b\r\n"),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nT: v\r\n\r\n",
      "HTTP/1.0 200 OK\r\n\r\nuntil the end",
  };
  constexpr std::string_view kInteresting(
      "\r\n\t :;,\0\x01\x7f\xff"
      "09aAfFxX+-/%",
      23);
  constexpr unsigned kSeed = 20240612;
  std::mt19937 random(kSeed);
  const auto below = [&random](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
  constexpr int kRounds = 1000;
  std::vector<Script> scripts;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = seeds[below(seeds.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(bytes.size());
      if (below(2) == 0)
        bytes[at] = kInteresting[below(kInteresting.size())];
      else
        bytes.insert(at, bytes.substr(below(bytes.size()), below(20)));
    }
    scripts.push_back({read_request(), send(bytes), close_connection()});
  }
  scripts.push_back({read_request(), send(ok("proper"))});
  ScriptedServer server(std::move(scripts));

  // Each on a connection of its own, whatever became of the one before.
  for (int round = 0; round < kRounds; ++round) Exchanges(server.port()).exchange();

  EXPECT_EQ(body_of(Exchanges(server.port()).exchange()), "proper") << "seed " << kSeed;
}

TEST(ClientConnection, MayBeDestroyedInItsOwnDone) {
  ScriptedServer server({{read_request(), send(ok("one") + "HTTP/1.1 2")}, {reset_connection()}});
  loop::EventLoop loop("client");
  const auto address = *SocketAddress::numeric("127.0.0.1", server.port());
  for (int i = 0; i < 2; ++i) {
    auto connection = std::make_unique<ClientConnection>(loop, address);
    connection->send(Exchanges::get(), {}, {}, [&](const auto&) {
      connection.reset();
      loop.stop();
    });
    loop.run();
    EXPECT_EQ(connection, nullptr);
  }
}

TEST(ClientConnection, DoesNotTellADoneThatIsDueWhenItIsDestroyed) {
  ScriptedServer server({{read_request(), wait_for_release(), send(ok("late"))}});
  loop::EventLoop loop("client");
  bool told = false;
  {
    ClientConnection connection(loop, *SocketAddress::numeric("127.0.0.1", server.port()));
    connection.send(Exchanges::get(), {}, {}, [&](const auto&) { told = true; });
    loop::Timer soon(loop, [&] { loop.stop(); });
    soon.after(base::Seconds{0.01});
    loop.run();
  }
  server.release();
  loop.stop();
  loop.run();

  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace tinker::http
