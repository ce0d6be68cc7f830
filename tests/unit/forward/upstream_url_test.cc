// SPDX-License-Identifier: Apache-2.0
#include "forward/upstream_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tinker::forward {
namespace {

using testing::HasSubstr;

TEST(UpstreamUrl, ReadsHostPortAndPrefix) {
  const auto url = UpstreamUrl::parse("http://router.local:30000/team-a/");

  ASSERT_TRUE(url) << url.error().text;
  EXPECT_EQ(url->host, "router.local");
  EXPECT_EQ(url->port, 30000);
  EXPECT_EQ(url->prefix, "/team-a");
  EXPECT_EQ(url->authority, "router.local:30000");
  EXPECT_EQ(url->text(), "http://router.local:30000/team-a");
}

TEST(UpstreamUrl, PortAndPrefixMayBeLeftOut) {
  const auto url = UpstreamUrl::parse("HTTP://10.0.0.1/");

  ASSERT_TRUE(url) << url.error().text;
  EXPECT_EQ(url->port, 80);
  EXPECT_EQ(url->prefix, "");
  EXPECT_EQ(url->authority, "10.0.0.1");
}

TEST(UpstreamUrl, TakesBracketsOffAnIpv6Host) {
  const auto url = UpstreamUrl::parse("http://[::1]:8000");

  ASSERT_TRUE(url) << url.error().text;
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 8000);
  EXPECT_EQ(url->authority, "[::1]:8000");
}

struct Refused {
  std::string url;
  std::string why;
};
class UpstreamUrlRefuses : public testing::TestWithParam<Refused> {};

TEST_P(UpstreamUrlRefuses, NamingWhatIsWrong) {
  const auto url = UpstreamUrl::parse(GetParam().url);

  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().code, base::Code::invalid_argument);
  EXPECT_THAT(url.error().text, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    Each, UpstreamUrlRefuses,
    testing::Values(Refused{"", "does not start with http://"}, Refused{"127.0.0.1:8000", "does not start with http://"},
                    Refused{"ftp://a", "does not start with http://"}, Refused{"https://a:1", "is https"},
                    Refused{"HTTPS://a:1", "is https"}, Refused{"http://", "has no host"}, Refused{"http:///x", "has no host"},
                    Refused{"http://:8000", "has no host"}, Refused{"http://[]:1", "has no host"},
                    Refused{"http://a:", "has a bad port"}, Refused{"http://a:0", "has a bad port"},
                    Refused{"http://a:65536", "has a bad port"}, Refused{"http://a:+1", "has a bad port"},
                    Refused{"http://a:8000x", "has a bad port"}, Refused{"http://[::1]:", "has a bad port"},
                    Refused{"http://[::1]x", "behind the ']'"}, Refused{"http://[::1", "without ']'"},
                    Refused{"http://[host]:1", "no IPv6 address"}, Refused{"http://::1:8000", "written in brackets"},
                    Refused{"http://user:word@a:1", "has credentials"}, Refused{"http://a:1/?x=1", "has a query"},
                    Refused{"http://a:1/#x", "has a fragment"}, Refused{"http://a b:1", "character in its host"},
                    Refused{"http://a:1/x y", "character in its path"},
                    Refused{"http://a:1/x\r\nX: y", "character in its path"}, Refused{"http://a:8000/v1", "ends in /v1"},
                    Refused{"http://a:8000/v1/", "ends in /v1"}));

TEST(UpstreamUrl, AnErrorNamesTheUrlOnOneBoundedLine) {
  const auto url = UpstreamUrl::parse("http://a:1/\r\n" + std::string(10'000, 'x'));

  ASSERT_FALSE(url);
  EXPECT_THAT(url.error().text, HasSubstr("'http://a:1/??xxx"));
  EXPECT_LT(url.error().text.size(), 400u);
}

}  // namespace
}  // namespace tinker::forward
