// SPDX-License-Identifier: Apache-2.0
// Requests that two programs could read differently, and other attacks on the parser, against a server on a real socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "support/http_test_server.h"

namespace tinker::http {
namespace {

using test::HttpTestServer;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Attack {
  const char* name;
  std::string request;
  int status;
};

// What would be handled as a second request by a program that is fooled.
const std::string kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(const std::string& fields, const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body;
}

std::vector<Attack> attacks() {
  std::string many_fields;
  for (int i = 0; i < 10'000; ++i) many_fields += "A:\r\n";
  return {
      {"both lengths", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"both lengths, coding first", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400},
      {"two lengths", post("Content-Length: 0\r\nContent-Length: 5\r\n", ""), 400},
      {"the same length twice", post("Content-Length: 0\r\nContent-Length: 0\r\n", ""), 400},
      {"a list of lengths", post("Content-Length: 0, 0\r\n", ""), 400},
      {"a signed length", post("Content-Length: +0\r\n", ""), 400},
      {"a negative length", post("Content-Length: -1\r\n", ""), 400},
      {"a hexadecimal length", post("Content-Length: 0x0\r\n", ""), 400},
      {"an empty length", post("Content-Length:\r\n", ""), 400},
      {"a length beyond 64 bits", post("Content-Length: 18446744073709551616\r\n", ""), 400},
      {"a length with a space inside", post("Content-Length: 0 0\r\n", ""), 400},
      {"coding xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501},
      {"coding chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 400},
      {"coding gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501},
      {"coding identity", post("Transfer-Encoding: identity\r\n", "0\r\n\r\n"), 501},
      {"coding empty", post("Transfer-Encoding:\r\n", "0\r\n\r\n"), 400},
      {"coding chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 400},
      {"two coding fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"two coding fields, the first unknown", post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       400},
      {"coding with a vertical tab",
       post("Transfer-Encoding: \x0b"
            "chunked\r\n",
            "0\r\n\r\n"),
       400},
      {"coding in quotes", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 501},
      {"coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"coding on a folded line", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400},
      {"a folded field", post("A: b\r\n c\r\n", ""), 400},
      {"a folded first field", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
      {"a space before the colon", post("Content-Length : 0\r\n", ""), 400},
      {"a tab before the colon", post("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n"), 400},
      {"a field without a colon", post("Content-Length\r\n", ""), 400},
      {"an empty field name", post(": x\r\n", ""), 400},
      {"a bare LF after the first line", "GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
      {"bare LFs only", "GET / HTTP/1.1\nHost: x\n\n", 400},
      {"a bare LF in the fields", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400},
      {"a bare CR in a value", post("A: b\rC: d\r\n", ""), 400},
      {"a NUL in a value", post(std::string("A: b\0c\r\n", 8), ""), 400},
      {"a control character in a value", post("A: b\x01\r\n", ""), 400},
      {"a DEL in a value", post("A: b\x7f\r\n", ""), 400},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"the same Host twice", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400},
      {"a Host that is a list", "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", 400},
      {"a chunk size that is no number", post("Transfer-Encoding: chunked\r\n", "zz\r\n"), 400},
      {"a chunk size with a prefix", post("Transfer-Encoding: chunked\r\n", "0x0\r\n\r\n"), 400},
      {"a signed chunk size", post("Transfer-Encoding: chunked\r\n", "+0\r\n\r\n"), 400},
      {"a chunk size with blanks", post("Transfer-Encoding: chunked\r\n", "0 \r\n\r\n"), 400},
      {"a chunk size beyond 64 bits", post("Transfer-Encoding: chunked\r\n", "10000000000000000\r\n"), 400},
      {"a chunk line with a bare LF", post("Transfer-Encoding: chunked\r\n", "0\n\r\n"), 400},
      {"a chunk extension with a bare LF", post("Transfer-Encoding: chunked\r\n", "0;a\n\r\n"), 400},
      {"a chunk longer than its size", post("Transfer-Encoding: chunked\r\n", "1\r\nab\r\n0\r\n\r\n"), 400},
      {"a chunk without its CR LF", post("Transfer-Encoding: chunked\r\n", "1\r\na0\r\n\r\n"), 400},
      {"a chunk extension of 5 KB", post("Transfer-Encoding: chunked\r\n", "0;" + std::string(5000, 'e') + "\r\n\r\n"), 400},
      {"trailers of 10 KB", post("Transfer-Encoding: chunked\r\n", "0\r\nA: " + std::string(10'000, 't') + "\r\n\r\n"), 400},
      {"a folded trailer", post("Transfer-Encoding: chunked\r\n", "0\r\nA: b\r\n c\r\n\r\n"), 400},
      {"a length of 2 GB", post("Content-Length: 2147483648\r\n", ""), 413},
      {"a chunk of 2 GB", post("Transfer-Encoding: chunked\r\n", "80000000\r\n"), 413},
      {"a head of 100 KB", post("A: " + std::string(100'000, 'a') + "\r\n", ""), 431},
      {"a target of 100 KB", "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
      {"10,000 fields", post(many_fields, ""), 431},
      {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"HTTP/0.9", "GET /\r\n\r\n", 400},
      {"a TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"two spaces after the method", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a tab after the method", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"a space behind the version", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
      {"two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"another expectation", post("Expect: 200-ok\r\nContent-Length: 0\r\n", ""), 417},
  };
}

TEST(Smuggling, S10_IsRefusedWithAReasonAndTheConnectionClosed) {
  HttpTestServer server;
  for (const Attack& attack : attacks()) {
    SCOPED_TRACE(attack.name);
    auto client = server.client();

    client.send(attack.request + kSmuggled);

    const std::string answer = client.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(attack.status) + " "));
    EXPECT_THAT(answer, HasSubstr("\r\nconnection: close\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\n{\"detail\":\""));
    EXPECT_THAT(answer, EndsWith("\"}")) << "a second request was answered";
    EXPECT_TRUE(client.closed());
    EXPECT_FALSE(client.was_reset());
  }
  EXPECT_THAT(server.handled.get(), IsEmpty());
}

TEST(Smuggling, S10_SurvivesMutatedRequests) {
  HttpTestServer server({.limits = {.first_byte = base::Seconds{5}, .request = base::Seconds{5}}, .body_limit = 1000});
  const std::vector<std::string> seeds = {
      "GET /a?b HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n" + kSmuggled,
      post("Content-Length: 11\r\n", "hello world") + kSmuggled,
      post("Transfer-Encoding: chunked\r\n", "5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nT: v\r\n\r\n") + kSmuggled,
      post("Expect: 100-continue\r\nContent-Length: 5\r\n", "hello"),
  };
  const std::string interesting(
      "\r\n\t :;,\0\x01\x7f\xff"
      "09aAfFxX+-/%",
      23);
  constexpr unsigned kSeed = 20240611;
  std::mt19937 random(kSeed);
  const auto below = [&random](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };

  for (int round = 0; round < 5000; ++round) {
    std::string bytes = seeds[below(seeds.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[at] = interesting[below(interesting.size())];
          break;
        case 1:
          bytes.insert(at, 1, interesting[below(interesting.size())]);
          break;
        case 2:
          bytes.erase(at, 1 + below(4));
          break;
        default:
          bytes.insert(at, bytes.substr(below(bytes.size()), below(40)));
          break;
      }
      if (bytes.empty()) bytes = "G";
    }
    auto client = server.client();
    const std::size_t cut = below(bytes.size() + 1);
    client.send(std::string_view(bytes).substr(0, cut));
    client.send(std::string_view(bytes).substr(cut));
    client.half_close();
    client.rest();
    if (round % 100 != 0) continue;
    auto proper = server.client();
    proper.send("GET /proper HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_THAT(proper.answer(), EndsWith("GET /proper ")) << "seed " << kSeed << " round " << round;
  }
}

}  // namespace
}  // namespace tinker::http
