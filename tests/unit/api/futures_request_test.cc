// SPDX-License-Identifier: Apache-2.0
#include "api/futures_request.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tinker::api {
namespace {

std::string body(const std::string& more) { return R"({"target":{"sampling_session_id":"s1"})" + more + "}"; }

TEST(FuturesRequest, IsReadAsSdk038SendsIt) {
  const auto request =
      parse_futures_request(R"({"target":{"type":"sampling_session","sampling_session_id":"s1","cloned_sampler_id":7},)"
                            R"("prev_cursor":458293847562938475,"timeout":0.0,"retrieved_request_ids":["s4","s5"]})");

  ASSERT_TRUE(request);
  EXPECT_EQ(request->feed, (futures::FeedKey{{}, {"s1"}, 7}));
  EXPECT_EQ(request->prev_cursor, 458293847562938475);
  EXPECT_EQ(request->timeout, base::Seconds{0});
  EXPECT_EQ(request->retrieved, (std::vector<base::SampleId>{{4}, {5}}));
}

TEST(FuturesRequest, HasDefaultsForAllButTheSession) {
  for (const char* more : {"", R"(,"prev_cursor":null,"timeout":null,"retrieved_request_ids":null,"new":1)"}) {
    const auto request = parse_futures_request(body(more));

    ASSERT_TRUE(request) << more;
    EXPECT_EQ(request->feed.clone, 0);
    EXPECT_EQ(request->prev_cursor, 0);
    EXPECT_EQ(request->timeout, std::nullopt);
    EXPECT_TRUE(request->retrieved.empty());
  }
}

TEST(FuturesRequest, PassesOverIdsThatNobodyGave) {
  EXPECT_EQ(parse_futures_request(body(R"(,"retrieved_request_ids":["x","","s07","s8"])"))->retrieved,
            (std::vector<base::SampleId>{{8}}));
}

TEST(FuturesRequest, TakesATimeThatIsNoneForNone) {
  EXPECT_EQ(parse_futures_request(body(R"(,"timeout":-3)"))->timeout, base::Seconds{0});
}

TEST(FuturesRequest, NamesTheFieldThatIsWrong) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{}", "target"},
      {R"({"target":7})", "target"},
      {R"({"target":{}})", "sampling_session_id"},
      {R"({"target":{"type":"model","sampling_session_id":"s1"}})", "type"},
      {body(R"(,"prev_cursor":"x")"), "prev_cursor"},
      {body(R"(,"prev_cursor":1e40)"), "prev_cursor"},
      {body(R"(,"timeout":"soon")"), "timeout"},
      {body(R"(,"retrieved_request_ids":"s1")"), "retrieved_request_ids"},
      {body(R"(,"retrieved_request_ids":["s1",7])"), R"("retrieved_request_ids",1)"},
  };
  for (const auto& [text, field] : wrong) {
    const auto request = parse_futures_request(text);

    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().code, base::Code::unprocessable);
    EXPECT_NE(request.error().faults.front().loc.find(field), std::string::npos) << request.error().faults.front().loc;
  }
}

}  // namespace
}  // namespace tinker::api
