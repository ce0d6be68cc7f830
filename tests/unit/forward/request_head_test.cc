// SPDX-License-Identifier: Apache-2.0
#include "forward/request_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinker::forward {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CompletionRequestHead, IsAsTheContractSays) {
  const auto url = UpstreamUrl::parse("http://127.0.0.1:8100/team");

  const std::string head = completion_request_head(*url, "sess_0001:1", 205);

  EXPECT_EQ(head,
            "POST /team/v1/completions HTTP/1.1\r\n"
            "Host: 127.0.0.1:8100\r\n"
            "Content-Type: application/json\r\n"
            "Content-Length: 205\r\n"
            "X-Session-ID: sess_0001:1\r\n"
            "Accept: */*\r\n"
            "User-Agent: tinkerd/" TINKER_VERSION
            "\r\n"
            "\r\n");
}

TEST(CompletionRequestHead, LeavesOutASessionThatIsNotKnown) {
  const auto url = UpstreamUrl::parse("http://[::1]:8100");

  const std::string head = completion_request_head(*url, "", 2);

  EXPECT_THAT(head, Not(HasSubstr("X-Session-ID")));
  EXPECT_THAT(head, HasSubstr("POST /v1/completions HTTP/1.1\r\nHost: [::1]:8100\r\n"));
}

TEST(CompletionRequestHead, ASessionIdCannotAddLines) {
  const auto url = UpstreamUrl::parse("http://a");

  const std::string head = completion_request_head(*url, std::string("s\r\nContent-Length: 9\r\n\r\n\0:1", 27), 2);

  EXPECT_THAT(head, HasSubstr("X-Session-ID: s__Content-Length: 9_____:1\r\n"));
}

}  // namespace
}  // namespace tinker::forward
