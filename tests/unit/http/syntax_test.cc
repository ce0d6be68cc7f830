// SPDX-License-Identifier: Apache-2.0
#include "http/syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tinker::http {
namespace {

using testing::HasSubstr;

TEST(Syntax, ParsesARequestHead) {
  const auto head = parse_request_head(
      "POST /a%20b/c?d=e&f HTTP/1.1\r\nHost: x:1\r\nX-Empty:\r\nX-Spaced: \t a b \t\r\nx-twice: 1\r\nX-Twice: 2\r\n\r\n", 10);

  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->path, "/a%20b/c");
  EXPECT_EQ(head->query, "d=e&f");
  EXPECT_EQ(head->minor, 1);
  EXPECT_EQ(head->fields.size(), 5u);
  EXPECT_EQ(head->fields.find("HOST"), "x:1");
  EXPECT_EQ(head->fields.find("x-empty"), "");
  EXPECT_EQ(head->fields.find("x-spaced"), "a b");
  EXPECT_EQ(head->fields.find("X-TWICE"), "1");
  EXPECT_EQ(head->fields.count("X-twice"), 2u);
  EXPECT_FALSE(head->fields.find("x-none"));
}

TEST(Syntax, TakesThePathOfEachFormOfTarget) {
  const auto target = [](const std::string& text) {
    const auto head = parse_request_head("GET " + text + " HTTP/1.1\r\nHost: x\r\n\r\n", 10);
    return head ? head->path + "|" + head->query : "refused " + std::to_string(head.error().status);
  };

  EXPECT_EQ(target("/"), "/|");
  EXPECT_EQ(target("/?"), "/|");
  EXPECT_EQ(target("*"), "*|");
  EXPECT_EQ(target("http://h"), "/|");
  EXPECT_EQ(target("HTTP://h:1/p?q"), "/p|q");
  EXPECT_EQ(target("https://h?q"), "/|q");
  EXPECT_EQ(target("http:///p"), "refused 400");
  EXPECT_EQ(target("ftp://h/p"), "refused 400");
  EXPECT_EQ(target("host:443"), "refused 400");
  EXPECT_EQ(target("/a#b"), "refused 400");
}

TEST(Syntax, TellsOtherVersionsFromNoVersion) {
  const auto refused = [](const std::string& head) { return parse_request_head(head, 10).error().status; };

  EXPECT_EQ(refused("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(refused("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(refused("GET / HTTP/1.2\r\n\r\n"), 505);
  EXPECT_EQ(refused("GET / HTTP/0.9\r\n\r\n"), 505);
  EXPECT_EQ(refused("GET / http/1.1\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET / HTTP/1\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET /\r\n\r\n"), 400);
}

TEST(Syntax, LimitsTheNumberOfFields) {
  std::string head = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 11; ++i) head += "A: b\r\n";

  const auto refused = parse_request_head(head + "\r\n", 10);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 431);
  EXPECT_THAT(refused.error().detail, HasSubstr("the limit is 10"));
  EXPECT_TRUE(parse_request_head(head + "\r\n", 11));
}

TEST(Syntax, TakesAHeadAsLargeAsItIs) {
  const std::string value(60'000, 'v');

  const auto head = parse_request_head("GET / HTTP/1.1\r\nA: " + value + "\r\n\r\n", 10);

  ASSERT_TRUE(head);
  EXPECT_EQ(head->fields.find("a"), value);
}

TEST(Syntax, ParsesAnAnswerHead) {
  const auto head = parse_answer_head("HTTP/1.0 404 Not here\r\nA: b\r\n\r\n", 10);

  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 404);
  EXPECT_EQ(head->minor, 0);
  EXPECT_EQ(head->fields.find("a"), "b");
}

}  // namespace
}  // namespace tinker::http
