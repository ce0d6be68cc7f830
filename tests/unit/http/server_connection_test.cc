// SPDX-License-Identifier: Apache-2.0
#include "http/server_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/http_test_server.h"

namespace tinker::http {
namespace {

using test::HttpTestServer;
using test::RawClient;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string get(std::string_view path) { return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n"; }
std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}
Response text(std::string body) { return {.content_type = "text/plain", .body = base::SharedBytes(std::move(body))}; }

bool has_deliveries(HttpTestServer& server, std::vector<Delivery> wanted) {
  return server.deliveries.wait_for([&](const auto& all) { return all == wanted; });
}

TEST(ServerConnection, AnswersAndKeepsTheConnection) {
  HttpTestServer server;
  auto client = server.client();

  client.send(post("/a?b=c", "hello"));
  const std::string first = client.answer();
  client.send(get("/d"));
  const std::string second = client.answer();

  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\nserver: tinkerd\r\ndate: "));
  EXPECT_THAT(first, HasSubstr("content-type: text/plain\r\ncontent-length: 17\r\n"));
  EXPECT_THAT(first, Not(HasSubstr("connection:")));
  EXPECT_THAT(first, EndsWith("\r\n\r\nPOST /a?b=c hello"));
  EXPECT_THAT(second, EndsWith("GET /d "));
  EXPECT_EQ(server.connections(), 1u);
}

TEST(ServerConnection, ReadsARequestSplitAtEveryByte) {
  HttpTestServer server;
  const std::string chunked =
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nT: v\r\n\r\n";
  for (const std::string& whole : {post("/l", "hello world"), chunked}) {
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
      auto client = server.client();
      client.send(whole.substr(0, cut));
      // The server has seen the first part when it answers another connection.
      auto other = server.client();
      other.send(get("/"));
      other.answer();
      client.send(whole.substr(cut));
      ASSERT_THAT(client.answer(), EndsWith(" hello world")) << "cut at " << cut;
    }
  }
}

TEST(ServerConnection, ReadsARequestThatComesByteByByte) {
  HttpTestServer server;
  auto client = server.client();

  for (const char c : post("/slow", "hello")) ASSERT_TRUE(client.send({&c, 1}));

  EXPECT_THAT(client.answer(), EndsWith("POST /slow hello"));
}

TEST(ServerConnection, ReadsALargeBody) {
  HttpTestServer server;
  auto client = server.client();
  const std::string body(5'000'000, 'b');

  client.send(post("/large", body) + get("/next"));

  EXPECT_THAT(client.answer(), EndsWith("POST /large " + body));
  EXPECT_THAT(client.answer(), EndsWith("GET /next "));
}

TEST(ServerConnection, S10_AnswersPipelinedRequestsInOrder) {
  HttpTestServer server;
  auto client = server.client();

  client.send(get("/hold") + post("/2", "two") + get("/3"));
  ASSERT_TRUE(server.wait_for_held(1));
  EXPECT_THAT(server.handled.get(), ElementsAre("GET /hold"));
  server.answer_held(0, text("one"));

  EXPECT_THAT(client.answer(), EndsWith("one"));
  EXPECT_THAT(client.answer(), EndsWith("POST /2 two"));
  EXPECT_THAT(client.answer(), EndsWith("GET /3 "));
}

TEST(ServerConnection, S10_AnswersThousandsOfPipelinedRequests) {
  HttpTestServer server;
  auto client = server.client();
  std::string all;
  for (int i = 0; i < 3000; ++i) all += get("/" + std::to_string(i));

  std::thread sender([&] { client.send(all); });
  for (int i = 0; i < 3000; ++i) ASSERT_THAT(client.answer(), EndsWith("GET /" + std::to_string(i) + " "));
  sender.join();
}

TEST(ServerConnection, S10_StopsReadingBehindARequestThatWaits) {
  HttpTestServer server({.limits = {.head_bytes = 4096}});
  auto client = server.client();
  const int small = 65536;
  setsockopt(client.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  client.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));

  // Sends until the kernel takes no more for a second: then the server has stopped reading.
  const std::string filler = get("/filler");
  std::size_t sent = 0;
  pollfd room{.fd = client.fd(), .events = POLLOUT, .revents = 0};
  while (sent < (std::size_t{64} << 20) && poll(&room, 1, 1000) > 0) {
    const ssize_t n = ::send(client.fd(), filler.data(), filler.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) sent += static_cast<std::size_t>(n);
    if (n > 0 && static_cast<std::size_t>(n) < filler.size()) break;
  }

  EXPECT_LT(sent, std::size_t{64} << 20);
  server.answer_held(0, text("one"));
  EXPECT_THAT(client.answer(), EndsWith("one"));
  EXPECT_THAT(client.answer(), EndsWith("GET /filler "));
}

TEST(ServerConnection, TellsWrittenThenConfirmedByTheNextRequest) {
  HttpTestServer server;
  auto client = server.client();
  client.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));
  server.answer_held(0, text("result"));
  EXPECT_THAT(client.answer(), EndsWith("result"));
  ASSERT_TRUE(has_deliveries(server, {Delivery::written}));

  client.send("G");

  EXPECT_TRUE(has_deliveries(server, {Delivery::written, Delivery::confirmed}));
}

TEST(ServerConnection, APipelinedRequestConfirmsNothing) {
  HttpTestServer server;
  auto client = server.client();
  client.send(get("/hold") + get("/next"));
  ASSERT_TRUE(server.wait_for_held(1));

  server.answer_held(0, text("result"));
  client.answer();
  client.answer();
  client.send(get("/third"));
  client.answer();

  EXPECT_TRUE(has_deliveries(server, {Delivery::written}));
}

TEST(ServerConnection, ACloseAfterTheAnswerConfirmsNothing) {
  HttpTestServer server;
  auto client = server.client();
  client.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));
  server.answer_held(0, text("result"));
  client.answer();

  client.close();

  ASSERT_TRUE(server.wait_for_connections(0));
  EXPECT_TRUE(has_deliveries(server, {Delivery::written}));
}

class ClientThatLeaves : public testing::TestWithParam<void (*)(RawClient&)> {};

TEST_P(ClientThatLeaves, IsNoticedWhileItsRequestWaits) {
  HttpTestServer server;
  auto client = server.client();
  test::Watched<int> left;
  client.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));
  server.call([&] { server.held()[0].on_gone([&] { left.change([](int& times) { ++times; }); }); });

  GetParam()(client);

  ASSERT_TRUE(left.wait_for([](int times) { return times == 1; }));
  EXPECT_FALSE(server.call([&] { return server.held()[0].open(); }));
  server.answer_held(0, text("too late"));
  EXPECT_TRUE(has_deliveries(server, {Delivery::gone}));
  EXPECT_EQ(server.finished.get().at(0).status, 0);
  EXPECT_EQ(server.connections(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Each, ClientThatLeaves,
                         testing::Values([](RawClient& client) { client.close(); },
                                         [](RawClient& client) { client.half_close(); },
                                         [](RawClient& client) { client.reset_connection(); }));

TEST(ServerConnection, TellsAtOnceThatTheClientHasLeftBefore) {
  HttpTestServer server;
  auto client = server.client();
  test::Watched<int> left;
  client.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));
  client.close();
  ASSERT_TRUE(server.wait_for_connections(0));

  server.call([&] { server.held()[0].on_gone([&] { left.change([](int& times) { ++times; }); }); });

  EXPECT_TRUE(left.wait_for([](int times) { return times == 1; }));
}

TEST(ServerConnection, TellsGoneWhenTheClientLeavesBeforeTheLastByte) {
  HttpTestServer server;
  auto client = RawClient::tcp(server.port(), 4096);
  client.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));
  server.answer_held(0, text(std::string(std::size_t{32} << 20, 'r')));
  ASSERT_GE(client.read(1000).size(), 1000u);

  client.close();

  EXPECT_TRUE(has_deliveries(server, {Delivery::gone}));
  const auto logged = server.finished.get().at(0);
  EXPECT_EQ(logged.status, 200);
  EXPECT_LT(logged.bytes_out, std::size_t{32} << 20);
}

TEST(ServerConnection, C4_AReplyThatIsDroppedIsAnswered500) {
  HttpTestServer server({.handle = [](Request&&, Reply) {}});
  auto client = server.client();

  client.send(get("/"));

  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
}

TEST(ServerConnection, C12_ClosesAReaderThatStopped) {
  HttpTestServer server({.limits = {.write = base::Seconds{0.2}}});
  auto slow = RawClient::tcp(server.port(), 4096);
  slow.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));

  server.answer_held(0, text(std::string(std::size_t{32} << 20, 'r')));

  EXPECT_TRUE(has_deliveries(server, {Delivery::gone}));
  ASSERT_TRUE(server.wait_for_connections(0));
  auto other = server.client();
  other.send(get("/other"));
  EXPECT_THAT(other.answer(), EndsWith("GET /other "));
}

TEST(ServerConnection, C12_BearsWithAReaderThatIsSlow) {
  HttpTestServer server({.limits = {.write = base::Seconds{1}}});
  auto slow = RawClient::tcp(server.port(), 4096);
  slow.send(get("/hold"));
  ASSERT_TRUE(server.wait_for_held(1));
  server.answer_held(0, text(std::string(std::size_t{32} << 20, 'r')));

  // Two write time-outs long, far less is read than the kernel holds: the server's own buffer does not move.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
  pollfd never{.fd = -1, .events = 0, .revents = 0};
  for (std::size_t wanted = 1; std::chrono::steady_clock::now() < end; wanted += 1000) {
    ASSERT_GE(slow.read(wanted).size(), wanted);
    poll(&never, 1, 10);
  }

  EXPECT_EQ(server.connections(), 1u);
  EXPECT_TRUE(has_deliveries(server, {}));
}

TEST(ServerConnection, C12_SendsOneResultToManyReadersWithoutACopy) {
  HttpTestServer server;
  const base::SharedBytes shared(std::string(std::size_t{4} << 20, 'r'));
  std::vector<RawClient> clients;
  for (std::size_t i = 0; i < 20; ++i) {
    clients.push_back(RawClient::tcp(server.port(), 4096));
    clients.back().send(get("/hold"));
  }
  ASSERT_TRUE(server.wait_for_held(20));

  for (std::size_t i = 0; i < 20; ++i) server.answer_held(i, {.content_type = "text/plain", .body = shared});

  for (auto& client : clients) EXPECT_THAT(client.answer(), EndsWith(std::string(100, 'r')));
  EXPECT_TRUE(server.deliveries.wait_for([](const auto& all) { return all == std::vector<Delivery>(20, Delivery::written); }));
}

TEST(ServerConnection, SendsContinueOnceTheBodyIsKnownToFit) {
  HttpTestServer server({.body_limit = 10});
  auto client = server.client();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.answer(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  EXPECT_THAT(client.answer(), EndsWith("POST / hello"));

  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");

  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 413 "));
}

TEST(ServerConnection, SendsNoContinueWhenTheBodyIsThere) {
  HttpTestServer server;
  auto client = server.client();

  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");

  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200 "));
}

TEST(ServerConnection, AnswersHeadWithoutABody) {
  HttpTestServer server;
  auto client = server.client();

  client.send("HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n" + get("/next"));

  EXPECT_THAT(client.answer(/*to_head_request=*/true), HasSubstr("content-length: 8\r\n"));
  EXPECT_THAT(client.answer(), EndsWith("GET /next "));
}

TEST(ServerConnection, Answers204WithoutALength) {
  HttpTestServer server({.handle = [](Request&&, Reply reply) { reply.send({.status = 204}); }});
  auto client = server.client();

  client.send(get("/"));

  EXPECT_THAT(client.answer(), AllOf(StartsWith("HTTP/1.1 204 No Content\r\n"), Not(HasSubstr("content-length"))));
}

TEST(ServerConnection, ClosesAfterHttp10UnlessAskedToKeep) {
  HttpTestServer server;
  auto client = server.client();
  client.send("GET /keep HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(client.answer(), HasSubstr("connection: keep-alive\r\n"));

  client.send("GET /close HTTP/1.0\r\n\r\n");

  EXPECT_THAT(client.rest(), AllOf(HasSubstr("connection: close\r\n"), EndsWith("GET /close ")));
  EXPECT_TRUE(client.closed());
}

TEST(ServerConnection, ClosesWhenTheClientAsks) {
  HttpTestServer server;
  auto client = server.client();

  client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n" + get("/never"));

  EXPECT_THAT(client.rest(), AllOf(HasSubstr("connection: close\r\n"), EndsWith("GET / ")));
  EXPECT_FALSE(client.was_reset());
  EXPECT_THAT(server.handled.get(), ElementsAre("GET /"));
}

TEST(ServerConnection, TakesAbsoluteTargetsAndOneEmptyLineBeforeARequest) {
  HttpTestServer server;
  auto client = server.client();

  client.send("\r\nGET http://host:1/a/b?c HTTP/1.1\r\nHost: other\r\n\r\n");

  EXPECT_THAT(client.answer(), EndsWith("GET /a/b?c "));
}

TEST(ServerConnection, CannotBeMadeToSplitAnAnswer) {
  HttpTestServer server({.handle = [](Request&&, Reply reply) { reply.send({.fields = {{"x-echo", "a\r\nset-cookie: b"}}}); }});
  auto client = server.client();

  client.send(get("/"));

  EXPECT_THAT(client.answer(), HasSubstr("x-echo: a  set-cookie: b\r\n"));
}

TEST(ServerConnection, LogsEachExchange) {
  HttpTestServer server;
  auto client = server.client();
  const std::string request = "GET /hold/1 HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n";
  client.send(request);
  ASSERT_TRUE(server.wait_for_held(1));
  server.answer_held(0, text("1"));
  const std::string first = client.answer();
  client.send(get("/hold/2"));
  ASSERT_TRUE(server.wait_for_held(2));
  server.call([&] { server.held()[1].set_request_id("s4711"); });
  server.answer_held(1, text("2"));
  client.answer();

  const auto logged = server.finished.get();

  ASSERT_EQ(logged.size(), 2u);
  EXPECT_EQ(logged[0].method + " " + logged[0].path, "GET /hold/1");
  EXPECT_THAT(logged[0].peer, StartsWith("127.0.0.1:"));
  EXPECT_EQ(logged[0].status, 200);
  EXPECT_EQ(logged[0].bytes_in, request.size());
  EXPECT_EQ(logged[0].bytes_out, first.size());
  EXPECT_EQ(logged[0].request_id, "mine");
  EXPECT_EQ(logged[1].request_id, "s4711");
}

TEST(ServerConnection, ClosesANewConnectionThatSendsNothing) {
  HttpTestServer server({.limits = {.first_byte = base::Seconds{0.05}}});
  auto client = server.client();

  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(client.closed());
}

TEST(ServerConnection, ClosesAnIdleConnection) {
  HttpTestServer server({.limits = {.idle = base::Seconds{0.05}}});
  auto client = server.client();
  client.send(get("/"));
  client.answer();

  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(client.closed());
}

TEST(ServerConnection, S10_AHeadThatDoesNotEndIs408) {
  HttpTestServer server({.limits = {.request = base::Seconds{0.1}}});
  auto client = server.client();

  client.send("GET / HTTP/1.1\r\nHo");

  EXPECT_THAT(client.rest(), AllOf(StartsWith("HTTP/1.1 408 "), HasSubstr("connection: close\r\n")));
  EXPECT_TRUE(client.closed());
}

TEST(ServerConnection, S10_ABodyThatTricklesIs408) {
  HttpTestServer server({.limits = {.request = base::Seconds{0.3}}});
  auto client = server.client();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");

  // A byte at a time until the server answers, which it must although bytes keep coming.
  pollfd answered{.fd = client.fd(), .events = POLLIN, .revents = 0};
  for (int i = 0; i < 2000 && poll(&answered, 1, 10) == 0; ++i) client.send("b");

  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 408 "));
}

TEST(ServerConnection, ARefusedClientCanReadTheAnswerAlthoughItGoesOnSending) {
  HttpTestServer server({.body_limit = 1000});
  auto client = server.client();

  client.send(post("/", std::string(4'000'000, 'b')));

  EXPECT_THAT(client.rest(), AllOf(StartsWith("HTTP/1.1 413 Content Too Large\r\n"),
                                   EndsWith(R"({"detail":"the body of the request is too large: the limit is 1000 bytes"})")));
  EXPECT_TRUE(client.closed());
  EXPECT_FALSE(client.was_reset());
}

}  // namespace
}  // namespace tinker::http
