// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/load_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinker::load {
namespace {

using testing::HasSubstr;

const auto kLoopback = *http::SocketAddress::numeric("127.0.0.1", 8000);

TEST(ShareOf, PartsAllSamplesAmongProcesses) {
  const LoadOptions all{.num_requests = 1000, .max_outstanding = 100, .submit_concurrency = 400};
  std::size_t requests = 0, outstanding = 0, submits = 0;

  for (std::size_t k = 0; k < 3; ++k) {
    const LoadOptions share = share_of(all, k, 3, kLoopback);
    requests += share.num_requests;
    outstanding += share.most_outstanding();
    submits += share.submit_concurrency;
  }

  EXPECT_EQ(requests, 1000u);
  EXPECT_EQ(outstanding, 100u);
  EXPECT_EQ(submits, 400u);
}

TEST(ShareOf, LetsEveryProcessWork) {
  const LoadOptions share = share_of({.num_requests = 10, .max_outstanding = 2, .submit_concurrency = 1}, 3, 4, kLoopback);

  EXPECT_EQ(share.num_requests, 2u);
  EXPECT_EQ(share.most_outstanding(), 1u);
  EXPECT_EQ(share.submit_concurrency, 1u);
}

TEST(ShareOf, GivesEachProcessASourceOfItsOwnOnLoopback) {
  EXPECT_EQ(share_of({}, 0, 3, kLoopback).source->text(), "127.0.0.2:0");
  EXPECT_EQ(share_of({}, 2, 3, kLoopback).source->text(), "127.0.0.4:0");
  EXPECT_EQ(share_of({}, 249, 250, kLoopback).source->text(), "127.0.0.251:0");
  EXPECT_FALSE(share_of({}, 2, 3, *http::SocketAddress::numeric("10.0.0.1", 8000)).source.has_value());
  EXPECT_FALSE(share_of({}, 2, 3, *http::SocketAddress::numeric("::1", 8000)).source.has_value());
}

TEST(LoadOptions, HasAllOutstandingUnlessToldOtherwise) {
  EXPECT_EQ(LoadOptions{.num_requests = 7}.most_outstanding(), 7u);
  EXPECT_EQ((LoadOptions{.num_requests = 7, .max_outstanding = 3}.most_outstanding()), 3u);
  EXPECT_EQ((LoadOptions{.num_requests = 7, .max_outstanding = 9}.most_outstanding()), 7u);
}

TEST(ReadUrl, TakesANumericHostWithItsPort) {
  EXPECT_EQ(read_url("http://127.0.0.1:8000")->text(), "127.0.0.1:8000");
  EXPECT_EQ(read_url("http://[::1]:80/")->text(), "[::1]:80");
}

TEST(ReadUrl, SaysWhatIsExpected) {
  for (const char* url :
       {"", "127.0.0.1:8000", "https://127.0.0.1:8000", "http://127.0.0.1", "http://127.0.0.1:", "http://a.example:80",
        "http://127.0.0.1:65536", "http://127.0.0.1:8000/api", "http://127.0.0.1:80x"}) {
    const auto address = read_url(url);

    ASSERT_FALSE(address.has_value()) << url;
    EXPECT_EQ(address.error().code, base::Code::invalid_argument);
    EXPECT_THAT(address.error().text, HasSubstr("'" + std::string(url) + "': expected http://HOST:PORT"));
  }
}

}  // namespace
}  // namespace tinker::load
