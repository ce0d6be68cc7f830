// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinker::load {
namespace {

using testing::HasSubstr;

TEST(ReadServers, FindsWhatBelongsToEach) {
  const auto servers =
      read_servers({"ours=http://127.0.0.1:8000", "theirs=http://127.0.0.1:9000"}, {"theirs=17"}, {"ours=/run/a=b.sock"});

  ASSERT_TRUE(servers.has_value()) << servers.error().text;
  ASSERT_EQ(servers->size(), 2u);
  EXPECT_EQ((*servers)[0].name, "ours");
  EXPECT_EQ((*servers)[0].url, "http://127.0.0.1:8000");
  EXPECT_EQ((*servers)[0].pid, 0);
  EXPECT_EQ((*servers)[0].control_socket, "/run/a=b.sock");
  EXPECT_EQ((*servers)[1].pid, 17);
}

TEST(ReadServers, SaysWhatIsWrongWhere) {
  const std::vector<std::string> two{"a=http://127.0.0.1:1", "b=http://127.0.0.1:2"};
  const auto text = [](const auto& servers) { return servers.has_value() ? "" : servers.error().text; };

  EXPECT_THAT(text(read_servers({"http://127.0.0.1:1"}, {}, {})),
              HasSubstr("--server 'http://127.0.0.1:1': expected NAME=VALUE"));
  EXPECT_THAT(text(read_servers({"=x"}, {}, {})), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(text(read_servers({"a="}, {}, {})), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(text(read_servers({"a=127.0.0.1"}, {}, {})),
              HasSubstr("--server 'a=127.0.0.1': '127.0.0.1': expected http://HOST:PORT"));
  EXPECT_THAT(text(read_servers({two[0], two[0]}, {}, {})), HasSubstr("a second server of that name"));
  EXPECT_THAT(text(read_servers(two, {"c=1"}, {})), HasSubstr("--server-pid 'c=1': there is no --server of the name 'c'"));
  EXPECT_THAT(text(read_servers(two, {"a=1x"}, {})), HasSubstr("expected the number of a process"));
  EXPECT_THAT(text(read_servers(two, {"a=0"}, {})), HasSubstr("expected the number of a process"));
  EXPECT_THAT(text(read_servers(two, {}, {"c=/x"})), HasSubstr("--control-socket 'c=/x'"));
}

}  // namespace
}  // namespace tinker::load
