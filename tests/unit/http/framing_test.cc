// SPDX-License-Identifier: Apache-2.0
#include "http/framing.h"

#include <gtest/gtest.h>

#include <string>

namespace tinker::http {
namespace {

std::string framed(int minor, const std::string& fields) {
  const auto head = parse_request_head("POST / HTTP/1." + std::to_string(minor) + "\r\n" + fields + "\r\n", 100);
  if (!head) return "syntax " + std::to_string(head.error().status);
  const auto framing = request_framing(*head);
  if (!framing) return "refused " + std::to_string(framing.error().status);
  std::string text;
  switch (framing->body) {
    case BodyKind::none:
      text = "none";
      break;
    case BodyKind::length:
      text = "length " + std::to_string(framing->length);
      break;
    case BodyKind::chunked:
      text = "chunked";
      break;
    case BodyKind::until_close:
      text = "until close";
      break;
  }
  return text + (framing->keep_alive ? ", keep" : ", close") + (framing->expect_continue ? ", continue" : "");
}

TEST(Framing, FollowsLengthCodingAndVersion) {
  EXPECT_EQ(framed(1, "Host: x\r\n"), "none, keep");
  EXPECT_EQ(framed(1, "Host:\r\n"), "none, keep");
  EXPECT_EQ(framed(1, "Host: x\r\nContent-Length: 0\r\n"), "none, keep");
  EXPECT_EQ(framed(1, "Host: [::1]:80\r\nCONTENT-LENGTH: 007\r\n"), "length 7, keep");
  EXPECT_EQ(framed(1, "Host: x\r\nTransfer-Encoding: ChunkeD\r\n"), "chunked, keep");
  EXPECT_EQ(framed(1, "Host: x\r\nConnection: keep-alive, close\r\n"), "none, close");
  EXPECT_EQ(framed(0, ""), "none, close");
  EXPECT_EQ(framed(0, "Connection: Keep-Alive\r\nContent-Length: 3\r\n"), "length 3, keep");
  EXPECT_EQ(framed(1, "Host: x\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n"), "length 3, keep, continue");
  EXPECT_EQ(framed(1, "Host: x\r\nExpect: 100-continue\r\n"), "none, keep");
  EXPECT_EQ(framed(0, "Expect: 100-continue\r\nContent-Length: 3\r\n"), "length 3, close");
}

TEST(Framing, S10_RefusesWhatTwoProgramsFrameDifferently) {
  EXPECT_EQ(framed(1, ""), "refused 400");
  EXPECT_EQ(framed(1, "Host: x\r\nhost: x\r\n"), "refused 400");
  EXPECT_EQ(framed(0, "Host: x\r\nHost: y\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: a b\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: a/b\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: a@b, c\r\n"), "refused 400");
  for (const char* coding : {"", "chunked, gzip", "chunked, chunked", "chunked,", "gzip, chunked, identity"})
    EXPECT_EQ(framed(1, "Host: x\r\nTransfer-Encoding: " + std::string(coding) + "\r\n"), "refused 400") << coding;
  for (const char* coding : {"xchunked", "identity", "gzip", "gzip, chunked", "chunked;q=1", "\"chunked\"", "x chunked"})
    EXPECT_EQ(framed(1, "Host: x\r\nTransfer-Encoding: " + std::string(coding) + "\r\n"), "refused 501") << coding;
  EXPECT_EQ(framed(0, "Transfer-Encoding: chunked\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: x\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n"), "syntax 400");
  EXPECT_EQ(framed(1, "Host: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: x\r\nContent-Length: 3, 3\r\n"), "refused 400");
  EXPECT_EQ(framed(1, "Host: x\r\nContent-Length: 1000000000000000000\r\n"), "refused 400");
  for (const char* length : {"", "+3", "-3", "3 3", "0x3", "3.0", "3,4", "18446744073709551616"})
    EXPECT_EQ(framed(1, "Host: x\r\nContent-Length: " + std::string(length) + "\r\n"), "syntax 400") << length;
  EXPECT_EQ(framed(1, "Host: x\r\nExpect: 200-ok\r\n"), "refused 417");
}

}  // namespace
}  // namespace tinker::http
